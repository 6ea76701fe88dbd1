package store

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"tonscribe/schema"
	"tonscribe/schema/record"
)

// TransactionFilter says which transactions are wanted; the zero value and
// Everything mean all.
type TransactionFilter struct {
	Workchain *int32
	Shard     *uint64
	Seqno     *int32
	McSeqno   *int32
	Accounts  []Address
	Hashes    []Hash
	Lt        *uint64
	Utime     Range
	Lts       Range
}

// Page is a part of a list.
type Page struct {
	Limit, Offset int
	Descending    bool
}

// TransactionKey is a place in a list of transactions.
type TransactionKey struct {
	Now     uint32
	Lt      uint64
	Account Address
	Hash    Hash
}

// KeyOf is the place of a transaction.
func KeyOf(tx *record.Transaction) TransactionKey {
	return TransactionKey{tx.Now, tx.Lt, Address(tx.Account), Hash(tx.Hash)}
}

// transactionOrder is the order of a list (contract 2.3, /transactions).
type transactionOrder struct {
	by         sortKey
	descending bool
	// accounts that share their lt: ascending but for the list of one lt.
	accountsDescending bool
}

type sortKey uint8

const (
	byLt sortKey = iota
	byTime
	byHash
)

func (f *TransactionFilter) order(descending bool) transactionOrder {
	switch {
	case f.Lt != nil:
		return transactionOrder{byLt, false, descending}
	case len(f.Hashes) > 0:
		return transactionOrder{byHash, descending, false}
	case f.Utime.Given:
		return transactionOrder{byTime, descending, false}
	}
	return transactionOrder{byLt, descending, false}
}

func (o transactionOrder) compare(a, b TransactionKey) int {
	var c int
	switch o.by {
	case byHash:
		c = bytes.Compare(a.Hash[:], b.Hash[:])
	case byTime:
		c = cmp.Or(cmp.Compare(a.Now, b.Now), cmp.Compare(a.Lt, b.Lt))
	default:
		c = cmp.Compare(a.Lt, b.Lt)
	}
	if o.descending {
		c = -c
	}
	if c != 0 {
		return c
	}
	c = compareAddresses(a.Account, b.Account)
	if o.accountsDescending {
		c = -c
	}
	return c
}

func compareAddresses(a, b Address) int {
	return cmp.Or(cmp.Compare(schema.Workchain(a[:]), schema.Workchain(b[:])), bytes.Compare(a[4:], b[4:]))
}

// matches checks everything against the record itself.
func (f *TransactionFilter) matches(tx *record.Transaction) bool {
	block := tx.GetBlock()
	return (f.Workchain == nil || block.GetWorkchain() == *f.Workchain) &&
		(f.Shard == nil || block.GetShard() == *f.Shard) &&
		(f.Seqno == nil || int64(block.GetSeqno()) == int64(*f.Seqno)) &&
		(f.McSeqno == nil || int64(tx.McSeqno) == int64(*f.McSeqno)) &&
		(f.Lt == nil || tx.Lt == *f.Lt) &&
		f.Utime.has(uint64(tx.Now)) && f.Lts.has(tx.Lt) &&
		(len(f.Accounts) == 0 || slices.Contains(f.Accounts, Address(tx.Account))) &&
		(len(f.Hashes) == 0 || slices.Contains(f.Hashes, Hash(tx.Hash)))
}

// impossible says that a filter has a value that no row has.
func (f *TransactionFilter) impossible() bool {
	return f.Seqno != nil && *f.Seqno < 0 || f.McSeqno != nil && *f.McSeqno < 0
}

// Transactions is a page of the list, and whether there are more after it. With
// after, the list begins behind that place.
func (s *Store) Transactions(ctx context.Context, v *View, f *TransactionFilter, page Page, after *TransactionKey) ([]*record.Transaction, bool, error) {
	if f.impossible() || f.McSeqno != nil && uint32(*f.McSeqno) > v.Watermark {
		return nil, false, nil
	}
	l := &transactionList{filter: f, match: f.matches, order: f.order(page.Descending), view: v, page: page, after: after}
	if list, ok := l.fromHead(); ok {
		s.metrics.fromHead.WithLabelValues("transactions").Inc()
		return l.cut(list)
	}
	if plan := l.whole(); plan != "" {
		list, err := s.transactions(ctx, plan)
		if err != nil {
			return nil, false, err
		}
		return l.cut(list)
	}
	if f.scansShards() {
		narrowed := *f
		l.filter = &narrowed
		if some, err := s.narrow(ctx, v, "transactions", f.Workchain, f.Shard, &narrowed.Utime, &narrowed.Lts); err != nil || !some {
			return nil, false, err
		}
	}
	return s.pageOfTransactions(ctx, l, l.plan())
}

// scansShards reports whether only a workchain or a shard keeps the list from
// being the whole chain's, or that of a range.
func (f *TransactionFilter) scansShards() bool {
	return (f.Workchain != nil || f.Shard != nil) && f.McSeqno == nil && f.Seqno == nil && len(f.Accounts) == 0
}

// transactionList is a request for a page of a list.
type transactionList struct {
	filter *TransactionFilter
	match  func(*record.Transaction) bool
	order  transactionOrder
	view   *View
	page   Page
	after  *TransactionKey
}

// take keeps what belongs to the list, once each, in order.
func (l *transactionList) take(list []*record.Transaction) []*record.Transaction {
	list = slices.DeleteFunc(list, func(tx *record.Transaction) bool {
		return tx.McSeqno > l.view.Watermark || !l.match(tx) ||
			l.after != nil && l.order.compare(KeyOf(tx), *l.after) <= 0
	})
	slices.SortFunc(list, func(a, b *record.Transaction) int { return l.order.compare(KeyOf(a), KeyOf(b)) })
	return slices.CompactFunc(list, func(a, b *record.Transaction) bool { return bytes.Equal(a.Hash, b.Hash) })
}

// cut makes a page out of all candidates.
func (l *transactionList) cut(list []*record.Transaction) ([]*record.Transaction, bool, error) {
	list = l.take(list)
	list = list[min(l.page.Offset, len(list)):]
	if len(list) > l.page.Limit {
		return list[:l.page.Limit], true, nil
	}
	return list, false, nil
}
