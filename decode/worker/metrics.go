package worker

import "github.com/prometheus/client_golang/prometheus"

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

func newMetrics(registry prometheus.Registerer) *metrics {
	partition := []string{"partition"}
	counter := func(name, help string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "tonscribe_decode_" + name, Help: help}, partition)
	}
	gauge := func(name, help string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "tonscribe_decode_" + name, Help: help}, partition)
	}
	seconds := func(name, help string) prometheus.Histogram {
		return prometheus.NewHistogram(prometheus.HistogramOpts{Name: "tonscribe_decode_" + name, Help: help,
			Buckets: prometheus.ExponentialBuckets(0.0001, 4, 9)})
	}
	m := &metrics{
		blocks:       counter("blocks_total", "Blocks decoded."),
		transactions: counter("transactions_total", "Transactions published."),
		accounts:     counter("accounts_total", "Accounts published, once for each bundle that changes them."),
		bundles:      counter("bundles_total", "Bundles published."),
		bundle:       gauge("bundle", "Masterchain seqno of the last published bundle."),
		inFlight:     gauge("in_flight_bytes", "Raw blocks that are being decoded or published."),
		stopped:      gauge("stopped", "1 while a partition stands still at a block that does not decode."),
		gaps:         counter("gaps_total", "Times that the log did not have the bundle any more which the cell store needs next."),
		failures:     counter("failures_total", "Blocks that did not decode; each try counts."),
		decoding:     seconds("block_seconds", "Time to decode a block."),
		publishing:   seconds("publish_seconds", "Time to publish one or more bundles in a partition."),
	}
	m.problems = prometheus.NewCounter(prometheus.CounterOpts{Name: "tonscribe_decode_account_problems_total",
		Help: "Accounts whose state is not the one that their transactions name. Each is in the log."})
	m.missing = prometheus.NewCounterVec(prometheus.CounterOpts{Name: "tonscribe_decode_account_missing_total",
		Help: "What neither block nor cell store had of an account's state: before, extra, code, data or libraries."}, []string{"what"})
	m.fetches = prometheus.NewCounterVec(prometheus.CounterOpts{Name: "tonscribe_decode_fetches_total",
		Help: "What became of requests to lite servers for states: taken, refused (no state, or that of another moment), failed (tried again), dropped (the queue was full)."}, []string{"outcome"})
	m.fetchQueue = gauge("fetch_queue", "Accounts whose states lite servers are to be asked for.")
	for _, c := range []prometheus.Collector{m.fetches, m.fetchQueue, m.gaps, m.accounts, m.problems, m.missing, m.blocks, m.transactions, m.bundles, m.bundle, m.inFlight, m.stopped, m.failures, m.decoding, m.publishing} {
		registry.MustRegister(c)
	}
	return m
}

// begin has the counters of a partition that somebody is alarmed by from its beginning
// on: alarms are for what a counter rises by.
func (m *metrics) begin(partition string) {
	m.gaps.WithLabelValues(partition)
	m.failures.WithLabelValues(partition)
}
