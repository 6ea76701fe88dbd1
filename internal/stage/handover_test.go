package stage

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/rs/zerolog"

	"tonscribe/internal/engine"
	"tonscribe/internal/kafka"
	"tonscribe/internal/report"
	"tonscribe/schema/record"
	"tonscribe/test/support/clienttest"
	kafkatest "tonscribe/test/support/kafka"
)

// openLog starts an embedded log, with a client of two partitions.
func openLog(t testing.TB) *kafka.Client {
	t.Helper()
	log, err := engine.StartKafka(t.Context(), engine.KafkaOptions{Dir: t.TempDir(), Report: report.Silent(), RetentionBytes: 8 << 30})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { log.Stop(context.Background()) })
	return clienttest.Kafka(t, log, 2)
}

// member is one of a stage's group that has all partitions.
type member struct {
	testing.TB
	*handover
	dir    string
	cancel context.CancelFunc
	left   bool
}

// join makes a member with a folder take the store over.
func join(t testing.TB, client *kafka.Client, dir string) *member {
	t.Helper()
	m := &member{TB: t, dir: dir}
	configuration := Configuration{Name: "test", Store: StoreOptions{Dir: dir, CacheBytes: 8 << 20, Version: 1, Few: []byte("ed"), Log: zerolog.Nop()}}
	c := New(configuration, Dependencies{Report: report.Reporter{Metrics: prometheus.NewRegistry()}, Kafka: client})
	store, err := OpenStore(configuration.Store)
	if err != nil {
		t.Fatal(err)
	}
	var ctx context.Context
	ctx, m.cancel = context.WithCancel(t.Context())
	m.handover = newHandover(ctx, &sync.WaitGroup{}, c, store)
	t.Cleanup(m.leave)
	if _, err := store.Get('e', nil); err != nil { // it knows what there is before it takes over
		t.Fatal(err)
	}
	if err := m.takeOver(); err != nil {
		t.Fatal(err)
	}
	return m
}

// leave ends a member as a lost partition does.
func (m *member) leave() {
	if m.left {
		return
	}
	m.left = true
	m.cancel()
	m.tasks.Wait()
	if err := m.store.Close(); err != nil {
		m.Error(err)
	}
}

// write makes a bundle: entries of its own, one that each changes, and one that
// is taken away by the next.
func (m *member) write(mcSeqno uint32, size int) error {
	n := binary.BigEndian.AppendUint32(nil, mcSeqno)
	return errors.Join(
		m.store.Set(bytes.Repeat(n, size/4), 'e', n),
		m.store.Set(n, 'n'),
		m.store.Set(n, 'd', n),
		m.store.Delete('d', binary.BigEndian.AppendUint32(nil, mcSeqno-1)),
		m.store.Mark(mcSeqno),
		m.store.Commit(),
	)
}

func (m *member) work(from, to uint32) {
	m.Helper()
	for n := from; n <= to; n++ {
		if err := m.write(n, 100); err != nil {
			m.Fatalf("bundle %d: %v", n, err)
		}
	}
}

// snapshot waits for the one that is being written.
func (m *member) snapshot() {
	m.Helper()
	if m.writing == nil {
		if err := m.startSnapshot(); err != nil {
			m.Fatal(err)
		}
	}
	ended := <-m.writing
	m.writing <- ended
}

// content is everything in the store but what is the frame's own.
func (m *member) content() string {
	m.Helper()
	var b bytes.Buffer
	for kind := range 256 {
		if kind == keyPosition || kind == keyRestoring {
			continue
		}
		if err := m.store.Each([]byte{byte(kind)}, nil, func(rest, value []byte) bool {
			fmt.Fprintf(&b, "%c %x %x\n", kind, rest, value)
			if got, err := m.store.Get(byte(kind), rest); err != nil || !bytes.Equal(got, value) {
				m.Errorf("the value of %c %x is %x, asked for alone %x, %v", kind, rest, value, got, err)
			}
			return true
		}); err != nil {
			m.Fatal(err)
		}
	}
	return b.String()
}

// expect compares a member's store with that of one which worked undisturbed.
func (m *member) expect(last uint32) {
	m.Helper()
	alone := join(m.TB, openLog(m.TB), m.TempDir())
	alone.work(1, last)
	if got, want := m.content(), alone.content(); got != want {
		m.Errorf("at bundle %d the store has %d bytes, want the %d of an undisturbed one at %d", m.store.marker, len(got), len(want), last)
	}
	if m.store.marker != last {
		m.Errorf("the store is at bundle %d, want %d", m.store.marker, last)
	}
}

func (m *member) restored(from string) float64 {
	m.Helper()
	return testutil.ToFloat64(m.Restored.WithLabelValues(from))
}

func TestAMemberWithoutAFolderHasWhatTheOneBeforeMadeDurable(t *testing.T) {
	for name, c := range map[string]struct {
		before, after uint32 // bundles before and after the snapshot
	}{"from a snapshot alone": {20, 0}, "from a snapshot and changes": {20, 30}, "from the changes since the beginning": {0, 30}, "when there is nothing": {0, 0}} {
		t.Run(name, func(t *testing.T) {
			client := openLog(t)
			first := join(t, client, t.TempDir())
			first.snapshot()
			first.work(1, c.before)
			if c.before > 0 {
				first.snapshot()
				first.work(c.before+1, c.before+max(c.after, 1))
			} else {
				first.work(1, c.after)
			}
			first.leave()
			second := join(t, client, t.TempDir())
			last := c.before + c.after
			if c.before > 0 {
				last = c.before + max(c.after, 1)
			}
			second.expect(last)
			if got := second.restored("snapshot"); c.before > 0 && got < float64(c.before) {
				t.Errorf("%v entries came from the snapshot, want those of %d bundles", got, c.before)
			}
			second.work(last+1, last+5)
			second.expect(last + 5)
		})
	}
}

func TestOnApacheKafkaAMemberTakesOverFromASnapshotAndChanges(t *testing.T) {
	configuration := kafka.DefaultConfiguration()
	configuration.Brokers, configuration.Partitions = kafkatest.Apache(t), 2
	client, err := kafka.New(configuration, kafka.Dependencies{Report: report.Silent()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	first := join(t, client, t.TempDir())
	first.work(1, 20)
	first.snapshot()
	first.work(21, 25)
	next := join(t, client, t.TempDir())
	first.work(26, 27)
	first.leave()
	next.expect(25)
	if got := next.restored("snapshot"); got < 20 {
		t.Errorf("%v entries came from the snapshot, want those of 20 bundles", got)
	}
	next.work(26, 30)
	next.leave()
	join(t, client, first.dir).expect(30)
}

func TestAMemberWithAFolderReadsOnlyWhatFollowsIt(t *testing.T) {
	client := openLog(t)
	first := join(t, client, t.TempDir())
	first.snapshot()
	first.work(1, 10)
	first.leave()
	second := join(t, client, t.TempDir())
	second.work(11, 20)
	second.snapshot()
	second.work(21, 25)
	second.leave()
	again := join(t, client, first.dir)
	again.expect(25)
	if from := again.restored("snapshot"); from != 0 {
		t.Errorf("%v entries came from a snapshot, want none", from)
	}
	if got := again.restored("changes"); got != 15*5 {
		t.Errorf("%v changes came from the topic, want the %d of 15 bundles", got, 15*5)
	}
}

func TestWhatAMemberWritesAfterAnotherHasClaimedDoesNotCount(t *testing.T) {
	client := openLog(t)
	old := join(t, client, t.TempDir())
	old.snapshot()
	old.work(1, 10)
	next := join(t, client, t.TempDir())
	old.work(11, 14) // it does not know
	old.snapshot()
	old.work(15, 16)
	if err := next.write(11, 8); err != nil {
		t.Fatal(err)
	}
	old.leave()
	next.leave()
	third := join(t, client, t.TempDir())
	entry, err := third.store.Get('e', []byte{0, 0, 0, 11})
	if third.store.marker != 11 || len(entry) != 8 || err != nil {
		t.Errorf("the store is at bundle %d with an entry of %d bytes (%v), want 11 with the 8 of the member that had claimed", third.store.marker, len(entry), err)
	}
	third.leave()
	// The old member's own folder is not on the way: all of it is taken anew.
	back := join(t, client, old.dir)
	entry, err = back.store.Get('e', []byte{0, 0, 0, 11})
	if back.store.marker != 11 || len(entry) != 8 || err != nil {
		t.Errorf("its folder comes to bundle %d with an entry of %d bytes (%v), want 11 with 8", back.store.marker, len(entry), err)
	}
	if stray, err := back.store.Get('e', []byte{0, 0, 0, 15}); stray != nil || err != nil {
		t.Errorf("an entry of bundle 15 is left (%v)", err)
	}
}

func TestABatchThatIsNotWholeDoesNotCount(t *testing.T) {
	client := openLog(t)
	first := join(t, client, t.TempDir())
	first.snapshot()
	first.work(1, 10)
	if err := first.publish(&record.StoreRecord{Kind: record.StoreRecordKind_STORE_CHANGES, Epoch: first.epoch, Number: first.position.Number + 1,
		Entries: []*record.StoreEntry{{Key: []byte("half"), Value: []byte("of it")}}}); err != nil {
		t.Fatal(err)
	}
	first.leave()
	second := join(t, client, t.TempDir())
	second.expect(10)
	second.work(11, 12)
	second.leave()
	third := join(t, client, t.TempDir())
	third.expect(12)
}

func TestASnapshotThatWasCutOffDoesNotCount(t *testing.T) {
	client := openLog(t)
	first := join(t, client, t.TempDir())
	first.snapshot()
	first.work(1, 10)
	if err := first.publish(&record.StoreRecord{Kind: record.StoreRecordKind_STORE_SNAPSHOT, Epoch: first.epoch, Number: first.position.Number,
		Entries: []*record.StoreEntry{{Key: []byte("half"), Value: []byte("of it")}}}); err != nil {
		t.Fatal(err)
	}
	first.leave()
	join(t, client, t.TempDir()).expect(10)
}

func TestRecordsThatTheLogRepeatsCountOnce(t *testing.T) {
	client := openLog(t)
	first := join(t, client, t.TempDir())
	first.snapshot()
	publish := func(number uint64, part uint32, last bool, value string) {
		t.Helper()
		s := &record.StoreRecord{Kind: record.StoreRecordKind_STORE_CHANGES, Epoch: first.epoch, Number: number, Part: part, Last: last,
			Snapshot: first.position.Snapshot, Entries: []*record.StoreEntry{{Key: []byte{"kkz"[part]}, Value: []byte(value)}}}
		if part == 0 {
			s.Entries = append(s.Entries, &record.StoreEntry{Key: []byte{keyMarker}, Value: []byte{0, 0, 0, byte(number)}})
		}
		if err := first.publish(s); err != nil {
			t.Fatal(err)
		}
	}
	first.work(1, 1) // with the snapshot's place
	n := first.position.Number
	publish(n+1, 0, false, "old")
	publish(n+1, 1, false, "new")
	publish(n+1, 0, false, "old")
	publish(n+1, 2, true, "last")
	publish(n+1, 1, false, "old")
	publish(n+1, 2, true, "old")
	first.leave()
	second := join(t, client, t.TempDir())
	if got, err := second.store.Get('k'); string(got) != "new" || err != nil {
		t.Errorf("the entry is %q (%v), want new", got, err)
	}
	if got, err := second.store.Get('z'); string(got) != "last" || err != nil {
		t.Errorf("the entry of the last part is %q (%v), want last", got, err)
	}
}

func TestAFolderThatWasBeingFilledIsFilledAnew(t *testing.T) {
	client := openLog(t)
	first := join(t, client, t.TempDir())
	first.snapshot()
	first.work(1, 10)
	first.leave()
	dir := filepath.Join(t.TempDir(), "half")
	half := join(t, openLog(t), dir)
	if err := errors.Join(half.store.Set([]byte("stray"), 'e', []byte("half of it")), half.store.Set([]byte{}, keyRestoring), half.store.Mark(7), half.store.Commit()); err != nil {
		t.Fatal(err)
	}
	half.leave()
	join(t, client, dir).expect(10)
}

func TestATopicThatBeganAnewTakesTheFolderAsItIs(t *testing.T) {
	first := join(t, openLog(t), t.TempDir())
	first.snapshot()
	first.work(1, 50)
	first.leave()
	client := openLog(t) // has never had anything
	again := join(t, client, first.dir)
	again.expect(50)
	again.snapshot()
	again.work(51, 52)
	again.leave()
	join(t, client, t.TempDir()).expect(52)
}

func TestOfTwoMembersThatClaimTheSameEpochOneBegins(t *testing.T) {
	client := openLog(t)
	first := join(t, client, t.TempDir())
	first.snapshot()
	first.work(1, 3)
	// Somebody else's claim of the next epoch comes first.
	if err := first.publish(&record.StoreRecord{Kind: record.StoreRecordKind_STORE_CLAIM, Epoch: first.epoch + 1, Writer: bytes.Repeat([]byte{1}, 16)}); err != nil {
		t.Fatal(err)
	}
	second := join(t, client, t.TempDir())
	lost, err := second.claimEpoch(first.epoch + 1)
	if lost || err != nil {
		t.Errorf("a claim of an epoch that another member has is taken (%v)", err)
	}
	if second.epoch <= first.epoch+1 {
		t.Errorf("the member works in epoch %d, want one after %d", second.epoch, first.epoch+1)
	}
	second.expect(3)
}

// claimEpoch claims an epoch that is given.
func (m *member) claimEpoch(epoch uint64) (won bool, err error) {
	kept := m.epoch
	defer func() { m.epoch = kept }()
	m.store.prepare, m.store.committed = nil, nil
	m.epoch = epoch
	return m.claim()
}

// BenchmarkTakeOver takes over a store of a million entries, as large as those of
// jetton wallets, by a member without a folder.
func BenchmarkTakeOver(b *testing.B) {
	const entries, each = 1_000_000, 1000
	client := openLog(b)
	first := join(b, client, b.TempDir())
	value := make([]byte, 300)
	key := make([]byte, 36)
	for n := range uint32(entries / each) {
		for i := range uint32(each) {
			rng := sha256.Sum256(binary.BigEndian.AppendUint32(nil, n*each+i))
			copy(key[4:], rng[:])
			for at := 0; at < len(value); at += 60 {
				copy(value[at:], rng[:]) // half of it does not compress
			}
			if err := first.store.Set(value, 'a', key); err != nil {
				b.Fatal(err)
			}
		}
		if err := errors.Join(first.store.Mark(n+1), first.store.Commit()); err != nil {
			b.Fatal(err)
		}
	}
	first.snapshot()
	first.leave()
	for b.Loop() {
		second := join(b, client, b.TempDir())
		if second.store.marker != entries/each {
			b.Fatalf("it comes to bundle %d, want %d", second.store.marker, entries/each)
		}
		b.StopTimer()
		second.leave()
		b.StartTimer()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/entries, "ns/entry")
}
