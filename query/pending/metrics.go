package pending

import (
	"github.com/prometheus/client_golang/prometheus"

	"tonscribe/internal/report"
)

type metrics struct {
	messages     *prometheus.CounterVec
	transactions prometheus.Counter
	took         prometheus.Histogram
	traces       prometheus.Gauge
	bytes        prometheus.Gauge
	evicted      *prometheus.CounterVec
	shared       *prometheus.CounterVec
}

// What became of messages that were sent.
const (
	resultShown   = "shown"
	resultCut     = "cut"     // a limit, or a failure, came before the end
	resultRefused = "refused" // its receiver does not accept it now
	resultFailed  = "failed"
	resultFlood   = "flood" // its sender has too many on the way
	resultFull    = "full"  // too many wait
)

// Why traces are not held any more.
const (
	evictedLate    = "late"
	evictedTraces  = "traces"
	evictedBytes   = "bytes"
	evictedAccount = "account"
	evictedDone    = "done" // the index has the trace
)

// What became of traces for other replicas.
const (
	sharedSent    = "sent"
	sharedFailed  = "failed"
	sharedDropped = "dropped" // too many waited
	sharedTaken   = "taken"   // from another replica, or itself
)

func newMetrics(r report.Reporter) *metrics {
	m := r.Meter("pending")
	return &metrics{
		messages:     m.Counters("messages_total", "Messages that were sent, by what became of the foresight.", "result"),
		transactions: m.Counter("transactions_total", "Transactions that were foreseen."),
		took:         m.Histogram("seconds", "Time from a message's acceptance until its trace is shown.", 0.001, 2, 13),
		traces:       m.Gauge("traces", "Pending traces that are held."),
		bytes:        m.Gauge("bytes", "Bytes of their records."),
		evicted:      m.Counters("evicted_total", "Pending traces that are not held any more, by the reason.", "reason"),
		shared:       m.Counters("shared_total", "Pending traces to and from other replicas.", "result"),
	}
}
