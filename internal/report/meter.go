package report

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
)

// Meter makes metrics whose names begin alike, and registers them. One that is
// registered already, by another component of the process, is shared with it.
type Meter struct {
	registry prometheus.Registerer
	prefix   string
}

// Meter makes metrics named tonscribe_PREFIX_….
func (r Reporter) Meter(prefix string) Meter { return Meter{r.Metrics, "tonscribe_" + prefix + "_"} }

// With gives all metrics a label.
func (m Meter) With(label, value string) Meter {
	return Meter{prometheus.WrapRegistererWith(prometheus.Labels{label: value}, m.registry), m.prefix}
}

func registered[C prometheus.Collector](m Meter, made C) C {
	if m.registry == nil {
		return made
	}
	var already prometheus.AlreadyRegisteredError
	if err := m.registry.Register(made); errors.As(err, &already) {
		return already.ExistingCollector.(C) // another kind under the name is a mistake in the program
	} else if err != nil {
		panic(err)
	}
	return made
}

// Counter is a counter without labels.
func (m Meter) Counter(name, help string) prometheus.Counter {
	return registered(m, prometheus.NewCounter(prometheus.CounterOpts{Name: m.prefix + name, Help: help}))
}

// Counters are counters by labels.
func (m Meter) Counters(name, help string, labels ...string) *prometheus.CounterVec {
	return registered(m, prometheus.NewCounterVec(prometheus.CounterOpts{Name: m.prefix + name, Help: help}, labels))
}

// Gauge is a gauge without labels.
func (m Meter) Gauge(name, help string) prometheus.Gauge {
	return registered(m, prometheus.NewGauge(prometheus.GaugeOpts{Name: m.prefix + name, Help: help}))
}

// Gauges are gauges by labels.
func (m Meter) Gauges(name, help string, labels ...string) *prometheus.GaugeVec {
	return registered(m, prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: m.prefix + name, Help: help}, labels))
}

// GaugeOf is a gauge whose value is asked for.
func (m Meter) GaugeOf(name, help string, value func() float64) {
	registered(m, prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: m.prefix + name, Help: help}, value))
}

// Histogram is a histogram without labels, of n buckets that grow by a factor.
func (m Meter) Histogram(name, help string, first, factor float64, n int) prometheus.Histogram {
	return registered(m, prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: m.prefix + name, Help: help, Buckets: prometheus.ExponentialBuckets(first, factor, n),
	}))
}

// Histograms are histograms by labels.
func (m Meter) Histograms(name, help string, first, factor float64, n int, labels ...string) *prometheus.HistogramVec {
	return registered(m, prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: m.prefix + name, Help: help, Buckets: prometheus.ExponentialBuckets(first, factor, n),
	}, labels))
}
