package kafka

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"tonscribe/internal/report"
)

type metrics struct {
	publishedRecords *prometheus.CounterVec
	publishedBytes   *prometheus.CounterVec
	consumedRecords  *prometheus.CounterVec
	consumedBytes    *prometheus.CounterVec
	repeated         *prometheus.CounterVec
	ahead            *prometheus.CounterVec
	restarts         *prometheus.CounterVec
	stalls           *prometheus.CounterVec
	retries          *prometheus.CounterVec
	generations      *prometheus.CounterVec
	lag              *prometheus.GaugeVec
}

// newMetrics are the same for all stages of one process.
func newMetrics(r report.Reporter) metrics {
	m, place := r.Meter("kafka"), []string{"topic", "partition"}
	return metrics{
		publishedRecords: m.Counters("published_records_total", "Records acknowledged by the log.", place...),
		publishedBytes:   m.Counters("published_bytes_total", "Bytes of acknowledged records, before compression.", place...),
		consumedRecords:  m.Counters("consumed_records_total", "Records handed to a stage.", place...),
		consumedBytes:    m.Counters("consumed_bytes_total", "Bytes of records handed to a stage.", place...),
		repeated:         m.Counters("repeated_records_total", "Records dropped because they came again.", place...),
		ahead:            m.Counters("ahead_records_total", "Records dropped because their predecessors are missing.", place...),
		restarts:         m.Counters("lane_restarts_total", "Partitions that were read again from the last commit after an error.", place...),
		stalls:           m.Counters("stalled_readers_total", "Connections renewed because nothing came although the log had more.", place...),
		retries:          m.Counters("retries_total", "Requests to brokers that were tried again.", "operation"),
		generations:      m.Counters("generations_total", "Generations of a consumer group that this process was part of.", "group"),
		lag:              m.Gauges("lag_records", "Records in the log that have not been read.", place...),
	}
}

func (tp TopicPartition) labels() (topic, partition string) {
	return tp.Topic, strconv.Itoa(tp.Partition)
}
