package emulator

import (
	"github.com/prometheus/client_golang/prometheus"

	"tonscribe/internal/report"
)

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

func newMetrics(r report.Reporter) *metrics {
	m := r.Meter("emulator")
	return &metrics{
		executions: m.Counters("executions_total", "Transactions given to the emulator, by what became of them.", "result"),
		started:    m.Counter("processes_started_total", "Processes started to execute transactions."),
		took:       m.Histogram("seconds", "Time of one execution in its process.", 0.0005, 2, 14),
	}
}

func (m *metrics) done(result string) { m.executions.WithLabelValues(result).Inc() }
