package verify

import (
	"context"
	"fmt"

	"tonscribe/schema"
	"tonscribe/schema/table"
)

// spillTransfers reads the tables of transfers and keeps what must meet.
func (v *verifier) spillTransfers(ctx context.Context) error {
	if v.orders == nil {
		return nil
	}
	for kind := range schema.TransferKind(len(table.Transfers)) {
		if err := v.eachTransfer(ctx, kind, v.from, v.to, v.keepTransfer); err != nil {
			return err
		}
	}
	return v.checkCopied(ctx, &lists, nil)
}

// transferRow is the newest row of a transfer.
type transferRow struct {
	workchain int32
	prefix    uint64
	lt        uint64
	mcSeqno   uint32
	columns   uint64
	raw       []byte
	made      *table.Transfer // that the record makes, nil when it is none
}

func (r *transferRow) key() string {
	return fmt.Sprintf("lt = %d AND workchain = %d AND account_prefix = 0x%x", r.lt, r.workchain, r.prefix)
}

// eachTransfer hands out the newest rows of a kind whose transactions are in some
// bundles.
func (v *verifier) eachTransfer(ctx context.Context, kind schema.TransferKind, low, high uint32, take func(context.Context, schema.TransferKind, *transferRow) error) error {
	t := table.Transfers[kind]
	give := func(r *transferRow) error {
		if made, err := table.ReadTransfer(kind, r.raw); err == nil {
			r.made = made
		}
		return take(ctx, kind, r)
	}
	var r transferRow
	var newest *transferRow
	query := fmt.Sprintf(`SELECT workchain, account_prefix, lt, mc_seqno, %s, record FROM %s
		WHERE transaction_mc_seqno BETWEEN ? AND ? ORDER BY lt, workchain, account_prefix %s`, t.HashSQL(), t.Name, streaming)
	err := v.each(ctx, query, []any{low, high}, []any{&r.workchain, &r.prefix, &r.lt, &r.mcSeqno, &r.columns, &r.raw}, func() error {
		row := r
		if newest != nil && newest.lt == r.lt && newest.workchain == r.workchain && newest.prefix == r.prefix {
			if newest.mcSeqno == r.mcSeqno && newest.columns != r.columns {
				v.findings.differs(CheckTransfers, t.Name, row.key(), "two different rows of mc_seqno %d", r.mcSeqno)
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
		return give(before)
	})
	if err != nil || newest == nil {
		return err
	}
	return give(newest)
}

// keepTransfer tests a row's columns and keeps it, to meet its transaction.
func (v *verifier) keepTransfer(ctx context.Context, kind schema.TransferKind, r *transferRow) error {
	t, o := table.Transfers[kind], r.made
	v.findings.checked(CheckTransfers, 1)
	if o == nil {
		v.findings.differs(CheckTransfers, t.Name, r.key(), "record is no complete transfer")
		return nil
	}
	if t.Hash(o) != r.columns {
		if err := v.column(ctx, CheckTransfers, &t.Table, r.key(), newestRow, t.Words(o), "the record"); err != nil {
			return err
		}
	}
	if len(o.Parent) == 0 && kind != schema.NFTTransfer {
		v.findings.differs(CheckTransfers, t.Name, r.key(), "the jetton master is missing")
	}
	e := transferEnd{key: placeKey(kind, o.Account, o.Lt), lt: o.Lt, prefix: schema.Prefix(schema.AccountID(o.Account)), digest: orderDigest(o),
		flags: endRow | uint64(kind)<<endKind | uint64(o.Delivery)<<endState}
	if receipt := o.Receipt; receipt != nil {
		e.receipt = receiptDigest(receipt.Account, receipt.Lt, receipt.TransactionHash, receipt.Now, receipt.McSeqno)
		if receipt.McSeqno > v.to {
			e.flags |= endBeyond
		}
	}
	if o.McSeqno > v.to {
		e.flags |= endBeyond
	}
	raw := e.entry()
	if err := v.orders.add(raw[:]); err != nil {
		return err
	}
	if o.McSeqno > v.to || !v.rowSide.holds(o.TransactionMCSeqno) {
		return nil
	}
	var twins recent
	o.Lists(func(l *table.ListEntry) {
		if h := table.TransfersByParty.Hash(l); !twins.has(h) {
			v.rowSide.add(listRows, o.TransactionMCSeqno, 1, h)
		}
	})
	return nil
}
