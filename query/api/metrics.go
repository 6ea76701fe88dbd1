package api

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"tonscribe/internal/report"
)

// Metrics count the answers of a layer.
type Metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	bytes    *prometheus.CounterVec
}

// NewMetrics makes metrics that tell requests apart by a label. layer is what their texts
// call it, empty or with a space before it. The histogram of times has n buckets from first
// on, which grow by a factor.
func NewMetrics(m report.Meter, layer, label string, first, factor float64, n int) Metrics {
	return Metrics{
		requests: m.Counters("requests_total", "Requests"+layer+" by "+label+" and status.", label, "status"),
		seconds:  m.Histograms("request_seconds", "Time of requests"+layer+" by "+label+".", first, factor, n, label),
		bytes:    m.Counters("answer_bytes_total", "Bytes of answers"+layer+" by "+label+".", label),
	}
}

// Observe counts an answer.
func (m Metrics) Observe(name string, status int, took time.Duration, bytes int) {
	m.requests.WithLabelValues(name, strconv.Itoa(status)).Inc()
	m.seconds.WithLabelValues(name).Observe(took.Seconds())
	m.bytes.WithLabelValues(name).Add(float64(bytes))
}
