package worker

import (
	"bytes"
	"math"
	"testing"
	"time"

	"tonscribe/decode"
	"tonscribe/internal/report"
	"tonscribe/schema"
	"tonscribe/schema/record"
)

func TestParametersOfTheChainAreInTheFirstPartitionOfTheirBundles(t *testing.T) {
	bundles := realBundles(t)
	want := map[uint32][]byte{}
	for _, s := range bundles {
		for _, raw := range s.blocks {
			r, err := decode.Block(raw.Boc, s.mcSeqno)
			if err != nil {
				t.Fatal(err)
			}
			if r.Config != nil {
				want[s.mcSeqno] = r.Config
			}
		}
	}
	if want[1] == nil {
		boc, err := zerostates(t)(t.Context(), masterZerostate(t, bundles[0]))
		if err != nil {
			t.Fatal(err)
		}
		z, err := new(decode.Decoder).State(boc)
		if err != nil {
			t.Fatal(err)
		}
		want[1] = z.Config
	}
	s := onEmbedded(t, 2)
	configuration := DefaultConfiguration()
	configuration.Cells.Dir = t.TempDir()
	s.run(bundles, configuration, zerostates(t))
	for partition, records := range s.output(schema.Accounts, bundles[len(bundles)-1].mcSeqno, time.Minute) {
		got := map[uint32][]byte{}
		for _, r := range records {
			if config := r.GetAccounts().GetConfig(); len(config) > 0 {
				got[r.McSeqno] = config
			}
		}
		expected := want
		if partition > 0 {
			expected = nil
		}
		if len(got) != len(expected) {
			t.Errorf("partition %d: parameters in %d bundles, want %d", partition, len(got), len(expected))
		}
		for mcSeqno, config := range expected {
			if !bytes.Equal(got[mcSeqno], config) {
				t.Errorf("partition %d, bundle %d: %d bytes of parameters, want %d", partition, mcSeqno, len(got[mcSeqno]), len(config))
			}
		}
	}
	if len(want) < 10 {
		t.Errorf("only %d bundles bring parameters", len(want))
	}
}

// masterZerostate is what the first masterchain block follows.
func masterZerostate(t *testing.T, first *source) *record.BlockId {
	t.Helper()
	raw := first.blocks[len(first.blocks)-1]
	r, err := decode.Block(raw.Boc, first.mcSeqno)
	if err != nil {
		t.Fatal(err)
	}
	id := begins(r.Block)
	if id == nil {
		t.Fatal("the first masterchain block does not follow a zerostate")
	}
	return id
}

func TestSettingsThatMakeNoSenseAreRefused(t *testing.T) {
	for name, change := range map[string]func(*Configuration){
		"any number of decoders":   func(c *Configuration) { c.Decoders = math.MaxInt },
		"any number of bundles":    func(c *Configuration) { c.MaxBundles = math.MaxInt },
		"less than no time at all": func(c *Configuration) { c.CommitEvery = -time.Second },
	} {
		c := DefaultConfiguration()
		change(&c)
		if _, err := New(c, Dependencies{Report: report.Silent()}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
