package list

import (
	"cmp"
	"context"
	"fmt"

	"tonscribe/query/list/paging"
	"tonscribe/query/list/plan"
	"tonscribe/query/sql"
	"tonscribe/schema"
	"tonscribe/schema/record"
)

// TransferFilter says which transfers or burns of tokens are wanted; Everything
// and the zero value mean all.
type TransferFilter struct {
	// Owners are those that send (Out), receive (In) or do either.
	Owners    []Address
	Direction Direction
	// Contracts are jetton wallets or NFT items, Parent is their jetton master or
	// collection.
	Contracts []Address
	Parent    *Address
	Utime     Span
	Lts       Span
}

// TransferKey is a place in a list of transfers.
type TransferKey struct {
	Now     uint32
	Lt      uint64
	Account Address
}

// transferRecord is a record of one of the kinds.
type transferRecord interface {
	UnmarshalVT([]byte) error
	GetNow() uint32
	GetLt() uint64
	GetMcSeqno() uint32
	GetTransactionMcSeqno() uint32
}

// transferKind is what the kinds of transfers differ in.
type transferKind[R transferRecord] struct {
	kind schema.TransferKind
	// table has the records, in the order of the chain.
	table string
	// directions are what an owner can do.
	directions []Direction
	// aborted ones are left out.
	withoutAborted bool
	make           func() R
	account        func(R) []byte
	aborted        func(R) bool
	parties        func(R) (source, destination, parent []byte)
}

var (
	jettonTransferKind = &transferKind[*record.JettonTransfer]{
		kind: schema.JettonTransfer, table: "jetton_transfers", directions: []Direction{In, Out}, withoutAborted: true,
		make:    func() *record.JettonTransfer { return new(record.JettonTransfer) },
		account: (*record.JettonTransfer).GetSourceWallet, aborted: (*record.JettonTransfer).GetAborted,
		parties: func(t *record.JettonTransfer) (source, destination, parent []byte) {
			return t.Source, t.Destination, t.Master
		},
	}
	jettonBurnKind = &transferKind[*record.JettonBurn]{
		kind: schema.JettonBurn, table: "jetton_burns", directions: []Direction{Out},
		make:    func() *record.JettonBurn { return new(record.JettonBurn) },
		account: (*record.JettonBurn).GetWallet, aborted: (*record.JettonBurn).GetAborted,
		parties: func(b *record.JettonBurn) (source, destination, parent []byte) { return b.Owner, nil, b.Master },
	}
	nftTransferKind = &transferKind[*record.NFTTransfer]{
		kind: schema.NFTTransfer, table: "nft_transfers", directions: []Direction{In, Out},
		make:    func() *record.NFTTransfer { return new(record.NFTTransfer) },
		account: (*record.NFTTransfer).GetItem, aborted: (*record.NFTTransfer).GetAborted,
		parties: func(t *record.NFTTransfer) (source, destination, parent []byte) {
			return t.OldOwner, t.NewOwner, t.Collection
		},
	}
)

// JettonTransfers is a page of the list, and whether there are more after it;
// those that a wallet refused are left out. With after, the list begins behind
// that key.
func (l *Lists) JettonTransfers(ctx context.Context, v *View, f *TransferFilter, page paging.Page, after *TransferKey) ([]*record.JettonTransfer, bool, error) {
	return readTransfers(ctx, l, jettonTransferKind, v, f, page, after)
}

// JettonBurns is the same for burns; owners have one direction only.
func (l *Lists) JettonBurns(ctx context.Context, v *View, f *TransferFilter, page paging.Page, after *TransferKey) ([]*record.JettonBurn, bool, error) {
	return readTransfers(ctx, l, jettonBurnKind, v, f, page, after)
}

// NFTTransfers is the same for NFT items.
func (l *Lists) NFTTransfers(ctx context.Context, v *View, f *TransferFilter, page paging.Page, after *TransferKey) ([]*record.NFTTransfer, bool, error) {
	return readTransfers(ctx, l, nftTransferKind, v, f, page, after)
}

// JettonTransferKey returns the key of a transfer.
func JettonTransferKey(t *record.JettonTransfer) TransferKey { return jettonTransferKind.key(t) }

// JettonBurnKey returns the key of a burn.
func JettonBurnKey(b *record.JettonBurn) TransferKey { return jettonBurnKind.key(b) }

// NFTTransferKey returns the key of a transfer.
func NFTTransferKey(t *record.NFTTransfer) TransferKey { return nftTransferKind.key(t) }

func (k *transferKind[R]) key(r R) TransferKey {
	return TransferKey{r.GetNow(), r.GetLt(), paging.AddressOf(k.account(r))}
}

// byTime reports whether the list is in the order of time.
func (f *TransferFilter) byTime() bool { return f.Utime.Given }

func (f *TransferFilter) compare(a, b *TransferKey, descending bool) int {
	c := cmp.Compare(a.Lt, b.Lt)
	if f.byTime() {
		c = cmp.Or(cmp.Compare(a.Now, b.Now), c)
	}
	if c = cmp.Or(c, paging.CompareAddresses(a.Account, b.Account)); descending {
		return -c
	}
	return c
}

// matches checks everything against the record itself.
func (k *transferKind[R]) matches(f *TransferFilter, r R) bool {
	source, destination, parent := k.parties(r)
	owner := len(f.Owners) == 0 || f.Direction != In && paging.HasAddress(f.Owners, source) || f.Direction != Out && paging.HasAddress(f.Owners, destination)
	return owner && paging.HasAddress(f.Contracts, k.account(r)) &&
		(f.Parent == nil || string(f.Parent[:]) == string(parent)) && !(k.withoutAborted && k.aborted(r)) &&
		f.Utime.Has(uint64(r.GetNow())) && f.Lts.Has(r.GetLt())
}

// The words of a row that leads to a transfer.
const transferNow, transferLt, transferAccount = 0, 1, 2

// plan reads a list of transfers_by_party, which has one for each filter of one
// owner, of one contract or of a parent, or the records themselves in the order of
// the chain.
func (k *transferKind[R]) plan(v *View, f *TransferFilter, descending bool) *plan.Plan {
	now, lt := plan.Column{Name: "now", At: transferNow, Type: plan.Uint32}, plan.Column{Name: "lt", At: transferLt}
	p := &plan.Plan{
		Reads: "transfer keys", Table: "transfers_by_party", Descending: descending, SmallBlocks: true, Bundle: "transaction_mc_seqno", Watermark: v.Tables, BundleInRecord: true,
		Columns: []plan.Column{now, lt, {Name: "workchain", At: transferAccount, Type: plan.Int32}, {Name: "account_prefix", At: transferAccount + 1}},
		Keys:    []string{"lt"}, Seek: []plan.Column{lt},
		Order: []plan.Term{{At: transferLt, Words: 1, Descending: descending}, {At: transferAccount, Words: 2, Descending: descending}},
	}
	if f.byTime() {
		p.Keys, p.Seek = []string{"now", "lt"}, []plan.Column{now, lt}
		p.Order = append([]plan.Term{{At: transferNow, Words: 1, Descending: descending}}, p.Order...)
	}
	switch {
	case f.Parent != nil && paging.IsNobody(*f.Parent): // under which the lists of all are
	case len(f.Owners) > 0:
		for _, owner := range paging.Somebody(f.Owners) {
			p.Ranges = append(p.Ranges, k.ownerRanges(f, owner)...)
		}
		// Those in which an owner takes part have the records, too.
		p.Direct = f.Parent == nil && f.Direction == Either
	case len(f.Contracts) > 0:
		for _, a := range paging.Somebody(f.Contracts) {
			p.Ranges = append(p.Ranges, k.list(a, paging.NoAddress, schema.IsTold))
		}
		p.Residual = f.Parent != nil // which only the records have
	case f.Parent != nil:
		p.Ranges = []plan.Range{k.list(paging.NoAddress, *f.Parent, schema.TakesPart)}
	case f.byTime():
		p.Ranges = []plan.Range{k.list(paging.NoAddress, paging.NoAddress, schema.TakesPart)}
	default:
		p.Table, p.Direct, p.Ranges = k.table, true, []plan.Range{{}}
		if k.withoutAborted {
			p.Ranges[0].Where.Add(sql.Flag{Column: "aborted"})
		}
	}
	p.Direct = p.Direct && !f.byTime()
	for i := range p.Ranges {
		r := &p.Ranges[i]
		r.Projection, r.Together = plan.NoProjection, plan.NoProjection
		if f.byTime() {
			r.Projection = "by_time"
		}
		r.Where.Between("now", f.Utime.From, f.Utime.To, 1<<32-1)
		r.Where.Between("lt", f.Lts.From, f.Lts.To, ^uint64(0))
	}
	return p
}

// list is the range of one list of transfers_by_party.
func (k *transferKind[R]) list(owner, parent Address, direction uint8) plan.Range {
	number := schema.ListOf(k.kind, owner[:], parent[:], direction)
	return plan.Range{Prefix: []string{"list"}, Columns: []string{"list"}, Values: []any{number}}
}

func (k *transferKind[R]) ownerRanges(f *TransferFilter, owner Address) (ranges []plan.Range) {
	if f.Parent == nil && f.Direction == Either {
		ranges = append(ranges, k.list(owner, paging.NoAddress, schema.TakesPart))
	} else {
		parent := paging.NoAddress
		if f.Parent != nil {
			parent = *f.Parent
		}
		for _, d := range k.directions {
			if f.Direction == Either || f.Direction == d {
				ranges = append(ranges, k.list(owner, parent, uint8(d)))
			}
		}
	}
	if len(f.Contracts) > 0 {
		for i := range ranges {
			ranges[i].Where.Add(sql.AmongAccounts(sql.Account, sql.KeysOf(f.Contracts))...)
		}
	}
	return ranges
}

func readTransfers[R transferRecord](ctx context.Context, l *Lists, k *transferKind[R], v *View, f *TransferFilter, page paging.Page, after *TransferKey) ([]R, bool, error) {
	if page.Limit < 1 {
		return nil, false, nil
	}
	q := &paging.Query[R, TransferKey]{
		Source: l.source(v), Reads: "transfers", Unpack: k.unpack, Plan: k.plan(v, f, page.Descending), RowsOfItem: 2,
		Records: &paging.Records[R, TransferKey]{
			Page: page, After: after, Key: k.key,
			Compare: func(a, b *TransferKey) int { return f.compare(a, b, page.Descending) },
			Match:   func(r R) bool { return r.GetTransactionMcSeqno() <= v.Watermark && k.matches(f, r) },
			Same:    func(a, b R) bool { return k.key(a) == k.key(b) },
			Newer:   func(a, b R) int { return cmp.Compare(b.GetMcSeqno(), a.GetMcSeqno()) },
		},
		RowOf: func(key *TransferKey) plan.Row {
			r := plan.Row{transferNow: uint64(key.Now), transferLt: key.Lt, transferAccount + 1: 0}
			r.SetAccount(transferAccount, sql.KeyOf(key.Account[:]))
			return r
		},
	}
	q.Read = func(ctx context.Context, items [][]plan.Row) ([]R, error) {
		keys := sql.Among{Columns: []string{"lt", "workchain", "account_prefix"}}
		for _, item := range items {
			r := item[0]
			keys.Tuples = append(keys.Tuples, []any{r[transferLt], r.Signed(transferAccount), r[transferAccount+1]})
		}
		held, err := plan.Records(ctx, v.Memory, k.table, sql.Conditions{keys})
		if err != nil {
			return nil, err
		}
		return paging.ReadRecords(ctx, q.Source, q.Reads, "SELECT record FROM "+k.table+" WHERE "+keys.String(), held, k.unpack)
	}
	return q.Run(ctx)
}

func (k *transferKind[R]) unpack(raw []byte) (R, error) {
	r := k.make()
	err := r.UnmarshalVT(raw)
	if err == nil && len(k.account(r)) != schema.AddressSize {
		err = fmt.Errorf("account of %d bytes", len(k.account(r)))
	}
	return r, err
}
