package api

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics count the answers of a layer.
type Metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	bytes    *prometheus.CounterVec
}

// NewMetrics makes metrics that tell requests apart by a label. Their names begin with
// prefix; layer is what their texts call it, empty or with a space before it.
func NewMetrics(r prometheus.Registerer, prefix, layer, label string, buckets []float64) Metrics {
	m := Metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: prefix + "_requests_total", Help: "Requests" + layer + " by " + label + " and status.",
		}, []string{label, "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: prefix + "_request_seconds", Help: "Time of requests" + layer + " by " + label + ".", Buckets: buckets,
		}, []string{label}),
		bytes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: prefix + "_answer_bytes_total", Help: "Bytes of answers" + layer + " by " + label + ".",
		}, []string{label}),
	}
	r.MustRegister(m.requests, m.seconds, m.bytes)
	return m
}

// Observe counts an answer.
func (m Metrics) Observe(name string, status int, took time.Duration, bytes int) {
	m.requests.WithLabelValues(name, strconv.Itoa(status)).Inc()
	m.seconds.WithLabelValues(name).Observe(took.Seconds())
	m.bytes.WithLabelValues(name).Add(float64(bytes))
}
