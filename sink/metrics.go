package sink

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"tonscribe/internal/kafka"
	"tonscribe/internal/report"
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

func newMetrics(m report.Meter) *metrics {
	partition := []string{"topic", "partition"}
	return &metrics{
		rows:          m.Counters("rows_total", "Rows acknowledged by ClickHouse.", "table"),
		insertSeconds: m.Histograms("insert_seconds", "Time until an insert was acknowledged, with its retries.", 0.002, 2, 14, "table"),
		batchRows:     m.Histograms("batch_rows", "Transactions or blocks of a batch.", 1, 4, 10, "topic"),
		batchBytes:    m.Histograms("batch_bytes", "Bytes of the records of a batch.", 1024, 4, 10, "topic"),
		batchSeconds:  m.Histograms("batch_seconds", "Time from a batch's intent to its commit.", 0.002, 2, 14, "topic"),
		progress:      m.Gauges("mc_seqno", "Newest bundle whose rows are all in the tables.", partition...),
		progressTime:  m.Gauges("gen_utime", "Time of that bundle's masterchain block.", partition...),
		repeated:      m.Counters("repeated_batches_total", "Batches that an earlier owner of the partition had begun to insert.", partition...),
		gaps:          m.Counters("gaps_total", "Times that bundles between the tables and the log were in neither.", partition...),
		alarm:         m.Gauges("alarm", "1 when the partition is stopped because its records do not fit the tables or their seals.", partition...),
		watermark:     m.Gauge("watermark", "Masterchain seqno up to which all tables are complete."),
		watermarkTime: m.Gauge("watermark_utime", "Time of the watermark's masterchain block."),
	}
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
