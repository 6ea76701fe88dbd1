package detect

import (
	"bytes"
	"cmp"
	"maps"
	"slices"

	"tonscribe/internal/stage"
	"tonscribe/schema"
	"tonscribe/schema/record"
)

// pages are the records of a bundle that is being finished.
type pages struct {
	*stage.Pages[record.ContractBatch]
	partitions int
}

func (p pages) add(account []byte, size int, put func(*record.ContractBatch)) {
	p.Add(schema.PartitionOf(schema.AccountID(account), p.partitions), size, put)
}

func contractsRecord(batch *record.ContractBatch) *record.Record {
	return &record.Record{Content: &record.Record_Contracts{Contracts: batch}}
}

// finish stores what the bundle changed and makes its records.
func (w *work) finish() (stage.Output, error) {
	in := &stage.Bundle{McSeqno: w.now.mcSeqno, PrevMcSeqno: w.now.prev, Seal: w.now.seal}
	out := pages{stage.NewPages(in, w.partitions, w.configuration.ChunkBytes, contractsRecord), w.partitions}
	for _, c := range w.ordered() {
		row, past, err := w.finishEntry(c)
		if err != nil {
			return stage.Output{}, err
		}
		if row != nil {
			out.add(c.account, row.SizeVT(), func(b *record.ContractBatch) { b.Contracts = append(b.Contracts, row) })
			w.metrics.rows.WithLabelValues("contract").Inc()
		}
		if past != nil {
			out.Add(schema.PartitionOf(schema.AccountID(c.account), w.partitions), past.SizeVT(), func(b *record.ContractBatch) { b.Past = append(b.Past, past) })
		}
	}
	for _, o := range slices.SortedFunc(maps.Values(w.transfers), func(a, b *transfer) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), bytes.Compare(a.account, b.account), cmp.Compare(a.lt, b.lt))
	}) {
		if err := w.finishTransfer(o, out); err != nil {
			return stage.Output{}, err
		}
	}
	for _, c := range w.orderedFormers() {
		if err := w.finishFormer(c); err != nil {
			return stage.Output{}, err
		}
	}
	return out.Seal(), nil
}

// finishEntry stores an account's entry. row is what is told of it, nil when nothing of that
// has changed, and past what it was before, nil unless it is something else now.
func (w *work) finishEntry(c *change) (row, past *record.Contract, err error) {
	before, after := w.published(c.old), w.published(c.new)
	if c.new != nil {
		w.remember(c.new.facts, before, after)
	}
	if err := w.storeEntry(c); err != nil {
		return nil, nil, err
	}
	if nothing(before) && nothing(after) || before.EqualVT(after) {
		return nil, nil, nil
	}
	after.McSeqno, after.Account = w.now.mcSeqno, c.account
	if nothing(after) { // in its place
		after.FirstMcSeqno, after.WalletAgainMcSeqno = before.FirstMcSeqno, before.WalletAgainMcSeqno
	}
	if past = schema.LastingOf(before); nothing(before) || past.EqualVT(schema.LastingOf(after)) {
		return after, nil, nil
	}
	past.McSeqno, past.Account = w.now.mcSeqno, c.account
	return after, past, nil
}

// remember sets what is told of the past of a contract, in its facts and in what is told
// of them. One that was nothing for a while begins anew.
func (w *work) remember(facts, before, after *record.Contract) {
	facts.FirstMcSeqno, facts.LostRoles, facts.WalletAgainMcSeqno = 0, 0, 0
	switch {
	case nothing(after):
	case nothing(before):
		facts.FirstMcSeqno = w.now.mcSeqno
	default:
		has := schema.RolesOf(after)
		facts.FirstMcSeqno, facts.WalletAgainMcSeqno = before.FirstMcSeqno, before.WalletAgainMcSeqno
		facts.LostRoles = (before.LostRoles | schema.RolesOf(before)) &^ has
		if before.LostRoles&has&schema.RoleJettonWallet != 0 {
			facts.WalletAgainMcSeqno = w.now.mcSeqno
		}
	}
	after.FirstMcSeqno, after.LostRoles, after.WalletAgainMcSeqno = facts.FirstMcSeqno, facts.LostRoles, facts.WalletAgainMcSeqno
}

func (w *work) storeEntry(c *change) error {
	if c.new == nil || nothing(c.new.facts) {
		if c.old == nil {
			return nil
		}
		return w.store.Delete(keyEntry, c.account)
	}
	raw, err := c.new.encode()
	if err != nil {
		return err
	}
	return w.store.Set(raw, keyEntry, c.account)
}

// published are an entry's facts as they are told.
func (w *work) published(e *entry) *record.Contract {
	out := e.published()
	out.NftItem = w.zones.named(out.NftItem)
	return out
}

// finishTransfer publishes a transfer, and keeps it while something is to come.
func (w *work) finishTransfer(o *transfer, p pages) error {
	key := transferKey(o.account, o.lt)
	if !o.dropped && !o.held {
		w.publish(o, p)
	}
	if o.dropped && len(o.message) > 0 {
		if err := w.store.Delete(keyMessage, o.message); err != nil {
			return err
		}
	}
	if !o.dropped && (o.held || len(o.message) > 0) {
		raw, err := o.encode()
		if err != nil {
			return err
		}
		return w.store.Set(raw, keyTransfer, key)
	}
	if o.stored {
		return w.store.Delete(keyTransfer, key)
	}
	return nil
}

func (w *work) publish(o *transfer, p pages) {
	kind := &transferKinds[o.kind]
	mcSeqno, parent, _, _ := o.later()
	if *mcSeqno = w.now.mcSeqno; o.as != nil {
		*parent = kind.claim.Parent(o.as.facts)
	}
	p.add(o.account, o.row.SizeVT(), func(b *record.ContractBatch) { kind.put(b, o.row) })
	w.metrics.rows.WithLabelValues(kind.name).Inc()
}
