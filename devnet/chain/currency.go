package chain

import (
	"fmt"
	"math/big"

	"github.com/xssnick/tonutils-go/tvm/cell"
)

// A CurrencyCollection (block.tlb) is nanotons and, in a dictionary, other
// currencies. The devnet mints no others, so amounts are plain numbers here.

func storeCurrency(b *cell.Builder, amounts ...*big.Int) *cell.Builder {
	for _, amount := range amounts {
		b.MustStoreBigCoins(amount).MustStoreBoolBit(false)
	}
	return b
}

func loadCurrency(s *cell.Slice) *big.Int {
	amount := s.MustLoadBigCoins()
	if s.MustLoadMaybeRef() != nil {
		panic(fmt.Errorf("amount %s comes with extra currencies, which the devnet does not have", amount))
	}
	return amount
}

// sum adds up amounts.
func sum(amounts ...*big.Int) *big.Int {
	total := new(big.Int)
	for _, a := range amounts {
		total.Add(total, a)
	}
	return total
}
