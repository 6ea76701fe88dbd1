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
	tonbody "tonscribe/ton/body"
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
	highload                           *actor
	minter, toll                       contracts.JettonMinter // toll's wallets are those of contracts.JettonTollCode
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
		stranger: newActor(4, contracts.WalletV3R2), admin: newActor(5, contracts.WalletV4R2),
		highload: newActor(6, contracts.WalletHighloadV3)}
	s.work = newWork(s.payments)
	s.minter = contracts.JettonMinter{Admin: s.admin.Address, Content: contracts.OffchainContent("https://example.org/jetton.json")}
	s.toll = contracts.JettonMinter{Admin: s.admin.Address, Content: contracts.OffchainContent("https://example.org/toll.json"), WalletCode: contracts.JettonTollCode}
	var accounts []chain.Account
	for _, a := range []*actor{s.shop, s.payer, s.five, s.stranger, s.admin, s.highload} {
		accounts = append(accounts, placed(a.wallet.StateInit(), 100))
	}
	accounts = append(accounts, placed(s.minter.StateInit(), 1), placed(s.toll.StateInit(), 1), placed(contracts.Forwarder{ID: 1}.StateInit(), 1), placed(clumsy(), 1))
	var err error
	if s.chain, err = chain.New(chain.Options{Seed: 1, GenUtime: dawn, Accounts: accounts}); err != nil {
		t.Fatal(err)
	}
	s.step()
	for _, a := range []*actor{s.payer, s.five, s.stranger} {
		s.send(s.admin, pays(s.minter.Address(0), ton(0.3), contracts.JettonMintBody(contracts.JettonMint{Amount: big.NewInt(1000), To: a.Address, Value: ton(0.1)}), true))
	}
	s.send(s.admin, pays(s.toll.Address(0), ton(0.3), contracts.JettonMintBody(contracts.JettonMint{Amount: big.NewInt(10_000_000), To: s.payer.Address, Value: ton(0.1)}), true))
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
	order := contracts.Order{Messages: messages, Seqno: from.seqno, ValidUntil: s.now + 600, QueryID: from.seqno, CreatedAt: uint64(s.now)}
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
	if jetton {
		return s.registersOf(from, &s.minter, s.shop.account(), amount, comment)
	}
	return s.registersOf(from, nil, s.shop.account(), amount, comment)
}

// registersOf makes a payment in the jetton of a minter, or in the native coin.
func (s *town) registersOf(from *actor, minter *contracts.JettonMinter, to address.Address, amount *big.Int, comment string) (store.Payment, payment.Message) {
	s.Helper()
	p := store.Payment{Reference: store.Reference(payment.NewReference()), Merchant: store.ID{7}, Amount: amount, Sender: from.account(), Recipient: to, CommentToRecipient: comment, Decimals: payment.NativeDecimals}
	if minter != nil {
		master := accountOf(minter.Address(0))
		p.Master, p.Decimals, p.Ticker = &master, 2, "SCR"
		p.SenderWallet, p.RecipientWallet = accountOf(minter.Wallet(0, from.Address).Address(0)), accountOf(minter.Wallet(0, friend(to)).Address(0))
	}
	m, err := payment.Build(payment.Reference(p.Reference), payment.Order{Master: p.Master, Amount: amount, To: p.Recipient, From: p.Sender, ToWallet: p.RecipientWallet, FromWallet: p.SenderWallet, Comment: comment})
	if err != nil {
		s.Fatal(err)
	}
	p.BodyHash = m.Body.HashKey()
	s.payments[p.Reference] = p
	return p, m
}

// friend is an account as messages have it.
func friend(a address.Address) *tonutils.Address {
	return tonutils.NewAddress(0, byte(a.Workchain()), a.ID())
}

func asked(m payment.Message, bounce bool) contracts.Message {
	return pays(friend(m.To), m.Amount, m.Body, bounce)
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
	if e != nil && (e.Data.SenderAddr != payment.Address(payer[:]) || e.Data.RecipientAddr != payment.Address(shop[:]) || e.Data.CommentToRecipient != "Order 42") {
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
	foreign := contracts.Forwarder{ID: 3}.StateInit()
	for _, c := range []struct {
		what   string
		to     address.Address
		amount int64 // nanotons
		change func(*contracts.Message)
		want   string
	}{
		{"nobody, who sends it back", nobody, 1e9, nil, "failed 1 1000000000 TON 70001 The recipient has no contract and the transfer came back"},
		{"nobody, where it stays", nobody, 1e9, noBounce, "success 1 1000000000 TON"},
		{"the state of another account", nobody, 1e9, func(m *contracts.Message) { m.StateInit = foreign },
			"failed 1 1000000000 TON 70002 The recipient's state does not fit its address and the transfer came back"},
		{"a contract that throws", throws, 1e9, nil, "failed 1 1000000000 TON 65535 The contract failed with exit code 65535"},
		{"a contract that throws and keeps it", throws, 1e9, noBounce, "success 1 1000000000 TON"},
		{"a contract, with nothing for its gas", s.shop.account(), 1, nil, "failed 0.000000001 1 TON 70004 The transfer had not enough TON for its execution"},
		{"a contract, with too little for its gas", s.shop.account(), 40_000, nil, "failed 0.00004 40000 TON -14 Out of gas"},
		{"a contract whose actions fail, which keeps it", accountOf(contracts.AddressOf(0, clumsy())), 1e9, nil, "success 1 1000000000 TON"},
		{"a wallet, with nothing for its gas, where it stays", s.shop.account(), 1, noBounce, "success 0.000000001 1 TON"},
	} {
		p, m := s.registersOf(s.payer, nil, c.to, big.NewInt(c.amount), "")
		message := asked(m, true)
		if c.change != nil {
			c.change(&message)
		}
		s.wants(c.what, s.send(s.payer, message), p, c.want)
	}
}

// clumsy is a contract that sends no message, but an empty cell: its actions fail.
func clumsy() *tlb.StateInit {
	code := []byte{0xc8, 0xc9, 0x70, 0xfb, 0x00} // NEWC ENDC 0 PUSHINT SENDRAWMSG
	return &tlb.StateInit{Code: cell.BeginCell().MustStoreSlice(code, uint(8*len(code))).EndCell(), Data: cell.BeginCell().EndCell()}
}

func noBounce(m *contracts.Message) { m.Bounce = false }

func TestWalletsThatRefuseToSendSayWhy(t *testing.T) {
	s := newTown(t)
	p, m := s.registers(s.payer, false, ton(1), "")
	nowhere := asked(m, true)
	nowhere.To = tonutils.NewAddress(0, 5, nowhere.To.Data())
	s.wants("a workchain that there is not", s.send(s.payer, nowhere), p, "failed 1 1000000000 TON 36 Invalid destination address in outbound message")
	// The wallet has forgotten the message that it could not obey.
	s.payer.seqno--
	s.wants("the right one after that", s.send(s.payer, asked(m, true)), p, "success 1 1000000000 TON")
}

// Anybody may send what a wallet has forgotten once more, as the same body in another message.
func TestARefusalIsToldOnceHoweverOftenTheWalletRefuses(t *testing.T) {
	s := newTown(t)
	p, m := s.registers(s.payer, false, ton(1), "")
	nowhere := asked(m, true)
	nowhere.To = tonutils.NewAddress(0, 5, nowhere.To.Data())
	order := contracts.Order{Messages: []contracts.Message{nowhere}, Seqno: s.payer.seqno, ValidUntil: s.now + 600}
	var told []*record.TransferEvent
	for _, order.Deploy = range []bool{false, true} {
		external, err := s.payer.wallet.External(0, s.payer.key, order)
		if err != nil {
			t.Fatal(err)
		}
		told = append(told, s.step(external)...)
	}
	s.wants("refused twice", told, p, "failed 1 1000000000 TON 36 Invalid destination address in outbound message")
}

func TestJettonPaymentsEndAsTheirJettonsDo(t *testing.T) {
	s := newTown(t)
	master := accountOf(s.minter.Address(0))
	asset := payment.Address(master[:])
	p, m := s.registers(s.payer, true, big.NewInt(150), "")
	e := s.wants("a payment", s.send(s.payer, asked(m, true)), p, "success 1.5 150 "+asset)
	payer := s.payer.account()
	if e != nil && (e.Data.SenderAddr != payment.Address(payer[:]) || e.Data.AssetTicker != "SCR") {
		t.Errorf("from %s in %s, want the owner %s in SCR", e.Data.SenderAddr, e.Data.AssetTicker, payment.Address(payer[:]))
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
	s.wants("to what is not the payer's jetton wallet", s.send(s.payer, fake), p, "failed 0.01 1 "+asset+" 70005 The transfer went to another recipient")
	s.wants("after failures", s.send(s.payer, asked(m, true)), p, "success 0.01 1 "+asset)

	p, m = s.registers(s.five, true, big.NewInt(1), "")
	skipped := asked(m, true)
	skipped.Value, skipped.Mode = ton(10_000), skipped.Mode|contracts.ModeIgnoreErrors
	s.wants("a wallet that cannot pay for it", s.send(s.five, skipped), p, "failed 0.01 1 "+asset+" 37 Not enough TON")
}

// A body that carries the reference, but is not the one that was built, pays when it is
// enough, and fails nothing.
func TestBodiesThatWerePutTogetherAnewPayByTheirReference(t *testing.T) {
	s := newTown(t)
	anew := func(p store.Payment, amount *big.Int) contracts.Message {
		query := uint64(7)
		m, err := payment.Build(payment.Reference(p.Reference), payment.Order{Master: p.Master, Amount: amount, To: p.Recipient, From: p.Sender,
			ToWallet: p.RecipientWallet, FromWallet: p.SenderWallet, QueryID: &query, Comment: "written by hand"})
		if err != nil {
			t.Fatal(err)
		}
		return asked(m, true)
	}
	p, _ := s.registers(s.payer, false, ton(1), "Order 44")
	elsewhere, skipped := anew(p, ton(1)), anew(p, ton(1_000_000))
	elsewhere.To, skipped.Mode = s.stranger.Address, skipped.Mode|contracts.ModeIgnoreErrors
	for what, message := range map[string]contracts.Message{"too little": anew(p, ton(0.5)), "to somebody else": elsewhere, "more than the wallet has": skipped} {
		if told := s.send(s.payer, message); len(told) > 0 {
			t.Errorf("%s: %d events, want none", what, len(told))
		}
	}
	s.wants("a comment of his own", s.send(s.payer, anew(p, ton(1.5))), p, "success 1.5 1500000000 TON")

	master := accountOf(s.minter.Address(0))
	p, m := s.registers(s.payer, true, big.NewInt(100), "")
	for what, amount := range map[string]int64{"too few": 99, "more than there are": 5_000} {
		if told := s.send(s.payer, anew(p, big.NewInt(amount))); len(told) > 0 {
			t.Errorf("%s: %d events, want none", what, len(told))
		}
	}
	s.wants("a query of his own", s.send(s.payer, anew(p, big.NewInt(100))), p, "success 1 100 "+payment.Address(master[:]))
	s.wants("what was built after that", s.send(s.payer, asked(m, true)), p, "success 1 100 "+payment.Address(master[:])+" duplicate")
}

func TestJettonWalletsThatRefuseSayWhy(t *testing.T) {
	s := newTown(t)
	master, toll := accountOf(s.minter.Address(0)), accountOf(s.toll.Address(0))
	asset, tolled := payment.Address(master[:]), payment.Address(toll[:])
	shop := s.shop.account()
	p, m := s.registersOf(s.payer, &s.minter, shop, big.NewInt(1), "")
	dry := asked(m, true)
	dry.Value = big.NewInt(40_000)
	s.wants("nothing for the gas of the payer's", s.send(s.payer, dry), p, "failed 0.01 1 "+asset+" -14 Out of gas")
	p, m = s.registersOf(s.payer, &s.minter, address.New(-1, shop.ID()), big.NewInt(1), "")
	s.wants("a recipient of the masterchain", s.send(s.payer, asked(m, true)), p, "failed 0.01 1 "+asset+" 333 Wrong workchain")
	p, m = s.registersOf(s.five, &s.toll, shop, big.NewInt(1), "")
	message := asked(m, true)
	message.Mode |= contracts.ModeIgnoreErrors
	s.wants("the payer has none", s.send(s.five, message), p, "failed 0.01 1 "+tolled+" 70001 There is no such jetton wallet and the transfer came back")
	p, m = s.registersOf(s.payer, &s.toll, shop, big.NewInt(1_000), "")
	s.wants("a toll is taken", s.send(s.payer, asked(m, true)), p, "success 9.9 990 "+tolled)
	p, m = s.registersOf(s.payer, &s.toll, shop, big.NewInt(1), "")
	s.wants("the payer's keeps them", s.send(s.payer, asked(m, true)), p, "failed 0.01 1 "+tolled+" 70006 The jetton wallet did not send the jettons")
	p, m = s.registersOf(s.payer, &s.toll, shop, big.NewInt(2_000_000), "")
	s.wants("the recipient's is locked", s.send(s.payer, asked(m, true)), p, "failed 20000 2000000 "+tolled+" 45 The jetton wallet is locked")
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

// A jetton may be anybody's: what its wallets send each other need not be a transfer.
func TestWalletsThatSendEachOtherNoTransferHoldNobodyUp(t *testing.T) {
	s := newTown(t)
	p, m := s.registers(s.payer, true, big.NewInt(150), "")
	master, payer := accountOf(s.minter.Address(0)), s.payer.account()
	want := "success 1.5 150 " + payment.Address(master[:])
	s.wants("a transfer", s.send(s.payer, asked(m, true)), p, want)
	opcode := func() *cell.Builder {
		return cell.BeginCell().MustStoreUInt(uint64(tonbody.JettonInternalTransfer), 32)
	}
	stranger := p
	stranger.Sender = s.stranger.account()
	for _, c := range []struct {
		what string
		body *cell.Builder
		of   store.Payment
		want string
	}{
		{"nothing behind the opcode", opcode(), p, ""},
		{"nobody's jettons, by the payer", opcode().MustStoreUInt(7, 64).MustStoreBigCoins(big.NewInt(150)).MustStoreUInt(0, 2), p, want},
		{"nobody's jettons, by a stranger", opcode().MustStoreUInt(7, 64).MustStoreBigCoins(big.NewInt(150)).MustStoreUInt(0, 2), stranger, ""},
	} {
		work := newWork(registered{p.Reference: c.of})
		var told []*record.TransferEvent
		for _, b := range s.bundles {
			told = append(told, events(t, work, rewritten(b, c.body.EndCell()))...)
		}
		if c.want == "" && len(told) > 0 {
			t.Errorf("%s: %d events, want none", c.what, len(told))
		}
		if c.want == "" {
			continue
		}
		if e := s.wants(c.what, told, p, c.want); e != nil && e.Data.SenderAddr != payment.Address(payer[:]) {
			t.Errorf("%s: from %s, want %s", c.what, e.Data.SenderAddr, payment.Address(payer[:]))
		}
	}
}

// rewritten is a bundle with another body in all messages between jetton wallets.
func rewritten(b *stage.Bundle, body *cell.Cell) *stage.Bundle {
	other := *b
	other.Records = nil
	for _, r := range b.Records {
		r = r.CloneVT()
		for _, tx := range r.GetTransactions().GetTransactions() {
			if tx.InMsg.GetOpcode() == tonbody.JettonInternalTransfer {
				tx.InMsg.Body = body.ToBOC()
			}
		}
		other.Records = append(other.Records, r)
	}
	return &other
}
