package verify

import (
	"bytes"
	"context"
	"fmt"

	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/schema/table"
)

// matchTransfers lets transfers meet their transactions, then what these sent
// the transactions that it led to.
func (v *verifier) matchTransfers(ctx context.Context) error {
	for _, s := range []struct {
		*spill
		match func(context.Context, []transferEnd) error
	}{{v.orders, v.matchOrder}, {v.carriers, v.matchCarrier}} {
		for part := range s.parts {
			err := s.groups(part, 2, func(entries [][]uint64) error {
				ends := make([]transferEnd, len(entries))
				for n, raw := range entries {
					ends[n] = transferEndOf(raw)
				}
				return s.match(ctx, ends)
			})
			if err != nil {
				return err
			}
			if err := ctx.Err(); err != nil {
				return err
			}
		}
	}
	return nil
}

// sides are the first end that is a row, and the first that is none.
func sides(ends []transferEnd) (row, other *transferEnd) {
	for n := range ends {
		switch {
		case ends[n].is(endRow) && row == nil:
			row = &ends[n]
		case !ends[n].is(endRow) && other == nil:
			other = &ends[n]
		}
	}
	return row, other
}

func (v *verifier) matchOrder(ctx context.Context, ends []transferEnd) error {
	row, order := sides(ends)
	differs := v.findings.of(CheckTransfers, table.Transfers[ends[0].kind()].Name, ends[0].where)
	switch {
	case order == nil:
		differs("a row that no transaction of table transactions orders")
		return nil
	case row == nil:
		if order.is(endMust) {
			differs("no row, but the transaction orders it, and table contracts has the account")
		}
		return nil
	case row.digest != order.digest:
		return v.locateTransfer(ctx, row)
	}
	want := record.Delivery_DELIVERED
	switch {
	case order.is(endAborted):
		want = record.Delivery_REFUSED
	case row.kind() == schema.NFTTransfer:
	case order.carrier == [2]uint64{}:
		want = record.Delivery_NOT_SENT
	default:
		e := *row
		e.key = order.carrier
		return e.addTo(v.carriers)
	}
	if row.delivery() != want {
		differs("delivery is %s, but it is %s by its transaction", row.delivery(), want)
	} else if row.receipt != 0 {
		differs("it has a receipt, but the transaction sent nothing")
	}
	return nil
}

// locateTransfer says in what a row differs from its transaction.
func (v *verifier) locateTransfer(ctx context.Context, e *transferEnd) error {
	t := table.Transfers[e.kind()]
	if v.findings.again(CheckTransfers, t.Name) {
		return nil
	}
	row, order, err := v.bothSides(ctx, e)
	if err != nil {
		return err
	}
	what := "it is not what its transaction says"
	if row != nil && order != nil {
		if o, _ := orderOf(order); o != nil {
			if path, have, want := firstField(asOrdered(row), o); path != "" {
				what = fmt.Sprintf("%s is %s, but the transaction says %s", path, have, want)
			}
		}
	}
	v.findings.differs(CheckTransfers, t.Name, e.where(), "%s", what)
	return nil
}

// bothSides reads a transfer's row and transaction.
func (v *verifier) bothSides(ctx context.Context, e *transferEnd) (row *table.Transfer, order *record.Transaction, err error) {
	var workchain int32
	var raw []byte
	query := fmt.Sprintf("SELECT workchain, record FROM %s WHERE %s ORDER BY mc_seqno DESC", table.Transfers[e.kind()].Name, e.where())
	err = v.each(ctx, query, nil, []any{&workchain, &raw}, func() error {
		if t, err := table.ReadTransfer(e.kind(), raw); row == nil && err == nil && transactionEnd(e.kind(), t.Account, t.Lt) == e.key {
			row = t
		}
		return nil
	})
	if err != nil || row == nil {
		return row, nil, err
	}
	workchain = schema.Workchain(row.Account)
	err = v.eachTransaction(ctx, &slice{workchain, e.prefix, e.prefix}, v.from, v.to, func(r *transactionRow) error {
		if r.record != nil && r.lt == e.lt && bytes.Equal(r.record.Account, row.Account) {
			order = r.record
		}
		return nil
	})
	return row, order, err
}

func (v *verifier) matchCarrier(_ context.Context, ends []transferEnd) error {
	row, arrival := sides(ends)
	if row == nil || row.is(endBeyond) {
		return nil
	}
	want := record.Delivery_IN_PROGRESS
	switch {
	case arrival == nil:
	case arrival.is(endAborted):
		want = record.Delivery_RETURNED
	default:
		want = record.Delivery_DELIVERED
	}
	differs := v.findings.of(CheckTransfers, table.Transfers[row.kind()].Name, row.where)
	switch {
	case row.delivery() != want:
		differs("delivery is %s, but by the transaction that the message led to it is %s", row.delivery(), want)
	case arrival == nil && row.receipt != 0:
		differs("it has a receipt, but the message is in flight")
	case arrival != nil && row.receipt != arrival.receipt:
		differs("its receipt is not the transaction that the message led to, of lt %d", arrival.lt)
	}
	return nil
}
