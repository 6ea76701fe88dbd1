package ingest

import (
	"bufio"
	"context"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"tonscribe/internal/lifetime/lifetimetest"
	"tonscribe/internal/report"
	"tonscribe/schema/record"
	"tonscribe/test/support/realdata"
)

// tape keeps what is published, like a log whose every write succeeds. It can
// end a run in the middle: after left records it calls cut and takes no more.
type tape struct {
	partitions int

	mu      sync.Mutex
	records map[int][]*record.Record
	wrote   chan struct{}
	left    int
	cut     func()
}

func newTape(partitions int) *tape {
	return &tape{partitions: partitions, records: map[int][]*record.Record{}, wrote: make(chan struct{}, 1)}
}

func (l *tape) Partitions() int { return l.partitions }

func (l *tape) Publish(ctx context.Context, topic string, partition int, records []*record.Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case l.wrote <- struct{}{}:
	default:
	}
	for _, r := range records {
		if err := ctx.Err(); err != nil {
			return err
		}
		l.records[partition] = append(l.records[partition], r)
		if l.cut == nil {
			continue
		}
		if l.left--; l.left <= 0 {
			l.cut()
			return context.Canceled
		}
	}
	return nil
}

func (l *tape) First(_ context.Context, _ string, partition int) (oldest *record.Record, beginning bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.records[partition]) > 0 {
		oldest = l.records[partition][0]
	}
	return oldest, true, nil
}

func (l *tape) LastSeal(_ context.Context, _ string, partition int) (*record.Record, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := len(l.records[partition]) - 1; i >= 0; i-- {
		if r := l.records[partition][i]; r.GetSeal() != nil {
			return r, nil
		}
	}
	return nil, nil
}

// await returns once a bundle is complete in partition 0.
func (l *tape) await(t *testing.T, bundle uint32) {
	t.Helper()
	limit := time.After(time.Minute)
	for {
		if seal, _ := l.LastSeal(t.Context(), "", 0); seal != nil && seal.McSeqno >= bundle {
			return
		}
		select {
		case <-l.wrote:
		case <-limit:
			t.Fatalf("bundle %d was not published", bundle)
		}
	}
}

// read gives a partition as a reader takes it: only the record that is next.
func (l *tape) read(t *testing.T, partition int) []*record.Record {
	t.Helper()
	var taken []*record.Record
	var at, index uint32
	open := false
	l.mu.Lock()
	records := slices.Clone(l.records[partition])
	l.mu.Unlock()
	for i, r := range records {
		switch {
		case i == 0, !open && r.Index == 0 && r.PrevMcSeqno == at, open && r.McSeqno == at && r.Index == index:
			taken = append(taken, r)
			at, index, open = r.McSeqno, r.Index+1, r.GetSeal() == nil
		case r.McSeqno > at:
			t.Fatalf("partition %d: record %d of bundle %d (after %d) is ahead of bundle %d", partition, r.Index, r.McSeqno, r.PrevMcSeqno, at)
		}
	}
	return taken
}

// text is a stream in a form that compares: one line per record, with the id of
// its block or the content of its seal.
func text(records []*record.Record) []string {
	var lines []string
	for _, r := range records {
		head := fmt.Sprintf("%d/%d after %d: ", r.McSeqno, r.Index, r.PrevMcSeqno)
		if s := r.GetSeal(); s != nil {
			lines = append(lines, fmt.Sprintf("%sseal of %d rows, %s, %d, %d shards", head, s.Rows, FormatID(s.Master), s.GenUtime, len(s.Shards)))
			continue
		}
		lines = append(lines, head+FormatID(r.GetRawBlock().Id))
	}
	return lines
}

// bundles counts the seals of a stream.
func bundles(records []*record.Record) (seqnos []uint32) {
	for _, r := range records {
		if r.GetSeal() != nil {
			seqnos = append(seqnos, r.McSeqno)
		}
	}
	return seqnos
}

// configure is a configuration for a quick test.
func configure(source string, from, to uint32) Configuration {
	c := DefaultConfiguration()
	c.Source, c.From, c.To = source, from, to
	c.RetryMin, c.RetryMax, c.SkipAfter = time.Millisecond, 10*time.Millisecond, 0
	return c
}

// component makes a component that Stop is called on at the end.
func component(t *testing.T, c Configuration, log Publisher) *Component {
	t.Helper()
	return componentOf(t, c, Dependencies{Report: report.Silent(), Log: log})
}

func componentOf(t *testing.T, c Configuration, d Dependencies) *Component {
	t.Helper()
	made, err := New(c, d)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// publish runs the stage to the end of its range.
func publish(t *testing.T, c Configuration, log Publisher) *Component {
	t.Helper()
	made := component(t, c, log)
	begin(t, made)
	await(t, made)
	if err := made.Err(); err != nil {
		t.Fatal(err)
	}
	return made
}

func begin(t *testing.T, made *Component) {
	t.Helper()
	lifetimetest.Run(t, made)
}

func await(t *testing.T, made *Component) {
	t.Helper()
	select {
	case <-made.Done():
	case <-time.After(time.Minute):
		t.Fatalf("not done: %+v", made.Status())
	}
}

// listed are the block ids of one set of blocks.tsv, by place.
func listed(t *testing.T, set string) map[blockID]string {
	t.Helper()
	file, err := os.Open(realdata.Path(t, "blocks.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	ids := map[blockID]string{}
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		f := strings.Split(lines.Text(), "\t")
		if f[1] != set {
			continue
		}
		workchain, _ := strconv.ParseInt(f[3], 10, 32)
		shard, _ := strconv.ParseUint(f[4], 16, 64)
		seqno, _ := strconv.ParseUint(f[5], 10, 32)
		root, _ := hex.DecodeString(f[18])
		hash, _ := hex.DecodeString(f[19])
		at := blockID{int32(workchain), shard, uint32(seqno)}
		ids[at] = FormatID(at.id(root, hash))
	}
	if len(ids) == 0 {
		t.Fatalf("blocks.tsv has no set %s", set)
	}
	return ids
}

// copyFolder copies a folder of test data, so that it can be spoiled.
func copyFolder(t *testing.T, from string) string {
	t.Helper()
	to := t.TempDir()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	err := filepath.Walk(to, func(path string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		return os.Chmod(path, 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
	return to
}
