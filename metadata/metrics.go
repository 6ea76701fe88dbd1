package metadata

import "github.com/prometheus/client_golang/prometheus"

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
}

func newMetrics(registry prometheus.Registerer) *metrics {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: "tonscribe_metadata_" + name, Help: help})
	}
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Name: "tonscribe_metadata_" + name, Help: help})
	}
	m := &metrics{
		documents: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "tonscribe_metadata_documents_total",
			Help: "Documents that were asked for, by what became of it: ok, or the reason of the failure."}, []string{"result"}),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "tonscribe_metadata_seconds",
			Help: "Time to fetch a document, or to fail.", Buckets: prometheus.ExponentialBuckets(0.001, 4, 8)}),
		bytes:  counter("bytes_total", "Bytes of documents that were kept."),
		links:  counter("links_total", "Links that were found and not known before."),
		bundle: gauge("bundle", "Masterchain seqno up to which links were looked for."),
		held:   gauge("held", "Links that are due and in hand."),
		hosts:  gauge("hosts", "Hosts, about, that links in hand or due wait for."),
		works:  gauge("works", "1 in the process that fetches, 0 in those that stand by."),
		broken: counter("broken_total", "Times that work was broken off because ClickHouse failed."),
	}
	for _, c := range []prometheus.Collector{m.documents, m.seconds, m.bytes, m.links, m.bundle, m.held, m.hosts, m.works, m.broken} {
		registry.MustRegister(c)
	}
	return m
}
