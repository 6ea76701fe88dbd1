package pending

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	tonutils "github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/internal/kafka"
	"tonscribe/internal/report"
	"tonscribe/query/node"
	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/test/support/clienttest"
	"tonscribe/test/support/enginetest"
	"tonscribe/ton/address"
	"tonscribe/ton/tvm"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// hashOf is a hash that a number makes.
func hashOf(n int) (h Hash) {
	binary.BigEndian.PutUint64(h[:], uint64(n)+1)
	return h
}

func accountOf(n int) address.Address {
	id := hashOf(n)
	return address.New(0, id[:])
}

// foreseen is a record of a trace that begins at an account and goes on to others. Its
// message has a normalised hash of its own, and so many bytes.
func foreseen(n, root, size int, at time.Time, others ...int) *record.PendingTrace {
	raw, normal, a := hashOf(1_000_000+n), hashOf(n), accountOf(root)
	r := &record.PendingTrace{Time: uint32(at.Unix()), Transactions: []*record.Transaction{{
		Account: a[:], Lt: 1, InMsg: &record.Message{Kind: record.Message_EXTERNAL_IN, Hash: raw[:], HashNorm: normal[:], Body: make([]byte, size)},
	}}}
	for _, o := range others {
		b := accountOf(o)
		r.Transactions = append(r.Transactions, &record.Transaction{Account: b[:], Lt: 2})
	}
	return r
}

func silent() *metrics {
	return newMetrics(report.Reporter{Metrics: prometheus.NewRegistry()})
}

// ids are the numbers of traces.
func ids(traces []*Trace) (numbers []int) {
	for _, t := range traces {
		numbers = append(numbers, int(binary.BigEndian.Uint64(t.ID[:]))-1)
	}
	slices.Sort(numbers)
	return numbers
}

func TestTracesAreFoundByEitherHashAndByTheirAccounts(t *testing.T) {
	s := newStore(DefaultConfiguration(), silent())
	now := time.Now()
	s.put(newTrace(foreseen(1, 10, 1, now, 20, 30)), now)
	s.put(newTrace(foreseen(2, 10, 1, now, 20)), now)
	for what, c := range map[string]struct {
		got, want []int
	}{
		"normalised":   {ids(s.Sent([]Hash{hashOf(1)})), []int{1}},
		"raw":          {ids(s.Sent([]Hash{hashOf(1_000_002)})), []int{2}},
		"both":         {ids(s.Sent([]Hash{hashOf(2), hashOf(1_000_002), hashOf(1)})), []int{1, 2}},
		"unknown":      {ids(s.Sent([]Hash{hashOf(3)})), nil},
		"root":         {ids(s.Of([]address.Address{accountOf(10)}, 9)), []int{1, 2}},
		"later":        {ids(s.Of([]address.Address{accountOf(30)}, 9)), []int{1}},
		"two accounts": {ids(s.Of([]address.Address{accountOf(30), accountOf(20)}, 9)), []int{1, 2}},
		"nobody":       {ids(s.Of([]address.Address{accountOf(40)}, 9)), nil},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("%s: %v, want %v", what, c.got, c.want)
		}
	}
	if got := s.Of([]address.Address{accountOf(20)}, 1); len(got) != 1 {
		t.Errorf("%d traces, want one", len(got))
	}
	s.Done(hashOf(1))
	if got := ids(s.Of([]address.Address{accountOf(20)}, 9)); !slices.Equal(got, []int{2}) || len(s.Sent([]Hash{hashOf(1_000_001)})) != 0 {
		t.Errorf("%v, want the other one", got)
	}
	s.put(newTrace(foreseen(1, 10, 1, now)), now) // as another replica tells it
	if len(s.Sent([]Hash{hashOf(1)})) != 0 {
		t.Error("what the index has is pending again")
	}
}

func TestTracesAreFoundByWhomJettonsAndItemsGoTo(t *testing.T) {
	s := newStore(DefaultConfiguration(), silent())
	now := time.Now()
	order := func(opcode uint64) *record.Message {
		b := cell.BeginCell().MustStoreUInt(opcode, 32).MustStoreUInt(1, 64)
		if opcode == 0x0f8a7ea5 {
			b.MustStoreCoins(9)
		}
		to := accountOf(40)
		op := uint32(opcode)
		return &record.Message{Opcode: &op, Body: b.MustStoreAddr(tonutils.NewAddress(0, 0, to.ID())).EndCell().ToBOC()}
	}
	for n, opcode := range []uint64{0x0f8a7ea5, 0x5fcc3d14, 0x595f07bc} {
		r := foreseen(n, 10, 1, now, 20)
		r.Transactions[1].InMsg = order(opcode)
		s.put(newTrace(r), now)
	}
	broken := foreseen(9, 10, 1, now, 20)
	broken.Transactions[1].InMsg = order(0x0f8a7ea5)
	broken.Transactions[1].InMsg.Body = []byte{1}
	s.put(newTrace(broken), now)
	receiver := []address.Address{accountOf(40)}
	if got := ids(s.Concerning(receiver, 9)); !slices.Equal(got, []int{0, 1}) {
		t.Errorf("the receiver finds %v, want 0 and 1", got)
	}
	if got := ids(s.Concerning([]address.Address{accountOf(20)}, 9)); !slices.Equal(got, []int{0, 1, 2, 9}) {
		t.Errorf("who has a transaction finds %v, want all", got)
	}
	if got := ids(s.Of(receiver, 9)); len(got) != 0 {
		t.Errorf("the receiver has a transaction of %v", got)
	}
	s.Done(hashOf(0))
	s.Done(hashOf(1))
	if got := ids(s.Concerning(receiver, 9)); len(got) != 0 || len(s.byGoal) != 0 {
		t.Errorf("of what the index has the receiver finds %v, and %d receivers are held", got, len(s.byGoal))
	}
}

func TestTracesAreHeldForTheirTimeAndWithinTheirBounds(t *testing.T) {
	c := DefaultConfiguration()
	c.Keep, c.MaxTraces, c.MaxPerAccount, c.MaxBytes = time.Minute, 50, 4, 1<<20
	m := silent()
	s := newStore(c, m)
	now := time.Now()
	put := func(n, root, size int) { s.put(newTrace(foreseen(n, root, size, now, root+1)), now) }
	for n := range 20 {
		put(n, 7, 1)
	}
	if got := ids(s.Of([]address.Address{accountOf(7)}, 99)); !slices.Equal(got, []int{16, 17, 18, 19}) {
		t.Errorf("of one account %v, want the newest four", got)
	}
	for n := 100; n < 200; n++ {
		put(n, n, 1)
	}
	if got := len(s.byID); got != 50 || s.order.Len() != 50 || len(s.Sent([]Hash{hashOf(199)})) != 1 || len(s.Sent([]Hash{hashOf(19)})) != 0 {
		t.Errorf("%d traces are held, want the newest 50", got)
	}
	for n := 200; n < 210; n++ {
		put(n, n, 100<<10)
		if s.bytes > c.MaxBytes {
			t.Errorf("%d bytes, at most %d", s.bytes, c.MaxBytes)
		}
	}
	put(300, 300, 1<<20) // more than all
	if len(s.Sent([]Hash{hashOf(300)})) != 0 || len(s.Sent([]Hash{hashOf(209)})) != 1 {
		t.Error("what has no room pushes others out")
	}
	now = now.Add(59 * time.Second)
	put(400, 400, 1)
	if len(s.byID) < 2 {
		t.Error("traces are gone before their time")
	}
	now = now.Add(2 * time.Second)
	put(401, 401, 1)
	if len(s.byID) != 2 || len(s.byUser) != 3 || len(s.ofRoot) != 2 || len(s.byRaw) != 2 || s.bytes > 10<<10 {
		t.Errorf("%d traces, %d and %d accounts, %d raw hashes, %d bytes after their time; want what came late", len(s.byID), len(s.byUser), len(s.ofRoot), len(s.byRaw), s.bytes)
	}
	late := foreseen(500, 500, 1, now.Add(-time.Hour))
	if s.put(newTrace(late), now); len(s.Sent([]Hash{hashOf(500)})) != 0 {
		t.Error("what is told too late is held")
	}
}

// Clocks of replicas differ.
func TestTracesOfAReplicaWhoseClockIsAheadAreHeldNoLongerThanOthers(t *testing.T) {
	c := DefaultConfiguration()
	c.Keep = time.Minute
	s := newStore(c, silent())
	now := time.Now()
	s.put(newTrace(foreseen(1, 10, 1, now.Add(time.Hour))), now)
	s.put(newTrace(foreseen(2, 20, 1, now)), now)
	now = now.Add(61 * time.Second)
	s.put(newTrace(foreseen(3, 30, 1, now)), now)
	if got := len(s.byID); got != 1 {
		t.Errorf("%d traces are held after their time, want the one that came late", got)
	}
}

// Whoever sends without end has a part of the store and of the queue.
func TestOneClientCannotPushOutWhatOthersSent(t *testing.T) {
	c := DefaultConfiguration()
	c.Keep, c.MaxTraces, c.MaxBytes, c.Queue = 10*time.Minute, 800, 8<<20, 80
	l := newClients(c)
	now := time.Now()
	taken := 0
	for range 1000 {
		if l.enter("stranger", now) {
			taken++
		}
	}
	if taken != 10 { // nobody works
		t.Errorf("%d messages of one client wait, want 10", taken)
	}
	for range taken {
		l.leave("stranger", 0, now)
	}
	for range 10_000 {
		if l.enter("stranger", now) {
			taken++
			l.leave("stranger", 1000, now)
		}
		now = now.Add(c.Keep / 10_000)
	}
	if most := 800/storeShare + 800/burstShare + 1; taken > most || taken < 200 {
		t.Errorf("%d traces of one client in the time that they are held, want 200 to %d", taken, most)
	}
	large := 0
	for range 10_000 {
		if l.enter("large", now) {
			large += 100 << 10
			l.leave("large", 100<<10, now)
		}
	}
	if large > 8<<20/burstShare+200<<10 {
		t.Errorf("%d bytes of one client at once", large)
	}
	if !l.enter("other", now) {
		t.Error("another client is refused")
	}
	l.leave("other", 0, now)
	now = now.Add(time.Hour)
	l.enter("last", now)
	if len(l.of) != 1 {
		t.Errorf("%d clients are remembered after an hour, want one", len(l.of))
	}
}

// slow is a Node that answers when it may.
type slow struct{ until chan struct{} }

func (n slow) Moment(ctx context.Context) (*node.Moment, error) {
	select {
	case <-n.until:
		return nil, errors.New("there is no chain")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
func (slow) AccountAt(context.Context, *node.Moment, address.Address) (*node.Account, error) {
	return nil, errors.New("there is no chain")
}
func (slow) CodeLibraries(_ context.Context, hashes [][32]byte) ([]*cell.Cell, error) {
	return make([]*cell.Cell, len(hashes)), nil
}

type nobody struct{}

func (nobody) Deliver(context.Context, tvm.Delivery) (tvm.Outcome, error) {
	return tvm.Outcome{}, errors.New("nothing is executed")
}

// Whoever sends does not wait, however many messages wait and however long one takes,
// and the end does not either.
func TestNobodyWaitsForWhatIsForeseen(t *testing.T) {
	c := DefaultConfiguration()
	c.Queue, c.Limits.Time = 64, time.Minute
	p, err := New(c, Dependencies{Report: report.Silent(), Emulator: nobody{}})
	if err != nil {
		t.Fatal(err)
	}
	n := slow{make(chan struct{})}
	p.Start(n)
	began := time.Now()
	const messages = 5000
	for i := range messages {
		p.Accepted("client", node.Accepted{Sent: node.Sent{Hash: hashOf(i), Normal: hashOf(i)}, BoC: cell.BeginCell().EndCell().ToBOC()})
	}
	took := time.Since(began)
	if took > 30*time.Second {
		t.Errorf("%d messages took %s", messages, took)
	}
	t.Logf("who sends waits %s", took/messages)
	if len(p.waiting.ready) > c.Queue {
		t.Errorf("%d messages wait", len(p.waiting.ready))
	}
	began = time.Now()
	p.Stop()
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("the end took %s while one was worked out", took)
	}
}

// journal is a log of one partition in memory.
type journal struct {
	mu      sync.Mutex
	records []*record.Record
	changed chan struct{}
}

func (j *journal) EnsureTopics(_ context.Context, topics []schema.Topic) error {
	if len(topics) != 1 || topics[0].Name != schema.Pending.Name {
		return errors.New("another topic")
	}
	return nil
}

func (j *journal) Publish(_ context.Context, _ string, _ int, records []*record.Record) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.records = append(j.records, records...)
	close(j.changed)
	j.changed = make(chan struct{})
	return nil
}

func (j *journal) Watch(ctx context.Context, _ string, _ int, take func(kafka.Item)) error {
	for next := 0; ; {
		j.mu.Lock()
		records, changed := j.records[next:], j.changed
		j.mu.Unlock()
		for _, r := range records {
			take(kafka.Item{Record: r})
			next++
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		}
	}
}

func await(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for limit := time.Now().Add(time.Minute); !condition(); time.Sleep(time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatal(what)
		}
	}
}

func TestReplicasKnowWhatOthersForesaw(t *testing.T) {
	j := &journal{changed: make(chan struct{})}
	first, second := replicas(t, j, j)
	share(t, first, second)
	// Who comes later knows what was told before, and records that are none do no harm.
	if err := j.Publish(t.Context(), "", 0, []*record.Record{{}, {Content: &record.Record_Pending{Pending: &record.PendingTrace{}}}}); err != nil {
		t.Fatal(err)
	}
	third, _ := replicas(t, j, j)
	await(t, "the third replica knows nothing", func() bool { return len(third.Sent([]Hash{hashOf(5), hashOf(6)})) == 2 })
}

// The same over a real log.
func TestReplicasKnowWhatOthersForesawOverKafka(t *testing.T) {
	log := enginetest.Kafka(t)
	var clients []Log
	for range 2 {
		clients = append(clients, clienttest.Kafka(t, log, 1))
	}
	first, second := replicas(t, clients...)
	share(t, first, second)
}

// replicas are two components, without node access, that share logs.
func replicas(t *testing.T, logs ...Log) (first, second *Component) {
	t.Helper()
	var list []*Component
	for _, log := range logs {
		p, err := New(DefaultConfiguration(), Dependencies{Report: report.Silent(), Log: log})
		if err != nil {
			t.Fatal(err)
		}
		p.Start(nil)
		t.Cleanup(p.Stop)
		list = append(list, p)
	}
	return list[0], list[1]
}

// share lets two replicas tell each other a trace.
func share(t *testing.T, first, second *Component) {
	t.Helper()
	now := time.Now()
	for n, p := range []*Component{first, second} {
		r := foreseen(5+n, 9, 10, now, 11)
		p.put(newTrace(r), now)
		p.outgoing <- &record.Record{Content: &record.Record_Pending{Pending: r}}
	}
	both := []Hash{hashOf(5), hashOf(6)}
	await(t, "replicas do not know each other's traces", func() bool { return len(first.Sent(both)) == 2 && len(second.Sent(both)) == 2 })
	of := []address.Address{accountOf(11)}
	for i, a := range first.Of(of, 9) {
		b := second.Of(of, 9)[i]
		if a.ID != b.ID || len(a.Transactions) != len(b.Transactions) || !a.Transactions[0].EqualVT(b.Transactions[0]) {
			t.Errorf("trace %x is another one for another replica", a.ID)
		}
	}
}

// A message that was sent and did not come may be sent again: it is worked out anew, and
// shown from then on.
func TestWhatIsSentAgainLaterIsForeseenAgain(t *testing.T) {
	p, err := New(DefaultConfiguration(), Dependencies{Report: report.Silent(), Emulator: nobody{}})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	send := func(n int) int {
		p.Accepted("client", node.Accepted{Sent: node.Sent{Hash: hashOf(n), Normal: hashOf(n)}})
		return len(p.waiting.ready)
	}
	p.put(newTrace(foreseen(1, 10, 1, now)), now)
	p.put(newTrace(foreseen(2, 10, 1, now.Add(-time.Minute))), now)
	if got := send(1); got != 0 {
		t.Errorf("%d messages wait, want none: it was sent a moment ago", got)
	}
	if got := send(2); got != 1 {
		t.Errorf("%d messages wait, want the one of a minute ago", got)
	}
	p.Done(hashOf(2))
	if got := send(2); got != 1 {
		t.Errorf("%d messages wait, want no other: the index has it", got)
	}
}

// Who sends a message in another form than somebody did before asks for it by the hash that
// it has in that form: the first one, and those that came later, up to a number.
func TestATraceIsFoundByTheHashesOfAllFormsInWhichItsMessageWasSent(t *testing.T) {
	p, err := New(DefaultConfiguration(), Dependencies{Report: report.Silent(), Emulator: nobody{}})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	p.put(newTrace(foreseen(1, 10, 1, now)), now)
	first, form := hashOf(1_000_001), func(n int) Hash { return hashOf(2_000_000 + n) }
	p.Accepted("client", node.Accepted{Sent: node.Sent{Hash: form(0), Normal: hashOf(1)}})
	for _, h := range []Hash{hashOf(1), first, form(0)} {
		if got := ids(p.Sent([]Hash{h})); !slices.Equal(got, []int{1}) {
			t.Errorf("by the hash %x: %v, want the trace", h, got)
		}
	}
	for n := range 1000 {
		p.Accepted("stranger", node.Accepted{Sent: node.Sent{Hash: form(n), Normal: hashOf(1)}})
	}
	if got := len(p.byRaw); got > maxForms {
		t.Errorf("%d hashes of one message are held, want %d at most", got, maxForms)
	}
	p.put(newTrace(foreseen(1, 10, 1, now.Add(time.Second))), now) // anew
	if got := p.Sent([]Hash{form(0), first}); len(got) != 1 {
		t.Errorf("%d traces by earlier hashes of what was foreseen anew, want it", len(got))
	}
	p.Done(hashOf(1))
	if len(p.byRaw) != 0 || len(p.forms) != 0 {
		t.Errorf("%d hashes of %d messages are left of what is done", len(p.byRaw), len(p.forms))
	}
}

// What was foreseen anew takes the place of what was, also where another replica did it;
// never the other way round.
func TestReplicasKnowWhatWasForeseenAgain(t *testing.T) {
	j := &journal{changed: make(chan struct{})}
	p, _ := replicas(t, j, j)
	now := time.Now()
	tell := func(n int, at time.Time) {
		if err := j.Publish(t.Context(), "", 0, []*record.Record{{Content: &record.Record_Pending{Pending: foreseen(n, 10, 1, at)}}}); err != nil {
			t.Fatal(err)
		}
	}
	sent := func(n int) time.Time {
		if held := p.Sent([]Hash{hashOf(n)}); len(held) == 1 {
			return held[0].Sent
		}
		return time.Time{}
	}
	first, again := now.Add(-time.Minute).Truncate(time.Second), now.Truncate(time.Second)
	tell(1, first)
	await(t, "it is not known", func() bool { return sent(1).Equal(first) })
	tell(1, again)
	tell(2, again)
	await(t, "another one is not known", func() bool { return !sent(2).IsZero() })
	if got := sent(1); !got.Equal(again) {
		t.Errorf("it was sent at %s, want %s", got, again)
	}
	tell(1, first)
	tell(3, again)
	await(t, "the last one is not known", func() bool { return !sent(3).IsZero() })
	if got := sent(1); !got.Equal(again) {
		t.Errorf("it was sent at %s, want %s", got, again)
	}
}
