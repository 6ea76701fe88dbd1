package verify

import (
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"tonscribe/schema/record"
)

const whole, left, right = uint64(1) << 63, uint64(1) << 62, uint64(3) << 62

// link gives what the walk says of blocks that follow each other.
func link(blocks ...*record.Block) (said []Difference, c *coverage) {
	v := &verifier{findings: newFindings(1, 100, Options{}), coverage: newCoverage()}
	w := &chainWalk{verifier: v, tips: map[shardOf]*tip{}}
	for _, b := range blocks {
		w.link(&blockRow{blockKey: blockKey{1, b.Id.Workchain, b.Id.Shard, b.Id.Seqno}, record: b})
	}
	for _, c := range v.findings.report.Checks {
		said = append(said, c.Differences...)
	}
	return said, v.coverage
}

// child makes a block after others, of 100 logical times.
func child(shard uint64, parents ...*record.Block) *record.Block {
	b := &record.Block{Id: &record.BlockId{Shard: shard, RootHash: []byte{byte(shard >> 56), 0}}}
	for _, p := range parents {
		b.PrevBlocks = append(b.PrevBlocks, p.Id)
		b.Id.Seqno, b.StartLt = max(b.Id.Seqno, p.Id.Seqno+1), max(b.StartLt, p.EndLt)
		b.AfterSplit = b.AfterSplit || parentOf(shard) == p.Id.Shard
	}
	b.AfterMerge = len(parents) > 1
	b.EndLt = b.StartLt + 100
	b.Id.RootHash[1] = byte(b.Id.Seqno)
	return b
}

func TestChainGoesOverSplitAndMerge(t *testing.T) {
	zero := &record.Block{Id: &record.BlockId{Shard: whole, RootHash: []byte{1}}, EndLt: 1000}
	a := child(whole, zero)
	b := child(whole, a)
	l, r := child(left, b), child(right, b)
	r2 := child(right, r)
	m := child(whole, l, r2)
	if said, _ := link(a, b, l, r, r2, m, child(whole, m)); len(said) > 0 {
		t.Error(said)
	}
	for name, blocks := range map[string][]*record.Block{
		"a block between is missing":            {a, child(whole, b)},
		"a parent of the merge is missing":      {a, b, l, r, m},
		"the block before the split is missing": {a, l},
		"a split that no parent leads to":       {a, b, l, child(left, b)},
	} {
		if said, _ := link(blocks...); len(said) == 0 {
			t.Errorf("%s: nothing said", name)
		}
	}
}

func TestCoverageIsThatOfTheBlocksAtHand(t *testing.T) {
	zero := &record.Block{Id: &record.BlockId{Shard: whole}, EndLt: 1000}
	a := child(whole, zero)   // 1000 to 1100
	b := child(whole, a)      // 1100 to 1200
	l := child(left, b)       // 1200 to 1300
	r := child(right, b)      // 1200 to 1300
	r2 := child(right, r)     // 1300 to 1400
	_, c := link(b, l, r, r2) // the range begins at b
	for _, x := range []struct {
		prefix, lt uint64
		want       bool
	}{
		{0, 1050, false}, {0, 1100, true}, {1 << 63, 1199, true}, {0, 1250, true}, {0, 1300, false}, {1 << 63, 1300, true}, {1 << 63, 1400, false},
	} {
		if got := c.has(0, x.prefix, x.lt); got != x.want {
			t.Errorf("account %x at lt %d: %t", x.prefix, x.lt, got)
		}
	}
	if c.has(-1, 0, 1150) {
		t.Error("another workchain is covered")
	}
}

func TestSpillGivesEveryEndBack(t *testing.T) {
	s, err := newSpill(endSize, 30_000_000)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	if len(s.parts) < 64 {
		t.Fatalf("%d parts", len(s.parts))
	}
	const n = 100_000
	random := rand.New(rand.NewPCG(1, 1))
	want := map[messageEnd]bool{}
	for range n {
		e := messageEnd{digest: random.Uint64(), createdLT: random.Uint64N(1 << 50), produced: random.IntN(2) == 0, inside: random.IntN(2) == 0}
		e.hash[0] = random.Uint64()
		want[e] = true
		if err := s.add(e.entry()...); err != nil {
			t.Fatal(err)
		}
	}
	for part := range s.parts {
		ends, err := s.read(part)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range ends {
			delete(want, endOf(e))
		}
	}
	if len(want) > 0 {
		t.Errorf("%d ends are lost", len(want))
	}
}

func TestFirstFieldIsNamedWithBothValues(t *testing.T) {
	base := func() *record.Transaction {
		return &record.Transaction{Lt: 5, InMsg: &record.Message{Value: 7}, OutMsgs: []*record.Message{{Hash: []byte{1}}, {Hash: []byte{2}}}}
	}
	for _, c := range []struct {
		change func(*record.Transaction)
		want   string
	}{
		{func(*record.Transaction) {}, ""},
		{func(t *record.Transaction) { t.Lt = 6 }, "lt 5 6"},
		{func(t *record.Transaction) { t.InMsg = nil }, "in_msg"},
		{func(t *record.Transaction) { t.InMsg.Value = 8 }, "in_msg.value 7 8"},
		{func(t *record.Transaction) { t.InMsg.Opcode = new(uint32) }, "in_msg.opcode unset 0"},
		{func(t *record.Transaction) { t.OutMsgs[1].Hash = []byte{3} }, "out_msgs[1].hash 02 03"},
		{func(t *record.Transaction) { t.OutMsgs = t.OutMsgs[:1] }, "out_msgs 2 of them 1 of them"},
		{func(t *record.Transaction) { t.Hash = []byte{9} }, "hash empty 09"},
	} {
		b := base()
		c.change(b)
		path, have, want := firstField(base(), b)
		if got := strings.TrimSpace(path + " " + have + " " + want); !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%q instead of %q", got, c.want)
		}
	}
}

func TestAFolderWithoutTemporaryFilesIsToldWithWhatNamesAnotherOne(t *testing.T) {
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "missing"))
	if _, err := newSpill(1, 1); err == nil || !strings.Contains(err.Error(), "TMPDIR") {
		t.Errorf("the error is %v", err)
	}
}
