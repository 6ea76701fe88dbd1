package verify

import (
	"context"
	"fmt"
)

// spillTransfers reads the tables of transfers and keeps what must meet.
func (v *verifier) spillTransfers(ctx context.Context) error {
	if v.orders == nil {
		return nil
	}
	for kind := range transferKinds {
		if err := v.eachTransfer(ctx, kind, v.keepTransfer); err != nil {
			return err
		}
	}
	return v.spillLists(ctx)
}

// transferRow is the newest row of a transfer.
type transferRow struct {
	workchain int32
	prefix    uint64
	lt        uint64
	mcSeqno   uint32
	columns   uint64
	raw       []byte
}

func (r *transferRow) key() string {
	return fmt.Sprintf("lt = %d AND workchain = %d AND account_prefix = 0x%x", r.lt, r.workchain, r.prefix)
}

// eachTransfer hands out the newest rows of a kind whose transactions are in the
// range.
func (v *verifier) eachTransfer(ctx context.Context, kind transferKind, take func(context.Context, transferKind, *transferRow) error) error {
	t := transferTables[kind]
	var r transferRow
	var newest *transferRow
	query := fmt.Sprintf(`SELECT workchain, account_prefix, lt, mc_seqno, %s, record FROM %s
		WHERE transaction_mc_seqno BETWEEN ? AND ? ORDER BY lt, workchain, account_prefix %s`, t.hashSQL(), t.name, streaming)
	err := v.each(ctx, query, []any{v.from, v.to}, []any{&r.workchain, &r.prefix, &r.lt, &r.mcSeqno, &r.columns, &r.raw}, func() error {
		row := r
		if newest != nil && newest.lt == r.lt && newest.workchain == r.workchain && newest.prefix == r.prefix {
			if newest.mcSeqno == r.mcSeqno && newest.columns != r.columns {
				v.findings.differs(CheckTransfers, t.name, row.key(), "two different rows of mc_seqno %d", r.mcSeqno)
			}
			if r.mcSeqno >= newest.mcSeqno {
				newest = &row
			}
			return nil
		}
		before := newest
		newest = &row
		if before == nil {
			return nil
		}
		return take(ctx, kind, before)
	})
	if err != nil || newest == nil {
		return err
	}
	return take(ctx, kind, newest)
}

// keepTransfer tests a row's columns and keeps it, to meet its transaction.
func (v *verifier) keepTransfer(ctx context.Context, kind transferKind, r *transferRow) error {
	t := transferTables[kind]
	v.findings.checked(CheckTransfers, 1)
	i := transferItem(kind, r.raw)
	if i == nil {
		v.findings.differs(CheckTransfers, t.name, r.key(), "record is no complete transfer")
		return nil
	}
	if t.hash(i) != r.columns {
		want := t.row(i)
		err := v.words(ctx, t, "WHERE "+r.key()+" ORDER BY mc_seqno DESC LIMIT 1", nil, func(row []uint64) error {
			if name, have, want := t.firstColumn(row, want); name != "" {
				v.findings.differs(CheckTransfers, t.name, r.key(), "column %s is %s, the record says %s", name, have, want)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	o := i.transfer
	if len(o.parent) == 0 && kind != nftTransfer {
		v.findings.differs(CheckTransfers, t.name, r.key(), "the jetton master is missing")
	}
	e := transferEnd{key: placeKey(kind, o.account, o.lt), lt: o.lt, prefix: i.prefix, digest: o.digest(),
		flags: endRow | uint64(kind)<<endKind | uint64(o.delivery)<<endState}
	if receipt := o.receipt; receipt != nil {
		e.receipt = receiptDigest(receipt.Account, receipt.Lt, receipt.TransactionHash, receipt.Now, receipt.McSeqno)
		if receipt.McSeqno > v.to {
			e.flags |= endBeyond
		}
	}
	if o.mcSeqno > v.to {
		e.flags |= endBeyond
	}
	raw := e.entry()
	if err := v.orders.add(raw[:]); err != nil {
		return err
	}
	return v.keepLists(kind, o, r)
}
