package listen

import "github.com/prometheus/client_golang/prometheus"

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

func newMetrics(registry prometheus.Registerer, name string, l *Listener) metrics {
	registry = prometheus.WrapRegistererWith(prometheus.Labels{"listener": name}, registry)
	late := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "tonscribe_listen_late_total", Help: "Connections closed because a body did not arrive, or an answer was not taken, in time.",
	}, []string{"what"})
	m := metrics{
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "tonscribe_listen_refused_total", Help: "New connections closed at once, by the bound they were over.",
		}, []string{"bound"}),
		shed: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "tonscribe_listen_shed_total", Help: "Connections that waited for their client and made room for others, by the bound that asked for it.",
		}, []string{"bound"}),
		retry: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "tonscribe_listen_accept_failures_total", Help: "Failures to accept a connection that were tried again.",
		}),
		bodiesLate: late.WithLabelValues("body"), answersLate: late.WithLabelValues("answer"),
	}
	registry.MustRegister(m.refused, m.shed, m.retry, late,
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "tonscribe_listen_connections", Help: "Open connections."}, func() float64 {
			open, _ := l.Open()
			return float64(open)
		}),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "tonscribe_listen_held_bytes", Help: "Bytes held of unfinished requests and of answers that were not taken."}, func() float64 {
			return float64(l.held.Load())
		}))
	return m
}
