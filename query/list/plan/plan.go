// Package plan reads rows by key ranges of tables.
//
// In: a plan, which names the ranges, their order and where in it to begin. Out: rows
// in that order, whose groups, ties and offsets are counted. The package knows what
// makes ClickHouse read no more than is asked for, and nothing of what the tables
// mean.
package plan

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/ClickHouse/ch-go/proto"

	"tonscribe/query/reader"
	"tonscribe/query/sql"
)

// Plan is how the rows of a list are found: in which key ranges of which table, by
// which columns those are ordered, and where a scan of them can begin. It is a
// value; String prints its statements.
type Plan struct {
	Reads string // what its statements are counted as
	Table string
	// Columns are those of a row.
	Columns []Column
	// Ranges are where the rows are. No row is in two of them.
	Ranges []Range
	// Keys are the columns by which the table orders the rows of a range, all in one
	// direction. ClickHouse reads no more of a range than is asked for in this order
	// only.
	Keys       []string
	Descending bool
	// Seek are the first columns of that order, from any value of which on a range
	// can be read. It is a little coarser than the list's: rows that share them, a
	// group, come as they lie.
	Seek []Column
	// Order is the list's order as far as rows tell it. Rows that are equal in it are
	// one item.
	Order []Term
	// ByOwner reports whether the ranges come one after the other in the order of their
	// owners, which is then the first term.
	ByOwner bool
	// Bundle is the column of the bundle, by which rows of tables are cut off at that up
	// to which tables are read. Empty when the newest state counts.
	Bundle    string
	Watermark uint32
	// BundleInRecord reports whether a record tells its bundle, so that records are read
	// without that condition: to read another column before them costs more than the
	// few that are not visible yet.
	BundleInRecord bool
	// SmallBlocks reports whether ClickHouse reads no more than the limit at a time.
	SmallBlocks bool
	// Residual reports whether the table does not have all filters' columns, so that rows
	// are skipped after their records were read.
	Residual bool
	// Outdated reports whether records may have left the place that a row says: they are
	// skipped after they were read, too.
	Outdated bool
	// Whole reports whether the ranges lie in another order, so that all their rows are
	// read and put in order here.
	Whole bool
	// Unordered reports whether the table's order is another one than the list's, so that
	// all records are read and put in order here.
	Unordered bool
	// Direct reports whether the records are in the table itself, in the order of the list,
	// and can be read without finding their rows first.
	Direct bool
	// Unique reports whether a group has one record only.
	Unique bool
}

// Range is a range of a table's key, or of that of a projection.
type Range struct {
	// Prefix are the columns by which the table is ordered before Keys; in the range
	// they have one value each.
	Prefix []string
	// Columns and Values are what tells the range from others that are alike.
	Columns []string
	Values  []any
	// Where is what else holds for its rows.
	Where sql.Conditions
	// Projection is the one that has the range: naming it spares ClickHouse to look
	// which would do, which costs more than reading it. Together is that for many
	// ranges at once, when it is another one.
	Projection, Together string
	// Owner is whose range it is, in plans by owner.
	Owner sql.AccountKey
}

// NoProjection is for ranges of the table itself when it has projections.
const NoProjection = "none"

// AccountRange is the range of an account in a table that is ordered by a prefix,
// which ends with the account's columns.
func AccountRange(prefix, columns []string, a sql.AccountKey, where ...sql.Condition) Range {
	return Range{Prefix: prefix, Columns: columns, Values: []any{a.Workchain, a.Prefix}, Where: where, Owner: a}
}

// Column is a column of the rows of a list.
type Column struct {
	Name string // in a result
	SQL  string // what it is in the table, when not that
	Key  string // the column of the table's key that it is made of, when not SQL
	At   int    // its first word in a Row
	Type Type
	// OfRange is for a column of the range, by number: 1 is the first of its Columns.
	OfRange int
}

// Type is that of a column.
type Type uint8

// The types of columns.
const (
	Uint64 Type = iota
	Uint32
	Uint8
	Int32
	Uint256
	Bits256
	Packed // two words that are one number in the key: 32 bits each
)

func (t Type) words() int {
	switch t {
	case Uint256, Bits256:
		return 4
	case Packed:
		return 2
	}
	return 1
}

// Term is a part of an order.
type Term struct {
	At, Words  int
	Descending bool
}

// Row is a row of a table that leads to a record. Its words compare as the values
// of the columns do.
type Row []uint64

// Signed makes a word of a number that may be negative, and back.
func Signed(n int32) uint64            { return uint64(int64(n)) ^ 1<<63 }
func (r Row) Signed(at int) int32      { return int32(r[at] ^ 1<<63) }
func (r Row) Hash(at int) (h [32]byte) { return hashOfWords(r[at : at+4]) }
func (r Row) SetHash(at int, h []byte) { putWords(r[at:at+4], h) }
func (r Row) SetAccount(at int, k sql.AccountKey) {
	r[at], r[at+1] = Signed(k.Workchain), k.Prefix
}
func (r Row) Account(at int) sql.AccountKey {
	return sql.AccountKey{Workchain: r.Signed(at), Prefix: r[at+1]}
}

func hashOfWords(words []uint64) (h [32]byte) {
	for i, w := range words {
		binary.BigEndian.PutUint64(h[8*i:], w)
	}
	return h
}

func putWords(words []uint64, h []byte) {
	for i := range words {
		words[i] = binary.BigEndian.Uint64(h[8*i:])
	}
}

// Compare is the list's order.
func (p *Plan) Compare(a, b Row) int {
	for _, t := range p.Order {
		for i := t.At; i < t.At+t.Words; i++ {
			if c := cmp.Compare(a[i], b[i]); c != 0 {
				if t.Descending {
					return -c
				}
				return c
			}
		}
	}
	return 0
}

// SameGroup reports whether two rows share the columns of Seek.
func (p *Plan) SameGroup(a, b Row) bool {
	for _, c := range p.Seek {
		for i := c.At; i < c.At+c.Type.words(); i++ {
			if a[i] != b[i] {
				return false
			}
		}
	}
	return true
}

// width is the number of words of a row.
func (p *Plan) width() (n int) {
	for _, c := range p.Columns {
		n = max(n, c.At+c.Type.words())
	}
	for _, t := range p.Order {
		n = max(n, t.At+t.Words)
	}
	return n
}

// in returns what a column is in a range.
func (c *Column) in(r *Range) string {
	switch {
	case c.OfRange > 0:
		return r.Columns[c.OfRange-1] + " AS " + c.Name
	case c.SQL != "":
		return c.SQL + " AS " + c.Name
	}
	return c.Name
}

// KeyColumn returns the column of the table's key that a column is.
func (c *Column) KeyColumn() string { return cmp.Or(c.Key, c.SQL, c.Name) }

// value returns a row's value of the column of the table's key.
func (c *Column) value(r Row) any {
	switch c.Type {
	case Int32:
		return r.Signed(c.At)
	case Uint256:
		return sql.Uint256(r.Hash(c.At))
	case Packed:
		return r[c.At]<<32 | r[c.At+1]
	}
	return r[c.At]
}

// alike reports whether two ranges differ in their values only.
func (r *Range) alike(o *Range) bool {
	return slices.Equal(r.Prefix, o.Prefix) && slices.Equal(r.Columns, o.Columns) && reflect.DeepEqual(r.Where, o.Where)
}

// Is is the condition that a row is in the range alone.
func (r *Range) Is() (c sql.Conditions) {
	for i := range r.Columns {
		c.Add(sql.Is(r.Columns[i], r.Values[i]))
	}
	return append(c, r.Where...)
}

// Selected are the columns of a row.
func (p *Plan) Selected(r *Range) string {
	columns := make([]string, len(p.Columns))
	for i := range p.Columns {
		columns[i] = p.Columns[i].in(r)
	}
	return strings.Join(columns, ", ")
}

// visible adds the conditions on the bundle, and that rows are not before the group
// of another one.
func (p *Plan) visible(c sql.Conditions, r *Range, from Row) sql.Conditions {
	c = slices.Clip(c)
	if p.Bundle != "" {
		c.Add(sql.AtMost(p.Bundle, p.Watermark))
	}
	return p.notBefore(c, r, from)
}

// notBefore adds the condition that rows are not before the group of another one.
func (p *Plan) notBefore(c sql.Conditions, r *Range, from Row) sql.Conditions {
	if from == nil {
		return c
	}
	seek := p.Seek
	for len(seek) > 1 && slices.Contains(r.Prefix, seek[0].KeyColumn()) {
		seek = seek[1:]
	}
	begin := sql.NotBefore{Descending: p.Descending}
	for i := range seek {
		begin.Columns, begin.Values = append(begin.Columns, seek[i].KeyColumn()), append(begin.Values, seek[i].value(from))
	}
	return append(c, begin)
}

// KeyOrder is that of the rows of a range.
func (p *Plan) KeyOrder(r *Range) string {
	return sql.Order(p.Descending, slices.Concat(r.Prefix, p.Keys)...)
}

// Settings are those of a statement that are not empty.
func Settings(list ...string) string {
	if list = slices.DeleteFunc(list, func(s string) bool { return s == "" }); len(list) == 0 {
		return ""
	}
	return " SETTINGS " + strings.Join(list, ", ")
}

func projection(name string) string {
	switch name {
	case "":
		return ""
	case NoProjection:
		return sql.NoProjections
	}
	return sql.Projection(name)
}

// Statement reads up to limit rows of a range from the group of a row on; 0 means
// all, in no order.
func (p *Plan) Statement(r *Range, from Row, limit int) string {
	return p.Reading(p.Selected(r), r, from, limit)
}

// Records reads the same as records.
func (p *Plan) Records(r *Range, from Row, limit int) string {
	if p.BundleInRecord {
		whole := *p
		whole.Bundle = ""
		p = &whole
	}
	return p.Reading("record", r, from, limit)
}

// Reading reads the same as columns.
func (p *Plan) Reading(columns string, r *Range, from Row, limit int) string {
	text := fmt.Sprintf("SELECT %s FROM %s WHERE %s", columns, p.Table, p.visible(r.Is(), r, from))
	if limit == 0 {
		return text
	}
	blocks := ""
	if p.SmallBlocks {
		blocks = sql.SmallBlocks(limit)
	}
	return text + p.first(r, limit) + Settings(blocks, projection(r.Projection))
}

func (p *Plan) first(r *Range, limit int) string {
	return fmt.Sprintf(" ORDER BY %s LIMIT %d", p.KeyOrder(r), limit)
}

// Elsewhere is the condition of Reading in another table that has the same key, with
// its order and limit. What its rows have of a bundle is something else.
func (p *Plan) Elsewhere(r *Range, from Row, limit int) string {
	return p.notBefore(r.Is(), r, from).String() + p.first(r, limit)
}

// union reads up to limit rows of each of some ranges.
func (p *Plan) union(ranges []Range, from Row, limit int) string {
	statements := make([]string, len(ranges))
	for i := range ranges {
		if statements[i] = p.Statement(&ranges[i], from, limit); len(ranges) > 1 {
			statements[i] = "SELECT * FROM (" + statements[i] + ")"
		}
	}
	return strings.Join(statements, " UNION ALL ")
}

// together reads up to limit rows of each of many ranges that are alike, 0 for all;
// it is refused before it reads anything unless they are short.
func (p *Plan) together(ranges []Range, from Row, limit int) string {
	r := &ranges[0]
	among := sql.Among{Columns: r.Columns}
	for i := range ranges {
		among.Tuples = append(among.Tuples, ranges[i].Values)
	}
	c := p.visible(append(sql.Conditions{among}, r.Where...), r, from)
	text := fmt.Sprintf("SELECT %s FROM %s WHERE %s", p.Selected(r), p.Table, c)
	if limit > 0 {
		text += fmt.Sprintf(" ORDER BY %s LIMIT %d BY %s", p.KeyOrder(r), limit, strings.Join(r.Columns, ", "))
	}
	return text + Settings(fmt.Sprintf("max_rows_to_read = %d", len(ranges)*maxRangeRows), projection(cmp.Or(r.Together, r.Projection)))
}

// String prints the statements that begin to read the ranges: a line for each, but
// of many that are alike for the first only.
func (p *Plan) String() string {
	const limit = 32
	var b strings.Builder
	line := func(what, statement string) { fmt.Fprintf(&b, "  %s: %s\n", what, statement) }
	if p.Direct && len(p.Ranges) == 1 {
		line("records", p.Records(&p.Ranges[0], nil, limit))
	}
	for i := range p.Ranges {
		r := &p.Ranges[i]
		switch {
		case i > 0 && r.alike(&p.Ranges[i-1]):
		case p.Whole:
			line("whole", p.Statement(r, nil, 0))
		default:
			line("range", p.Statement(r, nil, limit))
		}
	}
	if len(p.Ranges) > MaxRanges {
		line("together", p.together(slices.DeleteFunc(slices.Clone(p.Ranges), func(r Range) bool { return !r.alike(&p.Ranges[0]) }), nil, limit))
	}
	return b.String()
}

// Run runs a statement that selects the columns of rows.
func (p *Plan) Run(ctx context.Context, r *reader.Reader, statement string) ([]Row, error) {
	return p.RunAs(ctx, r, p.Reads, statement)
}

// RunAs is Run of a statement that counts as something else.
func (p *Plan) RunAs(ctx context.Context, r *reader.Reader, reads, statement string) ([]Row, error) {
	var list []Row
	width := p.width()
	result := make(proto.Results, len(p.Columns))
	for i, c := range p.Columns {
		result[i] = proto.ResultColumn{Name: c.Name, Data: c.Type.column()}
	}
	err := r.Run(ctx, reads, statement, result, func(rows int) error {
		words := make([]uint64, rows*width)
		first := len(list)
		for i := range rows {
			list = append(list, words[i*width:(i+1)*width:(i+1)*width])
		}
		for i, c := range p.Columns {
			fill(list[first:], c.At, result[i].Data)
		}
		return nil
	})
	return list, err
}

func (t Type) column() proto.ColResult {
	switch t {
	case Uint32:
		return new(proto.ColUInt32)
	case Uint8:
		return new(proto.ColUInt8)
	case Int32:
		return new(proto.ColInt32)
	case Uint256:
		return new(proto.ColUInt256)
	case Bits256:
		return &proto.ColFixedStr{Size: len([32]byte{})}
	}
	return new(proto.ColUInt64)
}

// fill sets a column of rows.
func fill(rows []Row, at int, column proto.ColResult) {
	switch column := column.(type) {
	case *proto.ColUInt64:
		for i, r := range rows {
			r[at] = (*column)[i]
		}
	case *proto.ColUInt32:
		for i, r := range rows {
			r[at] = uint64((*column)[i])
		}
	case *proto.ColUInt8:
		for i, r := range rows {
			r[at] = uint64((*column)[i])
		}
	case *proto.ColInt32:
		for i, r := range rows {
			r[at] = Signed((*column)[i])
		}
	case *proto.ColUInt256:
		for i, r := range rows {
			n := &(*column)[i]
			r[at], r[at+1], r[at+2], r[at+3] = n.High.High, n.High.Low, n.Low.High, n.Low.Low
		}
	case *proto.ColFixedStr:
		for i, r := range rows {
			r.SetHash(at, column.Row(i))
		}
	}
}
