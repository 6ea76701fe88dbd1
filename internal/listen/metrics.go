package listen

import (
	"github.com/prometheus/client_golang/prometheus"

	"tonscribe/internal/report"
)

// Why a connection was closed or refused.
const (
	overAll     = "all"     // too many connections
	overAddress = "address" // too many from one address
	overBytes   = "bytes"   // too much is held
	overFiles   = "files"   // no descriptors left
)

type metrics struct {
	refused, shed                  *prometheus.CounterVec
	bodiesLate, answersLate, retry prometheus.Counter
}

func newMetrics(r report.Reporter, name string, l *Listener) metrics {
	m := r.Meter("listen").With("listener", name)
	m.GaugeOf("connections", "Open connections.", func() float64 {
		open, _ := l.Open()
		return float64(open)
	})
	m.GaugeOf("held_bytes", "Bytes held of unfinished requests and of answers that were not taken.", func() float64 { return float64(l.held.Load()) })
	late := m.Counters("late_total", "Connections closed because a body did not arrive, or an answer was not taken, in time.", "what")
	refused := m.Counters("refused_total", "New connections closed at once, by the bound they were over.", "bound")
	shed := m.Counters("shed_total", "Connections that waited for their client and made room for others, by the bound that asked for it.", "bound")
	for _, c := range []*prometheus.CounterVec{refused, shed} {
		for _, bound := range []string{overAll, overAddress, overBytes, overFiles} { // from the beginning on: alarms are for what a counter rises by
			c.WithLabelValues(bound)
		}
	}
	return metrics{
		refused: refused, shed: shed,
		retry:      m.Counter("accept_failures_total", "Failures to accept a connection that were tried again."),
		bodiesLate: late.WithLabelValues("body"), answersLate: late.WithLabelValues("answer"),
	}
}
