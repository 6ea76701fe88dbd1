package lite

import (
	"github.com/prometheus/client_golang/prometheus"

	"tonscribe/internal/report"
)

type metrics struct {
	connected *prometheus.GaugeVec
	latency   *prometheus.HistogramVec
	requests  *prometheus.CounterVec
	strikes   *prometheus.CounterVec
	refused   *prometheus.CounterVec
	hedges    prometheus.Counter
	head      prometheus.Gauge
	trusted   prometheus.Gauge
}

func newMetrics(r report.Reporter) *metrics {
	m := r.Meter("lite")
	return &metrics{
		connected: m.Gauges("connected", "1 while there is a connection to the lite server.", "server"),
		latency:   m.Histograms("answer_seconds", "Time that a lite server took to answer; waits for a new block included.", 0.0005, 4, 9, "server"),
		requests: m.Counters("requests_total",
			"Requests to lite servers, by what became of them: ok, error (an error of the server's), failed (no answer), busy, refused (wrong answer).", "server", "outcome"),
		strikes: m.Counters("strikes_total", "Times a lite server was left out for a wrong answer.", "server"),
		refused: m.Counters("refused_total", "Answers that did not stand up to their check.", "server"),
		hedges:  m.Counter("hedges_total", "Requests sent to a second lite server because the first was slow."),
		head:    m.Gauge("head_seqno", "Newest masterchain block that was proven."),
		trusted: m.Gauge("trusted_seqno", "Newest key block that was proven."),
	}
}
