package v2

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

type metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	bytes    *prometheus.CounterVec
	cached   *prometheus.CounterVec
	failures prometheus.Counter
}

func newMetrics(r prometheus.Registerer) metrics {
	m := metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "tonscribe_v2_requests_total", Help: "Requests of the node-access layer by method and status.",
		}, []string{"method", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "tonscribe_v2_request_seconds", Help: "Time of requests of the node-access layer by method.",
			Buckets: prometheus.ExponentialBuckets(0.0001, 2.5, 14),
		}, []string{"method"}),
		bytes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "tonscribe_v2_answer_bytes_total", Help: "Bytes of answers of the node-access layer by method.",
		}, []string{"method"}),
		cached: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "tonscribe_v2_cached_total", Help: "Answers of the node-access layer that were kept from an earlier request.",
		}, []string{"method"}),
		failures: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "tonscribe_v2_failures_total", Help: "Requests of the node-access layer that failed for reasons of ours.",
		}),
	}
	r.MustRegister(m.requests, m.seconds, m.bytes, m.cached, m.failures)
	return m
}

func (m metrics) observe(method string, status int, took time.Duration, bytes int, cached bool) {
	m.requests.WithLabelValues(method, strconv.Itoa(status)).Inc()
	m.seconds.WithLabelValues(method).Observe(took.Seconds())
	m.bytes.WithLabelValues(method).Add(float64(bytes))
	if cached {
		m.cached.WithLabelValues(method).Inc()
	}
}
