package decode

import (
	"testing"

	tcell "github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/schema/record"
)

// An account has 94 and owes 3. A message brings 10: 3 of it pay the debt, 7 are
// credited. 3 for gas and the 3 make fees of 6; a message takes 1 and 2 for its
// way. It is left with 94 + 7 - 3 - 3 = 95.
func TestDebtsPaidByAMessageWereNeverInTheBalance(t *testing.T) {
	const before, owed, brought, gas, sent, forward = 94, 3, 10, 3, 1, 2
	credited := func(b *tcell.Builder) *tcell.Builder {
		return currency(b.MustStoreBoolBit(true).MustStoreCoins(owed), "7", nil)
	}
	out := addr(addr(begin().MustStoreUInt(0b0110, 4), 0x11), 0x22)
	currency(out, "1", nil).MustStoreCoins(0).MustStoreCoins(forward).MustStoreUInt(101, 64).MustStoreUInt(1, 32).MustStoreUInt(0, 2)
	description := join(tag(0, 4), bit(false), bit(false), bit(true), credited, skippedPhase(0, 2), bit(false), bit(false), bit(false), bit(false))
	b := sample()
	b.txs = map[byte]map[uint64]*tcell.Cell{0x11: {100: transactionCell(0x11, 100, nil, []*tcell.Cell{out.EndCell()}, description)}}
	r, err := Block(b.boc(t), 1)
	if err != nil {
		t.Fatal(err)
	}
	tx := r.Transactions[0]
	tx.TotalFees = gas + owed
	equal(t, "due_fees_collected", tx.Credit.GetDueFeesCollected(), owed)
	equal(t, "credit", tx.Credit.GetCredit(), brought-owed)
	after := uint64(before + brought - owed - gas - sent - forward)
	wantBefore(t, tx, before, after)
}

// wantBefore holds the balance before a transaction against the one that its block states.
func wantBefore(t *testing.T, tx *record.Transaction, before, after uint64) {
	t.Helper()
	equal(t, "balance before", balanceBefore(after, tx), before)
	change := &Change{
		Account: tx.Account, Transactions: []*record.Transaction{tx},
		Before: &record.AccountState{Status: tx.OrigStatus, Balance: before},
		After:  &record.AccountState{Status: tx.EndStatus, Balance: after},
	}
	if err := change.complete(); err != nil {
		t.Errorf("a block with these states: %v", err)
	}
}
