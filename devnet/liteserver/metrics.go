package liteserver

import "github.com/prometheus/client_golang/prometheus"

type metrics struct {
	seconds *prometheus.HistogramVec
	errors  *prometheus.CounterVec
	dropped prometheus.Counter
}

func newMetrics(registry prometheus.Registerer) *metrics {
	m := &metrics{
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "tonscribe_liteserver_query_seconds", Help: "Time until a query was answered, without the wait for a block it asked for.",
			Buckets: prometheus.ExponentialBuckets(0.0001, 4, 10),
		}, []string{"query"}),
		errors: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "tonscribe_liteserver_errors_total", Help: "Queries answered by liteServer.error.",
		}, []string{"query", "code"}),
		dropped: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "tonscribe_liteserver_dropped_answers_total", Help: "Answers that a slow or closed connection did not take.",
		}),
	}
	registry.MustRegister(m.seconds, m.errors, m.dropped)
	return m
}
