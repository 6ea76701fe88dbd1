package contracts

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"tonscribe/schema"
	"tonscribe/schema/record"
)

// finish stores what the bundle changed and makes its records.
func (w *work) finish(context.Context) error {
	pages := make([]*page, len(w.output))
	for p := range pages {
		pages[p] = &page{bundle: w.now, limit: w.configuration.ChunkBytes}
	}
	pageOf := func(account []byte) *page { return pages[schema.PartitionOf(schema.AccountID(account), len(pages))] }
	for _, c := range w.ordered() {
		row, err := w.settle(c)
		if err != nil {
			return err
		}
		if row != nil {
			pageOf(c.account).add(row.SizeVT(), func(b *record.ContractBatch) { b.Contracts = append(b.Contracts, row) })
			w.metrics.rows.WithLabelValues("contract").Inc()
		}
	}
	for _, o := range w.orderedTransfers() {
		if err := w.finishTransfer(o, pageOf(o.account)); err != nil {
			return err
		}
	}
	for p, page := range pages {
		records := page.seal()
		w.output[p] = append(w.output[p], records...)
		w.size += page.size + len(records)
	}
	return nil
}

// settle stores an account's entry; the result is its row, nil when nothing
// that is told has changed.
func (w *work) settle(c *change) (*record.Contract, error) {
	before, after := w.published(c.old), w.published(c.new)
	if c.new != nil && !nothing(after) && c.new.facts.FirstMcSeqno == 0 {
		c.new.facts.FirstMcSeqno, after.FirstMcSeqno = w.now.mcSeqno, w.now.mcSeqno
	}
	if err := w.storeEntry(c); err != nil {
		return nil, err
	}
	if nothing(before) && nothing(after) || before.EqualVT(after) {
		return nil, nil
	}
	after.McSeqno, after.Account = w.now.mcSeqno, c.account
	if nothing(after) {
		after.FirstMcSeqno = before.FirstMcSeqno
	}
	return after, nil
}

func (w *work) storeEntry(c *change) error {
	switch {
	case c.new == nil || nothing(c.new.facts):
		if c.old == nil {
			return nil
		}
		return w.store.delete(keyEntry, c.account)
	default:
		raw, err := c.new.encode()
		if err != nil {
			return err
		}
		return w.store.set(raw, keyEntry, c.account)
	}
}

// published are an entry's facts as they are told.
func (w *work) published(e *entry) *record.Contract {
	out := e.published()
	out.NftItem = w.zones.named(out.NftItem)
	return out
}

func (w *work) orderedTransfers() []*transfer {
	all := make([]*transfer, 0, len(w.transfers))
	for _, o := range w.transfers {
		all = append(all, o)
	}
	slices.SortFunc(all, func(a, b *transfer) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), bytes.Compare(a.account, b.account), cmp.Compare(a.lt, b.lt))
	})
	return all
}

// finishTransfer tells of a transfer, and keeps it while something is to come.
func (w *work) finishTransfer(o *transfer, p *page) error {
	place := transferKey(o.account, o.lt)
	if !o.dropped && !o.held {
		if err := w.tell(o, p); err != nil {
			return err
		}
	}
	if o.dropped && len(o.message) > 0 {
		if err := w.store.delete(keyMessage, o.message); err != nil {
			return err
		}
	}
	if !o.dropped && (o.held || len(o.message) > 0) {
		raw, err := o.encode()
		if err != nil {
			return err
		}
		return w.store.set(raw, keyTransfer, place)
	}
	if o.stored {
		return w.store.delete(keyTransfer, place)
	}
	return nil
}

func (w *work) tell(o *transfer, p *page) error {
	is, err := w.entry(o.account)
	if err != nil {
		return err
	}
	if c := w.changes[string(o.account)]; c != nil && c.old != nil && (is == nil || nothing(is.facts)) {
		is = c.old // it was its last transaction
	}
	switch o.kind {
	case jettonTransfer:
		o.jetton.McSeqno = w.now.mcSeqno
		if len(o.jetton.Master) == 0 && is != nil {
			o.jetton.Master = is.facts.JettonWallet.GetMaster()
		}
		p.add(o.jetton.SizeVT(), func(b *record.ContractBatch) { b.JettonTransfers = append(b.JettonTransfers, o.jetton) })
		w.metrics.rows.WithLabelValues("jetton transfer").Inc()
	case jettonBurn:
		o.burn.McSeqno = w.now.mcSeqno
		if len(o.burn.Master) == 0 && is != nil {
			o.burn.Master = is.facts.JettonWallet.GetMaster()
		}
		p.add(o.burn.SizeVT(), func(b *record.ContractBatch) { b.JettonBurns = append(b.JettonBurns, o.burn) })
		w.metrics.rows.WithLabelValues("jetton burn").Inc()
	case nftTransfer:
		o.nft.McSeqno = w.now.mcSeqno
		if len(o.nft.Collection) == 0 && is != nil {
			o.nft.Collection = is.facts.NftItem.GetCollection()
		}
		p.add(o.nft.SizeVT(), func(b *record.ContractBatch) { b.NftTransfers = append(b.NftTransfers, o.nft) })
		w.metrics.rows.WithLabelValues("NFT transfer").Inc()
	}
	return nil
}

// page is what one partition has of a bundle.
type page struct {
	bundle  *bundle
	limit   int
	records []*record.Record
	open    *record.ContractBatch
	bytes   int // of open
	size    int
	rows    uint64
}

// add puts a row into the open record.
func (p *page) add(size int, put func(*record.ContractBatch)) {
	if p.open != nil && p.bytes+size > p.limit {
		p.close()
	}
	if p.open == nil {
		p.open, p.bytes = &record.ContractBatch{}, 0
	}
	put(p.open)
	p.bytes += size
	p.size += size
	p.rows++
}

func (p *page) close() {
	p.append(&record.Record{Content: &record.Record_Contracts{Contracts: p.open}})
	p.open = nil
}

func (p *page) append(r *record.Record) {
	r.McSeqno, r.PrevMcSeqno, r.Index = p.bundle.mcSeqno, p.bundle.prev, uint32(len(p.records))
	p.records = append(p.records, r)
}

// seal ends the bundle.
func (p *page) seal() []*record.Record {
	if p.open != nil {
		p.close()
	}
	p.append(&record.Record{Content: &record.Record_Seal{Seal: &record.Seal{
		Rows: p.rows, Master: p.bundle.seal.Master, GenUtime: p.bundle.seal.GenUtime}}})
	return p.records
}
