package sink

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"tonscribe/internal/kafka"
)

type metrics struct {
	rows          *prometheus.CounterVec
	insertSeconds *prometheus.HistogramVec
	batchRows     *prometheus.HistogramVec
	batchBytes    *prometheus.HistogramVec
	batchSeconds  *prometheus.HistogramVec
	progress      *prometheus.GaugeVec
	progressTime  *prometheus.GaugeVec
	repeated      *prometheus.CounterVec
	gaps          *prometheus.CounterVec
	alarm         *prometheus.GaugeVec
	watermark     prometheus.Gauge
	watermarkTime prometheus.Gauge
}

func newMetrics(registry prometheus.Registerer) *metrics {
	partition := []string{"topic", "partition"}
	seconds := prometheus.ExponentialBuckets(0.002, 2, 14)
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "tonscribe_sink_" + name, Help: help}, labels)
	}
	histogram := func(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "tonscribe_sink_" + name, Help: help, Buckets: buckets}, labels)
	}
	gauge := func(name, help string, labels ...string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "tonscribe_sink_" + name, Help: help}, labels)
	}
	watermark, watermarkTime := gauge("watermark", "Masterchain seqno up to which all tables are complete."),
		gauge("watermark_utime", "Time of the watermark's masterchain block.")
	m := &metrics{
		rows:          counter("rows_total", "Rows acknowledged by ClickHouse.", "table"),
		insertSeconds: histogram("insert_seconds", "Time until an insert was acknowledged, with its retries.", seconds, "table"),
		batchRows:     histogram("batch_rows", "Transactions or blocks of a batch.", prometheus.ExponentialBuckets(1, 4, 10), "topic"),
		batchBytes:    histogram("batch_bytes", "Bytes of the records of a batch.", prometheus.ExponentialBuckets(1024, 4, 10), "topic"),
		batchSeconds:  histogram("batch_seconds", "Time from a batch's intent to its commit.", seconds, "topic"),
		progress:      gauge("mc_seqno", "Newest bundle whose rows are all in the tables.", partition...),
		progressTime:  gauge("gen_utime", "Time of that bundle's masterchain block.", partition...),
		repeated:      counter("repeated_batches_total", "Batches that an earlier owner of the partition had begun to insert.", partition...),
		gaps:          counter("gaps_total", "Times that bundles between the tables and the log were in neither.", partition...),
		alarm:         gauge("alarm", "1 when the partition is stopped because its records do not fit the tables or their seals.", partition...),
		watermark:     watermark.WithLabelValues(),
		watermarkTime: watermarkTime.WithLabelValues(),
	}
	registry.MustRegister(m.rows, m.insertSeconds, m.batchRows, m.batchBytes, m.batchSeconds, m.progress, m.progressTime, m.repeated, m.gaps, m.alarm,
		watermark, watermarkTime)
	return m
}

func labels(l *kafka.PartitionReader) []string { return []string{l.Topic, strconv.Itoa(l.Partition)} }

// inserted tells of a batch that is in the tables.
func (m *metrics) inserted(l *kafka.PartitionReader, b *batch, took time.Duration) {
	m.batchRows.WithLabelValues(l.Topic).Observe(float64(b.rows))
	m.batchBytes.WithLabelValues(l.Topic).Observe(float64(b.bytes))
	m.batchSeconds.WithLabelValues(l.Topic).Observe(took.Seconds())
	if len(b.seals) > 0 {
		last := b.seals[len(b.seals)-1]
		m.progress.WithLabelValues(labels(l)...).Set(float64(last.McSeqno))
		m.progressTime.WithLabelValues(labels(l)...).Set(float64(last.GetSeal().GenUtime))
	}
}
