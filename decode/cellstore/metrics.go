package cellstore

import (
	"github.com/prometheus/client_golang/prometheus"

	"tonscribe/internal/report"
)

type metrics struct {
	reads     *prometheus.CounterVec
	put       prometheus.Counter
	rotations prometheus.Counter
	bytes     prometheus.Gauge
}

func newMetrics(m report.Meter) *metrics {
	return &metrics{
		reads:     m.Counters("reads_total", "Cells looked up, by where they were: memory, young, old or absent.", "found"),
		put:       m.Counter("put_total", "Cells written."),
		rotations: m.Counter("rotations_total", "Generations begun."),
		bytes:     m.Gauge("bytes", "Size of both generations on disk."),
	}
}
