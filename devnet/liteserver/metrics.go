package liteserver

import (
	"github.com/prometheus/client_golang/prometheus"

	"tonscribe/internal/report"
)

type metrics struct {
	seconds *prometheus.HistogramVec
	errors  *prometheus.CounterVec
	dropped prometheus.Counter
}

func newMetrics(m report.Meter) *metrics {
	return &metrics{
		seconds: m.Histograms("query_seconds", "Time until a query was answered, without the wait for a block it asked for.", 0.0001, 4, 10, "query"),
		errors:  m.Counters("errors_total", "Queries answered by liteServer.error.", "query", "code"),
		dropped: m.Counter("dropped_answers_total", "Answers that a slow or closed connection did not take."),
	}
}
