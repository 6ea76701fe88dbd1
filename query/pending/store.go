package pending

import (
	"container/list"
	"slices"
	"sync"
	"time"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/schema/record"
	"tonscribe/ton/address"
	"tonscribe/ton/body"
	toncell "tonscribe/ton/cell"
)

// Hash is a hash of a message or a transaction.
type Hash = [32]byte

// Trace is what a message is foreseen to do. It does not change once it is in a Store.
type Trace struct {
	// ID is the normalised hash of the message (TEP-467), Raw its hash as it was sent.
	ID, Raw Hash
	Sent    time.Time
	// Transactions are in the order of lt; the first received the message.
	Transactions []*record.Transaction
	// receivers are whom jettons and NFT items go to: who is not notified has no transaction.
	receivers []address.Address
	bytes     int
}

// newTrace makes one of a record, nil where it is none.
func newTrace(r *record.PendingTrace) *Trace {
	if len(r.GetTransactions()) == 0 {
		return nil
	}
	in := r.Transactions[0].InMsg
	if in.GetKind() != record.Message_EXTERNAL_IN || len(in.GetHash()) != len(Hash{}) {
		return nil
	}
	t := &Trace{Raw: Hash(in.Hash), Sent: time.Unix(int64(r.Time), 0), Transactions: r.Transactions, bytes: r.SizeVT()}
	if t.ID = t.Raw; len(in.HashNorm) == len(Hash{}) {
		t.ID = Hash(in.HashNorm)
	}
	for _, tx := range t.Transactions {
		if a := receiverOf(tx.InMsg); len(a) == address.Size {
			t.receivers = append(t.receivers, address.Address(a))
		}
	}
	return t
}

// receiverOf is whom an order to a jetton wallet, or to an NFT item, names, nil where a
// message is none.
func receiverOf(m *record.Message) body.Address {
	if m.GetOpcode() != body.JettonTransfer && m.GetOpcode() != body.NFTTransfer {
		return nil
	}
	c, err := cell.FromBOC(m.Body)
	if err != nil {
		return nil
	}
	r := toncell.NewReader(c)
	r.Skip(32) // opcode
	order, _ := body.Of(m.GetOpcode()).Read(r)
	if m.GetOpcode() == body.JettonTransfer {
		return order.Address("destination")
	}
	return order.Address("new_owner")
}

// accounts are those of the transactions, each once.
func (t *Trace) accounts() (accounts []address.Address) {
	for _, tx := range t.Transactions {
		if len(tx.Account) == address.Size {
			accounts = append(accounts, address.Address(tx.Account))
		}
	}
	slices.SortFunc(accounts, func(a, b address.Address) int { return slices.Compare(a[:], b[:]) })
	return slices.Compact(accounts)
}

func (t *Trace) root() string { return string(t.Transactions[0].Account) }

// overhead is about what a trace takes besides its records.
const overhead = 1 << 10

func (t *Trace) size() int { return 2*t.bytes + overhead }

// Store holds traces for a while. It is safe for use by many goroutines.
type Store struct {
	configuration Configuration
	metrics       *metrics

	mu      sync.Mutex
	order   list.List // of *Trace, those first that were put first
	byID    map[Hash]*list.Element
	byRaw   map[Hash]Hash   // ids by the hashes of messages as they were sent, where these are others
	forms   map[Hash][]Hash // those hashes, by the ids
	byUser  map[address.Address]map[Hash]bool
	byGoal  map[address.Address]map[Hash]bool // by whom jettons and NFT items go to
	ofRoot  map[string][]Hash                 // those that begin at an account, the oldest first
	bytes   int
	dropped map[Hash]time.Time // ids of those that the index has, until when they are not taken again
	cleaned time.Time
	listen  func(*Trace) // may be nil
}

func newStore(c Configuration, m *metrics) *Store {
	return &Store{
		configuration: c, metrics: m, byID: map[Hash]*list.Element{}, byRaw: map[Hash]Hash{}, forms: map[Hash][]Hash{},
		byUser: map[address.Address]map[Hash]bool{}, byGoal: map[address.Address]map[Hash]bool{}, ofRoot: map[string][]Hash{}, dropped: map[Hash]time.Time{},
	}
}

// put takes a new trace in, in place of one with the same id, and lets go of what is too
// much: the oldest of its account, the oldest of all.
func (s *Store) put(t *Trace, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire(now)
	if t.Sent.After(now) {
		t.Sent = now // by the clock of another replica
	}
	if _, done := s.dropped[t.ID]; done || !now.Before(t.Sent.Add(s.configuration.Keep)) || t.size() > s.configuration.MaxBytes {
		return
	}
	forms := append([]Hash{t.Raw}, s.forms[t.ID]...)
	if held, is := s.byID[t.ID]; is {
		s.remove(held, "")
	}
	for len(s.ofRoot[t.root()]) >= s.configuration.MaxPerAccount {
		s.remove(s.byID[s.ofRoot[t.root()][0]], evictedAccount)
	}
	for s.order.Len() >= s.configuration.MaxTraces {
		s.remove(s.order.Front(), evictedTraces)
	}
	for s.bytes+t.size() > s.configuration.MaxBytes {
		s.remove(s.order.Front(), evictedBytes)
	}
	s.byID[t.ID] = s.order.PushBack(t)
	for _, raw := range forms {
		s.addForm(t.ID, raw)
	}
	for _, a := range t.accounts() {
		note(s.byUser, a, t.ID)
	}
	for _, a := range t.receivers {
		note(s.byGoal, a, t.ID)
	}
	s.ofRoot[t.root()] = append(s.ofRoot[t.root()], t.ID)
	s.bytes += t.size()
	s.gauge()
	if s.listen != nil {
		s.listen(t)
	}
}

// note puts the id of a trace beside an account, and forget takes it away.
func note(by map[address.Address]map[Hash]bool, a address.Address, id Hash) {
	if by[a] == nil {
		by[a] = map[Hash]bool{}
	}
	by[a][id] = true
}

func forget(by map[address.Address]map[Hash]bool, a address.Address, id Hash) {
	if delete(by[a], id); len(by[a]) == 0 {
		delete(by, a)
	}
}

// Listen has a function called with every trace that is put in from now on. It must not
// wait, and must not use the store. Nil ends that.
func (s *Store) Listen(f func(*Trace)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listen = f
}

// expire lets go of what was held long enough.
func (s *Store) expire(now time.Time) {
	for e := s.order.Front(); e != nil; {
		next := e.Next()
		if now.Before(e.Value.(*Trace).Sent.Add(s.configuration.Keep)) {
			break // those behind may be older by the difference of clocks: they wait
		}
		s.remove(e, evictedLate)
		e = next
	}
	if now.Sub(s.cleaned) < cleanEvery {
		return
	}
	s.cleaned = now
	for id, until := range s.dropped {
		if !now.Before(until) {
			delete(s.dropped, id)
		}
	}
}

// cleanEvery is how often ids of traces that the index has are looked through.
const cleanEvery = time.Minute

func (s *Store) remove(e *list.Element, reason string) {
	t := s.order.Remove(e).(*Trace)
	delete(s.byID, t.ID)
	for _, raw := range s.forms[t.ID] {
		delete(s.byRaw, raw)
	}
	delete(s.forms, t.ID)
	for _, a := range t.accounts() {
		forget(s.byUser, a, t.ID)
	}
	for _, a := range t.receivers {
		forget(s.byGoal, a, t.ID)
	}
	root := t.root()
	if s.ofRoot[root] = slices.DeleteFunc(s.ofRoot[root], func(id Hash) bool { return id == t.ID }); len(s.ofRoot[root]) == 0 {
		delete(s.ofRoot, root)
	}
	s.bytes -= t.size()
	if reason != "" {
		s.metrics.evicted.WithLabelValues(reason).Inc()
	}
	s.gauge()
}

func (s *Store) gauge() {
	s.metrics.traces.Set(float64(s.order.Len()))
	s.metrics.bytes.Set(float64(s.bytes))
}

// maxForms is by how many hashes of its message a trace is found besides its id: anybody may
// send the same message in one form after another.
const maxForms = 4

// addForm lets a trace be found by the hash of a message as it was sent, too.
func (s *Store) addForm(id, raw Hash) {
	if _, has := s.byRaw[raw]; !has && raw != id && len(s.forms[id]) < maxForms {
		s.byRaw[raw], s.forms[id] = id, append(s.forms[id], raw)
	}
}

// again is how much later a message was sent than what is held of it when it is foreseen
// anew: no block took it, and the chain has gone on.
const again = 30 * time.Second

// wants reports whether a trace with the id of a message that was sent then, in the form of
// a hash, is to be held: another one may be held already, and is found by that hash from now
// on, or was and is done.
func (s *Store) wants(id, raw Hash, sent time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	held, is := s.byID[id]
	if is {
		s.addForm(id, raw)
	}
	_, done := s.dropped[id]
	return !done && (!is || sent.Sub(held.Value.(*Trace).Sent) >= again)
}

// Sent are the traces of messages with some hashes, raw or normalised.
func (s *Store) Sent(hashes []Hash) (traces []*Trace) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire(time.Now())
	seen := map[Hash]bool{}
	for _, h := range hashes {
		if id, is := s.byRaw[h]; is {
			h = id
		}
		if e, is := s.byID[h]; is && !seen[h] {
			seen[h] = true
			traces = append(traces, e.Value.(*Trace))
		}
	}
	return traces
}

// Of are the traces that have transactions of some accounts, the newest first, up to
// a number.
func (s *Store) Of(accounts []address.Address, limit int) []*Trace {
	return s.newest(accounts, limit, s.byUser)
}

// Concerning are those, and the traces that move jettons or NFT items to some of the accounts.
func (s *Store) Concerning(accounts []address.Address, limit int) []*Trace {
	return s.newest(accounts, limit, s.byUser, s.byGoal)
}

func (s *Store) newest(accounts []address.Address, limit int, by ...map[address.Address]map[Hash]bool) (traces []*Trace) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire(time.Now())
	ids := map[Hash]bool{}
	for _, a := range accounts {
		for _, those := range by {
			for id := range those[a] {
				ids[id] = true
			}
		}
	}
	for id := range ids {
		traces = append(traces, s.byID[id].Value.(*Trace))
	}
	slices.SortFunc(traces, func(a, b *Trace) int {
		if c := b.Sent.Compare(a.Sent); c != 0 {
			return c
		}
		return slices.Compare(a.ID[:], b.ID[:])
	})
	return traces[:min(len(traces), limit)]
}

// Held are all traces, those first that were put in first.
func (s *Store) Held() (traces []*Trace) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire(time.Now())
	for e := s.order.Front(); e != nil; e = e.Next() {
		traces = append(traces, e.Value.(*Trace))
	}
	return traces
}

// Done lets go of a trace that the index has as a whole.
func (s *Store) Done(id Hash) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e, is := s.byID[id]; is {
		s.dropped[id] = e.Value.(*Trace).Sent.Add(s.configuration.Keep)
		s.remove(e, evictedDone)
	}
}
