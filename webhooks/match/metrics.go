package match

import (
	"github.com/prometheus/client_golang/prometheus"

	"tonscribe/internal/report"
)

type metrics struct {
	candidates prometheus.Counter
	events     *prometheus.CounterVec
}

func newMetrics(r report.Reporter) *metrics {
	m := r.Meter("match")
	return &metrics{
		candidates: m.Counter("references_total", "References that messages carry, registered or not."),
		events:     m.Counters("events_total", "Payments that have ended, by how.", "status"),
	}
}
