package emulator

import "github.com/prometheus/client_golang/prometheus"

type metrics struct {
	executions *prometheus.CounterVec
	started    prometheus.Counter
	took       prometheus.Histogram
}

// Results of executions.
const (
	resultDone    = "done"
	resultRefused = "refused" // too large to be executed
	resultGone    = "gone"    // the caller did not wait
	resultLimits  = "limits"
)

func newMetrics(registry prometheus.Registerer) *metrics {
	m := &metrics{
		executions: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "tonscribe_emulator_executions_total", Help: "Transactions given to the emulator, by what became of them."}, []string{"result"}),
		started: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "tonscribe_emulator_processes_started_total", Help: "Processes started to execute transactions."}),
		took: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "tonscribe_emulator_seconds", Help: "Time of one execution in its process.", Buckets: prometheus.ExponentialBuckets(0.0005, 2, 14)}),
	}
	registry.MustRegister(m.executions, m.started, m.took)
	return m
}

func (m *metrics) done(result string) { m.executions.WithLabelValues(result).Inc() }
