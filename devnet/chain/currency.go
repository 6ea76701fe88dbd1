package chain

import (
	"fmt"
	"math/big"

	"github.com/xssnick/tonutils-go/tvm/cell"
)

// A CurrencyCollection (block.tlb) is nanotons and, in a dictionary, other
// currencies. The devnet mints no others, so amounts are plain numbers here.

func storeCurrency(b *cell.Builder, amount *big.Int) error {
	if err := b.StoreBigCoins(amount); err != nil {
		return fmt.Errorf("amount %s: %w", amount, err)
	}
	return b.StoreBoolBit(false)
}

func loadCurrency(s *cell.Slice) (*big.Int, error) {
	amount, err := s.LoadBigCoins()
	if err != nil {
		return nil, err
	}
	other, err := s.LoadMaybeRef()
	if err == nil && other != nil {
		err = fmt.Errorf("amount %s comes with extra currencies, which the devnet does not have", amount)
	}
	return amount, err
}

// sum adds up amounts.
func sum(amounts ...*big.Int) *big.Int {
	total := new(big.Int)
	for _, a := range amounts {
		total.Add(total, a)
	}
	return total
}
