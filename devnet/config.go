package devnet

import (
	"fmt"
	"net"
	"time"

	"tonscribe/devnet/chain"
)

// Configuration of the devnet.
type Configuration struct {
	// Dir is where the chain lives; a chain that is there goes on.
	Dir string `yaml:"-"`
	// Listen is the address of the lite server. Port 0 takes a free one, the same
	// as the last time when it can be had.
	Listen string `yaml:"listen"`
	// Seed of all keys, contracts and traffic. 0 is that of the chain in Dir, or 1.
	Seed uint64 `yaml:"seed"`
	// Consensus is simplex or catchain: how blocks are signed. Empty is that of the
	// chain in Dir, or simplex.
	Consensus chain.Consensus `yaml:"consensus"`
	// TPS is about how many transactions a second the traffic causes, of the time
	// of the chain; 0 is no traffic.
	TPS float64 `yaml:"tps"`
	// Interval from one masterchain block to the next.
	Interval time.Duration `yaml:"interval"`
	// FixedTime makes the time of the chain begin at this Unix time and advance by
	// Interval with every block, so that the same seed gives the same chain, byte
	// for byte. 0 is that of the chain in Dir, or the wall clock.
	FixedTime uint32 `yaml:"fixed_time"`
	// Reshard makes every that many masterchain blocks a shard split or, when there
	// are MaxShards, two of them merge; 0 never.
	Reshard   uint32 `yaml:"reshard"`
	MaxShards int    `yaml:"max_shards"`
	// MempoolSize bounds the external messages that wait for a block, MempoolTTL
	// how long one may.
	MempoolSize int           `yaml:"mempool_size"`
	MempoolTTL  time.Duration `yaml:"mempool_ttl"`
	// BlockMessages is how many of them go into one block at most.
	BlockMessages int `yaml:"block_messages"`
}

// DefaultConfiguration leaves a small machine mostly idle.
func DefaultConfiguration() Configuration {
	return Configuration{
		Listen: "127.0.0.1:0", TPS: 20, Interval: time.Second, MaxShards: 4,
		MempoolSize: 10_000, MempoolTTL: 5 * time.Minute, BlockMessages: 2000,
	}
}

// maxFixedTime leaves ten years before times of block.tlb, 32 bits wide, end.
const maxFixedTime = 4_000_000_000 - 10*365*86400

// Validate names the first value that makes no sense.
func (c Configuration) Validate() error {
	if _, _, err := net.SplitHostPort(c.Listen); err != nil {
		return fmt.Errorf("devnet: listen: %w", err)
	}
	switch c.Consensus {
	case "", chain.Simplex, chain.Catchain:
	default:
		return fmt.Errorf("devnet: consensus %q: want simplex or catchain", c.Consensus)
	}
	switch {
	case c.FixedTime > maxFixedTime:
		return fmt.Errorf("devnet: fixed_time %d: want a Unix time up to %d (the year 2086)", c.FixedTime, uint32(maxFixedTime))
	case c.Interval < 10*time.Millisecond || c.Interval > time.Hour:
		return fmt.Errorf("devnet: interval %s: want 10ms to 1h", c.Interval)
	case c.TPS < 0 || c.TPS > 100_000:
		return fmt.Errorf("devnet: tps %g: want 0 to 100000", c.TPS)
	case c.MaxShards < 2 || c.MaxShards > 16:
		return fmt.Errorf("devnet: max_shards %d: want 2 to 16", c.MaxShards)
	case c.MempoolSize < 1 || c.BlockMessages < 1:
		return fmt.Errorf("devnet: mempool_size and block_messages must be above 0")
	case c.MempoolTTL <= 0:
		return fmt.Errorf("devnet: mempool_ttl must be above 0")
	}
	return nil
}
