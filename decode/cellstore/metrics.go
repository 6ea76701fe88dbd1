package cellstore

import "github.com/prometheus/client_golang/prometheus"

type metrics struct {
	reads     *prometheus.CounterVec
	put       prometheus.Counter
	rotations prometheus.Counter
	bytes     prometheus.Gauge
}

func newMetrics(registry prometheus.Registerer) *metrics {
	m := &metrics{
		reads: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "tonscribe_cells_reads_total",
			Help: "Cells looked up, by where they were: memory, young, old or absent."}, []string{"found"}),
		put:       prometheus.NewCounter(prometheus.CounterOpts{Name: "tonscribe_cells_put_total", Help: "Cells written."}),
		rotations: prometheus.NewCounter(prometheus.CounterOpts{Name: "tonscribe_cells_rotations_total", Help: "Generations begun."}),
		bytes:     prometheus.NewGauge(prometheus.GaugeOpts{Name: "tonscribe_cells_bytes", Help: "Size of both generations on disk."}),
	}
	for _, c := range []prometheus.Collector{m.reads, m.put, m.rotations, m.bytes} {
		registry.MustRegister(c)
	}
	return m
}
