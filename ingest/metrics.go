package ingest

import (
	"github.com/prometheus/client_golang/prometheus"

	"tonscribe/internal/report"
)

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

func newMetrics(m report.Meter) *metrics {
	made := &metrics{
		bundles:   m.Counter("bundles_total", "Bundles published."),
		blocks:    m.Counter("blocks_total", "Blocks published, masterchain and shards."),
		bytes:     m.Counter("bytes_total", "Bytes of the blocks published."),
		bad:       m.Counters("bad_blocks_total", "Blocks refused, by reason.", "reason"),
		gaps:      m.Counter("gaps_total", "Bundles skipped because a block is missing or bad."),
		retries:   m.Counter("retries_total", "Times a bundle had to wait for a missing or bad block."),
		head:      m.Gauge("head_seqno", "Masterchain seqno of the last bundle published."),
		source:    m.Gauge("source_seqno", "Highest masterchain seqno that the source has."),
		queue:     m.Gauge("queue_bundles", "Bundles read ahead or being read."),
		held:      m.Gauge("queue_bytes", "Bytes of blocks held by them."),
		throttled: m.Counter("throttled_seconds_total", "Time spent waiting for the next stage to catch up."),
	}
	for _, reason := range reasons { // from the beginning on: alarms are for what a counter rises by
		made.bad.WithLabelValues(string(reason))
	}
	return made
}
