package detect

import (
	"github.com/prometheus/client_golang/prometheus"

	"tonscribe/decode/contract"
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

func newMetrics(registry prometheus.Registerer) *metrics {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: "tonscribe_contracts_" + name, Help: help})
	}
	vector := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "tonscribe_contracts_" + name, Help: help}, labels)
	}
	m := &metrics{
		accounts:  counter("accounts_total", "Changed accounts."),
		looks:     counter("looks_total", "Changed accounts that were looked into: their code has methods of interest."),
		unread:    vector("unread_total", "Changed accounts that could not be looked into, or not into all, by what was missing; of parents that could not answer, once for each claim.", "missing"),
		runs:      vector("runs_total", "Runs of get-methods, by how they ended.", "result"),
		gas:       counter("gas_total", "Gas that get-methods took."),
		exhausted: counter("exhausted_total", "Runs that ended for want of gas or time."),
		broken:    counter("broken_total", "Looks that broken cells ended."),
		cut:       counter("cut_total", "Contents of tokens that are larger than what is read of one."),
		verdicts:  vector("verdicts_total", "Claims that parents were asked about.", "claim", "verdict"),
		waiting:   counter("waiting_total", "Claims whose parent was not known when they came up."),
		retried:   counter("retried_total", "Claims that were checked again because the parent had appeared."),
		reread:    counter("reread_total", "Accounts that were looked into when their code or library had come."),
		libraries: counter("libraries_total", "Public libraries of the masterchain that became known."),
		wanted: prometheus.NewGauge(prometheus.GaugeOpts{Name: "tonscribe_contracts_fetch_queue",
			Help: "Parents of claims, libraries and parameters of the chain that lite servers are to be asked for."}),
		fetches: vector("fetches_total", "What became of requests to lite servers: taken, absent, refused, failed (tried again), dropped (the queue was full).", "what", "outcome"),
		rows:    vector("rows_total", "Rows published.", "kind"),
		held:    vector("held_total", "Transfers and burns that waited for the check of their account, and what became of them.", "outcome"),
	}
	for _, c := range []prometheus.Collector{m.accounts, m.looks, m.unread, m.runs, m.gas, m.exhausted,
		m.broken, m.cut, m.verdicts, m.waiting, m.retried, m.reread, m.libraries, m.wanted, m.fetches, m.rows, m.held} {
		registry.MustRegister(c)
	}
	return m
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
