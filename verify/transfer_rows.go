package verify

import (
	"context"

	"tonscribe/schema"
	"tonscribe/schema/table"
)

// spillTransfers reads the tables of transfers and keeps what must meet.
func (v *verifier) spillTransfers(ctx context.Context) error {
	for kind := range schema.TransferKind(len(table.Transfers)) {
		if err := v.eachTransfer(ctx, kind, v.from, v.to, v.keepTransfer); err != nil {
			return err
		}
	}
	return v.checkCopied(ctx, &lists, nil)
}

// transferRow is the newest row of a transfer.
type transferRow struct {
	*storedRow
	made *table.Transfer // that the record makes, nil when it is none
}

// eachTransfer hands out the newest rows of a kind whose transactions are in some
// bundles.
func (v *verifier) eachTransfer(ctx context.Context, kind schema.TransferKind, low, high uint32, take func(context.Context, schema.TransferKind, transferRow) error) error {
	return v.eachNewest(ctx, CheckTransfers, &table.Transfers[kind].Table, "transaction_mc_seqno BETWEEN ? AND ?", []any{low, high}, func(stored *storedRow) error {
		made, err := table.ReadTransfer(kind, stored.raw)
		if err != nil {
			made = nil
		}
		return take(ctx, kind, transferRow{stored, made})
	})
}

// keepTransfer tests a row's columns and keeps it, to meet its transaction.
func (v *verifier) keepTransfer(ctx context.Context, kind schema.TransferKind, r transferRow) error {
	t, o := table.Transfers[kind], r.made
	v.findings.checked(CheckTransfers, 1)
	if o == nil {
		v.findings.differs(CheckTransfers, t.Name, r.key(&t.Table), "record is no complete transfer")
		return nil
	}
	if t.Hash(o) != r.columns {
		if err := v.column(ctx, CheckTransfers, &t.Table, r.key(&t.Table), newestRow, t.Words(o), "the record"); err != nil {
			return err
		}
	}
	if len(o.Parent) == 0 && kind != schema.NFTTransfer {
		v.findings.differs(CheckTransfers, t.Name, r.key(&t.Table), "the jetton master is missing")
	}
	e := transferEnd{key: transactionEnd(kind, o.Account, o.Lt), lt: o.Lt, prefix: schema.Prefix(schema.AccountID(o.Account)),
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
	var err error
	if e.digest, err = orderDigest(asOrdered(o)); err != nil {
		return err
	}
	if err := e.addTo(v.orders); err != nil {
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
