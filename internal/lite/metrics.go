package lite

import (
	"errors"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
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

// newMetrics registers the metrics, or finds those of another pool of this
// process.
func newMetrics(r prometheus.Registerer) (*metrics, error) {
	perServer := func(name, help string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "tonscribe_lite_" + name, Help: help}, []string{"server"})
	}
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Name: "tonscribe_lite_" + name, Help: help})
	}
	m := &metrics{
		connected: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "tonscribe_lite_connected", Help: "1 while there is a connection to the lite server.",
		}, []string{"server"}),
		latency: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "tonscribe_lite_answer_seconds", Help: "Time that a lite server took to answer; waits for a new block included.",
			Buckets: prometheus.ExponentialBuckets(0.0005, 4, 9),
		}, []string{"server"}),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "tonscribe_lite_requests_total", Help: "Requests to lite servers, by what became of them: ok, error (an error of the server's), failed (no answer), busy, refused (wrong answer).",
		}, []string{"server", "outcome"}),
		strikes: perServer("strikes_total", "Times a lite server was left out for a wrong answer."),
		refused: perServer("refused_total", "Answers that did not stand up to their check."),
		hedges:  prometheus.NewCounter(prometheus.CounterOpts{Name: "tonscribe_lite_hedges_total", Help: "Requests sent to a second lite server because the first was slow."}),
		head:    gauge("head_seqno", "Newest masterchain block that was proven."),
		trusted: gauge("trusted_seqno", "Newest key block that was proven."),
	}
	var err error
	m.connected = registered(r, m.connected, &err)
	m.latency = registered(r, m.latency, &err)
	m.requests = registered(r, m.requests, &err)
	m.strikes = registered(r, m.strikes, &err)
	m.refused = registered(r, m.refused, &err)
	m.hedges = registered(r, m.hedges, &err)
	m.head = registered(r, m.head, &err)
	m.trusted = registered(r, m.trusted, &err)
	return m, err
}

func registered[C prometheus.Collector](r prometheus.Registerer, made C, failed *error) C {
	err := r.Register(made)
	var there prometheus.AlreadyRegisteredError
	if errors.As(err, &there) {
		if same, ok := there.ExistingCollector.(C); ok {
			return same
		}
	}
	if err != nil && *failed == nil {
		*failed = fmt.Errorf("lite: metrics: %w", err)
	}
	return made
}
