package action_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"slices"
	"testing"

	tonutils "github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/decode/action"
	"tonscribe/decode/trace"
	"tonscribe/schema/record"
	"tonscribe/ton/address"
)

// The accounts of the tests.
var (
	alice       = account(0xa1)
	bob         = account(0xb2)
	carol       = account(0xc3)
	market      = account(0xd4)
	master      = account(0x11)
	aliceWallet = account(0x1a)
	bobWallet   = account(0x1b)
	collection  = account(0x21)
	item        = account(0x22)
	saleAccount = account(0x31)
)

func account(n byte) []byte { return append(make([]byte, 4), bytes.Repeat([]byte{n}, 32)...) }

func friendly(a []byte) *tonutils.Address {
	if a == nil {
		return tonutils.NewAddressNone()
	}
	return tonutils.NewAddress(0, a[3], a[4:])
}

// step is a message with the transaction that it led to, and what that sent.
type step struct {
	to       []byte // nil for a log
	body     *cell.Builder
	init     *cell.Cell
	value    uint64
	bounce   bool
	bounced  bool
	aborted  bool
	deployed bool
	change   func(*record.Transaction) // nil for nothing
	then     []step
}

// later is a step whose messages are received after those that were sent behind them.
func later(s step) step {
	change := s.change
	s.change = func(tx *record.Transaction) {
		if tx.Lt += 1000; change != nil {
			change(tx)
		}
	}
	s.then = slices.Clone(s.then)
	for i := range s.then {
		s.then[i] = later(s.then[i])
	}
	return s
}

// word is a body that begins with an opcode.
func word(opcode uint64) *cell.Builder { return cell.BeginCell().MustStoreUInt(opcode, 32) }

func comment(text string) *cell.Builder {
	return word(0).MustStoreSlice([]byte(text), uint(8*len(text)))
}

func boc(c *cell.Cell) []byte { return c.ToBOCWithOptions(cell.BOCSerializeOptions{WithCRC32C: true}) }

// play makes the transactions of a trace that begins with a message from outside
// to an account.
func play(from []byte, sent ...step) []*record.Transaction {
	p := &player{}
	root := p.transaction(from, &record.Message{Kind: record.Message_EXTERNAL_IN, Destination: from}, &step{}, sent)
	return append([]*record.Transaction{root}, p.list...)
}

type player struct {
	lt   uint64
	list []*record.Transaction
}

func (p *player) hash(what string) []byte {
	h := sha256.Sum256(fmt.Append(nil, what, p.lt))
	return h[:]
}

func (p *player) transaction(account []byte, in *record.Message, s *step, then []step) *record.Transaction {
	p.lt++
	active := record.AccountStatus_ACCOUNT_ACTIVE
	tx := &record.Transaction{Account: account, Lt: p.lt, Hash: p.hash("transaction"), Now: uint32(1000 + p.lt), McSeqno: 7,
		OrigStatus: active, EndStatus: active, Aborted: s.aborted, InMsg: in}
	if in.Hash == nil {
		in.Hash = p.hash("message")
	}
	if s.deployed {
		tx.OrigStatus = record.AccountStatus_ACCOUNT_NONEXIST
	}
	if s.change != nil {
		s.change(tx)
	}
	messages := make([]*record.Message, len(then))
	for i := range then {
		messages[i] = p.message(account, &then[i])
		tx.OutMsgs = append(tx.OutMsgs, messages[i])
	}
	for i := range then {
		if then[i].to != nil {
			p.list = append(p.list, p.transaction(then[i].to, messages[i], &then[i], then[i].then))
		}
	}
	return tx
}

func (p *player) message(from []byte, s *step) *record.Message {
	p.lt++
	m := &record.Message{Hash: p.hash("message"), Source: from, Destination: s.to, Value: s.value, CreatedLt: p.lt, CreatedAt: uint32(1000 + p.lt),
		Bounce: s.bounce, Bounced: s.bounced}
	if s.to == nil {
		m.Kind = record.Message_EXTERNAL_OUT
	}
	body := cell.BeginCell().EndCell()
	if s.body != nil {
		body = s.body.EndCell()
	}
	m.Body, m.BodyHash = boc(body), body.Hash()
	if r := body.MustBeginParse(); r.BitsLeft() >= 32 {
		op := uint32(r.MustLoadUInt(32))
		m.Opcode = &op
	}
	if s.init != nil {
		m.InitState, m.InitStateHash = boc(s.init), s.init.Hash()
	}
	return m
}

// known are facts about accounts.
type known []*record.Contract

func (k known) Contract(account []byte) *record.Contract {
	for _, c := range k {
		if bytes.Equal(c.Account, account) {
			return c
		}
	}
	return nil
}

func (known) AccountData([]byte) []byte { return nil }

// recognise returns the actions of a trace.
func recognise(t *testing.T, facts action.Facts, transactions []*record.Transaction) []*action.Action {
	t.Helper()
	tree, err := trace.NewTree(transactions)
	if err != nil {
		t.Fatal(err)
	}
	if len(tree.Missing) > 0 {
		t.Fatalf("%d transactions are in no tree", len(tree.Missing))
	}
	list, err := action.Classify(tree, facts)
	if err != nil {
		t.Error(err)
	}
	return list
}

// summary is what an action is in a word: its type, with ! where it failed and the
// types that it is a part of.
func summary(a *action.Action) string {
	text := a.Type.Name
	if !a.Success {
		text += "!"
	}
	for _, p := range slices.Backward(a.Ancestors) {
		text += " in " + p.Type.Name
	}
	return text
}

func summaries(list []*action.Action) []string {
	texts := make([]string, len(list))
	for i, a := range list {
		texts[i] = summary(a)
	}
	return texts
}

// wants complains unless the actions are those, by their summaries.
func wants(t *testing.T, list []*action.Action, want ...string) {
	t.Helper()
	if got := summaries(list); !slices.Equal(got, want) {
		t.Errorf("actions %q, want %q", got, want)
	}
}

// details complains unless the details of the first action with the summary have
// the values, given as name, value.
func details(t *testing.T, list []*action.Action, what string, pairs ...any) {
	t.Helper()
	for _, a := range list {
		if summary(a) != what {
			continue
		}
		have := object(a.Type.Details, a.Details)
		for i := 0; i < len(pairs); i += 2 {
			name, want := pairs[i].(string), pairs[i+1]
			if bytesWanted, ok := want.([]byte); ok {
				want = plain(action.Detail{}, action.Address(bytesWanted))
				if bytesWanted == nil {
					want = nil
				}
			}
			if got, ok := find(have, name); !ok || fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s: %s is %v, want %v", what, name, got, want)
			}
		}
		return
	}
	t.Errorf("no %s among %q", what, summaries(list))
}

func wallet(account, owner []byte) *record.Contract {
	return &record.Contract{Account: account, JettonWallet: &record.JettonWallet{Owner: owner, Master: master}}
}

var itemFacts = &record.Contract{Account: item, NftItem: &record.NFTItem{Init: true, Index: []byte{5}, Collection: collection, Owner: alice}}

func addressOf(text string) []byte {
	a := address.MustParse(text)
	return a[:]
}
