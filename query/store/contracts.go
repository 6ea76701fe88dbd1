package store

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"tonscribe/schema"
	"tonscribe/schema/record"
)

// Number is an unsigned integer of 256 bits, big endian.
type Number = [32]byte

// NumberOf is a number of a record.
func NumberOf(magnitude []byte) (n Number) {
	if len(magnitude) <= len(n) {
		copy(n[len(n)-len(magnitude):], magnitude)
	}
	return n
}

// spot is an account as far as tables tell it: workchain and 64 bits.
type spot struct {
	workchain int32
	prefix    uint64
}

func spotOf(a []byte) spot {
	if len(a) != schema.AddressSize {
		return spot{workchain: noWorkchain}
	}
	return spot{schema.Workchain(a), schema.Prefix(schema.AccountID(a))}
}

// noWorkchain marks the absence of an account in the columns of a workchain.
const noWorkchain = -1 << 31

// noAddress is how a key says the same.
var noAddress = Address{0x80}

// addressOf is an address of a record in a key.
func addressOf(a []byte) Address {
	if len(a) != schema.AddressSize {
		return noAddress
	}
	return Address(a)
}

func (a spot) compare(b spot) int {
	return cmp.Or(cmp.Compare(a.workchain, b.workchain), cmp.Compare(a.prefix, b.prefix))
}

func spotsOf(list []Address) []spot {
	spots := make([]spot, len(list))
	for i := range list {
		spots[i] = spotOf(list[i][:])
	}
	return spots
}

// spots is the condition that an account is one of some.
func spots(list []spot) string { return spotsIn([]string{"workchain", "account_prefix"}, list) }

// spotsIn is the same for the columns of another account.
func spotsIn(columns []string, list []spot) string {
	var b strings.Builder
	b.WriteString("(" + columns[0] + ", " + columns[1] + ") IN (")
	for i, a := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "(%d,%d)", a.workchain, a.prefix)
	}
	b.WriteByte(')')
	return b.String()
}

// Contracts are the newest facts of those of the accounts that are something.
func (s *Store) Contracts(ctx context.Context, list []Address) (map[Address]*record.Contract, error) {
	read, err := s.contractsAt(ctx, spotsOf(list))
	if err != nil {
		return nil, err
	}
	found := make(map[Address]*record.Contract, len(list))
	for _, a := range list {
		if c := read[a]; c != nil {
			found[a] = c
		}
	}
	return found, nil
}

// contractsAt are the newest facts of the accounts at spots; contracts that are
// nothing any more are left out.
func (s *Store) contractsAt(ctx context.Context, list []spot) (map[Address]*record.Contract, error) {
	rows, err := s.contracts.at(ctx, s, list)
	if err != nil {
		return nil, err
	}
	newest := make(map[Address]*record.Contract, len(rows))
	for _, c := range rows {
		if schema.RolesOf(c) != 0 {
			newest[Address(c.Account)] = c
		}
	}
	return newest, nil
}

// ContractKey is a place in a list of contracts; what a list is not ordered by
// is zero.
type ContractKey struct {
	Owner   Address
	Parent  Address // collection
	Number  Number  // balance or index
	Seqno   uint64  // first bundle, or lt
	Account Address
}

// keyField is what a list can be ordered by.
type keyField uint8

const (
	byOwner keyField = iota
	byParent
	byNumber
	bySeqno
	byAccount
)

// contractOrder is the order of a list, most significant first; byAccount is
// last.
type contractOrder struct {
	fields     []keyField
	descending bool // all of them but byOwner
}

func (o contractOrder) byOwners() bool { return o.fields[0] == byOwner }

func (o contractOrder) compare(a, b *ContractKey) (c int) {
	for _, f := range o.fields {
		switch f {
		case byOwner:
			c = compareAddresses(a.Owner, b.Owner)
		case byParent:
			c = compareAddresses(a.Parent, b.Parent)
		case byNumber:
			c = bytes.Compare(a.Number[:], b.Number[:])
		case bySeqno:
			c = cmp.Compare(a.Seqno, b.Seqno)
		case byAccount:
			c = compareAddresses(a.Account, b.Account)
		}
		if c != 0 {
			return o.turn(f, c)
		}
	}
	return 0
}

func (o contractOrder) turn(f keyField, c int) int {
	if o.descending && f != byOwner {
		return -c
	}
	return c
}

// pointer is a row of a table that leads to a contract.
type pointer struct {
	owner, parent, account spot
	number                 Number
	seqno                  uint64
}

func pointerOf(k *ContractKey) *pointer {
	return &pointer{spotOf(k.Owner[:]), spotOf(k.Parent[:]), spotOf(k.Account[:]), k.Number, k.Seqno}
}

func (o contractOrder) comparePointers(a, b *pointer) (c int) {
	for _, f := range o.fields {
		switch f {
		case byOwner:
			c = a.owner.compare(b.owner)
		case byParent:
			c = a.parent.compare(b.parent)
		case byNumber:
			c = bytes.Compare(a.number[:], b.number[:])
		case bySeqno:
			c = cmp.Compare(a.seqno, b.seqno)
		case byAccount:
			c = a.account.compare(b.account)
		}
		if c != 0 {
			return o.turn(f, c)
		}
	}
	return 0
}

// contractList is a request for a page of a list of contracts.
type contractList struct {
	order contractOrder
	page  Page
	after *ContractKey
	match func(*record.Contract) bool
	// keyOf is a contract's place by its newest facts.
	keyOf func(*record.Contract) ContractKey
	// addresses, when not nil, are all that the list can hold.
	addresses []Address
	plan      contractPlan
}

// contractPage is a page of a list, and whether there are more after it.
func (s *Store) contractPage(ctx context.Context, l *contractList) ([]*record.Contract, bool, error) {
	if l.addresses != nil {
		found, err := s.contractsAt(ctx, spotsOf(l.addresses))
		if err != nil {
			return nil, false, err
		}
		var list []*record.Contract
		for i := range l.addresses {
			if c := found[l.addresses[i]]; c != nil {
				list = append(list, c)
			}
		}
		return l.cut(l.take(list), l.page.Offset)
	}
	if len(l.plan.pieces) == 0 {
		return nil, false, nil
	}
	if l.after == nil && l.page.Offset >= leastExact && len(l.plan.pieces) == 1 {
		return s.deepContracts(ctx, l)
	}
	w, skip := s.contractWalk(l), l.page.Offset
	want := l.page.Limit + 2 + skip
	var page []*record.Contract
	for {
		items, err := w.next(ctx, want, 1)
		if err != nil {
			return nil, false, err
		}
		if page, err = s.current(ctx, l, page, items); err != nil {
			return nil, false, err
		}
		if w.ended() || len(page) > skip+l.page.Limit {
			return l.cut(page, skip)
		}
		want = min(2*want, mostCandidates)
	}
}

// deepContracts is a page that lies deep.
func (s *Store) deepContracts(ctx context.Context, l *contractList) ([]*record.Contract, bool, error) {
	var page []*record.Contract
	for offset, want := l.page.Offset, l.page.Limit+2; ; {
		rows, err := s.pointersFor(ctx, counting, l.exact(offset, want), &l.plan.pieces[0])
		if err != nil {
			return nil, false, err
		}
		items := make([][]pointer, len(rows))
		for i := range rows {
			items[i] = rows[i : i+1]
		}
		if page, err = s.current(ctx, l, page, items); err != nil {
			return nil, false, err
		}
		if len(rows) < want || len(page) > l.page.Limit {
			return l.cut(page, 0)
		}
		offset += len(rows)
	}
}

// current adds the contracts that rows lead to, as far as they are where the
// rows say.
func (s *Store) current(ctx context.Context, l *contractList, page []*record.Contract, items [][]pointer) ([]*record.Contract, error) {
	if len(items) == 0 {
		return page, nil
	}
	list := make([]spot, len(items))
	for i, item := range items {
		list[i] = item[0].account
	}
	found, err := s.contractsAt(ctx, list)
	if err != nil {
		return nil, err
	}
	bySpot := map[spot][]*record.Contract{}
	for _, c := range found {
		bySpot[spotOf(c.Account)] = append(bySpot[spotOf(c.Account)], c)
	}
	for _, item := range items {
		for _, c := range bySpot[item[0].account] {
			if !l.match(c) {
				continue
			}
			if k := l.keyOf(c); l.order.comparePointers(pointerOf(&k), &item[0]) == 0 {
				page = append(page, c)
			}
		}
	}
	return l.take(page), nil
}

// take keeps what belongs to the list, once each, in order.
func (l *contractList) take(list []*record.Contract) []*record.Contract {
	type placed struct {
		key ContractKey
		c   *record.Contract
	}
	all := make([]placed, 0, len(list))
	for _, c := range list {
		if k := l.keyOf(c); l.match(c) && (l.after == nil || l.order.compare(&k, l.after) > 0) {
			all = append(all, placed{k, c})
		}
	}
	slices.SortFunc(all, func(a, b placed) int { return l.order.compare(&a.key, &b.key) })
	list = list[:0]
	for i, p := range all {
		if i == 0 || !bytes.Equal(p.c.Account, all[i-1].c.Account) {
			list = append(list, p.c)
		}
	}
	return list
}

func (l *contractList) cut(list []*record.Contract, skip int) ([]*record.Contract, bool, error) {
	list = list[min(skip, len(list)):]
	if len(list) > l.page.Limit {
		return list[:l.page.Limit], true, nil
	}
	return list, false, nil
}
