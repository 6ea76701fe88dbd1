package match

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	tonutils "github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/decode"
	"tonscribe/decode/trace"
	"tonscribe/devnet/chain"
	"tonscribe/devnet/contracts"
	"tonscribe/internal/report"
	"tonscribe/internal/stage"
	"tonscribe/schema/record"
	"tonscribe/ton/address"
	"tonscribe/webhooks/event"
	"tonscribe/webhooks/payment"
	"tonscribe/webhooks/store"
)

// registered are payments in memory.
type registered map[store.Reference]store.Payment

func (r registered) Find(_ context.Context, references []store.Reference) (map[store.Reference]store.Payment, error) {
	found := map[store.Reference]store.Payment{}
	for _, reference := range references {
		if p, is := r[reference]; is {
			found[reference] = p
		}
	}
	return found, nil
}

// actor holds the key of a wallet.
type actor struct {
	*tonutils.Address
	wallet contracts.Wallet
	key    ed25519.PrivateKey
	seqno  uint32
}

func newActor(n byte, version contracts.WalletVersion) *actor {
	key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{n}, 32))
	w := contracts.NewWallet(version, key.Public().(ed25519.PublicKey), -3)
	return &actor{Address: w.Address(0), wallet: w, key: key}
}

func (a *actor) account() address.Address { return accountOf(a.Address) }

func accountOf(a *tonutils.Address) address.Address { return address.New(a.Workchain(), a.Data()) }

// town is a chain on which somebody pays, and the stage that looks at it.
type town struct {
	*testing.T
	chain      *chain.Chain
	assembler  *trace.Assembler
	decoder    decode.Decoder
	work       *work
	payments   registered
	seqno, now uint32
	bundles    []*stage.Bundle

	shop, payer, five, stranger, admin *actor
	minter                             contracts.JettonMinter
}

const dawn = 1_760_000_000

func newWork(payments Payments) *work {
	r := report.Silent()
	r.Metrics = prometheus.NewRegistry()
	return &work{store: &trace.Memory{}, payments: payments, partitions: 1, chunk: 1 << 20, ticker: "TON", metrics: newMetrics(r), log: r.Log}
}

func newTown(t *testing.T) *town {
	t.Helper()
	s := &town{T: t, now: dawn, assembler: trace.NewAssembler(&trace.Memory{}), payments: registered{},
		shop: newActor(1, contracts.WalletV4R2), payer: newActor(2, contracts.WalletV4R2), five: newActor(3, contracts.WalletV5R1),
		stranger: newActor(4, contracts.WalletV3R2), admin: newActor(5, contracts.WalletV4R2)}
	s.work = newWork(s.payments)
	s.minter = contracts.JettonMinter{Admin: s.admin.Address, Content: contracts.OffchainContent("https://example.org/jetton.json")}
	var accounts []chain.Account
	for _, a := range []*actor{s.shop, s.payer, s.five, s.stranger, s.admin} {
		accounts = append(accounts, placed(a.wallet.StateInit(), 100))
	}
	accounts = append(accounts, placed(s.minter.StateInit(), 1), placed(contracts.Forwarder{ID: 1}.StateInit(), 1))
	var err error
	if s.chain, err = chain.New(chain.Options{Seed: 1, GenUtime: dawn, Accounts: accounts}); err != nil {
		t.Fatal(err)
	}
	s.step()
	for _, a := range []*actor{s.payer, s.five, s.stranger} {
		s.send(s.admin, pays(s.minter.Address(0), ton(0.3), contracts.JettonMintBody(contracts.JettonMint{Amount: big.NewInt(1000), To: a.Address, Value: ton(0.1)}), true))
	}
	return s
}

func placed(init *tlb.StateInit, tons float64) chain.Account {
	return chain.Account{ID: [32]byte(contracts.AddressOf(0, init).Data()), Code: init.Code, Data: init.Data, Balance: ton(tons)}
}

func ton(tons float64) *big.Int { return big.NewInt(int64(tons * 1e9)) }

func pays(to *tonutils.Address, value *big.Int, body *cell.Cell, bounce bool) contracts.Message {
	return contracts.Message{To: to, Value: value, Bounce: bounce, Body: body, Mode: contracts.ModePayFees}
}

// step makes the blocks of the next seconds and returns what the stage tells of them.
func (s *town) step(externals ...*cell.Cell) (told []*record.TransferEvent) {
	s.Helper()
	s.seqno, s.now = s.seqno+1, s.now+3
	made, err := s.chain.Step(s.now, externals)
	if err != nil {
		s.Fatal(err)
	}
	for _, refused := range made.Refused {
		s.Fatalf("a message from outside was refused: %s", refused.Reason)
	}
	var list []*record.Transaction
	for _, block := range append(slices.Clone(made.Shards), made.Master) {
		r, err := s.decoder.Block(block.Data, s.seqno)
		if err != nil {
			s.Fatal(err)
		}
		for _, tx := range r.Transactions {
			list = append(list, tx.CloneVT())
		}
	}
	assembled, err := s.assembler.Bundle(s.seqno, list)
	if err != nil {
		s.Fatal(err)
	}
	traces := &record.TraceBatch{}
	for _, a := range assembled {
		step := &record.TraceStep{Trace: a.Trace}
		for _, tx := range slices.Concat(a.Moved, a.New) {
			step.Transactions = append(step.Transactions, &record.TraceTransaction{Account: tx.Account, Lt: tx.Lt, Hash: tx.Hash, McSeqno: tx.McSeqno})
		}
		traces.Traces = append(traces.Traces, step)
	}
	b := &stage.Bundle{McSeqno: s.seqno, PrevMcSeqno: s.seqno - 1, Seal: &record.Seal{}, Records: []*record.Record{
		{Content: &record.Record_Transactions{Transactions: &record.TransactionBatch{Transactions: list}}},
		{Content: &record.Record_Traces{Traces: traces}},
	}}
	s.bundles = append(s.bundles, b)
	return events(s.T, s.work, b)
}

func events(t *testing.T, w *work, b *stage.Bundle) (told []*record.TransferEvent) {
	t.Helper()
	out, err := w.Bundle(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range out.Records[0] {
		told = append(told, r.GetTransfers().GetTransfers()...)
	}
	return told
}

// external is the message from outside with which somebody sends messages.
func (s *town) external(from *actor, messages ...contracts.Message) *cell.Cell {
	s.Helper()
	order := contracts.Order{Messages: messages, Seqno: from.seqno, ValidUntil: s.now + 600}
	from.seqno++
	external, err := from.wallet.External(0, from.key, order)
	if err != nil {
		s.Fatal(err)
	}
	return external
}

// send lets somebody send messages and returns what is told until nothing is under way.
func (s *town) send(from *actor, messages ...contracts.Message) []*record.TransferEvent {
	s.Helper()
	told := s.step(s.external(from, messages...))
	for range 8 {
		told = append(told, s.step()...)
	}
	return told
}

// registers makes a payment of somebody to the shop.
func (s *town) registers(from *actor, jetton bool, amount *big.Int, comment string) (store.Payment, payment.Message) {
	s.Helper()
	p := store.Payment{Reference: store.Reference(payment.NewReference()), Merchant: store.ID{7}, Amount: amount, Sender: from.account(), Recipient: s.shop.account(), CommentToRecipient: comment, Decimals: payment.NativeDecimals}
	if jetton {
		master := accountOf(s.minter.Address(0))
		p.Master, p.Decimals, p.Ticker = &master, 2, "SCR"
		p.SenderWallet, p.RecipientWallet = s.walletOf(from), s.walletOf(s.shop)
	}
	m, err := payment.Build(payment.Reference(p.Reference), payment.Order{Master: p.Master, Amount: amount, To: p.Recipient, From: p.Sender, ToWallet: p.RecipientWallet, FromWallet: p.SenderWallet, Comment: comment})
	if err != nil {
		s.Fatal(err)
	}
	p.BodyHash = m.Body.HashKey()
	s.payments[p.Reference] = p
	return p, m
}

func (s *town) walletOf(a *actor) address.Address {
	return accountOf(s.minter.Wallet(0, a.Address).Address(0))
}

func asked(m payment.Message, bounce bool) contracts.Message {
	return pays(tonutils.NewAddress(0, byte(m.To.Workchain()), m.To.ID()), m.Amount, m.Body, bounce)
}

// wants complains unless one event was told, with these words of it.
func (s *town) wants(what string, told []*record.TransferEvent, p store.Payment, want string) *event.Event {
	s.Helper()
	if len(told) != 1 {
		s.Errorf("%s: %d events, want one: %s", what, len(told), want)
		return nil
	}
	e := new(event.Event)
	if err := json.Unmarshal(told[0].Body, e); err != nil {
		s.Fatal(err)
	}
	got := fmt.Sprintf("%s %s %s %s", e.Data.Status, e.Data.Amount, e.Data.RawAmount, e.Data.Asset)
	if told[0].Duplicate {
		got += " duplicate"
	}
	if e.Data.ErrorCode != nil {
		got += fmt.Sprintf(" %d %s", *e.Data.ErrorCode, e.Data.ErrorMessage)
	}
	if got != want || e.Data.Reference != payment.Reference(p.Reference).String() {
		s.Errorf("%s: %s of %s, want %s of %s", what, got, e.Data.Reference, want, payment.Reference(p.Reference))
	}
	return e
}

func TestNativePaymentsEndAsTheirCoinsDo(t *testing.T) {
	s := newTown(t)
	p, m := s.registers(s.payer, false, ton(1.5), "Order 42")
	e := s.wants("a payment", s.send(s.payer, asked(m, true)), p, "success 1.5 1500000000 TON")
	payer, shop := s.payer.account(), s.shop.account()
	if e != nil && (e.Data.SenderAddr != friendly(payer[:]) || e.Data.RecipientAddr != friendly(shop[:]) || e.Data.CommentToRecipient != "Order 42") {
		t.Errorf("from %s to %s with %q", e.Data.SenderAddr, e.Data.RecipientAddr, e.Data.CommentToRecipient)
	}
	s.wants("signed twice", s.send(s.payer, asked(m, true)), p, "success 1.5 1500000000 TON duplicate")

	p, m = s.registers(s.payer, false, ton(2), "")
	less := asked(m, true)
	less.Value = ton(1)
	s.wants("too little", s.send(s.payer, less), p, "success 1 1000000000 TON")
	s.wants("the whole after that", s.send(s.payer, asked(m, true)), p, "success 2 2000000000 TON")

	p, m = s.registers(s.payer, false, ton(3), "")
	little := asked(m, true)
	little.Value = ton(0.1)
	if told := s.send(s.stranger, little); len(told) > 0 {
		t.Errorf("a stranger pays a part of it: %d events, want none", len(told))
	}
	s.wants("a stranger pays all of it", s.send(s.stranger, asked(m, true)), p, "success 3 3000000000 TON")

	p, m = s.registers(s.payer, false, ton(1), "")
	other := asked(m, true)
	other.To = s.stranger.Address
	s.wants("to somebody else", s.send(s.payer, other), p, "failed 1 1000000000 TON 70005 The transfer went to another recipient")
	if told := s.send(s.stranger, other); len(told) > 0 {
		t.Errorf("a stranger sends it to himself: %d events, want none", len(told))
	}
	s.wants("after a failure", s.send(s.payer, asked(m, true)), p, "success 1 1000000000 TON")

	p, m = s.registers(s.payer, false, ton(1_000_000), "")
	s.wants("more than the wallet has", s.send(s.payer, asked(m, true)), p, "failed 1000000 1000000000000000 TON 37 Not enough TON")
}

func TestWalletsThatIgnoreErrorsAreSeenNotToSend(t *testing.T) {
	s := newTown(t)
	p, m := s.registers(s.five, false, ton(1_000), "")
	q, n := s.registers(s.five, false, ton(1), "")
	skipped, sent := asked(m, true), asked(n, true)
	skipped.Mode |= contracts.ModeIgnoreErrors
	sent.Mode |= contracts.ModeIgnoreErrors
	told := s.send(s.five, skipped, sent)
	if len(told) != 2 {
		t.Fatalf("one of two is skipped: %d events, want 2", len(told))
	}
	s.wants("the skipped one", told[:1], p, "failed 1000 1000000000000 TON 37 Not enough TON")
	s.wants("the other one", told[1:], q, "success 1 1000000000 TON")
}

func TestCoinsThatComeBackAreAFailureAndThoseThatStayAreNone(t *testing.T) {
	s := newTown(t)
	throws := accountOf(s.minter.Address(0))
	nobody := accountOf(contracts.Forwarder{ID: 2}.Address(0))
	for _, c := range []struct {
		what   string
		to     address.Address
		bounce bool
		want   string
	}{
		{"nobody, who sends it back", nobody, true, "failed 1 1000000000 TON 70001 The recipient has no contract and the transfer came back"},
		{"nobody, where it stays", nobody, false, "success 1 1000000000 TON"},
		{"a contract that throws", throws, true, "failed 1 1000000000 TON 65535 The contract failed with exit code 65535"},
		{"a contract that throws and keeps it", throws, false, "success 1 1000000000 TON"},
	} {
		p := store.Payment{Reference: store.Reference(payment.NewReference()), Amount: ton(1), Sender: s.payer.account(), Recipient: c.to, Decimals: payment.NativeDecimals}
		m, err := payment.Build(payment.Reference(p.Reference), payment.Order{Amount: p.Amount, To: p.Recipient, From: p.Sender})
		if err != nil {
			t.Fatal(err)
		}
		p.BodyHash = m.Body.HashKey()
		s.payments[p.Reference] = p
		s.wants(c.what, s.send(s.payer, asked(m, c.bounce)), p, c.want)
	}
}

func TestJettonPaymentsEndAsTheirJettonsDo(t *testing.T) {
	s := newTown(t)
	master := accountOf(s.minter.Address(0))
	asset := friendly(master[:])
	p, m := s.registers(s.payer, true, big.NewInt(150), "")
	e := s.wants("a payment", s.send(s.payer, asked(m, true)), p, "success 1.5 150 "+asset)
	payer := s.payer.account()
	if e != nil && (e.Data.SenderAddr != friendly(payer[:]) || e.Data.AssetTicker != "SCR") {
		t.Errorf("from %s in %s, want the owner %s in SCR", e.Data.SenderAddr, e.Data.AssetTicker, friendly(payer[:]))
	}
	s.wants("signed twice", s.send(s.payer, asked(m, true)), p, "success 1.5 150 "+asset+" duplicate")

	p, m = s.registers(s.payer, true, big.NewInt(5_000), "Order 43")
	s.wants("more than there are", s.send(s.payer, asked(m, true)), p, "failed 50 5000 "+asset+" 706 Not enough jettons")

	p, m = s.registers(s.payer, true, big.NewInt(1), "")
	poor := asked(m, true)
	poor.Value = ton(0.01)
	s.wants("too little for gas", s.send(s.payer, poor), p, "failed 0.01 1 "+asset+" 709 Not enough TON attached")
	fake := asked(m, true)
	fake.To = contracts.Forwarder{ID: 1}.Address(0)
	if told := s.send(s.stranger, fake); len(told) > 0 {
		t.Errorf("a stranger's contract is told of it: %d events, want none", len(told))
	}
	s.wants("after failures", s.send(s.payer, asked(m, true)), p, "success 0.01 1 "+asset)

	p, m = s.registers(s.five, true, big.NewInt(1), "")
	skipped := asked(m, true)
	skipped.Value, skipped.Mode = ton(10_000), skipped.Mode|contracts.ModeIgnoreErrors
	s.wants("a wallet that cannot pay for it", s.send(s.five, skipped), p, "failed 0.01 1 "+asset+" 37 Not enough TON")
}

func TestABundleThatIsWorkedOutAgainGivesTheSameEvents(t *testing.T) {
	s := newTown(t)
	_, m := s.registers(s.payer, true, big.NewInt(2), "")
	_, n := s.registers(s.payer, false, ton(1), "x")
	first := append(s.send(s.payer, asked(m, true), asked(n, true)), s.send(s.payer, asked(n, true))...)
	if len(first) != 3 {
		t.Fatalf("%d events, want 3", len(first))
	}
	again, other := newWork(s.payments), newWork(s.payments)
	var second []*record.TransferEvent
	for _, b := range s.bundles {
		second = append(second, events(t, again, b)...)
		for _, r := range b.Records { // another order of what the log has
			slices.Reverse(r.GetTransactions().GetTransactions())
		}
		slices.Reverse(b.Records)
	}
	var third []*record.TransferEvent
	for _, b := range s.bundles {
		third = append(third, events(t, other, b)...)
	}
	for i := range first {
		if !first[i].EqualVT(second[i]) || !first[i].EqualVT(third[i]) {
			t.Errorf("event %d is %v, then %v and %v", i, first[i], second[i], third[i])
		}
	}
}

// faulty fails some times before it finds anything.
type faulty struct {
	registered
	left int
}

func (f *faulty) Find(ctx context.Context, references []store.Reference) (map[store.Reference]store.Payment, error) {
	if f.left--; f.left >= 0 {
		return nil, errors.New("away")
	}
	return f.registered.Find(ctx, references)
}

func TestPaymentsThatCannotBeLookedUpAreWaitedFor(t *testing.T) {
	s := newTown(t)
	p, m := s.registers(s.payer, false, ton(1), "")
	s.work.payments = &faulty{s.payments, 2}
	s.wants("after two failures", s.send(s.payer, asked(m, true)), p, "success 1 1000000000 TON")
}
