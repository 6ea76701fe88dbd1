package devnet

import (
	"path/filepath"
	"testing"
	"time"

	"tonscribe/devnet/packages"
)

// Whatever is asked for, the basechain has its shards when the devnet has
// started, and blocks follow.
func TestEveryCombinationOfSettingsGivesAChainThatGoesOn(t *testing.T) {
	for name, set := range map[string]func(*Configuration){
		"fixed time, 20 blocks a second":       func(c *Configuration) { c.FixedTime, c.Interval = 1_700_000_000, 50*time.Millisecond },
		"fixed time, 100 blocks a second":      func(c *Configuration) { c.FixedTime, c.Interval, c.TPS = 1_700_000_000, 10*time.Millisecond, 1000 },
		"fixed time, a block an hour":          func(c *Configuration) { c.FixedTime, c.Interval = 1_700_000_000, time.Hour },
		"fixed time at the beginning of time":  func(c *Configuration) { c.FixedTime = 1 },
		"fixed time far in the future":         func(c *Configuration) { c.FixedTime = maxFixedTime },
		"no traffic":                           func(c *Configuration) { c.TPS = 0 },
		"one transaction in a thousand blocks": func(c *Configuration) { c.TPS = 0.02 },
		"100 blocks a second":                  func(c *Configuration) { c.Interval = 10 * time.Millisecond },
		"a block an hour":                      func(c *Configuration) { c.Interval = time.Hour },
		"two shards for ever":                  func(c *Configuration) { c.MaxShards, c.Reshard = 2, 1 },
		"many shards":                          func(c *Configuration) { c.MaxShards, c.Reshard = 16, 1 },
		"a mempool of one":                     func(c *Configuration) { c.MempoolSize, c.BlockMessages = 1, 1 },
	} {
		t.Run(name, func(t *testing.T) {
			c := liveConfiguration(t.TempDir())
			set(&c)
			d := live(t, c)
			if n := len(d.Shards()); n < minShards {
				t.Errorf("%d shards after the start, want at least %d", n, minShards)
			}
			if c.Interval > time.Minute {
				return // the next block is not waited for
			}
			want := d.Seqno() + 5
			await(t, d, "five more blocks", func() bool { return d.Seqno() >= want })
		})
	}
}

// Blocks may be as far apart as one likes: what was announced happens in them.
func TestShardsSplitAndMergeAtEveryPace(t *testing.T) {
	for _, interval := range []time.Duration{10 * time.Millisecond, time.Second, time.Minute, time.Hour} {
		t.Run(interval.String(), func(t *testing.T) {
			c := DefaultConfiguration()
			c.Seed, c.TPS, c.FixedTime, c.Interval, c.MaxShards = 3, 0, 1_700_000_000, interval, 4
			d := still(t, t.TempDir(), c)
			until := func(shards int) {
				t.Helper()
				limit := d.Seqno() + d.clock.blocksIn(20)
				for len(d.Shards()) != shards {
					if d.Seqno() >= limit {
						t.Fatalf("%d shards after block %d, want %d", len(d.Shards()), d.Seqno(), shards)
					}
					must(t, d.step(time.Now()))
				}
			}
			until(2)
			must(t, d.Split(0))
			until(3)
			must(t, d.Merge(0))
			until(2)
			must(t, d.close(t.Context()))
		})
	}
}

func TestSettingsThatMakeNoSenseAreRefused(t *testing.T) {
	for name, set := range map[string]func(*Configuration){
		"no interval":                    func(c *Configuration) { c.Interval = 0 },
		"a tiny interval":                func(c *Configuration) { c.Interval = time.Millisecond },
		"a huge interval":                func(c *Configuration) { c.Interval = 2 * time.Hour },
		"less than no traffic":           func(c *Configuration) { c.TPS = -1 },
		"more traffic than can be":       func(c *Configuration) { c.TPS = 1e9 },
		"one shard":                      func(c *Configuration) { c.MaxShards = 1 },
		"more shards than can be":        func(c *Configuration) { c.MaxShards = 17 },
		"a time at which the world ends": func(c *Configuration) { c.FixedTime = maxFixedTime + 1 },
		"no address":                     func(c *Configuration) { c.Listen = "here" },
		"no room for messages":           func(c *Configuration) { c.MempoolSize = 0 },
		"messages without time":          func(c *Configuration) { c.MempoolTTL = 0 },
	} {
		c := DefaultConfiguration()
		set(&c)
		if err := c.Validate(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	g := DefaultGeneration()
	g.Out, g.Format, g.Transactions, g.Interval = filepath.Join(t.TempDir(), "out"), packages.FormatFiles, 10, 0
	if _, err := Generate(t.Context(), g); err == nil {
		t.Error("a generation without an interval: no error")
	}
}
