package store

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
)

type metrics struct {
	statements    *prometheus.HistogramVec
	rowsRead      *prometheus.CounterVec
	refused       *prometheus.CounterVec
	heldBundles   *prometheus.GaugeVec
	heldBytes     *prometheus.GaugeVec
	fromHead      *prometheus.CounterVec
	directory     prometheus.Gauge
	held          *prometheus.GaugeVec
	watermark     prometheus.Gauge
	followFailure prometheus.Counter
}

func newMetrics(r prometheus.Registerer) metrics {
	return metrics{
		statements: register(r, prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "tonscribe_query_statement_seconds", Help: "Time of statements to ClickHouse, by what they read.",
			Buckets: prometheus.ExponentialBuckets(0.0005, 2, 14),
		}, []string{"reads"})),
		rowsRead: register(r, prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "tonscribe_query_rows_read_total", Help: "Rows that ClickHouse went through, by what was read.",
		}, []string{"reads"})),
		refused: register(r, prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "tonscribe_query_statements_too_heavy_total", Help: "Statements that ran into a bound of their request, by what they read.",
		}, []string{"reads"})),
		heldBundles: register(r, prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "tonscribe_query_head_bundles", Help: "Newest bundles held in memory.",
		}, []string{"holds"})),
		heldBytes: register(r, prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "tonscribe_query_head_bytes", Help: "Memory of the newest bundles.",
		}, []string{"holds"})),
		fromHead: register(r, prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "tonscribe_query_head_answers_total", Help: "Lists answered from memory, without ClickHouse.",
		}, []string{"list"})),
		directory: register(r, prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "tonscribe_query_directory_accounts", Help: "Accounts whose codes are held in memory.",
		})),
		held: register(r, prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "tonscribe_query_held_bytes", Help: "Memory of rows that are held, by table.",
		}, []string{"table"})),
		watermark: register(r, prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "tonscribe_query_watermark_mc_seqno", Help: "Newest masterchain block that requests see.",
		})),
		followFailure: register(r, prometheus.NewCounter(prometheus.CounterOpts{
			Name: "tonscribe_query_follow_failures_total", Help: "Failed reads of the watermark or of the newest bundles.",
		})),
	}
}

// register adds a collector, or finds the one that another component of this
// process added.
func register[C prometheus.Collector](r prometheus.Registerer, c C) C {
	var already prometheus.AlreadyRegisteredError
	if err := r.Register(c); errors.As(err, &already) {
		return already.ExistingCollector.(C)
	}
	return c
}
