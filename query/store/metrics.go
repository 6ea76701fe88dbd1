package store

import (
	"github.com/prometheus/client_golang/prometheus"

	"tonscribe/query/reader"
)

type metrics struct {
	directory     prometheus.Gauge
	held          *prometheus.GaugeVec
	followFailure prometheus.Counter
}

func newMetrics(r prometheus.Registerer) metrics {
	return metrics{
		directory: reader.Register(r, prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "tonscribe_query_directory_accounts", Help: "Accounts whose codes are held in memory.",
		})),
		held: reader.Register(r, prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "tonscribe_query_held_bytes", Help: "Memory of rows that are held, by table.",
		}, []string{"table"})),
		followFailure: reader.Register(r, prometheus.NewCounter(prometheus.CounterOpts{
			Name: "tonscribe_query_follow_failures_total", Help: "Failed reads of the watermark or of the newest bundles.",
		})),
	}
}
