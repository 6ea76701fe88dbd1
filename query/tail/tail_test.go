package tail

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/rs/zerolog"

	"tonscribe/internal/report"
	"tonscribe/query/memory"
	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/test/support/enginetest"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

const plenty = 64 << 20

// Producers run ahead of each other, stop in the midst of bundles, and repeat records
// when they start again.
func TestABundleIsVisibleWhenItsSealIsInAllPartitions(t *testing.T) {
	for _, partitions := range []int{1, 2, 4} {
		random := rand.New(rand.NewPCG(uint64(partitions), 5))
		l, bundles := newLog(t, partitions), chain(25, partitions)
		tail := l.tail(plenty)
		tail.Start(0)
		places := bundles[0].places()
		streams, done := map[place][]*record.Record{}, map[place]int{}
		for _, at := range places {
			for _, b := range bundles {
				streams[at] = append(streams[at], b.records[at]...)
			}
		}
		visible := 0
		for visible < len(bundles) {
			at := places[random.IntN(len(places))]
			stream, from := streams[at], done[at]
			to := min(len(stream), from+random.IntN(12))
			if random.IntN(10) == 0 {
				to = min(len(stream), from+100)
			}
			l.publish(at, stream[max(0, from-random.IntN(8)):to]...)
			done[at] = to
			visible = len(bundles)
			for _, at := range places {
				sealed := 0
				for _, r := range streams[at][:done[at]] {
					if r.GetSeal() != nil {
						sealed++
					}
				}
				visible = min(visible, sealed)
			}
			if visible > 0 {
				awaitNewest(t, tail, bundles[visible-1].seqno)
			} else if n := len(tail.Bundles()); n > 0 {
				t.Fatalf("%d bundles are visible before one is sealed everywhere", n)
			}
		}
		check(t, tail.Bundles(), bundles)
		if err := tail.State(); err != nil {
			t.Error(err)
		}
	}
}

func TestPartitionsThatAreFarAheadWaitForTheOthers(t *testing.T) {
	l, bundles := newLog(t, 1), chain(30, 1)
	tail := l.tail(plenty)
	tail.Start(0)
	places := bundles[0].places()
	late := places[1]
	for _, at := range places {
		for _, b := range bundles {
			if at != late {
				l.publish(at, b.records[at]...)
			}
		}
	}
	for i, b := range bundles {
		if n := len(tail.Bundles()); n != i {
			t.Fatalf("%d bundles are visible while %s has %d", n, late, i)
		}
		l.publish(late, b.records[late]...)
		awaitNewest(t, tail, b.seqno)
	}
	check(t, tail.Bundles(), bundles)
}

func TestFollowingBeginsAfterAnyBundle(t *testing.T) {
	l, bundles := newLog(t, 2), chain(30, 2)
	l.publishAll(bundles[:20]...)
	tail := l.tail(plenty)
	for _, begun := range []int{7, 0, 19, 13} {
		after := uint32(0)
		if begun > 0 {
			after = bundles[begun-1].seqno
		}
		tail.Start(after)
		if n := len(tail.Bundles()); n > 20-begun {
			t.Errorf("%d bundles are still held after a new start", n)
		}
		check(t, awaitNewest(t, tail, bundles[19].seqno), bundles[begun:20])
		tail.Stop()
		check(t, tail.Bundles(), bundles[begun:20])
	}
	tail.Start(bundles[19].seqno)
	l.publishAll(bundles[20:]...)
	check(t, awaitNewest(t, tail, bundles[29].seqno), bundles[20:])
}

func TestTheFirstBundleIsTheOldestThatAllPartitionsHave(t *testing.T) {
	l, bundles := newLog(t, 1), chain(10, 1)
	first := 0
	for i, at := range bundles[0].places() {
		first = 2 * i
		for _, b := range bundles[first:] {
			l.publish(at, b.records[at]...)
		}
	}
	tail := l.tail(plenty)
	tail.Start(0)
	check(t, awaitNewest(t, tail, bundles[9].seqno), bundles[first:])
}

func TestBundlesAreTrimmedWhileOthersComeAndSnapshotsStayAsTheyWere(t *testing.T) {
	l, bundles := newLog(t, 1), chain(120, 1)
	l.publishAll(bundles...)
	all := l.tail(plenty)
	all.Start(0)
	whole := awaitNewest(t, all, bundles[119].seqno)
	bytes := int(testutil.ToFloat64(all.metrics.bytes))

	tail := l.tail(bytes / 4)
	tail.Start(0)
	random := rand.New(rand.NewPCG(1, 6))
	var held []memory.Bundles
	for newest(tail.Bundles()) < bundles[119].seqno {
		s := tail.Bundles()
		for i := 1; i < len(s); i++ {
			if s[i].PrevMCSeqno != s[i-1].MCSeqno {
				t.Fatalf("bundle %d stands behind bundle %d", s[i].MCSeqno, s[i-1].MCSeqno)
			}
		}
		if len(s) > 0 {
			held = append(held, s)
			tail.Trim(s[random.IntN(len(s))].MCSeqno)
		}
		select {
		case <-tail.Changed():
		case <-time.After(time.Millisecond):
		}
	}
	for i := 0; i < len(held); i += 1 + len(held)/20 {
		s := held[i]
		last := int(newest(s) - bundles[0].seqno)
		check(t, s, bundles[last+1-len(s):last+1])
	}
	if len(held) < 5 {
		t.Errorf("%d snapshots, want more to compare", len(held))
	}
	// All may be dropped, and the newest that fit into half stay.
	tail.Trim(bundles[119].seqno)
	s := tail.Bundles()
	kept := 0
	for _, b := range s {
		kept += b.Bytes()
	}
	oldest := whole[120-len(s)-1]
	if kept > bytes/8 || kept+oldest.Bytes() <= bytes/8 {
		t.Errorf("%d bytes are kept, want as many as fit into %d (the next one has %d)", kept, bytes/8, oldest.Bytes())
	}
	check(t, s, bundles[120-len(s):])
	if got := int(testutil.ToFloat64(tail.metrics.bytes)); got != kept {
		t.Errorf("%d bytes are counted, want %d", got, kept)
	}
	tail.Trim(bundles[119].seqno + 100)
	check(t, tail.Bundles(), bundles[120-len(s):])
}

func TestNothingIsTakenBeyondTheBoundUntilThereIsRoom(t *testing.T) {
	l, bundles := newLog(t, 2), chain(150, 2)
	l.publishAll(bundles...)
	all := l.tail(plenty)
	all.Start(0)
	awaitNewest(t, all, bundles[149].seqno)
	bytes := int(testutil.ToFloat64(all.metrics.bytes))
	largest := 0
	for _, b := range all.Bundles() {
		largest = max(largest, b.Bytes())
	}

	bound := bytes / 5
	tail := l.tail(bound)
	tail.Start(0)
	rounds := 0
	for newest(tail.Bundles()) < bundles[149].seqno {
		rounds++
		await(t, tail, "the bound", func() bool { return tail.State() != nil || newest(tail.Bundles()) == bundles[149].seqno })
		if newest(tail.Bundles()) == bundles[149].seqno {
			break
		}
		if err := tail.State(); tail.Err() != nil || err == nil || !strings.Contains(err.Error(), "wait for the sink") {
			t.Fatalf("state: %v, error %v; want that it waits for the sink", err, tail.Err())
		}
		tail.mutex.Lock()
		held := tail.held
		tail.mutex.Unlock()
		if held.bytes() < bound || held.bytes() > bound+largest {
			t.Errorf("%d bytes are held, want about %d", held.bytes(), bound)
		}
		tail.Trim(newest(tail.Bundles()))
	}
	if rounds < 5 {
		t.Errorf("the bound was reached %d times, want 5 at least", rounds)
	}
	await(t, tail, "nothing to wait for", func() bool { return tail.State() == nil })
	check(t, tail.Bundles(), bundles[150-len(tail.Bundles()):])
}

func TestPartitionsAheadLeaveRoomForTheBundleThatIsNext(t *testing.T) {
	l, bundles := newLog(t, 1), chain(80, 1)
	places := bundles[0].places()
	late := places[0]
	for _, at := range places {
		for _, b := range bundles {
			if at != late {
				l.publish(at, b.records[at]...)
			}
		}
	}
	const bound = 768 << 10
	tail := l.tail(bound)
	tail.Start(0)
	partial := func() int {
		tail.mutex.Lock()
		defer tail.mutex.Unlock()
		return tail.held.partial
	}
	await(t, tail, "half of the bound", func() bool { return partial() >= bound/2 })
	if err := tail.State(); err != nil {
		t.Errorf("state: %v, want nil while a bundle is waited for", err)
	}
	for _, b := range bundles {
		l.publish(late, b.records[late]...)
		awaitNewest(t, tail, b.seqno)
		tail.Trim(b.seqno)
		if have, most := partial(), bound/2+bound/4; have > most {
			t.Fatalf("%d bytes are of partitions that are ahead, want %d at most", have, most)
		}
	}
	check(t, tail.Bundles(), bundles[80-len(tail.Bundles()):])
}

func TestTablesAreNearTheLogWhenAMinuteOrFewBundlesAreMissing(t *testing.T) {
	l, bundles := newLog(t, 1), chain(nearBundles+3, 1)
	tail := l.tail(1 << 20)
	near := func(seqno, utime uint32) bool {
		t.Helper()
		near, err := tail.Near(t.Context(), seqno, utime)
		if err != nil {
			t.Fatal(err)
		}
		return near
	}
	if !near(1, 1) {
		t.Error("an empty log is far, want near")
	}
	l.publishAll(bundles...)
	newest := bundles[len(bundles)-1]
	for _, c := range []struct {
		seqno, utime uint32
		want         bool
	}{
		{newest.seqno - nearBundles - 1, newest.utime - 61, false},
		{newest.seqno - nearBundles - 1, newest.utime - 60, true},
		{newest.seqno - nearBundles, newest.utime - 61, true},
		{newest.seqno, newest.utime, true},
		{newest.seqno + 1000, newest.utime + 1000, true},
	} {
		if have := near(c.seqno, c.utime); have != c.want {
			t.Errorf("the newest bundle is %d of %d, that of the tables %d of %d: near is %t, want %t", newest.seqno, newest.utime, c.seqno, c.utime, have, c.want)
		}
	}
}

// Who followed it before a restart has seen its newest bundle, however long the sink stands.
func TestTheHeadOfAChainThatGoesOnIsFollowedHoweverFarTheTablesAreBehind(t *testing.T) {
	bundles := chain(nearBundles+3, 1)
	newest := bundles[len(bundles)-1]
	headers := newest.records[place{Topic: schema.Headers.Name}]
	for age, want := range map[time.Duration]bool{2 * nearSeconds * time.Second: false, nearSeconds / 2 * time.Second: true} {
		headers[len(headers)-1].GetSeal().GenUtime = uint32(time.Now().Add(-age).Unix())
		l := newLog(t, 1)
		l.publishAll(bundles...)
		have, err := l.tail(1<<20).Near(t.Context(), bundles[0].seqno, bundles[0].utime)
		if err != nil || have != want {
			t.Errorf("the newest bundle is %s old: near is %t, %v; want %t", age, have, err, want)
		}
	}
}

func TestABundleLargerThanTheBoundIsHeldAlone(t *testing.T) {
	l, bundles := newLog(t, 1), chain(5, 1)
	l.publishAll(bundles...)
	tail := l.tail(1000)
	tail.Start(0)
	for i, b := range bundles {
		check(t, awaitNewest(t, tail, b.seqno), bundles[i:i+1])
		if i < len(bundles)-1 {
			await(t, tail, "the bound", func() bool { return tail.State() != nil })
		}
		tail.Trim(b.seqno)
	}
}

func TestAFaultOfTheStreamStopsThePartitionBeforeItsBundle(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(records []*record.Record)
		want  error
	}{
		"the seal counts another number": {func(records []*record.Record) { records[len(records)-1].GetSeal().Rows++ }, errDisagrees},
		"a transaction without hash": {func(records []*record.Record) {
			records[0].GetTransactions().Transactions[0].Hash = nil
		}, errUnfit},
	} {
		l, bundles := newLog(t, 1), chain(4, 1)
		at := place{Topic: schema.Transactions.Name}
		c.spoil(bundles[2].records[at])
		l.publishAll(bundles...)
		tail := l.tail(plenty)
		for range 2 {
			tail.Start(0)
			await(t, tail, name, func() bool { return tail.Err() != nil && newest(tail.Bundles()) == bundles[1].seqno })
			check(t, tail.Bundles(), bundles[:2])
			if err := tail.Err(); !errors.Is(err, c.want) || !strings.Contains(err.Error(), at.String()) || !errors.Is(tail.State(), err) {
				t.Errorf("%s: error %v, state %v; want: %s: %v", name, err, tail.State(), at, c.want)
			}
			tail.Stop()
			check(t, tail.Bundles(), bundles[:2])
		}
		tail.Start(bundles[2].seqno)
		if err := tail.Err(); err != nil {
			t.Errorf("%s: after a new start: %v", name, err)
		}
		check(t, awaitNewest(t, tail, bundles[3].seqno), bundles[3:])
	}
}

func TestPartitionsOfDifferentChainsAreRefused(t *testing.T) {
	l, bundles := newLog(t, 1), chain(3, 1)
	l.publishAll(bundles[0])
	for i, at := range bundles[0].places() {
		b := bundles[1]
		if i == 2 {
			b = bundles[2]
			for _, r := range b.records[at] {
				r.PrevMcSeqno = bundles[0].seqno
			}
		}
		l.publish(at, b.records[at]...)
	}
	tail := l.tail(plenty)
	tail.Start(0)
	await(t, tail, "an error", func() bool { return tail.Err() != nil })
	if err := tail.Err(); !errors.Is(err, errTornChain) {
		t.Error(err)
	}
	check(t, tail.Bundles(), bundles[:1])
}

func TestWhatTheLogHasNoMoreIsAnError(t *testing.T) {
	l, bundles := newLog(t, 1), chain(5, 1)
	l.publishAll(bundles[3:]...)
	tail := l.tail(plenty)
	tail.Start(bundles[1].seqno)
	await(t, tail, "an error", func() bool { return tail.Err() != nil })
	if err := tail.State(); !strings.Contains(err.Error(), "was deleted before it was read") || len(tail.Bundles()) > 0 {
		t.Errorf("state %v, %d bundles; want that the log begins too late, and none", err, len(tail.Bundles()))
	}
}

func TestStateSaysWhenTheLogCannotBeReached(t *testing.T) {
	for _, first := range []bool{true, false} { // whether that is so from the beginning
		l, bundles := newLog(t, 1), chain(3, 1)
		way := &gate{dial: l.dependencies.Dial, closed: first}
		l.dependencies.Dial = way.Dial
		tail := l.tail(plenty)
		tail.Start(0)
		l.publishAll(bundles[:2]...)
		if !first {
			awaitNewest(t, tail, bundles[1].seqno)
			if err := tail.State(); err != nil {
				t.Errorf("state: %v, want nil", err)
			}
			way.Shut(true)
		}
		await(t, tail, "trouble", func() bool { return tail.State() != nil })
		if err := tail.State(); tail.Err() != nil || !strings.Contains(err.Error(), "the log cannot be reached") {
			t.Errorf("state: %v, error %v; want that the log cannot be reached, and none", err, tail.Err())
		}
		l.publishAll(bundles[2])
		way.Shut(false)
		check(t, awaitNewest(t, tail, bundles[2].seqno), bundles)
		await(t, tail, "the log again", func() bool { return tail.State() == nil })
	}
}

func TestNothingRunsAfterStop(t *testing.T) {
	l, bundles := newLog(t, 2), chain(30, 2)
	l.publishAll(bundles...)
	blocked, idle, unreached := l.tail(40<<10), l.tail(plenty), New(Configuration{Group: "sink", MaxBytes: plenty}, nil, report.Silent())
	unreached.Stop() // before Start
	way := &gate{closed: true}
	l.dependencies.Dial = way.Dial
	unreached = l.tail(plenty)
	for _, tail := range []*Tail{blocked, idle, unreached} {
		tail.Start(0)
	}
	await(t, blocked, "the bound", func() bool { return blocked.State() != nil })
	awaitNewest(t, idle, bundles[29].seqno)
	for _, tail := range []*Tail{blocked, idle, unreached} {
		began := time.Now()
		tail.Stop()
		if took := time.Since(began); took > 30*time.Second {
			t.Errorf("stopping took %s", took)
		}
		if err := tail.Err(); err != nil {
			t.Errorf("after stop: %v", err)
		}
	}
	// What closes a connection may still be on its way; all else has ended.
	stacks := make([]byte, 4<<20)
	left := func(names ...string) (list []string) {
		for _, stack := range strings.Split(string(stacks[:runtime.Stack(stacks, true)]), "\n\n") {
			if slices.ContainsFunc(names, func(name string) bool { return strings.Contains(stack, name) }) {
				list = append(list, stack)
			}
		}
		return list
	}
	if list := left("tail.(*Tail)", "kafka.(*fetcher).run", "kafka.(*Client)"); len(list) > 0 {
		t.Errorf("these goroutines are left:\n%s", strings.Join(list, "\n\n"))
	}
	for began := time.Now(); len(left("kafka.(*fetcher)")) > 0; time.Sleep(time.Millisecond) {
		if time.Since(began) > time.Minute {
			t.Fatalf("these goroutines are left:\n%s", strings.Join(left("kafka.(*fetcher)"), "\n\n"))
		}
	}
}

func TestMetricsCountWhatIsHeldAndHowFarTheLogIs(t *testing.T) {
	l, bundles := newLog(t, 1), chain(10, 1)
	l.publishAll(bundles[:8]...)
	tail := New(Configuration{Group: "sink", MaxBytes: plenty}, l.client(l.dependencies), report.Reporter{Log: zerolog.Nop(), Metrics: prometheus.NewRegistry()})
	tail.Start(0)
	t.Cleanup(tail.Stop)
	s := awaitNewest(t, tail, bundles[7].seqno)
	rows, bytes := 0, 0
	for _, b := range s {
		rows += b.Rows()
		bytes += b.Bytes()
	}
	for name, c := range map[string]struct {
		metric prometheus.Gauge
		want   int
	}{"bundles": {tail.metrics.bundles, 8}, "rows": {tail.metrics.rows, rows}, "bytes": {tail.metrics.bytes, bytes}} {
		if have := testutil.ToFloat64(c.metric); have != float64(c.want) || have == 0 {
			t.Errorf("%s: %v, want %d", name, have, c.want)
		}
	}
	// All but one topic go on.
	for i, at := range bundles[0].places() {
		if i > 0 {
			l.publish(at, append(bundles[8].records[at], bundles[9].records[at]...)...)
		}
	}
	await(t, tail, "two bundles behind", func() bool { return testutil.ToFloat64(tail.metrics.behind) == 2 })
	for _, b := range bundles[8:] {
		l.publish(b.places()[0], b.records[b.places()[0]]...)
	}
	awaitNewest(t, tail, bundles[9].seqno)
	await(t, tail, "none behind", func() bool { return testutil.ToFloat64(tail.metrics.behind) == 0 })
}
