package metadata

import (
	"github.com/prometheus/client_golang/prometheus"

	"tonscribe/internal/report"
)

type metrics struct {
	documents *prometheus.CounterVec
	seconds   prometheus.Histogram
	bytes     prometheus.Counter
	links     prometheus.Counter
	bundle    prometheus.Gauge
	held      prometheus.Gauge
	hosts     prometheus.Gauge
	works     prometheus.Gauge
	broken    prometheus.Counter

	dumps       *prometheus.CounterVec
	dumpSeconds prometheus.Histogram
	amounts     prometheus.Counter
}

func newMetrics(r report.Reporter) *metrics {
	m := r.Meter("metadata")
	return &metrics{
		documents: m.Counters("documents_total", "Documents that were asked for, by what became of it: ok, or the reason of the failure.", "result"),
		seconds:   m.Histogram("seconds", "Time to fetch a document, or to fail.", 0.001, 4, 8),
		bytes:     m.Counter("bytes_total", "Bytes of documents that were kept."),
		links:     m.Counter("links_total", "Links that were found and not known before."),
		bundle:    m.Gauge("bundle", "Masterchain seqno up to which links were looked for."),
		held:      m.Gauge("held", "Links that are due and in hand."),
		hosts:     m.Gauge("hosts", "Hosts, about, that links in hand or due wait for."),
		works:     m.Gauge("works", "1 in the process that fetches, 0 in those that stand by."),
		broken:    m.Counter("broken_total", "Times that work was broken off because ClickHouse failed."),

		dumps:       m.Counters("dumps_total", "Dumps of airdrops that were asked for, by what became of it: ok, or the reason of the failure.", "result"),
		dumpSeconds: m.Histogram("dump_seconds", "Time to fetch a dump and write its amounts, or to fail.", 0.01, 4, 8),
		amounts:     m.Counter("amounts_total", "Amounts of airdrops that were written."),
	}
}
