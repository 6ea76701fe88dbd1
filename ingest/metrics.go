package ingest

import "github.com/prometheus/client_golang/prometheus"

type metrics struct {
	bundles   prometheus.Counter
	blocks    prometheus.Counter
	bytes     prometheus.Counter
	bad       *prometheus.CounterVec
	gaps      prometheus.Counter
	retries   prometheus.Counter
	head      prometheus.Gauge
	source    prometheus.Gauge
	queue     prometheus.Gauge
	held      prometheus.Gauge
	throttled prometheus.Counter
}

func newMetrics(r prometheus.Registerer) *metrics {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: "tonscribe_ingest_" + name, Help: help})
	}
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Name: "tonscribe_ingest_" + name, Help: help})
	}
	m := &metrics{
		bundles: counter("bundles_total", "Bundles published."),
		blocks:  counter("blocks_total", "Blocks published, masterchain and shards."),
		bytes:   counter("bytes_total", "Bytes of the blocks published."),
		bad: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "tonscribe_ingest_bad_blocks_total", Help: "Blocks refused, by reason.",
		}, []string{"reason"}),
		gaps:      counter("gaps_total", "Bundles skipped because a block is missing or bad."),
		retries:   counter("retries_total", "Times a bundle had to wait for a missing or bad block."),
		head:      gauge("head_seqno", "Masterchain seqno of the last bundle published."),
		source:    gauge("source_seqno", "Highest masterchain seqno that the source has."),
		queue:     gauge("queue_bundles", "Bundles read ahead or being read."),
		held:      gauge("queue_bytes", "Bytes of blocks held by them."),
		throttled: counter("throttled_seconds_total", "Time spent waiting for the next stage to catch up."),
	}
	for _, reason := range reasons { // from the beginning on: alarms are for what a counter rises by
		m.bad.WithLabelValues(string(reason))
	}
	r.MustRegister(m.bundles, m.blocks, m.bytes, m.bad, m.gaps, m.retries, m.head, m.source, m.queue, m.held, m.throttled)
	return m
}
