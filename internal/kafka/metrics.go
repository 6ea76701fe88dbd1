package kafka

import (
	"errors"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
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

func newMetrics(registry prometheus.Registerer) metrics {
	place := []string{"topic", "partition"}
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return registered(registry, prometheus.NewCounterVec(
			prometheus.CounterOpts{Name: "tonscribe_kafka_" + name, Help: help}, labels))
	}
	return metrics{
		publishedRecords: counter("published_records_total", "Records acknowledged by the log.", place...),
		publishedBytes:   counter("published_bytes_total", "Bytes of acknowledged records, before compression.", place...),
		consumedRecords:  counter("consumed_records_total", "Records handed to a stage.", place...),
		consumedBytes:    counter("consumed_bytes_total", "Bytes of records handed to a stage.", place...),
		repeated:         counter("repeated_records_total", "Records dropped because they came again.", place...),
		ahead:            counter("ahead_records_total", "Records dropped because their predecessors are missing.", place...),
		restarts:         counter("lane_restarts_total", "Partitions that were read again from the last commit after an error.", place...),
		stalls:           counter("stalled_readers_total", "Connections renewed because nothing came although the log had more.", place...),
		retries:          counter("retries_total", "Requests to brokers that were tried again.", "operation"),
		generations:      counter("generations_total", "Generations of a consumer group that this process was part of.", "group"),
		lag: registered(registry, prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "tonscribe_kafka_lag_records",
			Help: "Records in the log that have not been read."}, place)),
	}
}

// registered returns the collector of that name that is already registered, so
// that the stages of one process count in the same place.
func registered[C prometheus.Collector](registry prometheus.Registerer, collector C) C {
	if registry == nil {
		return collector
	}
	err := registry.Register(collector)
	var already prometheus.AlreadyRegisteredError
	if errors.As(err, &already) {
		if existing, ok := already.ExistingCollector.(C); ok {
			return existing
		}
	}
	return collector
}

func (tp TopicPartition) labels() (topic, partition string) {
	return tp.Topic, strconv.Itoa(tp.Partition)
}
