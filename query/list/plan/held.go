package plan

import (
	"context"
	"fmt"
	"math/bits"
	"slices"

	"tonscribe/query/memory"
	"tonscribe/query/reader"
	"tonscribe/query/sql"
	"tonscribe/schema/table"
)

// Source is where rows are: in the tables up to a bundle, and in memory those of the
// bundles after it.
type Source struct {
	Tables *reader.Reader
	Memory memory.Bundles
}

// Read runs a statement that reads some ranges, and adds the rows that these have in
// memory.
func (p *Plan) Read(ctx context.Context, s Source, statement string, from Row, ranges ...Range) ([]Row, error) {
	list, err := p.Run(ctx, s.Tables, statement)
	if err != nil {
		return nil, err
	}
	for i := range ranges {
		held, err := p.held(ctx, s.Memory, &ranges[i], from)
		if err != nil {
			return nil, err
		}
		list = append(list, held...)
	}
	return list, nil
}

// First reads the first row of a range, if there is one.
func (p *Plan) First(ctx context.Context, s Source, r *Range) ([]Row, error) {
	rows, err := p.Read(ctx, s, p.Statement(r, nil, 1), nil, *r)
	slices.SortFunc(rows, p.Compare)
	return rows[:min(1, len(rows))], err
}

// Held are the rows of a range in memory.
func (p *Plan) Held(ctx context.Context, s Source, r *Range) ([]Row, error) {
	return p.held(ctx, s.Memory, r, nil)
}

// held are the rows of a range in memory, from the group of a row on.
func (p *Plan) held(ctx context.Context, bundles memory.Bundles, r *Range, from Row) ([]Row, error) {
	found, err := bundles.Find(ctx, p.Table, p.notBefore(r.Is(), r, from))
	if err != nil || len(found) == 0 {
		return nil, err
	}
	copies, err := p.copies(r)
	if err != nil {
		return nil, err
	}
	width := p.width()
	words := make([]uint64, len(found)*width)
	rows := make([]Row, len(found))
	for i, f := range found {
		rows[i] = words[i*width : (i+1)*width : (i+1)*width]
		for _, c := range copies {
			c(rows[i], f.Words)
		}
	}
	return rows, nil
}

// copies bring columns of the table into rows.
func (p *Plan) copies(r *Range) (list []func(to Row, words []uint64), err error) {
	t := table.ByName(p.Table)
	packed := slices.IndexFunc(p.Seek, func(c Column) bool { return c.Type == Packed })
	for _, c := range p.Columns {
		name := c.KeyColumn()
		switch {
		case c.OfRange > 0:
			name = r.Columns[c.OfRange-1]
		case packed >= 0 && c.At >= p.Seek[packed].At && c.At < p.Seek[packed].At+c.Type.words()+1 && c.Key == "":
			c = p.Seek[packed]
			name = c.Key
		}
		place, ok := t.Place(name)
		if !ok {
			return nil, fmt.Errorf("rows of %s in memory have no column %s", p.Table, name)
		}
		list = append(list, copyOf(c, place))
	}
	return list, nil
}

func copyOf(c Column, from table.Place) func(to Row, words []uint64) {
	switch c.Type {
	case Int32:
		return func(to Row, words []uint64) { to[c.At] = Signed(int32(words[from.At])) }
	case Uint256:
		return func(to Row, words []uint64) {
			for i := range 4 {
				to[c.At+i] = words[from.At+3-i]
			}
		}
	case Bits256:
		return func(to Row, words []uint64) {
			for i := range 4 {
				to[c.At+i] = bits.ReverseBytes64(words[from.At+i])
			}
		}
	case Packed:
		return func(to Row, words []uint64) { to[c.At], to[c.At+1] = words[from.At]>>32, words[from.At]&(1<<32-1) }
	}
	return func(to Row, words []uint64) { to[c.At] = words[from.At] }
}

// HeldRecords are the records of the rows that a range has in memory, from the group
// of a row on.
func (p *Plan) HeldRecords(ctx context.Context, bundles memory.Bundles, r *Range, from Row) ([]string, error) {
	return Records(ctx, bundles, p.Table, p.notBefore(r.Is(), r, from))
}

// Records are those of the rows of a table in memory that conditions hold for.
func Records(ctx context.Context, bundles memory.Bundles, table string, c sql.Conditions) ([]string, error) {
	found, err := bundles.Find(ctx, table, c)
	records := make([]string, len(found))
	for i := range found {
		records[i] = found[i].Source
	}
	return records, err
}
