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

func newMetrics(m report.Meter, c *Component) *metrics {
	made := &metrics{
		events:   m.Counters("events_total", "Events that streams were given as they happened, by their type.", "type"),
		bundles:  m.Counter("bundles_total", "Bundles that were given out."),
		slow:     m.Counter("slow_total", "Streams that were ended because their clients read too slowly."),
		behind:   m.Counter("behind_total", "Times a stream had no room for what happened, and was given it later."),
		replays:  m.Counter("replays_total", "Streams that began with what they had missed."),
		replayed: m.Counter("replayed_total", "Events that those were given."),
		failures: m.Counter("failures_total", "Failed attempts to read what streams are made of."),
		dropped:  m.Counter("pending_dropped_total", "Pending traces that were not told because too many came at once."),
		took:     m.Histogram("bundle_seconds", "Time from a bundle being visible until all streams have its events waiting.", 0.0005, 2, 14),
	}
	for k, name := range events.KindNames {
		made.ofKind[k] = made.events.WithLabelValues(name)
	}
	m.GaugeOf("connections", "Streams that are open.", func() float64 { n, _ := c.clients.count(); return float64(n) })
	m.GaugeOf("addresses", "Addresses, tokens and traces that they name.", func() float64 { _, n := c.clients.count(); return float64(n) })
	m.GaugeOf("queued_bytes", "Bytes of events that wait for their clients.", func() float64 { return float64(c.queued.Load()) })
	return made
}
