package traces

import (
	"github.com/prometheus/client_golang/prometheus"

	"tonscribe/internal/report"
)

type metrics struct {
	traces   *prometheus.CounterVec
	actions  prometheus.Counter
	failures prometheus.Counter
}

func newMetrics(r report.Reporter) *metrics {
	m := r.Meter("traces")
	return &metrics{
		traces:   m.Counters("steps_total", "Traces that bundles changed, by the state that they had then.", "state"),
		actions:  m.Counter("actions_total", "Actions that were recognised."),
		failures: m.Counter("failures_total", "Traces on which a recogniser failed."),
	}
}
