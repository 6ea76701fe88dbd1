package devnet

import (
	"github.com/prometheus/client_golang/prometheus"

	"tonscribe/internal/report"
)

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

func newMetrics(m report.Meter) *metrics {
	return &metrics{
		blocks:       m.Counter("blocks_total", "Blocks made, of all workchains."),
		transactions: m.Counter("transactions_total", "Transactions in the blocks made."),
		refused:      m.Counter("refused_total", "External messages that no account accepted when their block was made."),
		received:     m.Counters("messages_total", "External messages sent to the devnet, by what became of them.", "result"),
		mempool:      m.Gauge("mempool_messages", "External messages that wait for a block."),
		shards:       m.Gauge("shards", "Shards of the basechain."),
		seqno:        m.Gauge("masterchain_seqno", "Newest masterchain block."),
		took:         m.Histogram("bundle_seconds", "Time to make and store a masterchain block with its shard blocks.", 0.001, 2, 14),
	}
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
