package verify

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"tonscribe/decode"
	"tonscribe/devnet"
	"tonscribe/test/support/realdata"
)

// leaveOut is a folder of links to all files but some blocks. Files that are no
// blocks are there, too.
func leaveOut(t testing.TB, dir string, left func(*decode.BlockInfo) bool) string {
	t.Helper()
	to, n := t.TempDir(), 0
	eachFile(t, dir, func(path string, b *decode.BlockInfo) error {
		if b != nil && left(b) {
			n++
			return nil
		}
		return os.Symlink(path, filepath.Join(to, filepath.Base(path)))
	})
	if n == 0 {
		t.Fatal("no block was left out")
	}
	return to
}

// eachFile hands out the files below a folder; b is nil for those that are no
// blocks.
func eachFile(t testing.TB, dir string, take func(path string, b *decode.BlockInfo) error) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		boc, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		b, err := decode.Header(boc)
		if err != nil {
			b = nil
		}
		return take(path, b)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func masters(from, to uint32) func(*decode.BlockInfo) bool {
	return func(b *decode.BlockInfo) bool {
		return b.ID.Workchain == masterchain && from <= b.ID.Seqno && b.ID.Seqno <= to
	}
}

func oneShardBlock(seqno uint32) func(*decode.BlockInfo) bool {
	return func(b *decode.BlockInfo) bool { return b.ID.Workchain == 0 && b.ID.Seqno == seqno }
}

// Where bundles were skipped, all tables are what they should be: every account
// stands once in the ranking, with the newest balance that was seen, and nothing
// is asked for that lies in a gap.
func TestTablesWithGapsAreClean(t *testing.T) {
	mainnet := realdata.Path(t, "blocks", "mainnet_genesis_mc1-199")
	for _, c := range []struct {
		name       string
		left       []func(*decode.BlockInfo) bool
		partitions int
		gaps       []Gap
	}{
		// The bundle after a masterchain block that is missing is skipped, too.
		{"after the first, a block of a shard, a masterchain block, near the end",
			[]func(*decode.BlockInfo) bool{masters(2, 9), oneShardBlock(17), masters(40, 40), masters(57, 57)}, 1,
			[]Gap{{2, 10}, {15, 15}, {40, 41}, {57, 58}}},
		{"every tenth, and a range",
			[]func(*decode.BlockInfo) bool{masters(5, 5), masters(15, 15), masters(20, 38), masters(45, 45), masters(55, 55)}, 4,
			[]Gap{{5, 6}, {15, 16}, {20, 39}, {45, 46}, {55, 56}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := emptyTables(t)
			l.source.Source = "files:" + leaveOut(t, mainnet, func(b *decode.BlockInfo) bool {
				return slices.ContainsFunc(c.left, func(left func(*decode.BlockInfo) bool) bool { return left(b) })
			})
			l.to, l.states = 60, realdata.Path(t, "states")
			l.fill(c.partitions)
			l.cleanWithGaps(c.gaps)
		})
	}
}

// The same on a devnet's chain with tokens, whose shards split or merge inside
// the gap.
func TestTablesOfADevnetWithAGapOverASplitAreClean(t *testing.T) {
	g := devnet.DefaultGeneration()
	g.Out, g.Transactions, g.PerBlock, g.Seed, g.Reshard = filepath.Join(t.TempDir(), "chain"), 1_200, 40, 5, 8
	done, err := devnet.Generate(t.Context(), g)
	if err != nil {
		t.Fatal(err)
	}
	shards := make([]int, done.Seqno+1)
	eachFile(t, g.Out, func(_ string, b *decode.BlockInfo) error {
		if b != nil && b.ID.Workchain == masterchain {
			shards[b.ID.Seqno] = len(b.Shards)
		}
		return nil
	})
	var changed []uint32
	for n := 2; n < len(shards); n++ {
		if shards[n] != shards[n-1] {
			changed = append(changed, uint32(n))
		}
	}
	if len(changed) < 2 {
		t.Fatalf("%d splits and merges in %d masterchain blocks: shards %v", len(changed), done.Seqno, shards)
	}
	l := emptyTables(t)
	l.source.Source = "files:" + leaveOut(t, g.Out, func(b *decode.BlockInfo) bool {
		return slices.ContainsFunc(changed[:2], func(at uint32) bool { return masters(at-1, at+1)(b) })
	})
	l.to, l.states = done.Seqno, g.Out
	l.fill(2)
	l.cleanWithGaps(nil)
}

// cleanWithGaps tests that the tables have gaps and are clean.
func (l *tables) cleanWithGaps(want []Gap) {
	l.Helper()
	r, err := l.verify(func(o *Options) { o.Source = FromIngest(l.source) })
	if err != nil {
		l.Fatal(err)
	}
	if len(r.Gaps) == 0 || want != nil && !slices.Equal(r.Gaps, want) {
		l.Errorf("gaps %v instead of %v", r.Gaps, want)
	}
	var ranked, there uint64
	err = (&database{l.client}).one(l.Context(), `SELECT (SELECT count() FROM accounts_by_balance FINAL WHERE gone = 0),
		(SELECT count() FROM accounts FINAL WHERE status != 'nonexist')`, nil, &ranked, &there)
	if err != nil || ranked != there || there == 0 {
		l.Errorf("%d accounts in the ranking, %d exist, %v", ranked, there, err)
	}
}
