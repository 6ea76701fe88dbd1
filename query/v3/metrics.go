package v3

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

type metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	bytes    *prometheus.CounterVec
	failures *prometheus.CounterVec
}

func newMetrics(r prometheus.Registerer) metrics {
	m := metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "tonscribe_query_requests_total", Help: "Requests by endpoint and status.",
		}, []string{"endpoint", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "tonscribe_query_request_seconds", Help: "Time of requests by endpoint.",
			Buckets: prometheus.ExponentialBuckets(0.00025, 2, 15),
		}, []string{"endpoint"}),
		bytes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "tonscribe_query_answer_bytes_total", Help: "Bytes of answers by endpoint.",
		}, []string{"endpoint"}),
		failures: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "tonscribe_query_failures_total", Help: "Requests that failed for reasons of ours.",
		}, []string{"reason"}),
	}
	r.MustRegister(m.requests, m.seconds, m.bytes, m.failures)
	return m
}

func (m metrics) observe(path string, status int, took time.Duration, bytes int) {
	m.requests.WithLabelValues(path, strconv.Itoa(status)).Inc()
	m.seconds.WithLabelValues(path).Observe(took.Seconds())
	m.bytes.WithLabelValues(path).Add(float64(bytes))
}
