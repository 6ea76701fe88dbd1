package node

import (
	"math/bits"
	"testing"

	"github.com/xssnick/tonutils-go/tvm/cell"
)

// hashmapAug has 2^forks entries, all of them the same, with sums of no toncoins and no
// other currencies: both sides of a fork are the same cell.
func hashmapAug(keyBits, forks uint, value *cell.Builder) *cell.Builder {
	const sum = 4 + 1 // bits
	rest := keyBits - forks
	node := cell.BeginCell().MustStoreUInt(0b110, 3).MustStoreUInt(uint64(rest), uint(bits.Len(rest))).MustStoreUInt(0, sum).MustStoreBuilder(value)
	for range forks {
		side := node.EndCell()
		node = cell.BeginCell().MustStoreUInt(0b00, 2).MustStoreRef(side).MustStoreRef(side).MustStoreUInt(0, sum)
	}
	return node
}

func TestTransactionsOfABlockAreNotTheSameAgainAndAgain(t *testing.T) {
	empty := cell.BeginCell().EndCell()
	transaction := cell.BeginCell().MustStoreUInt(7, 4).MustStoreSlice(make([]byte, 40), 320).EndCell()
	for _, c := range []struct {
		name                   string
		accounts, transactions uint // forks
		refused                bool
	}{{"one", 0, 0, false}, {"of an account", 0, 16, true}, {"of accounts", 16, 0, true}} {
		account := cell.BeginCell().MustStoreUInt(5, 4).MustStoreSlice(make([]byte, 32), 256).
			MustStoreBuilder(hashmapAug(64, c.transactions, cell.BeginCell().MustStoreRef(transaction))).MustStoreRef(empty)
		accounts := cell.BeginCell().MustStoreBoolBit(true).MustStoreRef(hashmapAug(256, c.accounts, account).EndCell()).MustStoreUInt(0, 5).EndCell()
		extra := cell.BeginCell().MustStoreRef(empty).MustStoreRef(empty).MustStoreRef(accounts).EndCell()
		list, err := listTransactions(cell.BeginCell().MustStoreRef(empty).MustStoreRef(empty).MustStoreRef(empty).MustStoreRef(extra).EndCell())
		if (err != nil) != c.refused || len(list) > 1 {
			t.Errorf("%s: %d transactions and %v", c.name, len(list), err)
		}
	}
}
