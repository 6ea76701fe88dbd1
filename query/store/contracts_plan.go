package store

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/big"
	"slices"
	"sort"
	"strings"

	"github.com/ClickHouse/ch-go/proto"
)

// contractPlan is where a list of contracts is read from.
type contractPlan struct {
	table   string
	pieces  []piece
	columns contractColumns
	// whole says that the pieces lie in another order, so that they are read as a
	// whole and sorted.
	whole bool
	// stays says that a contract never moves from one piece to another, so that
	// its newest row is in its piece.
	stays bool
	// fixed says that besides all rows of a contract say the same of its place, and
	// of whether it belongs to the list.
	fixed bool
}

// piece is a range of a table or of one of its projections, in the order of the
// list but for byOwner.
type piece struct {
	owner      spot       // of lists by owner
	key        spot       // of which account it is, when it is one's
	leading    []string   // columns that have one value in the piece; the account's are the last two
	conditions conditions // that of the account is the first
}

// alike reports whether two pieces differ in their accounts only.
func (p *piece) alike(o *piece) bool {
	return slices.Equal(p.leading, o.leading) && slices.Equal(p.conditions[1:], o.conditions[1:])
}

// contractColumns are the columns that a list is ordered by.
type contractColumns struct {
	parent string // its workchain and prefix have suffixes
	number string
	seqno  string
}

// columnsOf are the columns of a field, none for the owner, which a piece knows.
func (p *contractPlan) columnsOf(f keyField) []string {
	switch f {
	case byParent:
		return []string{p.columns.parent + "_workchain", p.columns.parent + "_prefix"}
	case byNumber:
		return []string{p.columns.number}
	case bySeqno:
		return []string{p.columns.seqno}
	case byAccount:
		return []string{"workchain", "account_prefix"}
	}
	return nil
}

// valuesOf are a row's values of the same columns.
func valuesOf(f keyField, r *pointer) []string {
	of := func(s spot) []string { return []string{fmt.Sprint(s.workchain), fmt.Sprint(s.prefix)} }
	switch f {
	case byParent:
		return of(r.parent)
	case byNumber:
		return []string{numberLiteral(r.number)}
	case bySeqno:
		return []string{fmt.Sprint(r.seqno)}
	case byAccount:
		return of(r.account)
	}
	return nil
}

func numberLiteral(n Number) string {
	return "toUInt256('" + new(big.Int).SetBytes(n[:]).String() + "')"
}

// selected are the columns of a pointer.
func (p *contractPlan) selected() string {
	c := "workchain, account_prefix"
	if p.columns.parent != "" {
		c += fmt.Sprintf(", %[1]s_workchain AS parent_workchain, %[1]s_prefix AS parent_prefix", p.columns.parent)
	}
	if p.columns.number != "" {
		c += ", " + p.columns.number + " AS number"
	}
	if p.columns.seqno != "" {
		c += ", toUInt64(" + p.columns.seqno + ") AS seqno"
	}
	return c
}

// clause is the order of a piece's own key.
func (l *contractList) clause(leading []string) string {
	columns := slices.Clone(leading)
	for _, f := range l.order.fields {
		columns = append(columns, l.plan.columnsOf(f)...)
	}
	d := " " + direction(l.order.descending)
	return strings.Join(columns, d+", ") + d
}

// from is the condition that a row of a piece is not before another row.
func (l *contractList) from(p *piece, r *pointer) string {
	var columns, values []string
	for _, f := range l.order.fields {
		columns, values = append(columns, l.plan.columnsOf(f)...), append(values, valuesOf(f, r)...)
	}
	for len(columns) > 1 && slices.Contains(p.leading, columns[0]) {
		columns, values = columns[1:], values[1:]
	}
	if !strings.HasSuffix(columns[0], "workchain") {
		return notBefore(l.order.descending, columns, values)
	}
	// Hardly anything is before a workchain: all columns have to lead to the granule.
	sign := ">"
	if l.order.descending {
		sign = "<"
	}
	last := len(columns) - 1
	condition := fmt.Sprintf("%s %s= %s", columns[last], sign, values[last])
	for i := last - 1; i >= 0; i-- {
		condition = fmt.Sprintf("%s %s= %s AND (%s %s %s OR %s)", columns[i], sign, values[i], columns[i], sign, values[i], condition)
	}
	return condition
}

// statement reads up to limit rows of a piece from a row on; 0 means all.
func (l *contractList) statement(p *piece, from *pointer, limit int) string {
	c := slices.Clip(p.conditions)
	if from != nil && (!l.order.byOwners() || p.owner == from.owner) {
		c.add("%s", l.from(p, from))
	}
	s := fmt.Sprintf("SELECT %s FROM %s WHERE %s", l.plan.selected(), l.plan.table, c)
	if limit > 0 {
		s += fmt.Sprintf(" ORDER BY %s LIMIT %d%s%s", l.clause(p.leading), limit, inSmallBlocks(limit), l.through(p))
	}
	return s
}

// projections are those that have the pieces of lists in their order, by the first
// column that the rows of a piece have in common and the first that they are
// ordered by.
var projections = map[string]map[[2]string]string{
	"jetton_masters": {
		{"", "first_mc_seqno"}:                "by_first",
		{"admin_workchain", "first_mc_seqno"}: "by_admin",
	},
	"jetton_wallets": {
		{"", "first_mc_seqno"}:                 "by_first",
		{"", "balance"}:                        "by_balance",
		{"master_workchain", "first_mc_seqno"}: "by_master",
		{"master_workchain", "balance"}:        "by_master_balance",
		{"owner_workchain", "first_mc_seqno"}:  "by_owner",
		{"owner_workchain", "balance"}:         "by_owner_balance",
	},
	"nft_collections": {
		{"", "first_mc_seqno"}:                "by_first",
		{"owner_workchain", "first_mc_seqno"}: "by_owner",
	},
	"nft_items": {
		{"", "first_mc_seqno"}: "by_first",
		{"", "lt"}:             "by_lt",
		{"collection_workchain", "collection_workchain"}: "by_collection",
		{"collection_workchain", "lt"}:                   "by_collection_lt",
		{"owner_workchain", "collection_workchain"}:      "by_owner",
		{"owner_workchain", "lt"}:                        "by_owner_lt",
		{"seller_workchain", "collection_workchain"}:     "by_seller",
		{"seller_workchain", "lt"}:                       "by_seller_lt",
	},
}

// through ends a statement that reads a piece in its order: ClickHouse then need
// not look at all projections for the one that fits, which costs more than
// reading it.
func (l *contractList) through(p *piece) string {
	var key [2]string
	if len(p.leading) > 0 {
		key[0] = p.leading[0]
	}
	for _, f := range l.order.fields {
		if columns := l.plan.columnsOf(f); len(columns) > 0 {
			key[1] = columns[0]
			break
		}
	}
	if name := projections[l.plan.table][key]; name != "" {
		return ", preferred_optimize_projection_name = '" + name + "'"
	}
	return ""
}

// contractWalk goes through the rows of a list.
func (s *Store) contractWalk(l *contractList) *walk[pointer] {
	w := &walk[pointer]{
		group:   func(a, b *pointer) bool { return l.order.comparePointers(a, b) == 0 },
		compare: l.order.comparePointers,
	}
	if l.after != nil {
		w.after = pointerOf(l.after)
	}
	if l.plan.whole {
		w.read = s.readWhole(l)
		return w
	}
	w.read = func(ctx context.Context, from *pointer, limit int) ([]pointer, error) {
		return s.readPieces(ctx, l, from, limit)
	}
	return w
}

// leastExact is the offset from which on ClickHouse looks for the page instead of
// us reading what is before it.
const leastExact = 200

// readPieces reads up to limit rows of the list, in its order.
func (s *Store) readPieces(ctx context.Context, l *contractList, from *pointer, limit int) ([]pointer, error) {
	byOwners := l.order.byOwners()
	if len(l.plan.pieces) > 1 && !byOwners {
		return s.readAllPieces(ctx, l, from, limit)
	}
	pieces := l.plan.pieces
	if byOwners && from != nil {
		pieces = slices.DeleteFunc(slices.Clone(pieces), func(p piece) bool { return p.owner.compare(from.owner) < 0 })
	}
	if len(pieces) > maxPieces {
		return s.readOwners(ctx, l, pieces, from, limit)
	}
	var all []pointer
	for i := range pieces {
		p := &pieces[i]
		list, err := s.pointers(ctx, l.statement(p, from, limit), p)
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
		if byOwners && len(all) >= limit && (i+1 == len(pieces) || pieces[i+1].owner != p.owner) {
			break
		}
	}
	if len(pieces) > 1 {
		slices.SortStableFunc(all, func(a, b pointer) int { return l.order.comparePointers(&a, &b) })
	}
	return all[:min(limit, len(all))], nil
}

// readOwners is readPieces for many owners, or for a single piece. Of the one that
// the page before ended with, what is left is read by itself.
func (s *Store) readOwners(ctx context.Context, l *contractList, pieces []piece, from *pointer, limit int) (all []pointer, err error) {
	n := 0
	for from != nil && n < len(pieces) && pieces[n].owner == from.owner {
		list, err := s.pointers(ctx, l.statement(&pieces[n], from, limit), &pieces[n])
		if err != nil {
			return nil, err
		}
		all, n = append(all, list...), n+1
	}
	if len(all) < limit {
		list, err := s.readTogether(ctx, l, pieces[n:], nil, limit)
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	slices.SortStableFunc(all, func(a, b pointer) int { return l.order.comparePointers(&a, &b) })
	return all[:min(limit, len(all))], nil
}

// readTogether reads up to limit rows of each piece, 0 for all, in no order: those
// that are alike in one statement where they are short.
func (s *Store) readTogether(ctx context.Context, l *contractList, pieces []piece, from *pointer, limit int) (all []pointer, err error) {
	for len(pieces) > 0 {
		first := &pieces[0]
		var alike, others []piece
		for i := range pieces {
			if pieces[i].alike(first) {
				alike = append(alike, pieces[i])
			} else {
				others = append(others, pieces[i])
			}
		}
		list, err := readRanges(ctx, alike, func(ctx context.Context, some []piece) ([]pointer, error) {
			return s.pointers(ctx, l.together(some, from, limit), nil)
		}, func(ctx context.Context, some []piece) ([]pointer, error) {
			return gather(ctx, some, func(ctx context.Context, p piece) ([]pointer, error) {
				return s.pointers(ctx, l.statement(&p, from, limit), &p)
			})
		})
		if err != nil {
			return nil, err
		}
		all, pieces = append(all, list...), others
	}
	return all, nil
}

// together reads up to limit rows of each of many pieces that are alike; 0 means
// all.
func (l *contractList) together(pieces []piece, from *pointer, limit int) string {
	p := &pieces[0]
	keys := make([]spot, len(pieces))
	for i := range pieces {
		keys[i] = pieces[i].key
	}
	columns := p.leading[len(p.leading)-2:]
	c := append(conditions{spotsIn(columns, keys)}, p.conditions[1:]...)
	if from != nil {
		c.add("%s", l.from(p, from))
	}
	s := fmt.Sprintf("SELECT %s, %s AS key_of_workchain, %s AS key_of_prefix FROM %s WHERE %s", l.plan.selected(), columns[0], columns[1], l.plan.table, c)
	if limit > 0 {
		s += fmt.Sprintf(" ORDER BY %s LIMIT %d BY %s", l.clause(p.leading), limit, strings.Join(columns, ", "))
	}
	return s + shortRanges(len(pieces)) + l.through(p)
}

// readAllPieces reads up to limit rows of a list that is a mixture of its pieces.
func (s *Store) readAllPieces(ctx context.Context, l *contractList, from *pointer, limit int) ([]pointer, error) {
	all, err := s.readTogether(ctx, l, l.plan.pieces, from, limit)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(all, func(a, b pointer) int { return l.order.comparePointers(&a, &b) })
	return all[:min(limit, len(all))], nil
}

// readWhole reads the pieces once, and gives parts of them afterwards.
func (s *Store) readWhole(l *contractList) func(context.Context, *pointer, int) ([]pointer, error) {
	var all []pointer
	read := false
	return func(ctx context.Context, from *pointer, limit int) ([]pointer, error) {
		if !read {
			var err error
			if all, err = s.readTogether(ctx, l, l.plan.pieces, nil, 0); err != nil {
				return nil, err
			}
			slices.SortFunc(all, func(a, b pointer) int { return l.order.comparePointers(&a, &b) })
			read = true
		}
		rest := all
		if from != nil {
			at := sort.Search(len(all), func(i int) bool { return l.order.comparePointers(&all[i], from) >= 0 })
			rest = all[at:]
		}
		return slices.Clone(rest[:min(limit, len(rest))]), nil
	}
}

// exact is the statement for a page that lies deep in a single piece: of rows
// that are the newest of their contract, limit after offset.
func (l *contractList) exact(offset, limit int) string {
	p := &l.plan
	where := p.pieces[0].conditions.String()
	var fields []string
	d := " " + direction(l.order.descending)
	for _, f := range l.order.fields {
		switch f {
		case byParent:
			fields = append(fields, "parent_workchain"+d, "parent_prefix"+d)
		case byNumber:
			fields = append(fields, "number"+d)
		case bySeqno:
			fields = append(fields, "seqno"+d)
		case byAccount:
			fields = append(fields, "workchain"+d, "account_prefix"+d)
		}
	}
	tail := fmt.Sprintf(" ORDER BY %s LIMIT %d OFFSET %d", strings.Join(fields, ", "), limit, offset)
	if p.fixed {
		// In the order of the key, so that nothing behind the page is read.
		order := l.clause(p.pieces[0].leading)
		return fmt.Sprintf("SELECT %[1]s FROM %[2]s WHERE (%[3]s) AND (workchain, account_prefix) NOT IN (SELECT workchain, account_prefix FROM %[2]s WHERE %[4]s) "+
			"ORDER BY %[5]s LIMIT 1 BY workchain, account_prefix LIMIT %[6]d OFFSET %[7]d%[8]s", p.selected(), p.table, where, goneOf(p.table), order, limit, offset, inSmallBlocks(limit+offset/8))
	}
	if p.stays && p.columns.parent == "" {
		var values string
		if p.columns.number != "" {
			values += ", argMax(" + p.columns.number + ", mc_seqno) AS number"
		}
		if p.columns.seqno != "" {
			values += ", toUInt64(argMax(" + p.columns.seqno + ", mc_seqno)) AS seqno"
		}
		return fmt.Sprintf("SELECT * FROM (SELECT workchain, account_prefix%s FROM %s WHERE %s GROUP BY workchain, account_prefix) "+
			"WHERE (workchain, account_prefix) NOT IN (SELECT workchain, account_prefix FROM %s WHERE %s)%s", values, p.table, where, p.table, goneOf(p.table), tail)
	}
	return fmt.Sprintf("SELECT DISTINCT %[1]s FROM %[2]s WHERE (%[3]s) AND (workchain, account_prefix, mc_seqno) IN (SELECT workchain, account_prefix, max(mc_seqno) "+
		"FROM %[2]s WHERE (workchain, account_prefix) IN (SELECT workchain, account_prefix FROM %[2]s WHERE %[3]s) GROUP BY workchain, account_prefix)%[4]s",
		p.selected(), p.table, where, tail)
}

// goneOf is where a table of contracts has those that are nothing any more.
func goneOf(table string) string {
	column := map[string]string{"jetton_wallets": "master", "jetton_masters": "admin", "nft_items": "collection", "nft_collections": "owner"}[table]
	return fmt.Sprintf("%[1]s_workchain = %[2]d AND %[1]s_prefix = 0 AND %[3]s", column, noWorkchain, isNot("active"))
}

func numberOf256(v proto.UInt256) (n Number) {
	for i, part := range [...]uint64{v.High.High, v.High.Low, v.Low.High, v.Low.Low} {
		binary.BigEndian.PutUint64(n[8*i:], part)
	}
	return n
}

// pointers runs a statement that selects pointers.
func (s *Store) pointers(ctx context.Context, statement string, p *piece) ([]pointer, error) {
	return s.pointersFor(ctx, "contract keys", statement, p)
}

func (s *Store) pointersFor(ctx context.Context, reads, statement string, p *piece) ([]pointer, error) {
	var list []pointer
	var workchain, parentWorkchain proto.ColInt32
	var prefix, parentPrefix, seqno proto.ColUInt64
	var number proto.ColUInt256
	var ownerWorkchain proto.ColInt32
	var ownerPrefix proto.ColUInt64
	result := proto.Results{{Name: "workchain", Data: &workchain}, {Name: "account_prefix", Data: &prefix}}
	if strings.Contains(statement, " AS parent_prefix") {
		result = append(result, proto.ResultColumn{Name: "parent_workchain", Data: &parentWorkchain}, proto.ResultColumn{Name: "parent_prefix", Data: &parentPrefix})
	}
	if strings.Contains(statement, " AS number") {
		result = append(result, proto.ResultColumn{Name: "number", Data: &number})
	}
	if strings.Contains(statement, " AS seqno") {
		result = append(result, proto.ResultColumn{Name: "seqno", Data: &seqno})
	}
	if strings.Contains(statement, " AS key_of_prefix") {
		result = append(result, proto.ResultColumn{Name: "key_of_workchain", Data: &ownerWorkchain}, proto.ResultColumn{Name: "key_of_prefix", Data: &ownerPrefix})
	}
	err := s.run(ctx, reads, statement, result, func(rows int) error {
		for i := range rows {
			r := pointer{account: spot{workchain[i], prefix[i]}}
			if p != nil {
				r.owner = p.owner
			}
			if len(ownerPrefix) > 0 {
				r.owner = spot{ownerWorkchain[i], ownerPrefix[i]}
			}
			if len(parentPrefix) > 0 {
				r.parent = spot{parentWorkchain[i], parentPrefix[i]}
			}
			if len(number) > 0 {
				r.number = numberOf256(number[i])
			}
			if len(seqno) > 0 {
				r.seqno = seqno[i]
			}
			list = append(list, r)
		}
		return nil
	})
	return list, err
}
