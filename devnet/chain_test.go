package devnet

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/xssnick/tonutils-go/tlb"

	"tonscribe/devnet/chain"
	"tonscribe/devnet/packages"
	"tonscribe/internal/report"
)

// still is a devnet whose blocks are made by hand: its clock does not run.
func still(t *testing.T, dir string, c Configuration) *Component {
	t.Helper()
	c.Dir = dir
	d, err := New(c, Dependencies{Report: report.Silent()})
	must(t, err)
	must(t, d.openChain())
	return d
}

func fixedConfiguration() Configuration {
	c := DefaultConfiguration()
	c.Seed, c.FixedTime, c.TPS, c.Reshard = 7, 1_700_000_000, 40, 5
	return c
}

// chainOf is every block of a devnet by its name.
func chainOf(t *testing.T, d *Component) map[string][]byte {
	t.Helper()
	blocks := map[string][]byte{}
	for seqno := uint32(1); seqno <= d.Seqno(); seqno++ {
		b, err := d.history.Bundle(seqno)
		must(t, err)
		for _, block := range append(b.Shards, b.Master) {
			blocks[fmt.Sprintf("%d_%016x_%d", block.ID.Workchain, uint64(block.ID.Shard), block.ID.SeqNo)] = block.Data
		}
	}
	return blocks
}

func compareChains(t *testing.T, what string, got, want map[string][]byte) {
	t.Helper()
	for name, data := range want {
		if other, ok := got[name]; !ok {
			t.Errorf("%s: block %s is missing", what, name)
		} else if !bytes.Equal(other, data) {
			t.Errorf("%s: block %s has %d other bytes than the %d wanted", what, name, len(other), len(data))
		}
	}
	if len(got) != len(want) {
		t.Errorf("%s: %d blocks, want %d", what, len(got), len(want))
	}
}

const testBlocks = 24

func TestSameSeedAndClockGiveTheSameChainByteForByte(t *testing.T) {
	c := fixedConfiguration()
	once := still(t, t.TempDir(), c)
	for range testBlocks {
		must(t, once.step(time.Now()))
	}
	want := chainOf(t, once)
	must(t, once.close(t.Context()))
	transactions := once.Last().Transactions
	if transactions == 0 {
		t.Error("the last block has no transactions")
	}

	t.Run("stopped and resumed", func(t *testing.T) {
		dir := t.TempDir()
		for seqno := 0; seqno < testBlocks; {
			d := still(t, dir, c)
			for range 5 {
				if seqno++; seqno > testBlocks {
					break
				}
				must(t, d.step(time.Now()))
			}
			if d.Seqno() == testBlocks {
				compareChains(t, "resumed", chainOf(t, d), want)
			}
			must(t, d.close(t.Context()))
		}
	})

	t.Run("generated", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "out")
		g := DefaultGeneration()
		g.Out, g.Format, g.Seed, g.FixedTime, g.PerBlock, g.Reshard, g.Transactions = dir, packages.FormatFiles, c.Seed, c.FixedTime, 40, c.Reshard, 1<<40
		ended := fmt.Errorf("enough blocks")
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		g.Progress = func(done Generated) {
			if done.Seqno == testBlocks {
				cancel(ended)
			}
		}
		if _, err := Generate(ctx, g); err == nil {
			t.Fatal("the generation ended by itself")
		}
		got := map[string][]byte{}
		paths, err := filepath.Glob(filepath.Join(dir, "blocks", "*", "*.boc"))
		must(t, err)
		for _, path := range paths {
			name := filepath.Base(path)
			if got[name[:len(name)-4]], err = os.ReadFile(path); err != nil {
				t.Fatal(err)
			}
		}
		for name := range got {
			if _, ok := want[name]; !ok {
				delete(got, name) // made before it was told to end
			}
		}
		compareChains(t, "generated", got, want)
	})
}

func TestAnotherSeedIsRefusedForAChainThatIsThere(t *testing.T) {
	dir := t.TempDir()
	c := fixedConfiguration()
	d := still(t, dir, c)
	must(t, d.close(t.Context()))
	for name, change := range map[string]func(*Configuration){
		"seed":       func(c *Configuration) { c.Seed++ },
		"fixed time": func(c *Configuration) { c.FixedTime++ },
	} {
		other := c
		other.Dir = dir
		change(&other)
		if _, err := originOf(other, time.Now()); err == nil {
			t.Errorf("another %s is taken", name)
		}
	}
	same := DefaultConfiguration()
	same.Dir = dir
	if o, err := originOf(same, time.Now()); err != nil || o.Seed != c.Seed || o.GenesisTime != c.FixedTime {
		t.Errorf("without a seed: %+v, %v, want that of the chain", o, err)
	}
}

// A chain from before the config said what is burned goes on with its config.
func TestOnlyANewChainSaysWhatIsBurned(t *testing.T) {
	configuration := DefaultConfiguration()
	for stored, want := range map[string]bool{"": true, `{"seed":1,"genesis_time":7,"consensus":"simplex"}`: false} {
		configuration.Dir = t.TempDir()
		if stored != "" {
			must(t, os.WriteFile(filepath.Join(configuration.Dir, originFile), []byte(stored), 0o600))
		}
		for range 2 { // it is kept
			o, err := originOf(configuration, time.Now())
			must(t, err)
			m, err := newMaker(o, configuration, chain.Head{})
			must(t, err)
			burning, err := tlb.BlockchainConfig{Root: m.chain.Config()}.GetBurningConfig()
			if err != nil || burning.FeeBurnNum != 0 || (burning.FeeBurnDenom == 1) != want {
				t.Errorf("stored %q: %+v, %v, want that it is said: %v", stored, burning, err, want)
			}
		}
	}
}

func TestConsensusOfAChainNeverChanges(t *testing.T) {
	for name, c := range map[string]struct {
		stored string
		asked  chain.Consensus
		want   chain.Consensus
	}{
		"a new chain":                         {"", "", chain.Simplex},
		"a new chain of catchain":             {"", chain.Catchain, chain.Catchain},
		"an old chain":                        {`{"seed":1,"genesis_time":7}`, "", chain.Catchain},
		"an old chain, as it is":              {`{"seed":1,"genesis_time":7}`, chain.Catchain, chain.Catchain},
		"an old chain, otherwise":             {`{"seed":1,"genesis_time":7}`, chain.Simplex, ""},
		"a chain of simplex":                  {`{"seed":1,"genesis_time":7,"consensus":"simplex"}`, "", chain.Simplex},
		"a chain of simplex, but as catchain": {`{"seed":1,"genesis_time":7,"consensus":"simplex"}`, chain.Catchain, ""},
	} {
		configuration := DefaultConfiguration()
		configuration.Dir, configuration.Consensus = t.TempDir(), c.asked
		if c.stored != "" {
			must(t, os.WriteFile(filepath.Join(configuration.Dir, originFile), []byte(c.stored), 0o600))
		}
		o, err := originOf(configuration, time.Now())
		if (err == nil) != (c.want != "") || o.Consensus != c.want {
			t.Errorf("%s: %q (%v), want %q", name, o.Consensus, err, c.want)
		}
	}
}
