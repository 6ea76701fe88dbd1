package query

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	tonutils "github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/internal/kafka"
	"tonscribe/query/rows"
	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/test/support/enginetest"
	"tonscribe/ton/address"
)

// told is a log that has some pending traces.
type told []*record.PendingTrace

func (told) EnsureTopics(context.Context, []schema.Topic) error           { return nil }
func (told) Publish(context.Context, string, int, []*record.Record) error { return nil }
func (l told) Watch(ctx context.Context, _ string, _ int, take func(kafka.Item)) error {
	for _, t := range l {
		take(kafka.Item{Record: &record.Record{Content: &record.Record_Pending{Pending: t}}})
	}
	<-ctx.Done()
	return ctx.Err()
}

// newHash is a hash that no chain has.
func newHash(n int) []byte {
	h := sha256.Sum256(binary.BigEndian.AppendUint64([]byte("new"), uint64(n)))
	return h[:]
}

// foreseen is a trace as emulation gives it: in other blocks than it came in, so that
// no hash is the same but that of the message from outside. Who receives its open
// messages is made up; their hashes are returned, too.
func (x *traced) foreseen(s *record.TraceStep) (p *record.PendingTrace, madeUp [][]byte) {
	p = &record.PendingTrace{Time: uint32(time.Now().Unix())}
	renamed := func(m *record.Message) *record.Message {
		m = m.CloneVT()
		if m.GetKind() == record.Message_INTERNAL {
			h := sha256.Sum256(m.Hash)
			m.Hash = h[:]
		}
		return m
	}
	received := map[string]bool{}
	var all []*record.Transaction
	for _, step := range x.traces[string(s.Trace.Id)] {
		for _, tx := range step.Transactions {
			all = append(all, x.txs[string(tx.Hash)])
		}
	}
	slices.SortFunc(all, func(a, b *record.Transaction) int { return int(int64(a.Lt) - int64(b.Lt)) })
	for _, tx := range all {
		guess := tx.CloneVT()
		h := sha256.Sum256(tx.Hash)
		guess.Hash, guess.McSeqno, guess.InMsg, guess.Block = h[:], 0, renamed(tx.InMsg), nil
		for i, m := range tx.OutMsgs {
			guess.OutMsgs[i] = renamed(m)
		}
		received[string(guess.InMsg.Hash)] = true
		p.Transactions = append(p.Transactions, guess)
	}
	for _, tx := range slices.Clone(p.Transactions) {
		for _, m := range tx.OutMsgs {
			if m.Kind == record.Message_INTERNAL && !received[string(m.Hash)] {
				hash := newHash(len(p.Transactions) + int(m.CreatedLt))
				madeUp = append(madeUp, hash)
				p.Transactions = append(p.Transactions, &record.Transaction{Account: m.Destination, Hash: hash, Lt: m.CreatedLt + 1, Now: tx.Now,
					PrevTransHash: hash, StateHashBefore: hash, StateHashAfter: hash,
					InMsg: m, OrigStatus: record.AccountStatus_ACCOUNT_ACTIVE, EndStatus: record.AccountStatus_ACCOUNT_ACTIVE})
			}
		}
	}
	return p, madeUp
}

// fromOutside are traces that a message from outside began, some with open messages and
// some without.
func (x *traced) fromOutside() (open, closed []*record.TraceStep) {
	for _, s := range x.inOrder() {
		switch root := x.txs[string(s.Trace.Id)]; {
		case root == nil || root.InMsg.GetKind() != record.Message_EXTERNAL_IN:
		case s.Trace.PendingEdges > 0:
			open = append(open, s)
		default:
			closed = append(closed, s)
		}
	}
	return open, closed
}

type comingAnswer struct {
	Traces []struct {
		ID       *string `json:"trace_id"`
		External string  `json:"external_hash"`
		Info     struct {
			State   string `json:"trace_state"`
			Nodes   int    `json:"transactions"`
			Pending int    `json:"pending_messages"`
		} `json:"trace_info"`
		Actions []struct {
			Finality     string
			Accounts     []string
			Transactions []string
		}
		Order []string `json:"transactions_order"`
		By    map[string]struct {
			Account  string
			Emulated bool
			Finality string
			Seqno    int    `json:"mc_block_seqno"`
			Trace    string `json:"trace_id"`
			External string `json:"trace_external_hash"`
		} `json:"transactions"`
	}
}

func TestWhatIsToComeIsShownWithWhatCame(t *testing.T) {
	t.Parallel()
	x := sharedTraced(t)
	open, closed := x.fromOutside()
	if len(open) < 2 || len(closed) < 2 {
		t.Fatalf("%d open and %d closed traces that begin outside", len(open), len(closed))
	}
	half, madeUp := x.foreseen(open[0])
	whole, none := x.foreseen(closed[0])
	if len(madeUp) == 0 || len(none) != 0 {
		t.Fatalf("%d messages of an open trace are received by who is made up, of a closed one %d", len(madeUp), len(none))
	}
	nothing, _ := x.foreseen(closed[1]) // as if its message had not come
	root := nothing.Transactions[0]
	root.InMsg.Hash, root.InMsg.HashNorm, root.Account = newHash(1), newHash(2), append(root.Account[:4:4], newHash(3)...)
	x.world.shared = told{half, whole, nothing}
	s := x.world.serve(t, nil)
	ask := func(query string) (found comingAnswer) {
		t.Helper()
		got := s.ask("/api/v3/pendingTraces?" + query)
		if got.Code != http.StatusOK {
			t.Fatalf("%s: %d %s", query, got.Code, got.Body)
		}
		if err := json.Unmarshal(got.Body.Bytes(), &found); err != nil {
			t.Fatal(err)
		}
		return found
	}
	for limit := time.Now().Add(time.Minute); len(ask("ext_msg_hash="+hex.EncodeToString(newHash(1))).Traces) == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatal("nothing is to come")
		}
	}

	// Of one a part came: that is as the index has it, the rest hangs below.
	in := half.Transactions[0].InMsg
	hashes := [][]byte{in.Hash}
	if len(in.HashNorm) > 0 {
		hashes = append(hashes, in.HashNorm)
	}
	for _, h := range hashes {
		for _, form := range []string{hex.EncodeToString(h), url.QueryEscape(b64(h))} {
			found := ask("ext_msg_hash=" + form)
			if len(found.Traces) != 1 {
				t.Fatalf("%d traces of message %s", len(found.Traces), form)
			}
			c := found.Traces[0]
			came := len(half.Transactions) - len(madeUp)
			if c.ID == nil || *c.ID != b64(open[0].Trace.Id) || c.External != b64(in.Hash) || c.Info.State != "pending" ||
				c.Info.Nodes != len(half.Transactions) || c.Info.Pending != len(madeUp) || len(c.By) != len(half.Transactions) || len(c.Order) == 0 || c.Order[0] != *c.ID {
				t.Errorf("%d transactions, %d of them made up: %+v", len(half.Transactions), len(madeUp), c)
			}
			emulated := map[string]bool{}
			for hash, tx := range c.By {
				isNew := slices.ContainsFunc(madeUp, func(m []byte) bool { return b64(m) == hash })
				emulated[hash] = tx.Emulated
				if tx.Emulated != isNew || (tx.Finality == "pending") != isNew || (tx.Seqno == 0) != isNew || tx.Trace != *c.ID || tx.External != c.External {
					t.Errorf("transaction %s, made up: %v: %+v", hash, isNew, tx)
				}
				if !isNew {
					came--
				}
			}
			if came != 0 {
				t.Errorf("%d transactions of blocks are missing", came)
			}
			for _, a := range c.Actions {
				if want := slices.ContainsFunc(a.Transactions, func(h string) bool { return emulated[h] }); (a.Finality == "pending") != want || len(a.Accounts) == 0 {
					t.Errorf("action %+v, with what is to come: %v", a, want)
				}
			}
		}
	}

	// Of one nothing came.
	found := ask("ext_msg_hash=" + hex.EncodeToString(newHash(2)))
	if len(found.Traces) != 1 || found.Traces[0].ID != nil || len(found.Traces[0].By) != len(nothing.Transactions) || found.Traces[0].Info.Pending != len(nothing.Transactions) {
		t.Errorf("of a message that did not come: %+v", found.Traces)
	}
	account := func(a []byte) string { return url.QueryEscape(string(address.AppendRaw(nil, a))) }
	if found = ask("account=" + account(root.Account) + "&ext_msg_hash=" + hex.EncodeToString(in.Hash)); len(found.Traces) != 1 || found.Traces[0].External != b64(newHash(1)) {
		t.Errorf("of an account, which counts more than the message: %+v", found.Traces)
	}

	// Of one all came.
	if found := ask("ext_msg_hash=" + hex.EncodeToString(whole.Transactions[0].InMsg.Hash)); len(found.Traces) != 0 {
		t.Errorf("what came is to come: %+v", found.Traces)
	}

	// Transactions of an account are those that no block has.
	got := s.ask("/api/v3/pendingTransactions?account=" + account(half.Transactions[len(half.Transactions)-1].Account))
	var transactions struct {
		Transactions []struct {
			Hash, Account string
			Emulated      bool
		}
	}
	if err := json.Unmarshal(got.Body.Bytes(), &transactions); err != nil || got.Code != http.StatusOK || len(transactions.Transactions) == 0 {
		t.Fatalf("%d %s, %v", got.Code, got.Body, err)
	}
	for _, tx := range transactions.Transactions {
		if !tx.Emulated || !bytes.Equal(address.AppendRaw(nil, half.Transactions[len(half.Transactions)-1].Account), []byte(tx.Account)) {
			t.Errorf("transaction %+v", tx)
		}
	}
	// Actions of an account concern it, with their transactions.
	got = s.ask("/api/v3/pendingActions?include_transactions=true&account=" + account(root.Account))
	var actions struct {
		Actions []struct {
			Finality string
			Accounts []string
			Full     []struct{ Emulated bool } `json:"transactions_full"`
		}
	}
	if err := json.Unmarshal(got.Body.Bytes(), &actions); err != nil || got.Code != http.StatusOK {
		t.Fatalf("%d %s, %v", got.Code, got.Body, err)
	}
	for _, a := range actions.Actions {
		if a.Finality != "pending" || len(a.Full) == 0 || !slices.Contains(a.Accounts, string(address.AppendRaw(nil, root.Account))) {
			t.Errorf("action %+v", a)
		}
	}
	if got := s.ask("/api/v3/pendingActions?supported_action_types=nothing&ext_msg_hash=" + hex.EncodeToString(newHash(1))); got.Code != http.StatusOK {
		t.Errorf("actions of types that nobody has: %d %s", got.Code, got.Body)
	}
	nobody := url.QueryEscape("0:" + strings.Repeat("0E", 32))
	if got := s.ask("/api/v3/pendingTransactions?account=" + nobody); got.Code != http.StatusNotFound || !strings.Contains(got.Body.String(), "emulated traces not found") {
		t.Errorf("of nobody: %d %s", got.Code, got.Body)
	}
}

// An account that takes any message, and as often as it comes, gets the same one again and
// again.
func TestWhatAMessageDidWhenItWasSentLongBeforeIsNotWhatItDoes(t *testing.T) {
	t.Parallel()
	x := sharedTraced(t)
	open, closed := x.fromOutside()
	var some told
	for _, step := range []*record.TraceStep{open[0], closed[0]} {
		p, _ := x.foreseen(step)
		for _, tx := range p.Transactions {
			tx.Now += 3600
		}
		some = append(some, p)
	}
	x.world.shared = some
	s := x.world.serve(t, nil)
	for _, p := range some {
		ask := func() (found comingAnswer) {
			got := s.ask("/api/v3/pendingTraces?ext_msg_hash=" + hex.EncodeToString(p.Transactions[0].InMsg.Hash))
			if err := json.Unmarshal(got.Body.Bytes(), &found); err != nil || got.Code != http.StatusOK {
				t.Fatal(got.Code, got.Body, err)
			}
			return found
		}
		for limit := time.Now().Add(time.Minute); len(ask().Traces) == 0; time.Sleep(time.Millisecond) {
			if time.Now().After(limit) {
				t.Fatal("of a message that was sent again nothing is to come")
			}
		}
		c := ask().Traces[0]
		if c.ID != nil || c.Info.Pending != len(p.Transactions) || len(c.By) != len(p.Transactions) {
			t.Errorf("%d transactions, want %d of which no block has any: %+v", len(c.By), len(p.Transactions), c.Info)
		}
	}
}

// A trace that is too large to be read whole is not foreseen any more once its first
// transaction came: who of the others came is not looked up.
func TestNothingOfALargeTraceThatCameIsToCome(t *testing.T) {
	t.Parallel()
	isLarge := func(s *record.TraceStep) bool { return s.Trace.Nodes == 5000 }
	x := fillTraced(t, enginetest.UnmergedTables(t), func(s *record.TraceStep) {
		if s.Trace.Nodes == 2 || s.Trace.PendingEdges > 0 {
			s.Trace.Nodes = 5000
		}
	})
	open, closed := x.fromOutside()
	var some told
	for _, list := range [][]*record.TraceStep{open, closed} {
		at := slices.IndexFunc(list, isLarge)
		if at < 0 {
			t.Fatal("no large trace")
		}
		p, _ := x.foreseen(list[at])
		some = append(some, p)
	}
	control := some[0].CloneVT() // told last
	root := control.Transactions[0]
	root.InMsg.Hash, root.InMsg.HashNorm = newHash(1), newHash(2)
	x.world.shared = append(some, control)
	s := x.world.serve(t, nil)
	ask := func(hash []byte) (found comingAnswer) {
		got := s.ask("/api/v3/pendingTraces?ext_msg_hash=" + hex.EncodeToString(hash))
		if err := json.Unmarshal(got.Body.Bytes(), &found); err != nil || got.Code != http.StatusOK {
			t.Fatal(got.Code, got.Body, err)
		}
		return found
	}
	for limit := time.Now().Add(time.Minute); len(ask(newHash(1)).Traces) == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatal("nothing is to come")
		}
	}
	for i, p := range some {
		for _, c := range ask(p.Transactions[0].InMsg.Hash).Traces {
			for hash, tx := range c.By {
				if tx.Emulated {
					t.Errorf("large trace %d: transaction %s of %s is to come", i, hash, tx.Account)
				}
			}
		}
	}
}

// A request for traces that are too much together shows some of them, and what came of
// those as it came.
func TestWhatCameIsNotToComeHoweverManyTracesAreAskedFor(t *testing.T) {
	t.Parallel()
	x := fillTraced(t, enginetest.UnmergedTables(t), func(s *record.TraceStep) {
		s.Trace.PendingEdges, s.Trace.Nodes = max(1, s.Trace.PendingEdges), 3900
	})
	open, _ := x.fromOutside()
	var some told
	var hashes []string
	for _, step := range open {
		if p, madeUp := x.foreseen(step); len(madeUp) == 0 && len(p.Transactions) > 1 && len(some) < 15 {
			some = append(some, p)
			hashes = append(hashes, hex.EncodeToString(p.Transactions[0].InMsg.Hash))
		}
	}
	x.world.shared = some
	s := x.world.serve(t, nil)
	ask := func(hashes ...string) (found comingAnswer) {
		got := s.ask("/api/v3/pendingTraces?ext_msg_hash=" + strings.Join(hashes, ","))
		if err := json.Unmarshal(got.Body.Bytes(), &found); err != nil || got.Code != http.StatusOK {
			t.Fatal(got.Code, got.Body, err)
		}
		return found
	}
	for limit := time.Now().Add(time.Minute); len(ask(hashes[len(hashes)-1]).Traces) == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatal("nothing is to come")
		}
	}
	found := ask(hashes...).Traces
	if len(found) != 10 {
		t.Errorf("%d of %d traces are shown, want those that are 40000 transactions at most", len(found), len(some))
	}
	for _, c := range found {
		for hash, tx := range c.By {
			if tx.Emulated {
				t.Errorf("trace of %s: transaction %s of %s came, and is to come", c.External, hash, tx.Account)
			}
		}
	}
	if got := len(ask(hashes[len(hashes)-1]).Traces); got != 1 {
		t.Errorf("%d traces of the last message alone, want one", got)
	}
	// Streams are told of each, however many go on behind a bundle.
	index := s.component.Index()
	v, err := index.Store.View()
	if err != nil {
		t.Fatal(err)
	}
	if rows, err := index.Foreseen(t.Context(), v, index.Pending.Held()); err != nil || len(rows) != len(some) {
		t.Errorf("streams are told of %d traces (%v), want %d", len(rows), err, len(some))
	}
}

// An account of which more is to come than an answer has is told so.
func TestWhoIsShownAPartOfWhatIsToComeOfAnAccountIsToldSo(t *testing.T) {
	t.Parallel()
	x := sharedTraced(t)
	open, _ := x.fromOutside()
	p, _ := x.foreseen(open[0])
	to := newHash(0)
	var some told
	for i := range rows.MaxPendingTraces + 1 {
		again := p.CloneVT()
		root := again.Transactions[0]
		again.Transactions = append(again.Transactions[:1:1], root.CloneVT())
		root.InMsg.Hash, root.InMsg.HashNorm = newHash(2*i+1), nil
		root.Account = append(root.Account[:4:4], newHash(2*i+2)...)
		again.Transactions[1].Account = append(root.Account[:4:4], to...)
		some = append(some, again)
	}
	x.world.shared = some
	s := x.world.serve(t, nil)
	account := "0:" + hex.EncodeToString(to)
	for limit := time.Now().Add(time.Minute); s.ask("/api/v3/pendingTraces?ext_msg_hash="+hex.EncodeToString(newHash(2*rows.MaxPendingTraces+1))).Body.Len() < 1000; time.Sleep(time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatal("nothing is to come")
		}
	}
	for _, path := range []string{"pendingTraces", "pendingActions", "pendingTransactions"} {
		got := s.ask("/api/v3/" + path + "?account=" + account)
		if warning := got.Header().Get("Warning"); got.Code != http.StatusOK || !strings.Contains(warning, "some traces are left out") {
			t.Errorf("%s: %d with the warning %q", path, got.Code, warning)
		}
	}
}

// A wallet that is not asked to notify its owner leaves him without a transaction.
func TestWhoGetsJettonsWithoutATransactionFindsTheActionToCome(t *testing.T) {
	t.Parallel()
	town := sharedTown(t)
	from := town.any(func(c *record.Contract) bool { return c.JettonWallet != nil })
	to := town.any(func(c *record.Contract) bool {
		return c.JettonWallet != nil && bytes.Equal(c.JettonWallet.Master, from.JettonWallet.Master) && !bytes.Equal(c.JettonWallet.Owner, from.JettonWallet.Owner)
	})
	receiver := to.JettonWallet.Owner
	party := func(a []byte) *tonutils.Address {
		return tonutils.NewAddress(0, byte(int8(schema.Workchain(a))), schema.AccountID(a))
	}
	order := cell.BeginCell().MustStoreUInt(0x0f8a7ea5, 32).MustStoreUInt(1, 64).MustStoreCoins(9).MustStoreAddr(party(receiver)).
		MustStoreAddr(nil).MustStoreBoolBit(false).MustStoreCoins(0).MustStoreBoolBit(false).EndCell()
	internal := cell.BeginCell().MustStoreUInt(0x178d4519, 32).MustStoreUInt(1, 64).MustStoreCoins(9).MustStoreAddr(party(from.JettonWallet.Owner)).
		MustStoreAddr(nil).MustStoreCoins(0).MustStoreBoolBit(false).EndCell()
	p := &record.PendingTrace{Time: uint32(time.Now().Unix())}
	in := &record.Message{Kind: record.Message_EXTERNAL_IN, Hash: newHash(1), Destination: from.JettonWallet.Owner}
	for i, next := range []struct {
		to   []byte
		body *cell.Cell
	}{{from.Account, order}, {to.Account, internal}, {}} {
		tx := &record.Transaction{Account: in.Destination, Hash: newHash(10 + i), Lt: uint64(10*i + 1), Now: p.Time, PrevTransHash: newHash(0), StateHashBefore: newHash(0),
			StateHashAfter: newHash(0), OrigStatus: record.AccountStatus_ACCOUNT_ACTIVE, EndStatus: record.AccountStatus_ACCOUNT_ACTIVE, InMsg: in}
		p.Transactions = append(p.Transactions, tx)
		if next.to != nil {
			opcode := uint32(next.body.MustBeginParse().MustLoadUInt(32))
			in = &record.Message{Hash: newHash(20 + i), Source: in.Destination, Destination: next.to, Value: 1, CreatedLt: tx.Lt + 1,
				Opcode: &opcode, Body: next.body.ToBOC(), BodyHash: next.body.Hash()}
			tx.OutMsgs = []*record.Message{in}
		}
	}
	w := town.world.again(t)
	w.shared = told{p}
	s := w.serve(t, nil)
	sent := "/api/v3/pendingActions?ext_msg_hash=" + hex.EncodeToString(newHash(1))
	for limit := time.Now().Add(time.Minute); !strings.Contains(s.ask(sent).Body.String(), "jetton_transfer"); time.Sleep(time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatal("nothing is to come")
		}
	}
	account := url.QueryEscape(string(address.AppendRaw(nil, receiver)))
	got := s.ask("/api/v3/pendingActions?account=" + account)
	var actions struct{ Actions []struct{ Type string } }
	if err := json.Unmarshal(got.Body.Bytes(), &actions); err != nil || len(actions.Actions) != 1 || actions.Actions[0].Type != "jetton_transfer" {
		t.Errorf("%d %s, %v", got.Code, got.Body, err)
	}
	if got := s.ask("/api/v3/pendingTraces?account=" + account); got.Code != http.StatusOK || strings.Contains(got.Body.String(), "jetton_transfer") {
		t.Errorf("traces in which it takes part: %d %s", got.Code, got.Body)
	}
}

func TestWithoutForesightNothingIsToCome(t *testing.T) {
	t.Parallel()
	x := sharedTraced(t)
	s := x.world.serve(t, func(c *Configuration) { c.Pending.Enabled = false })
	for _, path := range []string{"pendingTraces?account=", "pendingActions?account=", "pendingTransactions?account="} {
		got := s.ask("/api/v3/" + path + url.QueryEscape("0:"+strings.Repeat("0E", 32)))
		if got.Code != http.StatusInternalServerError || !strings.Contains(got.Body.String(), "emulatedTracesRepository is not initialized") {
			t.Errorf("%s: %s", path, fmt.Sprint(got.Code, " ", got.Body))
		}
	}
}
