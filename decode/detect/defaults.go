package detect

import (
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/ton/tvm"
)

// DefaultConfig is what get-methods see while the config of the chain is not
// known: the version of the virtual machine and the prices of mainnet. Hardly
// any get-method reads more.
func DefaultConfig() (*tvm.Config, error) {
	params := cell.NewDict(32)
	for number, value := range map[uint64]*cell.Builder{
		8:  fields(8, 0xc4, 32, 12, 64, 0x5ee),
		18: storagePrices(),
		20: gasPrices(100, 1_000_000, 655_360_000, 70_000_000, 2_500_000),
		21: gasPrices(100, 40_000, 26_214_400, 1_000_000, 10_000_000),
		24: forwardPrices(10_000_000, 655_360_000, 65_536_000_000),
		25: forwardPrices(400_000, 26_214_400, 2_621_440_000),
	} {
		key := cell.BeginCell().MustStoreUInt(number, 32).EndCell()
		if err := params.Set(key, cell.BeginCell().MustStoreRef(value.EndCell()).EndCell()); err != nil {
			return nil, err
		}
	}
	return tvm.Prepare(params.AsCell())
}

// fields stores pairs of size and value.
func fields(pairs ...uint64) *cell.Builder {
	b := cell.BeginCell()
	for i := 0; i < len(pairs); i += 2 {
		b.MustStoreUInt(pairs[i+1], uint(pairs[i]))
	}
	return b
}

// gasPrices is TL-B GasLimitsPrices.
func gasPrices(flatLimit, flatPrice, price, specialLimit, blockLimit uint64) *cell.Builder {
	return fields(8, 0xd1, 64, flatLimit, 64, flatPrice,
		8, 0xde, 64, price, 64, 1_000_000, 64, specialLimit, 64, 10_000, 64, blockLimit, 64, 100_000_000, 64, 1_000_000_000)
}

// forwardPrices is TL-B MsgForwardPrices.
func forwardPrices(lump, bit, each uint64) *cell.Builder {
	return fields(8, 0xea, 64, lump, 64, bit, 64, each, 32, 98_304, 16, 21_845, 16, 21_845)
}

// storagePrices is a dictionary with one TL-B StoragePrices.
func storagePrices() *cell.Builder {
	prices := cell.NewDict(32)
	key := cell.BeginCell().MustStoreUInt(0, 32).EndCell()
	if err := prices.Set(key, fields(8, 0xcc, 32, 0, 64, 1, 64, 500, 64, 1000, 64, 500_000).EndCell()); err != nil {
		panic(err) // a key of the right size is always stored
	}
	return prices.AsCell().ToBuilder()
}
