package decode

import (
	"bytes"
	"math/big"
	"testing"

	"github.com/xssnick/tonutils-go/tlb"
	tcell "github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/schema/record"
	"tonscribe/test/support/statetest"
)

// classes count account blocks by what their state update shows.
type classes struct {
	accounts, transactions         int
	newReadable, newNone           int
	oldReadable, oldNone, oldGone  int // gone: it exists, and the update shows only its hash, or not even that
	several, between               int // accounts with several transactions, and the states between them
	balances, balancesBetweenSteps int // found by arithmetic from the last state, and equal to the first
}

// Another library reads all account blocks of the test data, and what it finds
// is what we find: no account is left unexplained.
func TestEveryAccountBlockIsOfAClassThatAnotherLibrarySees(t *testing.T) {
	var d Decoder
	var got classes
	seen := map[string]bool{}
	for _, f := range append(blockFiles(t), packedBlocks(t)...) {
		r, err := d.Block(f.boc, 7)
		if err != nil {
			t.Fatal(err)
		}
		if seen[string(r.Block.Id.RootHash)] {
			continue
		}
		seen[string(r.Block.Id.RootHash)] = true
		accounts, err := statetest.Read(f.boc)
		if err != nil {
			t.Fatalf("%s: %v", f.fields["file"], err)
		}
		if len(accounts) != len(r.Changes) {
			t.Fatalf("%s: %d accounts, want %d", f.fields["file"], len(r.Changes), len(accounts))
		}
		for i, a := range accounts {
			if !bytes.Equal(r.Changes[i].Account[4:], a.ID[:]) {
				t.Fatalf("%s: account %d is %x, want %x", f.fields["file"], i, r.Changes[i].Account[4:], a.ID)
			}
			got.count(t, &a, r.Changes[i])
		}
	}
	want := classes{accounts: 2911, transactions: 5049, newReadable: 2813, newNone: 98, oldReadable: 1343, oldNone: 1398, oldGone: 170,
		several: 1016, between: 2138, balances: 2741, balancesBetweenSteps: 2138}
	if got != want {
		t.Errorf("classes\n%+v, want\n%+v", got, want)
	}
}

// count puts an account into its classes, and compares what we read of it.
func (s *classes) count(t *testing.T, a *statetest.Account, c *Change) {
	t.Helper()
	s.accounts++
	s.transactions += len(a.Transactions)
	if n := len(a.Transactions); n > 1 {
		s.several++
		s.between += n - 1
	}
	first, last := a.Transactions[0], a.Transactions[len(a.Transactions)-1]
	for i := 1; i < len(a.Transactions); i++ {
		if !bytes.Equal(a.Transactions[i].StateUpdate.OldHash, a.Transactions[i-1].StateUpdate.NewHash) {
			t.Errorf("account %x: transaction %d does not begin where the one before ends", a.ID, a.Transactions[i].LT)
		}
	}
	if !bytes.Equal(first.StateUpdate.OldHash, a.OldHash) || !bytes.Equal(last.StateUpdate.NewHash, a.NewHash) {
		t.Errorf("account %x: the account block goes from %x to %x, its transactions do not", a.ID, a.OldHash, a.NewHash)
	}
	after := new(big.Int)
	switch {
	case NoAccount(a.NewHash):
		s.newNone++
		sameState(t, a, c.After, nil)
	case a.New.Readable() && bytes.Equal(a.New.Account.Hash(0), a.NewHash) && a.New.LastLT == last.LT && bytes.Equal(a.New.LastHash, last.Hash):
		s.newReadable++
		after = sameState(t, a, c.After, a.New.Account)
	default:
		t.Errorf("account %x: the state after is in no class", a.ID)
	}
	switch {
	case NoAccount(a.OldHash):
		s.oldNone++
		sameState(t, a, c.Before, nil)
		s.countBalances(t, a, c, after, new(big.Int))
	case a.Old.Readable() && bytes.Equal(a.Old.Account.Hash(0), a.OldHash):
		s.oldReadable++
		s.countBalances(t, a, c, after, sameState(t, a, c.Before, a.Old.Account))
	case !a.Old.Readable() && c.Before == nil:
		s.oldGone++
		s.countBalances(t, a, c, after, nil)
	default:
		t.Errorf("account %x: the state before is in no class; we say %v", a.ID, c.Before)
	}
}

// sameState compares our state with the cell of it, nil for no account, and
// gives the balance.
func sameState(t *testing.T, a *statetest.Account, got *record.AccountState, root *tcell.Cell) *big.Int {
	t.Helper()
	want := &record.AccountState{Status: record.AccountStatus_ACCOUNT_NONEXIST}
	if root != nil {
		var state tlb.AccountState
		if err := tlb.LoadFromCellAsProof(&state, root.MustBeginParse()); err != nil {
			t.Fatalf("account %x: %v", a.ID, err)
		}
		want.Balance = state.Balance.Nano().Uint64()
		want.Status = map[tlb.AccountStatus]record.AccountStatus{
			tlb.AccountStatusActive: record.AccountStatus_ACCOUNT_ACTIVE, tlb.AccountStatusUninit: record.AccountStatus_ACCOUNT_UNINIT,
			tlb.AccountStatusFrozen: record.AccountStatus_ACCOUNT_FROZEN}[state.Status]
		if state.Status == tlb.AccountStatusFrozen {
			want.FrozenHash = state.StateHash
		}
		if s := state.StateInit; s != nil && s.Code != nil {
			want.CodeHash = s.Code.Hash(0)
		}
		if s := state.StateInit; s != nil && s.Data != nil {
			want.DataHash = s.Data.Hash(0)
		}
	}
	if got == nil {
		t.Errorf("account %x: no state, want %v", a.ID, want)
		return new(big.Int)
	}
	plain := got.CloneVT()
	plain.ExtraCurrencies, plain.ExtraUnknown = nil, false
	if !plain.EqualVT(want) {
		t.Errorf("account %x: state\n%v, want\n%v", a.ID, plain, want)
	}
	return new(big.Int).SetUint64(want.Balance)
}

// countBalances goes back from the last balance over all transactions: every
// balance on the way is the one that we tell, and the first is that of the state
// before, where it is known.
func (s *classes) countBalances(t *testing.T, a *statetest.Account, c *Change, after, before *big.Int) {
	t.Helper()
	balance := after
	for i := len(a.Transactions) - 1; i >= 0; i-- {
		if got := c.Transactions[i].StateAfter.Balance; got != balance.Uint64() {
			t.Errorf("account %x: balance %d after transaction %d, want %s", a.ID, got, a.Transactions[i].LT, balance)
		}
		balance = earlier(t, balance, a.Transactions[i].Transaction)
		if got := c.Transactions[i].StateBefore.Balance; got != balance.Uint64() {
			t.Errorf("account %x: balance %d before transaction %d, want %s", a.ID, got, a.Transactions[i].LT, balance)
		}
		if i > 0 {
			s.balancesBetweenSteps++
		}
	}
	if before == nil {
		return
	}
	s.balances++
	if balance.Cmp(before) != 0 {
		t.Errorf("account %x: balance %s by arithmetic, the state before has %s", a.ID, balance, before)
	}
}

// earlier is the balance before a transaction.
func earlier(t *testing.T, after *big.Int, tx *tlb.Transaction) *big.Int {
	t.Helper()
	sum := new(big.Int).Add(after, tx.TotalFees.Coins.Nano())
	if credit := creditOf(tx); credit != nil {
		sum.Sub(sum, credit.Credit.Coins.Nano())
	}
	if tx.IO.Out == nil {
		return sum
	}
	messages, err := tx.IO.Out.ToSlice()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range messages {
		if out, ok := m.Msg.(*tlb.InternalMessage); ok {
			for _, paid := range []tlb.Coins{out.Amount, out.FwdFee, out.IHRFee} {
				sum.Add(sum, paid.Nano())
			}
		}
	}
	return sum
}

func creditOf(tx *tlb.Transaction) *tlb.CreditPhase {
	switch d := tx.Description.(type) {
	case tlb.TransactionDescriptionOrdinary:
		return d.CreditPhase
	case tlb.TransactionDescriptionSplitInstall, tlb.TransactionDescriptionMergeInstall:
		panic("none is in the test data")
	}
	return nil
}
