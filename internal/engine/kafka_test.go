package engine_test

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"

	"tonscribe/internal/engine"
	"tonscribe/internal/report"
	"tonscribe/test/support/enginetest"
)

func TestRecordsAndCommitsSurviveStopAndStart(t *testing.T) {
	dir := t.TempDir()
	k := startKafka(t, engine.KafkaOptions{Dir: dir})
	c := withTopic(t, k, 2)
	for i := range uint64(100) {
		c.mustProduce(t, 1, numbered(i, 100))
	}
	c.mustProduce(t, 0, numbered(0, 4<<20))
	c.commit(t, "group", 1, 40, "note")
	epoch := k.Epoch()
	stopKafka(t, k)

	k = startKafka(t, engine.KafkaOptions{Dir: dir})
	c = newClient(k)
	for i, m := range c.read(t, 1, 0, 100) {
		if m.Offset != int64(i) || binary.BigEndian.Uint64(m.Value) != uint64(i) {
			t.Fatalf("record %d has offset %d", i, m.Offset)
		}
	}
	if offset, metadata := c.committed(t, "group", 1); offset != 40 || metadata != "note" {
		t.Errorf("commit: %d %q", offset, metadata)
	}
	if got := len(c.read(t, 0, 0, 1)[0].Value); got != 4<<20 {
		t.Errorf("large record: %d bytes", got)
	}
	if k.Epoch() != epoch {
		t.Error("a clean restart changed the epoch")
	}
	if offset := c.mustProduce(t, 1, numbered(100, 10)); offset != 100 {
		t.Errorf("next offset %d", offset)
	}
}

const writerCommand = "__log_writer"

// writer is a process that writes numbered records and commits, and says what
// was acknowledged, until it is killed.
func writer(dir string) int {
	k, err := engine.StartKafka(context.Background(), engine.KafkaOptions{Dir: dir, SegmentBytes: 1 << 20, RetentionBytes: 1 << 30, Report: report.Silent()})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	c := newClient(k)
	c.create(context.Background(), 1) // exists at the second start
	for {
		offset, err := c.produce(context.Background(), 0, numbered(0, 8<<10), numbered(0, 100+rand.IntN(64<<10)))
		if err != nil {
			continue
		}
		fmt.Println("acknowledged", offset+2)
		response, err := c.OffsetCommit(context.Background(), &kafka.OffsetCommitRequest{GroupID: "group", GenerationID: -1,
			Topics: map[string][]kafka.OffsetCommit{topic: {{Partition: 0, Offset: offset + 2}}}})
		if err == nil && response.Topics[topic][0].Error == nil {
			fmt.Println("committed", offset+2)
		}
	}
}

func TestKilledLogLosesNothingAcknowledged(t *testing.T) {
	dir := t.TempDir()
	var acknowledged, committed int64
	for round := range 4 {
		cmd := exec.Command("/proc/self/exe", writerCommand, dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines, enough := bufio.NewScanner(out), 300+rand.IntN(300)
		for n := 0; lines.Scan(); n++ {
			what, value, _ := strings.Cut(lines.Text(), " ")
			offset, err := strconv.ParseInt(value, 10, 64)
			if err != nil {
				t.Fatalf("the writer says %q", lines.Text())
			}
			if what == "acknowledged" {
				acknowledged = offset
			} else {
				committed = offset
			}
			if n == enough {
				cmd.Process.Kill()
			}
		}
		cmd.Wait()
		if round < 3 {
			continue // the next writer opens the log
		}
		k := startKafka(t, engine.KafkaOptions{Dir: dir, SegmentBytes: 1 << 20, RetentionBytes: 1 << 30})
		c := newClient(k)
		if k.Epoch() != "0" {
			t.Errorf("epoch %s: kills are not losses", k.Epoch())
		}
		if first, end := c.bounds(t, 0); first != 0 || end < acknowledged {
			t.Fatalf("log is [%d, %d), acknowledged up to %d", first, end, acknowledged)
		}
		for i, m := range c.read(t, 0, 0, int(acknowledged)) {
			if m.Offset != int64(i) {
				t.Fatalf("offset %d where %d is next", m.Offset, i)
			}
		}
		if offset, _ := c.committed(t, "group", 0); offset < committed {
			t.Errorf("commit %d, acknowledged %d", offset, committed)
		}
	}
	t.Logf("%d records acknowledged over 4 kills", acknowledged)
}

// filled is a stopped log with n records of 1 KiB in one partition, in files of 64 KiB.
func filled(t *testing.T, n uint64) (dir string, options engine.KafkaOptions) {
	t.Helper()
	return filledFrom(t, n, n)
}

// filledFrom is filled, with only some of the records on the disk for good.
func filledFrom(t *testing.T, synced, n uint64) (dir string, options engine.KafkaOptions) {
	t.Helper()
	options = engine.KafkaOptions{Dir: t.TempDir(), SegmentBytes: 64 << 10, RetentionBytes: 1 << 30}
	k := startKafka(t, options)
	c := withTopic(t, k, 1)
	for i := range n {
		c.mustProduce(t, 0, numbered(i, 1<<10))
		if i+1 == synced {
			if err := k.Sync(topic, 0); err != nil {
				t.Fatal(err)
			}
		}
	}
	c.commit(t, "group", 0, int64(n), "position")
	stopKafka(t, k)
	return options.Dir, options
}

// files are the record files of partition 0, oldest first.
func files(t *testing.T, dir string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(partitionFolder(dir, 0), "*.dat"))
	if err != nil || len(found) == 0 {
		t.Fatalf("no files in %s: %v", dir, err)
	}
	base := func(path string) int {
		n, _ := strconv.Atoi(strings.TrimSuffix(filepath.Base(path), ".dat"))
		return n
	}
	for i := range found { // few
		for j := range i {
			if base(found[i]) < base(found[j]) {
				found[i], found[j] = found[j], found[i]
			}
		}
	}
	return found
}

func damage(t *testing.T, path string, at int64, with []byte) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt(with, at); err != nil {
		t.Fatal(err)
	}
}

func size(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

func TestTornWriteAtTheEndIsCutOff(t *testing.T) {
	dir, options := filled(t, 200)
	last := files(t, dir)[len(files(t, dir))-1]
	whole, err := os.ReadFile(last)
	if err != nil {
		t.Fatal(err)
	}
	damage(t, last, int64(len(whole)), whole[:700]) // the first part of a batch
	if f, err := os.OpenFile(filepath.Join(dir, "data", "groups.log"), os.O_WRONLY|os.O_APPEND, 0); err != nil {
		t.Fatal(err)
	} else {
		f.Write([]byte{200, 0, 0, 0, 1, 2, 3})
		f.Close()
	}
	k := startKafka(t, options)
	c := newClient(k)
	if first, end := c.bounds(t, 0); first != 0 || end != 200 || k.Epoch() != "0" {
		t.Errorf("log [%d, %d), epoch %s", first, end, k.Epoch())
	}
	c.mustProduce(t, 0, numbered(200, 100))
	c.commit(t, "group", 0, 201, "")
	c.read(t, 0, 0, 201)
	stopKafka(t, k)
	if offset, _ := newClient(startKafka(t, options)).committed(t, "group", 0); offset != 201 {
		t.Errorf("a commit behind the torn one is %d after a restart", offset)
	}
}

func TestDamageInsideTheLogIsRefused(t *testing.T) {
	cases := map[string]func(t *testing.T, dir string){
		"a flipped bit": func(t *testing.T, dir string) {
			path := files(t, dir)[1]
			whole, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			damage(t, path, 500, []byte{whole[500] ^ 1})
		},
		"a short file": func(t *testing.T, dir string) {
			path := files(t, dir)[1]
			if err := os.Truncate(path, size(t, path)-10); err != nil {
				t.Fatal(err)
			}
		},
		"a missing file": func(t *testing.T, dir string) {
			if err := os.Remove(files(t, dir)[1]); err != nil {
				t.Fatal(err)
			}
		},
		"no meta data": func(t *testing.T, dir string) {
			if err := os.Remove(filepath.Join(dir, "data", "meta.json")); err != nil {
				t.Fatal(err)
			}
		},
	}
	for name, spoil := range cases {
		t.Run(name, func(t *testing.T) {
			dir, options := filled(t, 200)
			spoil(t, dir)
			options.Report = report.Silent()
			k, err := engine.StartKafka(t.Context(), options)
			if err == nil {
				k.Stop(context.Background())
				t.Fatal("opened")
			}
			if !strings.Contains(err.Error(), "delete the folder") {
				t.Errorf("the error does not say what to do: %v", err)
			}
		})
	}
}

// A system writes files to the disk in any order, and a power loss leaves of each what it likes.
func TestWhatAPowerLossLeftOfFilesThatWereNotSyncedIsCutOff(t *testing.T) {
	const synced, all = 100, 400
	truncate := func(t *testing.T, path string, size int64) {
		t.Helper()
		if err := os.Truncate(path, size); err != nil {
			t.Fatal(err)
		}
	}
	for name, lose := range map[string]func(t *testing.T, files []string){
		"half a file, and empty ones": func(t *testing.T, files []string) {
			truncate(t, files[2], size(t, files[2])/2)
			for _, path := range files[3:] {
				truncate(t, path, 0)
			}
		},
		"half a file, and whole ones":   func(t *testing.T, files []string) { truncate(t, files[2], size(t, files[2])/2) },
		"an empty file, and whole ones": func(t *testing.T, files []string) { truncate(t, files[2], 0) },
		"zeros": func(t *testing.T, files []string) {
			damage(t, files[3], 0, make([]byte, size(t, files[3])))
		},
		"no file": func(t *testing.T, files []string) {
			if err := os.Remove(files[3]); err != nil {
				t.Fatal(err)
			}
		},
		"half a file, and no index": func(t *testing.T, files []string) {
			truncate(t, files[3], size(t, files[3])/2)
			for _, path := range files {
				truncate(t, strings.TrimSuffix(path, ".dat")+".idx", 0)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir, options := filledFrom(t, synced, all)
			lose(t, files(t, dir))
			k := startKafka(t, options)
			c := newClient(k)
			_, end := c.bounds(t, 0)
			if end < synced || end >= all || k.Epoch() != "1" {
				t.Fatalf("the log ends at %d, epoch %s", end, k.Epoch())
			}
			if offset, metadata := c.committed(t, "group", 0); offset != end || metadata != "" {
				t.Errorf("commit %d %q, end %d", offset, metadata, end)
			}
			for i := uint64(end); i < all; i++ {
				c.mustProduce(t, 0, numbered(i, 1<<10))
			}
			stopKafka(t, k)
			c = newClient(startKafka(t, options))
			for i, m := range c.read(t, 0, 0, all) {
				if m.Offset != int64(i) || binary.BigEndian.Uint64(m.Value) != uint64(i) {
					t.Fatalf("record %d has offset %d", i, m.Offset)
				}
			}
		})
	}
}

func TestLostTailChangesTheEpochAndMovesCommitsBack(t *testing.T) {
	dir, options := filled(t, 200)
	all := files(t, dir)
	for _, path := range all[2:] {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Truncate(all[1], size(t, all[1])-100); err != nil {
		t.Fatal(err)
	}
	k := startKafka(t, options)
	if k.Epoch() != "1" {
		t.Errorf("epoch %s after a loss", k.Epoch())
	}
	c := newClient(k)
	_, end := c.bounds(t, 0)
	if end >= 200 || end < 50 {
		t.Fatalf("end %d", end)
	}
	if offset, metadata := c.committed(t, "group", 0); offset != end || metadata != "" {
		t.Errorf("commit %d %q, end %d", offset, metadata, end)
	}
	stopKafka(t, k)
	if again := startKafka(t, options); again.Epoch() != "1" {
		t.Errorf("epoch %s after a clean restart", again.Epoch())
	}
}

func TestPartitionWithoutRecordsKeepsItsOffsets(t *testing.T) {
	dir, options := filled(t, 200)
	for _, path := range files(t, dir) {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // the second start finds the empty file of the first
		k := startKafka(t, options)
		c := newClient(k)
		if first, end := c.bounds(t, 0); first != 200 || end != 200 {
			t.Fatalf("log [%d, %d)", first, end)
		}
		if offset, metadata := c.committed(t, "group", 0); offset != 200 || metadata != "position" {
			t.Errorf("commit %d %q", offset, metadata)
		}
		stopKafka(t, k)
	}
	k := startKafka(t, options)
	c := newClient(k)
	if offset := c.mustProduce(t, 0, numbered(200, 10)); offset != 200 {
		t.Errorf("next record has offset %d", offset)
	}
	stopKafka(t, k)
	if got := newClient(startKafka(t, options)).read(t, 0, 200, 1)[0].Offset; got != 200 {
		t.Errorf("read offset %d", got)
	}
}

func TestSecondOpenerOfALogIsRefused(t *testing.T) {
	options := engine.KafkaOptions{Dir: t.TempDir()}
	k := startKafka(t, options)
	options.Report = report.Silent()
	if _, err := engine.StartKafka(t.Context(), options); !errors.Is(err, engine.ErrInUse) {
		t.Errorf("second opener: %v", err)
	}
	stopKafka(t, k)
	startKafka(t, options)
}

func TestReadRecordsAreTrimmedAndUnreadOnesKept(t *testing.T) {
	const recordBytes = 16 << 10
	k := startKafka(t, engine.KafkaOptions{Dir: t.TempDir(), SegmentBytes: 64 << 10, RetentionBytes: 256 << 10, LimitBytes: 1 << 20})
	c := withTopic(t, k, 1)
	c.commit(t, "slow", 0, 0, "")
	c.commit(t, "fast", 0, 0, "")
	produce := func() error {
		_, err := c.produce(t.Context(), 0, numbered(0, recordBytes))
		return err
	}
	var refused error
	for n := 0; refused == nil && n < 2000; n++ { // until the limit is noticed
		refused = produce()
		time.Sleep(2 * time.Millisecond)
	}
	if !errors.Is(refused, kafka.ThrottlingQuotaExceeded) {
		t.Fatalf("at the limit: %v", refused)
	}
	first, end := c.bounds(t, 0)
	if first != 0 {
		t.Fatalf("unread records were trimmed up to %d", first)
	}
	c.commit(t, "fast", 0, end, "")
	c.commit(t, "slow", 0, 30, "")
	until(t, "what both have read being trimmed", func() bool { first, _ = c.bounds(t, 0); return first > 0 })
	if first > 30 {
		t.Errorf("trimmed up to %d, the slow reader is at 30", first)
	}
	c.commit(t, "slow", 0, end, "")
	until(t, "writers being let in", func() bool { return produce() == nil })
	first, end = c.bounds(t, 0)
	if kept := (end - first) * recordBytes; kept < 256<<10 || kept > 512<<10 {
		t.Errorf("%d bytes are kept", kept)
	}
	c.read(t, 0, first, int(end-first))
}

// What stays although it was read is no reason to refuse writers.
func TestALogMayKeepMoreThanMayBeUnread(t *testing.T) {
	k := startKafka(t, engine.KafkaOptions{Dir: t.TempDir(), SegmentBytes: 64 << 10, RetentionBytes: 1 << 20, LimitBytes: 256 << 10})
	c := withTopic(t, k, 1)
	c.commit(t, "reader", 0, 0, "")
	until(t, "the log being trimmed, with its reader at the end of it", func() bool {
		if _, err := c.produce(t.Context(), 0, numbered(0, 16<<10)); err != nil {
			t.Fatal(err)
		}
		first, end := c.bounds(t, 0)
		c.commit(t, "reader", 0, end, "")
		return first > 0
	})
}

func TestALogOfNegativeSizeIsRefused(t *testing.T) {
	for _, o := range []engine.KafkaOptions{{RetentionBytes: -1}, {LimitBytes: -1}} {
		o.Dir, o.Report = t.TempDir(), report.Silent()
		if k, err := engine.StartKafka(t.Context(), o); err == nil {
			stopKafka(t, k)
			t.Errorf("%+v was taken", o)
		}
	}
}

func TestGroupReadsThroughTheDialer(t *testing.T) {
	k := enginetest.Kafka(t)
	c := withTopic(t, k, 2)
	const each = 500
	for p := range 2 {
		for i := range uint64(each) {
			c.mustProduce(t, p, numbered(i, 50))
		}
	}
	reader := kafka.NewReader(kafka.ReaderConfig{
		Brokers: []string{k.Address()}, Dialer: c.dialer, GroupID: "group", Topic: topic, StartOffset: kafka.FirstOffset,
		MinBytes: 1, MaxBytes: 1 << 20, MaxWait: time.Second,
	})
	defer reader.Close()
	next := make([]uint64, 2)
	for range 2 * each {
		m, err := reader.ReadMessage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got := binary.BigEndian.Uint64(m.Value); got != next[m.Partition] {
			t.Fatalf("partition %d: record %d where %d is next", m.Partition, got, next[m.Partition])
		}
		next[m.Partition]++
	}
}

func TestForeignRequestsEndOnlyTheirConnection(t *testing.T) {
	k := enginetest.Kafka(t)
	c := withTopic(t, k, 1)
	for name, request := range map[string][]byte{
		"unknown kind": {0, 0, 0, 12, 0x7f, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
		"huge":         {0x7f, 0xff, 0xff, 0xff, 0, 18, 0, 0},
		"short":        {0, 0, 0, 1, 0, 18},
		"HTTP":         []byte("GET / HTTP/1.1\r\n\r\n"),
		"nothing":      {},
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := k.Dial(t.Context(), "", "")
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if len(request) == 0 {
				return
			}
			conn.Write(request)
			conn.SetReadDeadline(time.Now().Add(10 * time.Second))
			if _, err := io.ReadAll(conn); errors.Is(err, os.ErrDeadlineExceeded) {
				t.Error("the connection stays open")
			}
		})
	}
	c.mustProduce(t, 0, numbered(7, 10))
	outside, err := (&kafka.Dialer{DialFunc: k.Dial}).DialLeader(t.Context(), "tcp", k.Address(), topic, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer outside.Close()
	outside.SetDeadline(time.Now().Add(10 * time.Second))
	if m, err := outside.ReadMessage(1 << 20); err != nil || binary.BigEndian.Uint64(m.Value) != 7 {
		t.Errorf("after them: %v %v", m.Value, err)
	}
}

func TestDialAfterStopIsRefused(t *testing.T) {
	k := startKafka(t, engine.KafkaOptions{Dir: t.TempDir()})
	stopKafka(t, k)
	if conn, err := k.Dial(t.Context(), "", ""); err == nil {
		conn.Close()
		t.Error("a stopped log takes connections")
	}
}

func TestSyncFollowsFilesThatComeAndGo(t *testing.T) {
	k := startKafka(t, engine.KafkaOptions{Dir: t.TempDir(), SegmentBytes: 64 << 10, RetentionBytes: 128 << 10, LimitBytes: 64 << 20})
	if err := k.Sync(topic, 0); err != nil {
		t.Errorf("a topic that is not there: %v", err)
	}
	c := withTopic(t, k, 1)
	for n := range uint64(50) {
		c.mustProduce(t, 0, numbered(n, 16<<10))
		if err := k.Sync(topic, 0); err != nil {
			t.Fatal(err)
		}
	}
}
