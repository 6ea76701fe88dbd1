package stage

import "github.com/prometheus/client_golang/prometheus"

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

func newMetrics(name string, registry prometheus.Registerer) Metrics {
	prefix := "tonscribe_" + name + "_"
	m := Metrics{
		Bundles: prometheus.NewCounter(prometheus.CounterOpts{Name: prefix + "bundles_total", Help: "Bundles published."}),
		Bundle:  prometheus.NewGauge(prometheus.GaugeOpts{Name: prefix + "bundle", Help: "Masterchain seqno of the last published bundle."}),
		Gaps: prometheus.NewCounter(prometheus.CounterOpts{Name: prefix + "gaps_total",
			Help: "Times that the log did not have the bundle any more which the store needs next."}),
		Seconds: prometheus.NewHistogram(prometheus.HistogramOpts{Name: prefix + "bundle_seconds",
			Help: "Time to work out a bundle.", Buckets: prometheus.ExponentialBuckets(0.0001, 4, 9)}),
		Restored: prometheus.NewCounterVec(prometheus.CounterOpts{Name: prefix + "restored_total",
			Help: "Entries of the store that were taken from the topic of its changes, when this member began to work."}, []string{"from"}),
	}
	registry.MustRegister(m.Bundles, m.Bundle, m.Gaps, m.Seconds, m.Restored)
	return m
}
