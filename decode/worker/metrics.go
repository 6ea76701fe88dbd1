package worker

import (
	"github.com/prometheus/client_golang/prometheus"

	"tonscribe/internal/report"
)

type metrics struct {
	blocks       *prometheus.CounterVec
	transactions *prometheus.CounterVec
	accounts     *prometheus.CounterVec
	bundles      *prometheus.CounterVec
	bundle       *prometheus.GaugeVec
	inFlight     *prometheus.GaugeVec
	stopped      *prometheus.GaugeVec
	failures     *prometheus.CounterVec
	decoding     prometheus.Histogram
	publishing   prometheus.Histogram
	problems     prometheus.Counter
	missing      *prometheus.CounterVec
	fetches      *prometheus.CounterVec
	fetchQueue   *prometheus.GaugeVec
	gaps         *prometheus.CounterVec
}

func newMetrics(m report.Meter) *metrics {
	const partition = "partition"
	return &metrics{
		blocks:       m.Counters("blocks_total", "Blocks decoded.", partition),
		transactions: m.Counters("transactions_total", "Transactions published.", partition),
		accounts:     m.Counters("accounts_total", "Accounts published, once for each bundle that changes them.", partition),
		bundles:      m.Counters("bundles_total", "Bundles published.", partition),
		bundle:       m.Gauges("bundle", "Masterchain seqno of the last published bundle.", partition),
		inFlight:     m.Gauges("in_flight_bytes", "Raw blocks that are being decoded or published.", partition),
		stopped:      m.Gauges("stopped", "1 while a partition stands still at a block that does not decode.", partition),
		failures:     m.Counters("failures_total", "Blocks that did not decode; each try counts.", partition),
		decoding:     m.Histogram("block_seconds", "Time to decode a block.", 0.0001, 4, 9),
		publishing:   m.Histogram("publish_seconds", "Time to publish one or more bundles in a partition.", 0.0001, 4, 9),
		problems:     m.Counter("account_problems_total", "Accounts whose state is not the one that their transactions name. Each is in the log."),
		missing:      m.Counters("account_missing_total", "What neither block nor cell store had of an account's state: before, extra, code, data or libraries.", "what"),
		fetches:      m.Counters("fetches_total", "What became of requests to lite servers for states: taken, refused (no state, or that of another moment), failed (tried again), dropped (the queue was full).", "outcome"),
		fetchQueue:   m.Gauges("fetch_queue", "Accounts whose states lite servers are to be asked for.", partition),
		gaps:         m.Counters("gaps_total", "Times that the log did not have the bundle any more which the cell store needs next.", partition),
	}
}

// begin has the counters of a partition that somebody is alarmed by from its beginning
// on: alarms are for what a counter rises by.
func (m *metrics) begin(partition string) {
	m.gaps.WithLabelValues(partition)
	m.failures.WithLabelValues(partition)
}
