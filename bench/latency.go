package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"tonscribe/devnet"
)

// Live is a devnet that produces, and all stages on top of it.
type Live struct {
	Running
	// API is the address of the API, http://HOST:PORT, and Key a key for it.
	API, Key string
	// Seed is the devnet's.
	Seed uint64
	// Produced tells of every masterchain block.
	Produced <-chan devnet.Produced
}

// latencyDefaults are what the figures of docs/performance.md are made with.
var latencyDefaults = map[string]string{"tps": "100", "interval": "1s"}

func latencyCommand(d Dependencies) *cobra.Command {
	blocks, warm := 120, 10
	cmd := &cobra.Command{
		Use:   "latency",
		Short: "Measure the time from a block's production until the API shows it",
		Long: `Measure the time from a block's production until the API shows it.

A devnet and all stages run in this process, as with 'tonscribe up'. Time counts
from the moment when the devnet has stored a masterchain block with its shard
blocks, so that its lite server gives them to anybody, until
/api/v3/masterchainInfo names it. Without --data everything is in a temporary
folder.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return d.watch(cmd, latencyDefaults, 0, func(ctx context.Context, l Live) error {
				return l.measure(ctx, outputOf(cmd), blocks, warm)
			})
		},
	}
	cmd.Flags().IntVar(&blocks, "blocks", blocks, "`NUMBER` of masterchain blocks to measure")
	cmd.Flags().IntVar(&warm, "warm-up", warm, "`NUMBER` of masterchain blocks before that")
	d.addLiveFlags(cmd)
	return cmd
}

func (d Dependencies) addLiveFlags(cmd *cobra.Command) {
	d.addFlags(cmd)
	if d.DevnetFlags != nil {
		d.DevnetFlags(cmd)
	}
}

// watch lets a benchmark look at a devnet with all stages. Flags that nobody gave have
// the defaults, and without --data everything is in a folder that is deleted then.
func (d Dependencies) watch(cmd *cobra.Command, defaults map[string]string, streams int, look func(context.Context, Live) error) error {
	for flag, value := range defaults {
		if f := cmd.Flags().Lookup(flag); f != nil && !f.Changed {
			if err := cmd.Flags().Set(flag, value); err != nil {
				return err
			}
		}
	}
	if f := cmd.Flags().Lookup("data"); f != nil && !f.Changed {
		dir, err := os.MkdirTemp("", "tonscribe-bench-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		if err := f.Value.Set(dir); err != nil {
			return err
		}
		f.Changed = true
	}
	return d.Live(cmd.Context(), cmd, streams, look)
}

// measure prints the figures of so many blocks, after some that are not counted.
func (l Live) measure(ctx context.Context, out *output, blocks, warm int) error {
	if blocks < 1 || warm < 0 {
		return fmt.Errorf("--blocks %d, --warm-up %d: want at least 1 and 0", blocks, warm)
	}
	var visible, making []time.Duration
	transactions := 0
	var first, last time.Time
	for len(visible) < blocks {
		p, err := l.next(ctx)
		if err != nil {
			return err
		}
		at, err := l.seen(ctx, p.Seqno)
		if err != nil {
			return err
		}
		if warm--; warm >= 0 {
			first = p.At
			continue
		}
		last = p.At
		visible, making = append(visible, at.Sub(p.At)), append(making, p.Took)
		transactions += p.Transactions
	}
	out.head("figure", "value", "unit")
	out.times("produced to visible", visible)
	out.times("making a block", making)
	if !first.IsZero() {
		out.figure("traffic", float64(transactions)/last.Sub(first).Seconds(), "transactions/s", transactions)
	}
	return out.err
}

// times are figures of some durations, which are sorted then.
func (o *output) times(name string, all []time.Duration) {
	slices.Sort(all)
	for _, part := range []struct {
		name string
		rank float64
	}{{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"max", 1}} {
		o.figure(name+" "+part.name, float64(rank(all, part.rank).Microseconds())/1000, "ms", len(all))
	}
}

// rank is the smallest value that a part of all is not above.
func rank(sorted []time.Duration, part float64) time.Duration {
	return sorted[max(0, int(float64(len(sorted))*part+0.999999)-1)]
}

func (l Live) next(ctx context.Context) (devnet.Produced, error) {
	select {
	case p, ok := <-l.Produced:
		if !ok {
			return p, fmt.Errorf("the devnet ended")
		}
		return p, nil
	case <-ctx.Done():
		return devnet.Produced{}, context.Cause(ctx)
	}
}

// lookEvery is the pause between two requests; a request itself takes less than
// a millisecond.
const lookEvery = 2 * time.Millisecond

// seen asks until the API shows a masterchain block, and says when it did.
func (l Live) seen(ctx context.Context, seqno uint32) (time.Time, error) {
	for {
		shown, err := l.shown(ctx)
		if err != nil {
			return time.Time{}, err
		}
		if shown >= seqno {
			return time.Now(), nil
		}
		select {
		case <-time.After(lookEvery):
		case <-ctx.Done():
			return time.Time{}, context.Cause(ctx)
		}
	}
}

// shown is the newest masterchain block of the API, 0 for none.
func (l Live) shown(ctx context.Context) (uint32, error) {
	a := &asker{base: l.API + "/api/v3", key: l.Key, client: http.DefaultClient}
	got, err := a.get(ctx, "/masterchainInfo")
	var info struct {
		Last struct {
			Seqno uint32 `json:"seqno"`
		} `json:"last"`
	}
	switch {
	case err != nil:
		return 0, err
	case got.status == http.StatusOK:
		err = json.Unmarshal(got.body, &info)
		return info.Last.Seqno, err
	case got.status == http.StatusInternalServerError && bytes.Contains(got.body, []byte("is indexed yet")):
		return 0, nil
	}
	return 0, fmt.Errorf("%s/masterchainInfo: %d %s: %.1000s", a.base, got.status, http.StatusText(got.status), got.body)
}
