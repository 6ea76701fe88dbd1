package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ClickHouse/ch-go/proto"

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
	Utime     Range
	Lts       Range
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
// that place.
func (s *Store) JettonTransfers(ctx context.Context, v *View, f *TransferFilter, page Page, after *TransferKey) ([]*record.JettonTransfer, bool, error) {
	return pageOfTransfers(ctx, s, &transferList[*record.JettonTransfer]{jettonTransferKind, f, v, page, after})
}

// JettonBurns is the same for burns; owners have one direction only.
func (s *Store) JettonBurns(ctx context.Context, v *View, f *TransferFilter, page Page, after *TransferKey) ([]*record.JettonBurn, bool, error) {
	return pageOfTransfers(ctx, s, &transferList[*record.JettonBurn]{jettonBurnKind, f, v, page, after})
}

// NFTTransfers is the same for NFT items.
func (s *Store) NFTTransfers(ctx context.Context, v *View, f *TransferFilter, page Page, after *TransferKey) ([]*record.NFTTransfer, bool, error) {
	return pageOfTransfers(ctx, s, &transferList[*record.NFTTransfer]{nftTransferKind, f, v, page, after})
}

// JettonTransferKey is the place of a transfer.
func JettonTransferKey(t *record.JettonTransfer) TransferKey {
	return keyOfTransfer(jettonTransferKind, t)
}

// JettonBurnKey is the place of a burn.
func JettonBurnKey(b *record.JettonBurn) TransferKey { return keyOfTransfer(jettonBurnKind, b) }

// NFTTransferKey is the place of a transfer.
func NFTTransferKey(t *record.NFTTransfer) TransferKey { return keyOfTransfer(nftTransferKind, t) }

func keyOfTransfer[R transferRecord](k *transferKind[R], r R) TransferKey {
	return TransferKey{r.GetNow(), r.GetLt(), addressOf(k.account(r))}
}

// transferList is a request for a page of a list.
type transferList[R transferRecord] struct {
	*transferKind[R]
	filter *TransferFilter
	view   *View
	page   Page
	after  *TransferKey
}

// byTime says that the list is in the order of time.
func (l *transferList[R]) byTime() bool { return l.filter.Utime.Given }

func (l *transferList[R]) compare(a, b TransferKey) int {
	c := cmp.Compare(a.Lt, b.Lt)
	if l.byTime() {
		c = cmp.Or(cmp.Compare(a.Now, b.Now), c)
	}
	if c = cmp.Or(c, compareAddresses(a.Account, b.Account)); l.page.Descending {
		return -c
	}
	return c
}

// matches checks everything against the record itself.
func (l *transferList[R]) matches(r R) bool {
	f := l.filter
	source, destination, parent := l.parties(r)
	owner := len(f.Owners) == 0 || f.Direction != In && hasAddress(f.Owners, source) || f.Direction != Out && hasAddress(f.Owners, destination)
	return owner && r.GetTransactionMcSeqno() <= l.view.Watermark && hasAddress(f.Contracts, l.account(r)) &&
		(f.Parent == nil || string(f.Parent[:]) == string(parent)) && !(l.withoutAborted && l.aborted(r)) &&
		f.Utime.has(uint64(r.GetNow())) && f.Lts.has(r.GetLt())
}

// take keeps what belongs to the list, the newest of each, in order.
func (l *transferList[R]) take(list []R) []R {
	list = slices.DeleteFunc(list, func(r R) bool {
		return !l.matches(r) || l.after != nil && l.compare(keyOfTransfer(l.transferKind, r), *l.after) <= 0
	})
	key := func(r R) TransferKey { return keyOfTransfer(l.transferKind, r) }
	slices.SortStableFunc(list, func(a, b R) int {
		return cmp.Or(l.compare(key(a), key(b)), cmp.Compare(b.GetMcSeqno(), a.GetMcSeqno()))
	})
	return slices.CompactFunc(list, func(a, b R) bool { return key(a) == key(b) })
}

// transferRow is a row that leads to a transfer.
type transferRow struct {
	now     uint32
	lt      uint64
	account spot
}

func (l *transferList[R]) compareRows(a, b *transferRow) int {
	c := cmp.Compare(a.lt, b.lt)
	if l.byTime() {
		c = cmp.Or(cmp.Compare(a.now, b.now), c)
	}
	if c = cmp.Or(c, a.account.compare(b.account)); l.page.Descending {
		return -c
	}
	return c
}

// transferPiece is a range of a table, in the order of the list.
type transferPiece struct {
	table      string
	list       uint64 // of transfers_by_party
	conditions conditions
	// whole says that the records are there, too, in the order of lt.
	whole bool
}

// list is the range of one list of transfers_by_party.
func (l *transferList[R]) list(owner, parent Address, direction uint8) transferPiece {
	number := schema.ListOf(l.kind, owner[:], parent[:], direction)
	return transferPiece{
		table: "transfers_by_party", whole: owner != noAddress && direction == schema.TakesPart, list: number,
		conditions: conditions{fmt.Sprintf("list = %d", number)},
	}
}

// pieces are the ranges that the list is in.
func (l *transferList[R]) pieces() (pieces []transferPiece) {
	f := l.filter
	switch {
	case len(f.Owners) > 0:
		for _, owner := range f.Owners {
			pieces = append(pieces, l.ownerPieces(owner)...)
		}
	case len(f.Contracts) > 0:
		for _, a := range f.Contracts {
			pieces = append(pieces, l.list(a, noAddress, schema.IsTold))
		}
	case f.Parent != nil:
		pieces = append(pieces, l.list(noAddress, *f.Parent, schema.TakesPart))
	case l.byTime():
		pieces = append(pieces, l.list(noAddress, noAddress, schema.TakesPart))
	default:
		p := transferPiece{table: l.table, whole: true}
		if l.withoutAborted {
			p.conditions.add("%s", isNot("aborted"))
		}
		pieces = append(pieces, p)
	}
	for i := range pieces {
		c := &pieces[i].conditions
		c.between("now", f.Utime, 1<<32-1)
		c.between("lt", f.Lts, ^uint64(0))
	}
	return pieces
}

func (l *transferList[R]) ownerPieces(owner Address) (pieces []transferPiece) {
	f := l.filter
	if f.Parent == nil && f.Direction == Either {
		pieces = append(pieces, l.list(owner, noAddress, schema.TakesPart))
	} else {
		parent := noAddress
		if f.Parent != nil {
			parent = *f.Parent
		}
		for _, d := range l.directions {
			if f.Direction == Either || f.Direction == d {
				pieces = append(pieces, l.list(owner, parent, uint8(d)))
			}
		}
	}
	if len(f.Contracts) > 0 {
		for i := range pieces {
			pieces[i].conditions.add("%s", accounts("workchain", "account_prefix", f.Contracts))
		}
	}
	return pieces
}

// statement reads columns of up to limit rows of a piece from a row on.
func (l *transferList[R]) statement(p *transferPiece, columns string, from *transferRow, limit int) string {
	c := slices.Clip(p.conditions)
	d := direction(l.page.Descending)
	var order []string
	if p.table != l.table {
		order = append(order, "list")
	}
	settings := inKeyOrder(limit)
	if l.byTime() {
		settings = inSmallBlocks(limit) + ", preferred_optimize_projection_name = 'by_time'"
		order = append(order, "now")
	}
	if from != nil {
		c.add("%s", l.notBefore(from))
	}
	order = append(order, "lt")
	return fmt.Sprintf("SELECT %s FROM %s WHERE %s ORDER BY %s %s LIMIT %d%s", columns, p.table, c, strings.Join(order, " "+d+", "), d, limit, settings)
}

// together reads up to limit rows of each of many lists that have few rows.
func (l *transferList[R]) together(pieces []transferPiece, from *transferRow, limit int) string {
	numbers := make([]string, len(pieces))
	for i := range pieces {
		numbers[i] = fmt.Sprint(pieces[i].list)
	}
	// All but the first condition, which is that of the list, they have in common.
	c := append(conditions{"list IN (" + strings.Join(numbers, ",") + ")"}, pieces[0].conditions[1:]...)
	if from != nil {
		c.add("%s", l.notBefore(from))
	}
	d := direction(l.page.Descending)
	order := "lt " + d
	if l.byTime() {
		order = "now " + d + ", " + order
	}
	return fmt.Sprintf("SELECT now, lt, workchain, account_prefix FROM transfers_by_party WHERE %s ORDER BY list %s, %s LIMIT %d BY list%s, optimize_use_projections = 0",
		c, d, order, limit, shortRanges(len(pieces)))
}

// notBefore is the condition that a row is not before the group of another.
func (l *transferList[R]) notBefore(from *transferRow) string {
	if l.byTime() {
		return notBefore(l.page.Descending, []string{"now", "lt"}, []string{fmt.Sprint(from.now), fmt.Sprint(from.lt)})
	}
	if l.page.Descending {
		return fmt.Sprintf("lt <= %d", from.lt)
	}
	return fmt.Sprintf("lt >= %d", from.lt)
}

// pageOfTransfers reads a page.
func pageOfTransfers[R transferRecord](ctx context.Context, s *Store, l *transferList[R]) ([]R, bool, error) {
	if l.page.Limit < 1 {
		return nil, false, nil
	}
	pieces := l.pieces()
	if list, more, ok, err := directTransfers(ctx, s, l, pieces); ok || err != nil {
		return list, more, err
	}
	for i := range pieces { // records tell by themselves whether they are to be seen yet
		pieces[i].conditions.add("transaction_mc_seqno <= %d", l.view.Watermark)
	}
	w := &walk[transferRow]{
		read: func(ctx context.Context, from *transferRow, limit int) ([]transferRow, error) {
			return readTransferRows(ctx, s, l, pieces, from, limit)
		},
		// Rows of one lt of several owners come as they lie.
		group:   func(a, b *transferRow) bool { return a.lt == b.lt && (!l.byTime() || a.now == b.now) },
		compare: l.compareRows,
		skip:    l.page.Offset,
	}
	if l.after != nil {
		w.after = &transferRow{l.after.Now, l.after.Lt, spotOf(l.after.Account[:])}
	}
	var page []R
	for want := l.page.Limit + 2; ; want = min(2*want, mostCandidates) {
		items, err := w.next(ctx, want, 2)
		if err != nil {
			return nil, false, err
		}
		rows := make([]transferRow, len(items))
		for i, item := range items {
			rows[i] = item[0]
		}
		list, err := transfersAt(ctx, s, l, rows)
		if err != nil {
			return nil, false, err
		}
		page = l.take(append(page, list...))
		if w.ended() || len(page) > l.page.Limit {
			return page[:min(l.page.Limit, len(page))], len(page) > l.page.Limit, nil
		}
	}
}

// directTransfers reads a page whose records lie in the order of the list. It is
// not ok when they do not, or when rows that were there twice left the page short.
func directTransfers[R transferRecord](ctx context.Context, s *Store, l *transferList[R], pieces []transferPiece) (page []R, more, ok bool, err error) {
	if len(pieces) != 1 || l.page.Offset > mostDirect || l.byTime() || !pieces[0].whole {
		return nil, false, false, nil
	}
	var from *transferRow
	if l.after != nil {
		from = &transferRow{l.after.Now, l.after.Lt, spotOf(l.after.Account[:])}
	}
	limit := l.page.Limit + l.page.Offset + 2
	limit += limit / 8 // a transfer may be there twice, as long as its delivery is new
	list, err := transferRecords(ctx, s, l, l.statement(&pieces[0], "record", from, limit))
	if err != nil {
		return nil, false, false, err
	}
	full := len(list) == limit
	if full && len(list) > 0 {
		// The last one's group may go on.
		list = trimLast(l, list)
	}
	list = l.take(list)
	if full && len(list) <= l.page.Offset+l.page.Limit {
		return nil, false, false, nil
	}
	list = list[min(l.page.Offset, len(list)):]
	return list[:min(l.page.Limit, len(list))], len(list) > l.page.Limit, true, nil
}

// mostDirect is the largest offset up to which records are read for nothing.
const mostDirect = 100

// trimLast drops the rows that share the last one's lt.
func trimLast[R transferRecord](_ *transferList[R], list []R) []R {
	last := list[len(list)-1].GetLt()
	n := len(list)
	for n > 0 && list[n-1].GetLt() == last {
		n--
	}
	return list[:n]
}

// transferRecords runs a statement whose only column is record.
func transferRecords[R transferRecord](ctx context.Context, s *Store, l *transferList[R], statement string) ([]R, error) {
	var list []R
	var column proto.ColStr
	err := s.run(ctx, "transfers", statement, proto.Results{{Name: "record", Data: &column}}, func(rows int) error {
		for i := range rows {
			r := l.make()
			if err := r.UnmarshalVT(column.RowBytes(i)); err != nil {
				return fmt.Errorf("record of %s: %w", l.table, err)
			}
			if len(l.account(r)) != schema.AddressSize {
				return fmt.Errorf("record of %s: account of %d bytes", l.table, len(l.account(r)))
			}
			list = append(list, r)
		}
		return nil
	})
	return list, err
}

// transfersAt reads the records that rows lead to.
func transfersAt[R transferRecord](ctx context.Context, s *Store, l *transferList[R], rows []transferRow) ([]R, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	var b strings.Builder
	for i, r := range rows {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "(%d,%d,%d)", r.lt, r.account.workchain, r.account.prefix)
	}
	return transferRecords(ctx, s, l, fmt.Sprintf("SELECT record FROM %s WHERE (lt, workchain, account_prefix) IN (%s)", l.table, b.String()))
}

// readTransferRows reads up to limit rows of the list, in its order but for those
// of one lt.
func readTransferRows[R transferRecord](ctx context.Context, s *Store, l *transferList[R], pieces []transferPiece, from *transferRow, limit int) ([]transferRow, error) {
	apart := func(ctx context.Context, some []transferPiece) ([]transferRow, error) {
		statements := make([]string, len(some))
		for i := range some {
			if statements[i] = l.statement(&some[i], "now, lt, workchain, account_prefix", from, limit); len(some) > 1 {
				statements[i] = "SELECT * FROM (" + statements[i] + ")"
			}
		}
		return s.transferRows(ctx, strings.Join(statements, " UNION ALL "))
	}
	var all []transferRow
	var err error
	if len(pieces) <= maxPieces {
		parts := s.splits(worthSplitting * len(pieces))
		all, err = gather(ctx, slices.Collect(slices.Chunk(pieces, max(1, (len(pieces)+parts-1)/parts))), apart)
	} else {
		all, err = readRanges(ctx, pieces, func(ctx context.Context, some []transferPiece) ([]transferRow, error) {
			return s.transferRows(ctx, l.together(some, from, limit))
		}, apart)
	}
	if err != nil {
		return nil, err
	}
	if len(pieces) > 1 {
		slices.SortStableFunc(all, func(a, b transferRow) int { return l.compareRows(&a, &b) })
	}
	return all[:min(limit, len(all))], nil
}

func (s *Store) transferRows(ctx context.Context, statement string) ([]transferRow, error) {
	var list []transferRow
	var now proto.ColUInt32
	var lt, prefix proto.ColUInt64
	var workchain proto.ColInt32
	result := proto.Results{{Name: "now", Data: &now}, {Name: "lt", Data: &lt}, {Name: "workchain", Data: &workchain}, {Name: "account_prefix", Data: &prefix}}
	err := s.run(ctx, "transfer keys", statement, result, func(rows int) error {
		for i := range rows {
			list = append(list, transferRow{now[i], lt[i], spot{workchain[i], prefix[i]}})
		}
		return nil
	})
	return list, err
}
