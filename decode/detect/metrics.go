package detect

import (
	"github.com/prometheus/client_golang/prometheus"

	"tonscribe/decode/contract"
	"tonscribe/internal/report"
)

type metrics struct {
	accounts  prometheus.Counter
	looks     prometheus.Counter
	unread    *prometheus.CounterVec
	runs      *prometheus.CounterVec
	gas       prometheus.Counter
	exhausted prometheus.Counter
	broken    prometheus.Counter
	cut       prometheus.Counter
	verdicts  *prometheus.CounterVec
	waiting   prometheus.Counter
	retried   prometheus.Counter
	reread    prometheus.Counter
	libraries prometheus.Counter
	wanted    prometheus.Gauge
	fetches   *prometheus.CounterVec
	rows      *prometheus.CounterVec
	held      *prometheus.CounterVec
}

func newMetrics(m report.Meter) *metrics {
	return &metrics{
		accounts:  m.Counter("accounts_total", "Changed accounts."),
		looks:     m.Counter("looks_total", "Changed accounts that were looked into: their code has methods of interest."),
		unread:    m.Counters("unread_total", "Changed accounts that could not be looked into, or not into all, by what was missing; of parents that could not answer, once for each claim.", "missing"),
		runs:      m.Counters("runs_total", "Runs of get-methods, by how they ended.", "result"),
		gas:       m.Counter("gas_total", "Gas that get-methods took."),
		exhausted: m.Counter("exhausted_total", "Runs that ended for want of gas or time."),
		broken:    m.Counter("broken_total", "Looks that broken cells ended."),
		cut:       m.Counter("cut_total", "Contents of tokens that are larger than what is read of one."),
		verdicts:  m.Counters("verdicts_total", "Claims that parents were asked about.", "claim", "verdict"),
		waiting:   m.Counter("waiting_total", "Claims whose parent was not known when they came up."),
		retried:   m.Counter("retried_total", "Claims that were checked again because the parent had appeared."),
		reread:    m.Counter("reread_total", "Accounts that were looked into when their code or library had come."),
		libraries: m.Counter("libraries_total", "Public libraries of the masterchain that became known."),
		wanted:    m.Gauge("fetch_queue", "Parents of claims, libraries and parameters of the chain that lite servers are to be asked for."),
		fetches:   m.Counters("fetches_total", "What became of requests to lite servers: taken, absent, refused, failed (tried again), dropped (the queue was full).", "what", "outcome"),
		rows:      m.Counters("rows_total", "Rows published.", "kind"),
		held:      m.Counters("held_total", "Transfers and burns that waited for the check of their account, and what became of them.", "outcome"),
	}
}

// observe counts a run of a get-method.
func (m *metrics) observe(r contract.Run) {
	result := "ok"
	switch {
	case r.Err != nil:
		result = "broken off"
	case r.ExitCode != 0 && r.ExitCode != 1:
		result = "failed"
	}
	m.runs.WithLabelValues(result).Inc()
	m.gas.Add(float64(r.Gas))
}
