package decode

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"

	"tonscribe/schema/record"
)

// hasExtra reports whether extra currencies are around.
func hasExtra(after *record.AccountState, tx *record.Transaction) bool {
	return len(after.ExtraCurrencies) > 0 || len(tx.TotalFeesExtra) > 0 || len(tx.Credit.GetCreditExtra()) > 0 ||
		slices.ContainsFunc(tx.OutMsgs, func(m *record.Message) bool {
			return m.Kind == record.Message_INTERNAL && len(m.ValueExtra) > 0
		})
}

// extraBefore is balanceBefore for extra currencies.
func extraBefore(before, after *record.AccountState, tx *record.Transaction) (err error) {
	before.ExtraUnknown = after.ExtraUnknown
	if !after.ExtraUnknown && hasExtra(after, tx) {
		before.ExtraCurrencies, err = extraSums(after.ExtraCurrencies, tx)
	}
	return err
}

func extraSums(after []*record.ExtraCurrency, tx *record.Transaction) ([]*record.ExtraCurrency, error) {
	sums := map[uint32]*big.Int{}
	add := func(list []*record.ExtraCurrency, sign int64) {
		for _, c := range list {
			sum := sums[c.Id]
			if sum == nil {
				sum = new(big.Int)
				sums[c.Id] = sum
			}
			amount := new(big.Int).SetBytes(c.Amount)
			sum.Add(sum, amount.Mul(amount, big.NewInt(sign)))
		}
	}
	add(after, 1)
	add(tx.Credit.GetCreditExtra(), -1)
	add(tx.TotalFeesExtra, 1)
	for _, m := range tx.OutMsgs {
		if m.Kind == record.Message_INTERNAL {
			add(m.ValueExtra, 1)
		}
	}
	var list []*record.ExtraCurrency
	for id, sum := range sums {
		switch sum.Sign() {
		case -1:
			return nil, fmt.Errorf("%w: %d of extra currency %d before transaction %d", ErrState, sum, id, tx.Lt)
		case 1:
			list = append(list, &record.ExtraCurrency{Id: id, Amount: sum.Bytes()})
		}
	}
	slices.SortFunc(list, func(a, b *record.ExtraCurrency) int { return cmp.Compare(a.Id, b.Id) })
	return list, nil
}
