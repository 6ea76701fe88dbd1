package devnet

import "github.com/prometheus/client_golang/prometheus"

type metrics struct {
	blocks       prometheus.Counter
	transactions prometheus.Counter
	refused      prometheus.Counter
	received     *prometheus.CounterVec
	mempool      prometheus.Gauge
	shards       prometheus.Gauge
	seqno        prometheus.Gauge
	took         prometheus.Histogram
}

func newMetrics(registry prometheus.Registerer) *metrics {
	m := &metrics{
		blocks: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "tonscribe_devnet_blocks_total", Help: "Blocks made, of all workchains."}),
		transactions: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "tonscribe_devnet_transactions_total", Help: "Transactions in the blocks made."}),
		refused: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "tonscribe_devnet_refused_total", Help: "External messages that no account accepted when their block was made."}),
		received: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "tonscribe_devnet_messages_total", Help: "External messages sent to the devnet, by what became of them."}, []string{"result"}),
		mempool: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "tonscribe_devnet_mempool_messages", Help: "External messages that wait for a block."}),
		shards: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "tonscribe_devnet_shards", Help: "Shards of the basechain."}),
		seqno: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "tonscribe_devnet_masterchain_seqno", Help: "Newest masterchain block."}),
		took: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "tonscribe_devnet_bundle_seconds", Help: "Time to make and store a masterchain block with its shard blocks.",
			Buckets: prometheus.ExponentialBuckets(0.001, 2, 14)}),
	}
	registry.MustRegister(m.blocks, m.transactions, m.refused, m.received, m.mempool, m.shards, m.seqno, m.took)
	return m
}

// Results of messages that were sent.
const (
	resultQueued    = "queued"
	resultDuplicate = "duplicate"
	resultRefused   = "refused"
	resultExpired   = "expired"
	resultNoRoom    = "no_room"
	resultDropped   = "dropped"
)
