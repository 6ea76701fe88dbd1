// Package memory holds the rows that a bundle has in the tables, and finds them by
// the conditions of statements.
//
// In: rows in words, as schema/table makes them of the log's records. Out: those that
// conditions of query/sql hold for, which ClickHouse would give from its tables. The
// package must never read ClickHouse or the log.
package memory

import (
	"context"
	"iter"
	"slices"
	"sort"

	"tonscribe/query/sql"
	"tonscribe/schema/table"
)

// Bundles are some that follow each other.
type Bundles []*Bundle

// After are those of them that come after a bundle.
func (all Bundles) After(mcSeqno uint32) Bundles {
	return all[sort.Search(len(all), func(i int) bool { return all[i].MCSeqno > mcSeqno }):]
}

// UpTo are those of them that are no newer than a bundle.
func (all Bundles) UpTo(mcSeqno uint32) Bundles { return all[:len(all)-len(all.After(mcSeqno))] }

// Find are the rows of a table, by its name, that conditions hold for. It ends with
// what ended the context.
func (all Bundles) Find(ctx context.Context, name string, conditions sql.Conditions) ([]Row, error) {
	t := table.ByName(name)
	if t == nil || !slices.ContainsFunc(all, func(b *Bundle) bool { return b.tables[name] != nil }) {
		return nil, nil
	}
	m, err := Compile(t, conditions)
	if err != nil {
		return nil, err
	}
	var found []Row
	for _, b := range all {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		found = slices.AppendSeq(found, b.Find(t, m))
	}
	return found, nil
}

// Bundle is the rows of one bundle. It does not change once it is sorted.
type Bundle struct {
	MCSeqno uint32
	// PrevMCSeqno is the bundle before it, 0 for the first one.
	PrevMCSeqno uint32
	// GenUtime is the time of its masterchain block, in Unix seconds.
	GenUtime uint32
	tables   map[string]*rows
	bytes    int
}

// rows are those of one table.
type rows struct {
	key     []table.Place
	width   int
	words   []uint64 // of one row after the other
	sources []string
}

// keys are the columns of all tables' keys.
var keys = func() map[string][]table.Place {
	all := map[string][]table.Place{}
	for _, t := range table.All {
		for _, name := range t.Key {
			place, _ := t.Place(name)
			all[t.Name] = append(all[t.Name], place)
		}
	}
	return all
}()

// Row is a row of a table in words, and the record that it was made of.
type Row struct {
	Words  []uint64
	Source string
}

// rowOverhead is what a row takes besides its words: the head of its record.
const rowOverhead = 16

// NewBundle returns a bundle without rows.
func NewBundle(mcSeqno uint32) *Bundle {
	return &Bundle{MCSeqno: mcSeqno, tables: map[string]*rows{}}
}

// Add adds a row of a table. It copies the words and keeps the record.
func (b *Bundle) Add(t *table.Table, words []uint64, source string) {
	r := b.tables[t.Name]
	if r == nil {
		r = &rows{key: keys[t.Name], width: len(words)}
		b.tables[t.Name] = r
	}
	r.words, r.sources = append(r.words, words...), append(r.sources, source)
	b.bytes += 8*len(words) + rowOverhead
}

// AddBytes counts bytes of records that rows keep.
func (b *Bundle) AddBytes(bytes int) { b.bytes += bytes }

// Bytes is about what the bundle takes.
func (b *Bundle) Bytes() int { return b.bytes }

// Rows is how many rows there are, of all tables.
func (b *Bundle) Rows() (n int) {
	for _, r := range b.tables {
		n += len(r.sources)
	}
	return n
}

// Sort puts the rows in the order of the tables' keys. The bundle can be read then,
// by many at a time.
func (b *Bundle) Sort() {
	for _, r := range b.tables {
		r.sort()
	}
}

// Join returns the bundle whose rows are those of all parts, which are sorted and
// parts of the same bundle. It is sorted, too, and takes over what they have: they
// must not be used any more.
func Join(parts []*Bundle) *Bundle {
	whole := parts[0]
	mixed := map[*rows]bool{}
	for _, part := range parts[1:] {
		whole.bytes += part.bytes
		for name, r := range part.tables {
			if have := whole.tables[name]; have != nil {
				have.words, have.sources = append(have.words, r.words...), append(have.sources, r.sources...)
				mixed[have] = true
			} else {
				whole.tables[name] = r
			}
		}
	}
	for r := range mixed {
		r.sort()
	}
	return whole
}

func (r *rows) sort() {
	order := make([]int, len(r.sources))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return compare(r.key, r.row(i), r.row(j)) })
	words, sources := make([]uint64, 0, len(r.words)), make([]string, 0, len(r.sources))
	for _, i := range order {
		words, sources = append(words, r.row(i)...), append(sources, r.sources[i])
	}
	r.words, r.sources = words, sources
}

func (r *rows) row(i int) []uint64 { return r.words[i*r.width : (i+1)*r.width] }

// compare compares two rows by some columns.
func compare(columns []table.Place, a, b []uint64) int {
	for _, c := range columns {
		if d := c.Compare(a[c.At:c.At+c.Words], b[c.At:c.At+c.Words]); d != 0 {
			return d
		}
	}
	return 0
}

// All are all rows of a table, in the order of its key.
func (b *Bundle) All(t *table.Table) iter.Seq[Row] { return b.Find(t, &Matcher{}) }

// Find are the rows of a table that match, in the order of its key.
func (b *Bundle) Find(t *table.Table, m *Matcher) iter.Seq[Row] {
	return func(yield func(Row) bool) {
		r := b.tables[t.Name]
		if r == nil {
			return
		}
		n := len(r.sources)
		begin := sort.Search(n, func(i int) bool { return m.bounds.compare(r.row(i)) >= 0 })
		for i := begin; i < n && m.bounds.compare(r.row(i)) == 0; i++ {
			if row := r.row(i); m.holds(row) && !yield(Row{row, r.sources[i]}) {
				return
			}
		}
	}
}
