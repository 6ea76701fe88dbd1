package decode

import (
	"bytes"
	"crypto/ed25519"
	"math/big"
	"os"
	"testing"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/ton/wallet"
	tcell "github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/schema/record"
	"tonscribe/test/support/realdata"
	"tonscribe/ton/tvm"
)

// replay executes transactions of one account one after the other, as in one
// block, and keeps the state after each.
type replay struct {
	*testing.T
	config  *tvm.Config
	at      *address.Address
	state   *tcell.Cell // nil for no account
	lt      uint64
	hash    [32]byte
	changes *Change
	states  []*tcell.Cell // before the first transaction, and after each
}

const noon = 1_760_000_000

func newReplay(t *testing.T, at *address.Address, state *tcell.Cell) *replay {
	t.Helper()
	boc, err := os.ReadFile(realdata.Path(t, "accounts_tx_triples", "config13.boc"))
	if err != nil {
		t.Fatal(err)
	}
	root, err := tcell.FromBOC(boc)
	if err != nil {
		t.Fatal(err)
	}
	config, err := tvm.Prepare(root)
	if err != nil {
		t.Fatal(err)
	}
	return &replay{T: t, config: config, at: at, state: state, lt: 1000, changes: &Change{}, states: []*tcell.Cell{state}}
}

// deliver executes a message and decodes the transaction that it makes.
func (r *replay) deliver(message any) *record.Transaction {
	r.Helper()
	root, err := tlb.ToCell(message)
	if err != nil {
		r.Fatal(err)
	}
	r.lt += 1000
	done, err := tvm.Deliver(tvm.Delivery{Context: tvm.Context{Config: r.config, Now: noon, LT: r.lt, BlockLT: 2000},
		Address: r.at, Account: r.state, LastHash: r.hash, LastLT: r.lt - 1000, Message: root, IgnoreSignature: true})
	if err != nil || !done.Accepted {
		r.Fatalf("the message makes no transaction: %+v, %v", done, err)
	}
	r.hash, r.state = [32]byte(done.Transaction.Hash()), done.Account
	r.states = append(r.states, done.Account)
	var d Decoder
	tx, err := d.Transaction(done.Transaction.ToBOC(), 0)
	if err != nil {
		r.Fatal(err)
	}
	r.changes.Transactions = append(r.changes.Transactions, tx)
	return tx
}

// told is what a state holds, by another library.
func (r *replay) told(root *tcell.Cell) (balance uint64, extra []*record.ExtraCurrency) {
	r.Helper()
	if root == nil {
		return 0, nil
	}
	var state tlb.AccountState
	if err := tlb.Parse(&state, root); err != nil {
		r.Fatal(err)
	}
	if !state.IsValid {
		return 0, nil
	}
	return state.Balance.Nano().Uint64(), extraOf(r.T, state.ExtraCurrencies)
}

// check computes the states from the last one alone, and compares each with what
// the TVM has left.
func (r *replay) check() {
	r.Helper()
	c := r.changes
	last := c.Transactions[len(c.Transactions)-1]
	c.After = &record.AccountState{Status: last.EndStatus}
	c.After.Balance, c.After.ExtraCurrencies = r.told(r.state)
	if err := c.complete(); err != nil {
		r.Fatal(err)
	}
	for i, tx := range c.Transactions {
		for j, got := range []*record.AccountState{tx.StateBefore, tx.StateAfter} {
			balance, extra := r.told(r.states[i+j])
			want := &record.AccountState{Balance: balance, ExtraCurrencies: extra}
			if plain := (&record.AccountState{Balance: got.Balance, ExtraCurrencies: got.ExtraCurrencies, ExtraUnknown: got.ExtraUnknown}); !plain.EqualVT(want) {
				r.Errorf("state %d of transaction %d: %v, the TVM has %v", j, i, plain, want)
			}
		}
	}
}

// extraDict is a dictionary of extra currencies.
func extraDict(t *testing.T, amounts map[uint32]*big.Int) *tcell.Dictionary {
	t.Helper()
	dict := tcell.NewDict(32)
	for id, amount := range amounts {
		if err := dict.SetIntKey(big.NewInt(int64(id)), tcell.BeginCell().MustStoreBigVarUInt(amount, 32).EndCell()); err != nil {
			t.Fatal(err)
		}
	}
	return dict
}

func power(n uint) *big.Int { return new(big.Int).Lsh(big.NewInt(1), n) }

// Of all that happens to extra currencies in one block only the last state is in
// it: they come, go in parts, go to the last, and are sent back.
func TestExtraCurrenciesBetweenTransactionsAreThoseThatTheTVMLeaves(t *testing.T) {
	init, err := wallet.GetStateInit(bytes.Repeat([]byte{7}, ed25519.PublicKeySize), wallet.V3R2, wallet.DefaultSubwallet)
	if err != nil {
		t.Fatal(err)
	}
	root, err := tlb.ToCell(init)
	if err != nil {
		t.Fatal(err)
	}
	me, other := address.NewAddress(0, 0, root.Hash()), address.NewAddress(0, 0, bytes.Repeat([]byte{9}, 32))
	account, err := tlb.ToCell(&tlb.AccountState{IsValid: true, Address: me,
		StorageInfo: tlb.StorageInfo{StorageUsed: tlb.StorageUsed{CellsUsed: big.NewInt(5), BitsUsed: big.NewInt(1000)}, StorageExtra: tlb.StorageExtraNone{}, LastPaid: noon - 86400},
		AccountStorage: tlb.AccountStorage{Status: tlb.AccountStatusActive, LastTransactionLT: 1000, Balance: tlb.FromNanoTONU(100e9), StateInit: init,
			ExtraCurrencies: extraDict(t, map[uint32]*big.Int{1: big.NewInt(1000), 1<<32 - 1: power(200)})}})
	if err != nil {
		t.Fatal(err)
	}
	r := newReplay(t, me, account)
	seqno := uint64(0)
	send := func(coins uint64, amounts map[uint32]*big.Int) {
		t.Helper()
		out, err := tlb.ToCell(&tlb.InternalMessage{IHRDisabled: true, DstAddr: other, Amount: tlb.FromNanoTONU(coins), ExtraCurrencies: extraDict(t, amounts), Body: tcell.BeginCell().EndCell()})
		if err != nil {
			t.Fatal(err)
		}
		body := tcell.BeginCell().MustStoreSlice(make([]byte, 64), 512).MustStoreUInt(wallet.DefaultSubwallet, 32).MustStoreUInt(noon+60, 32).
			MustStoreUInt(seqno, 32).MustStoreUInt(3, 8).MustStoreRef(out).EndCell()
		seqno++
		r.deliver(&tlb.ExternalMessage{DstAddr: me, Body: body})
	}
	receive := func(coins uint64, amounts map[uint32]*big.Int) {
		t.Helper()
		r.deliver(&tlb.InternalMessage{IHRDisabled: true, Bounce: true, SrcAddr: other, DstAddr: me, Amount: tlb.FromNanoTONU(coins), ExtraCurrencies: extraDict(t, amounts),
			CreatedLT: 1, CreatedAt: noon, Body: tcell.BeginCell().EndCell()})
	}
	receive(1e9, map[uint32]*big.Int{1: big.NewInt(50), 9: big.NewInt(7)})
	send(5e8, map[uint32]*big.Int{1: big.NewInt(300), 1<<32 - 1: power(199)})
	send(1e8, map[uint32]*big.Int{9: big.NewInt(7)})
	receive(2e9, nil)
	send(1e8, map[uint32]*big.Int{9: big.NewInt(1)}) // there are none left: nothing is sent
	receive(3e8, map[uint32]*big.Int{9: power(240)})
	send(2e9, nil)
	r.check()
	sent := 0
	for _, tx := range r.changes.Transactions {
		for _, m := range tx.OutMsgs {
			sent += len(m.ValueExtra)
		}
	}
	if _, extra := r.told(r.state); sent != 3 || len(extra) != 3 {
		t.Errorf("%d extra currencies were sent, %d are left: want 3 and 3", sent, len(extra))
	}
}

func TestExtraCurrenciesThatNobodyTakesAreSentBack(t *testing.T) {
	other, nobody := address.NewAddress(0, 0, bytes.Repeat([]byte{9}, 32)), address.NewAddress(0, 0, bytes.Repeat([]byte{8}, 32))
	r := newReplay(t, nobody, nil)
	message := &tlb.InternalMessage{IHRDisabled: true, Bounce: true, SrcAddr: other, DstAddr: nobody, Amount: tlb.FromNanoTONU(1e9),
		ExtraCurrencies: extraDict(t, map[uint32]*big.Int{1: big.NewInt(50)}), CreatedLT: 1, CreatedAt: noon, Body: tcell.BeginCell().EndCell()}
	tx := r.deliver(message)
	if len(tx.OutMsgs) != 1 || !tx.OutMsgs[0].Bounced {
		t.Errorf("the transaction sends %v, want a bounce", tx.OutMsgs)
	}
	message.Bounce = false
	r.deliver(message)
	r.deliver(message)
	r.check()
	if _, extra := r.told(r.state); len(extra) != 1 || new(big.Int).SetBytes(extra[0].Amount).Int64() != 100 {
		t.Errorf("extra currencies %v, want 100 of one", extra)
	}
}
