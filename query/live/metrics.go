package live

import (
	"github.com/prometheus/client_golang/prometheus"

	"tonscribe/internal/report"
	"tonscribe/query/live/events"
)

type metrics struct {
	events   *prometheus.CounterVec
	ofKind   [events.Kinds]prometheus.Counter // those of events
	bundles  prometheus.Counter
	slow     prometheus.Counter
	behind   prometheus.Counter
	replays  prometheus.Counter
	replayed prometheus.Counter
	failures prometheus.Counter
	dropped  prometheus.Counter
	took     prometheus.Histogram
}

func newMetrics(r report.Reporter, c *Component) *metrics {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: "tonscribe_live_" + name, Help: help})
	}
	m := &metrics{
		events: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "tonscribe_live_events_total", Help: "Events that streams were given as they happened, by their type.",
		}, []string{"type"}),
		bundles:  counter("bundles_total", "Bundles that were given out."),
		slow:     counter("slow_total", "Streams that were ended because their clients read too slowly."),
		behind:   counter("behind_total", "Times a stream had no room for what happened, and was given it later."),
		replays:  counter("replays_total", "Streams that began with what they had missed."),
		replayed: counter("replayed_total", "Events that those were given."),
		failures: counter("failures_total", "Failed attempts to read what streams are made of."),
		dropped:  counter("pending_dropped_total", "Pending traces that were not told because too many came at once."),
		took: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "tonscribe_live_bundle_seconds", Help: "Time from a bundle being visible until all streams have its events waiting.", Buckets: prometheus.ExponentialBuckets(0.0005, 2, 14),
		}),
	}
	for k, name := range events.KindNames {
		m.ofKind[k] = m.events.WithLabelValues(name)
	}
	gauge := func(name, help string, value func() float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "tonscribe_live_" + name, Help: help}, value)
	}
	r.Metrics.MustRegister(m.events, m.bundles, m.slow, m.behind, m.replays, m.replayed, m.failures, m.dropped, m.took,
		gauge("connections", "Streams that are open.", func() float64 { n, _ := c.clients.count(); return float64(n) }),
		gauge("addresses", "Addresses, tokens and traces that they name.", func() float64 { _, n := c.clients.count(); return float64(n) }),
		gauge("queued_bytes", "Bytes of events that wait for their clients.", func() float64 { return float64(c.queued.Load()) }))
	return m
}
