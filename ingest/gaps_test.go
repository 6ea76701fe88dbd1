package ingest

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"tonscribe/decode"
	"tonscribe/internal/report"
	"tonscribe/schema/record"
	"tonscribe/test/support/realdata"
)

// Runs of masterchain blocks without their shard blocks: each bundle that needs
// one is a gap that names it, and what needs none is published.
func TestMissingShardBlocksAreReportedAndSkipped(t *testing.T) {
	for _, c := range []struct {
		run         string
		first, last uint32
	}{
		{"mainnet_mc2660-2690", 2660, 2690},
		{"mainnet_mc2467080-2467119", 2467080, 2467119},
		{"mainnet_mc3082181-3082201", 3082181, 3082201},
	} {
		t.Run(c.run, func(t *testing.T) {
			dir := realdata.Path(t, "blocks", c.run)
			conf := configure("files:"+dir, 0, c.last)
			conf.OnGap = Skip
			conf.GapFile = filepath.Join(t.TempDir(), "gaps")
			log := newTape(1)
			made := publish(t, conf, log)
			lines, err := os.ReadFile(conf.GapFile)
			if err != nil {
				t.Fatal(err)
			}
			published := bundles(log.read(t, 0))
			gaps := strings.Split(strings.TrimSpace(string(lines)), "\n")
			if n := len(gaps) + len(published); n != int(c.last-c.first) {
				t.Errorf("%d bundles published, %d skipped, want %d together", len(published), len(gaps), c.last-c.first)
			}
			if n := testutil.ToFloat64(made.metrics.gaps); int(n) != len(gaps) {
				t.Errorf("metric counts %v gaps, the file %d", n, len(gaps))
			}
			for _, line := range gaps {
				checkGapLine(t, dir, line)
			}
		})
	}
}

// checkGapLine compares a gap with what its masterchain block names.
func checkGapLine(t *testing.T, dir, line string) {
	t.Helper()
	_, rest, _ := strings.Cut(line, `"mc_seqno":`)
	seqno, _, _ := strings.Cut(rest, ",")
	boc, err := os.ReadFile(filepath.Join(dir, "block_-1_8000000000000000_"+seqno+".boc"))
	if err != nil {
		t.Fatal(err)
	}
	info, err := decode.Header(boc)
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for _, s := range info.Shards {
		if s.RegMC != info.ID.Seqno || s.ID.Seqno == 0 {
			continue // not new
		}
		named++
		if !strings.Contains(line, FormatID(s.ID)) {
			t.Errorf("gap does not name the shard block %s of masterchain block %s: %s", FormatID(s.ID), seqno, line)
		}
	}
	if named == 0 || !strings.Contains(line, "masterchain block "+seqno+" names it") {
		t.Errorf("gap names none of %d shard blocks of masterchain block %s: %s", named, seqno, line)
	}
}

// spoil changes a copy of the genesis folder.
type spoil func(t *testing.T, dir string)

func name(workchain int, shard string, seqno int) string {
	return fmt.Sprintf("block_%d_%s_%d.boc", workchain, shard, seqno)
}

const whole = "8000000000000000"

func flip(file string, offset int) spoil {
	return edit(file, func(t *testing.T, boc []byte) []byte {
		if offset < 0 {
			offset += len(boc)
		}
		boc[offset] ^= 1
		return boc
	})
}

func edit(file string, change func(*testing.T, []byte) []byte) spoil {
	return func(t *testing.T, dir string) {
		t.Helper()
		path := filepath.Join(dir, file)
		boc, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, change(t, boc), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// forgeParent makes a masterchain block name another parent and mends what can
// be mended without its key: the checksum.
func forgeParent(t *testing.T, boc []byte) []byte {
	info, err := decode.Header(boc)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(boc, info.Prev[0].FileHash)
	boc[at] ^= 1
	return mend(boc)
}

// mend corrects the CRC-32C of a BoC that has one.
func mend(boc []byte) []byte {
	if boc[4]&0x40 != 0 {
		binary.LittleEndian.PutUint32(boc[len(boc)-4:], crc(boc[:len(boc)-4]))
	}
	return boc
}

func remove(file string) spoil {
	return func(t *testing.T, dir string) {
		t.Helper()
		if err := os.Remove(filepath.Join(dir, file)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestBadBlocksAreRefusedWithIDAndReason(t *testing.T) {
	masterOf := func(n int) string { return name(-1, whole, n) }
	for _, c := range []struct {
		rule   string
		spoil  spoil
		limit  int
		reason Reason
		bad    string // the block refused
		gaps   []uint32
	}{
		{rule: "a flipped bit in a shard block breaks its file hash",
			spoil: flip(name(0, whole, 20), 100), reason: ReasonFileHash, bad: "(0,8000000000000000,20)", gaps: []uint32{0}},
		{rule: "a flipped bit in a masterchain block with a checksum makes it no bag of cells",
			spoil: flip(masterOf(20), -1), reason: ReasonBOC, bad: "(-1,8000000000000000,20)", gaps: []uint32{20, 21}},
		{rule: "a masterchain block whose successors do not follow from it is bad",
			spoil: edit(masterOf(20), flipUnseen), reason: ReasonSuccessor, bad: "(-1,8000000000000000,20)", gaps: []uint32{20, 21}},
		{rule: "a masterchain block with another parent is bad, not the one before it",
			spoil: edit(masterOf(20), forgeParent), reason: ReasonParent, bad: "(-1,8000000000000000,20)", gaps: []uint32{20, 21}},
		{rule: "a block over the size limit is not read",
			spoil: edit(masterOf(30), enlarge), limit: 100 << 10, reason: ReasonSize, bad: "(-1,8000000000000000,30)", gaps: []uint32{30, 31}},
		{rule: "a bag of cells of too many levels is refused",
			spoil: edit(masterOf(30), deepen), reason: ReasonLimits, bad: "(-1,8000000000000000,30)", gaps: []uint32{30, 31}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			dir := copyFolder(t, genesis(t))
			c.spoil(t, dir)
			conf := configure("files:"+dir, 1, 60)
			conf.OnBad, conf.OnGap = Skip, Skip
			if c.limit > 0 {
				conf.MaxBlockBytes = c.limit
			}
			log, logged := newTape(1), &logBook{}
			made := observed(t, conf, log, logged)
			begin(t, made)
			await(t, made)
			if err := made.Err(); err != nil {
				t.Fatal(err)
			}
			if n := testutil.ToFloat64(made.metrics.bad.WithLabelValues(string(c.reason))); n == 0 {
				t.Errorf("no block counted as bad for %s", c.reason)
			}
			if n := testutil.CollectAndCount(made.metrics.bad); n != len(reasons) {
				t.Errorf("bad blocks are counted for %d reasons, want %d, those without any too", n, len(reasons))
			}
			if !logged.has(c.bad, string(c.reason), "block refused") {
				t.Errorf("no log line names %s and %s:\n%s", c.bad, c.reason, logged)
			}
			checkGaps(t, bundles(log.read(t, 0)), 60, c.gaps)
		})
	}
}

// checkGaps compares the bundles left out with the expected ones; a single 0
// stands for any one.
func checkGaps(t *testing.T, published []uint32, last uint32, want []uint32) {
	t.Helper()
	var gaps []uint32
	for n := uint32(1); n <= last; n++ {
		if !slices.Contains(published, n) {
			gaps = append(gaps, n)
		}
	}
	if len(want) == 1 && want[0] == 0 {
		if len(gaps) != 1 {
			t.Errorf("gaps at %v, want one", gaps)
		}
		return
	}
	if !slices.Equal(gaps, want) {
		t.Errorf("gaps at %v, want %v", gaps, want)
	}
}

// flipUnseen changes a bit that no check of the block itself can see, in its
// rand_seed for instance.
func flipUnseen(t *testing.T, boc []byte) []byte {
	want, err := decode.Header(boc)
	if err != nil {
		t.Fatal(err)
	}
	for at := 20; at < len(boc)-4; at++ {
		forged := bytes.Clone(boc)
		forged[at] ^= 1
		got, err := decode.Header(mend(forged))
		if err == nil && !sameID(got.ID, want.ID) && sameID(got.Prev[0], want.Prev[0]) && got.StartLT == want.StartLT {
			return forged
		}
	}
	t.Fatal("no bit can be changed")
	return nil
}

// enlarge appends to the file what makes it too large, whatever it holds.
func enlarge(_ *testing.T, boc []byte) []byte { return append(boc, make([]byte, 100<<10)...) }

// deepen puts a chain of 2000 cells into a block's place. The first cells still
// name the block, so that it is taken for it.
func deepen(t *testing.T, boc []byte) []byte {
	const depth = 2000
	head := blockHead(t, masterID(30), depth)
	return append(head.header(), head.cells...)
}

func TestWaitingNamesTheMissingBlockAndGoesOnWhenItComes(t *testing.T) {
	for _, c := range []struct {
		rule, file, want string
	}{
		{"a shard block", name(0, whole, 20), "(0,8000000000000000,20):"},
		{"a masterchain block", name(-1, whole, 20), "masterchain block (-1,8000000000000000,20) is missing"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			dir := copyFolder(t, genesis(t))
			boc, err := os.ReadFile(filepath.Join(dir, c.file))
			if err != nil {
				t.Fatal(err)
			}
			remove(c.file)(t, dir)
			log, logged := newTape(1), &logBook{said: make(chan struct{}, 100)}
			made := observed(t, configure("files:"+dir, 1, 60), log, logged)
			begin(t, made)
			logged.await(t, c.want, "waiting")
			if seqnos := bundles(log.read(t, 0)); len(seqnos) > 0 && seqnos[len(seqnos)-1] > 25 {
				t.Errorf("bundle %d was published over the gap", seqnos[len(seqnos)-1])
			}
			if err := os.WriteFile(filepath.Join(dir, c.file), boc, 0o644); err != nil {
				t.Fatal(err)
			}
			await(t, made)
			if got := bundles(log.read(t, 0)); len(got) != 60 {
				t.Errorf("%d bundles, want 60", len(got))
			}
			if s := made.Status(); s.Gaps != 0 || s.Waiting != "" || !s.Done {
				t.Errorf("status %+v", s)
			}
		})
	}
}

// Otherwise everything before it would be a gap.
func TestAFileThatSaysItIsAFarBlockIsNotTheSourcesEnd(t *testing.T) {
	const far = 4_000_000_000
	dir := copyFolder(t, genesis(t))
	head := blockHead(t, masterID(far), 1)
	if err := os.WriteFile(filepath.Join(dir, "a.boc"), append(head.header(), head.cells...), 0o600); err != nil {
		t.Fatal(err)
	}
	conf := configure("files:"+dir, 1, 0)
	conf.OnGap, conf.OnBad = Skip, Skip
	log, book := newTape(1), &logBook{said: make(chan struct{}, 100)}
	made := observed(t, conf, log, book)
	begin(t, made)
	book.await(t, "waiting for the source to go on", `"source_ends_at":60`)
	log.await(t, 60)
	if !book.has("a.boc", "is no block") {
		t.Errorf("the file is not named:\n%s", book)
	}
	if s := made.Status(); s.Gaps != 0 || s.Lag() != 0 {
		t.Errorf("status %+v", s)
	}
}

func TestAFarBlockIsTheSourcesEnd(t *testing.T) {
	dir := copyFolder(t, genesis(t))
	boc, err := os.ReadFile(filepath.Join(realdata.Path(t, "blocks/mainnet_mc2660-2690"), name(-1, whole, 2690)))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "a.boc"), boc, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	source := newFiles(dir, report.Silent(), 4<<20)
	if err := source.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, last := source.Range(); last != 2690 {
		t.Errorf("the source ends at %d, want 2690", last)
	}
}

func TestABadCopyDoesNotHideAGoodOne(t *testing.T) {
	dir := copyFolder(t, genesis(t))
	for _, file := range []string{name(-1, whole, 20), name(0, whole, 20)} {
		boc, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		boc[len(boc)-1] ^= 1
		if err := os.WriteFile(filepath.Join(dir, "a_bad_copy_of_"+file), boc, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	log := newTape(1)
	made := publish(t, configure("files:"+dir, 1, 60), log)
	if got := bundles(log.read(t, 0)); len(got) != 60 {
		t.Errorf("%d bundles, want 60", len(got))
	}
	if n := testutil.CollectAndCount(made.metrics.bad); n == 0 {
		t.Error("the bad copies were not counted")
	}
}

func TestStartWithoutWhatCameBeforeIsAnError(t *testing.T) {
	dir := realdata.Path(t, "blocks/mainnet_mc2660-2690")
	made := component(t, configure("files:"+dir, 2660, 2690), newTape(1))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	err := made.Start(ctx)
	if err == nil || !strings.Contains(err.Error(), "bundle 2660 needs masterchain block 2659") || !strings.Contains(err.Error(), "start with --from 2661 or higher") {
		t.Errorf("error %v", err)
	}
}

func TestSealNamesAreHex(t *testing.T) {
	id := masterID(7).id(bytes.Repeat([]byte{0xab}, 32), bytes.Repeat([]byte{1}, 32))
	want := "(-1,8000000000000000,7):" + strings.Repeat("AB", 32) + ":" + hex.EncodeToString(id.FileHash)
	if got := FormatID(id); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// An index that has gaps is read once more: from a source that has the bundles by
// now, and from one that still has not, without the policy to skip anything.
func TestBundlesThatAreLeftOutAreTheOnlyDifference(t *testing.T) {
	dir := copyFolder(t, genesis(t))
	for _, file := range []string{name(-1, whole, 10), name(-1, whole, 20), name(-1, whole, 21), name(0, whole, 30)} {
		remove(file)(t, dir)
	}
	with := newTape(2)
	conf := configure("files:"+dir, 1, 60)
	conf.OnGap = Skip
	publish(t, conf, with)
	there := bundles(with.read(t, 0))
	if len(there) > 55 {
		t.Fatalf("only %d bundles are missing", 60-len(there))
	}
	for _, source := range []string{dir, genesis(t)} {
		log := newTape(2)
		made := componentOf(t, configure("files:"+source, 1, 60), Dependencies{Report: report.Silent(), Log: log,
			LeaveOut: func(n uint32) bool { return !slices.Contains(there, n) }})
		begin(t, made)
		await(t, made)
		if err := made.Err(); err != nil {
			t.Fatal(err)
		}
		for partition := range 2 {
			if !slices.EqualFunc(log.read(t, partition), with.read(t, partition), func(a, b *record.Record) bool { return a.EqualVT(b) }) {
				t.Errorf("source %s: partition %d has bundles %v, want the records of %v", source, partition, bundles(log.read(t, partition)), there)
			}
		}
		if n := testutil.ToFloat64(made.metrics.gaps); n != 0 {
			t.Errorf("%v gaps are told of", n)
		}
	}
}
