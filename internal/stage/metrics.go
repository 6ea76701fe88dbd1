package stage

import (
	"github.com/prometheus/client_golang/prometheus"

	"tonscribe/internal/report"
)

// Metrics are those that every stage of this form has, named
// tonscribe_STAGE_….
type Metrics struct {
	Bundles prometheus.Counter
	Bundle  prometheus.Gauge
	Gaps    prometheus.Counter
	Seconds prometheus.Histogram
	// Restored counts how stores were come by from the log, by what was read.
	Restored *prometheus.CounterVec
}

func newMetrics(name string, r report.Reporter) Metrics {
	m := r.Meter(name)
	return Metrics{
		Bundles:  m.Counter("bundles_total", "Bundles published."),
		Bundle:   m.Gauge("bundle", "Masterchain seqno of the last published bundle."),
		Gaps:     m.Counter("gaps_total", "Times that the log did not have the bundle any more which the store needs next."),
		Seconds:  m.Histogram("bundle_seconds", "Time to work out a bundle.", 0.0001, 4, 9),
		Restored: m.Counters("restored_total", "Entries of the store that were taken from the topic of its changes, when this member began to work.", "from"),
	}
}
