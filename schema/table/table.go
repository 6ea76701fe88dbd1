// Package table declares the ClickHouse tables that records are brought into,
// each once: its columns with their types, a sentence about each and how its value
// comes out of the record, and which rows a record has in it. In come records,
// out go rows: as columns to be inserted (Feed), one by one to whoever holds them
// in memory (Of.Each), or as words of 64 bits whose hashes are compared with those
// that ClickHouse computes (Of.Hash, Table.HashSQL).
//
// The files of schema/migrations make the tables and stay the truth about engines,
// codecs and projections; a test holds names, types, order and keys against them.
// The package must never import more than ton, schema and what lies in it.
package table

import (
	"cmp"
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"
)

// Table is a table, without its rows.
type Table struct {
	Name string
	// Doc says what a row is.
	Doc string
	// Key names the columns that tell rows apart, in the order in which rows lie.
	Key []string
	// Newest is the column whose greatest value counts among the rows of one key;
	// empty where they are all alike.
	Newest string
	// Last reports whether rows go in when those of the other tables are there.
	Last bool
	// Standalone reports whether a bundle's rows are the same whatever was decoded
	// before it. Those of other tables have states of accounts, of which blocks show
	// the difference from earlier ones, or what follows from these.
	Standalone bool
	// Internal reports whether it only leads to rows of other tables: the manual for
	// analysts leaves it out.
	Internal bool
	Columns  []Column
}

// Column is a column, without its values.
type Column struct {
	Name, Type, Doc string
	// Record reports whether it is the record that the others are made of. It is in
	// no hash.
	Record bool
	// Alias reports whether ClickHouse computes it of other columns.
	Alias bool
	// Aside reports whether it says nothing of what the row is made of: the pipeline
	// leaves it at its default, and it is in no hash.
	Aside bool
	// Signed reports whether its words are numbers that may be negative.
	Signed bool
	// words are the expressions for its words.
	words []string
	text  func([]uint64) string
	named map[string]int8 // of named values
}

// Of is a table that is filled from rows of type R.
type Of[R any] struct {
	Table
	columns []column[R]
	words   int // of a row
	// each hands out the table's rows for one row of the source; nil means that row
	// itself.
	each func(row R, add func(R))
}

type column[R any] struct {
	Column
	words  func(R) [4]uint64
	values func() values[R]
}

// col declares a column.
func col[R, V any](name string, t Type[V], doc string, value func(R) V) column[R] {
	c := column[R]{
		Column: Column{Name: name, Type: t.name, Doc: doc, Signed: t.signed, text: t.text, named: t.named},
		words:  func(row R) [4]uint64 { return t.words(value(row)) },
		values: func() values[R] { return &list[R, V]{value: value} },
	}
	n := 1
	if t.wide {
		n = 4
	}
	for i := range n {
		c.Column.words = append(c.Column.words, fmt.Sprintf(strings.ReplaceAll(t.expressions, "{at}", fmt.Sprint(8*i+1)), name))
	}
	return c
}

// recordCol declares the column with the record itself.
func recordCol[R any](doc string, value func(R) string) column[R] {
	c := col("record", String, doc, value)
	c.Record = true
	return c
}

// alias declares a column that ClickHouse computes of others when it is read: it is
// in hashes, and is not inserted.
func alias[R, V any](name string, t Type[V], doc string, value func(R) V) column[R] {
	c := col(name, t, doc, value)
	c.Alias = true
	return c
}

// aside declares a column that the pipeline leaves at its default.
func aside[R, V any](name string, t Type[V], doc string) column[R] {
	var none V
	c := col(name, t, doc, func(R) V { return none })
	c.Aside = true
	return c
}

// hashed reports whether the column is in hashes.
func (c *Column) hashed() bool { return !c.Record && !c.Aside }

// declare makes a table of its columns.
func declare[R any](t Table, each func(row R, add func(R)), lists ...[]column[R]) *Of[R] {
	of := &Of[R]{Table: t, columns: slices.Concat(lists...), each: each}
	for _, c := range of.columns {
		of.Columns = append(of.Columns, c.Column)
		if c.hashed() {
			of.words += len(c.Column.words)
		}
	}
	return of
}

// Each hands out the table's rows for one row of the source. A row is good until
// add returns: whoever keeps it copies it.
func (t *Of[R]) Each(row R, add func(R)) {
	if t.each == nil {
		add(row)
		return
	}
	t.each(row, add)
}

// Hash is the hash of a row, which HashSQL gives too.
func (t *Of[R]) Hash(row R) uint64 {
	h := seed
	for i := range t.columns {
		c := &t.columns[i]
		if !c.hashed() {
			continue
		}
		words := c.words(row)
		for _, w := range words[:len(c.Column.words)] {
			h = combine(h, intHash(w))
		}
	}
	return h
}

// Words are a row in words, without the record.
func (t *Of[R]) Words(row R) []uint64 {
	all := make([]uint64, 0, t.words)
	for i := range t.columns {
		if c := &t.columns[i]; c.hashed() {
			words := c.words(row)
			all = append(all, words[:len(c.Column.words)]...)
		}
	}
	return all
}

// seed is what the hash of a row begins with: that of the number 0.
var seed = intHash(0)

// intHash is ClickHouse's function intHash64, as which cityHash64 hashes integers.
func intHash(x uint64) uint64 {
	x ^= 0x4CF2D2BAAE6DA887
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}

// combine puts the hash of one more argument to those of the arguments before it, as
// ClickHouse's function cityHash64 does.
func combine(before, h uint64) uint64 {
	const multiplier = 0x9ddfea08eb382d69
	a := (before ^ h) * multiplier
	a ^= a >> 47
	b := (h ^ a) * multiplier
	b ^= b >> 47
	return b * multiplier
}

// HashOf is the hash of a row of words.
func HashOf(words ...uint64) uint64 {
	h := seed
	for _, w := range words {
		h = combine(h, intHash(w))
	}
	return h
}

// HashSQL is the expression for the hash of a row. ClickHouse plans one call of many arguments
// in half the time of as many calls within each other.
func (t *Table) HashSQL() string {
	return "cityHash64(0, " + strings.Join(t.WordsSQL(), ", ") + ")"
}

// WordsSQL are the expressions for the words of a row.
func (t *Table) WordsSQL() (list []string) {
	for _, c := range t.Columns {
		if c.hashed() {
			list = append(list, c.words...)
		}
	}
	return list
}

// Revised reports whether a row may be replaced by one of another revision that was made
// of more than the topics' records.
func (t *Table) Revised() bool { return t.Newest == Revision }

// KeySQL names the columns of the key.
func (t *Table) KeySQL() string { return strings.Join(t.Key, ", ") }

// Where writes the key of a row as a condition.
func (t *Table) Where(row []uint64) string {
	parts := make([]string, len(t.Key))
	t.eachColumn(row, func(c *Column, words []uint64) {
		if i := slices.Index(t.Key, c.Name); i >= 0 {
			parts[i] = c.Name + " = " + c.text(words)
		}
	})
	return strings.Join(parts, " AND ")
}

// Place is where a column's words lie in those of a row.
type Place struct {
	*Column
	At, Words int
}

// Place finds a column that is not the record.
func (t *Table) Place(column string) (p Place, ok bool) {
	for i := range t.Columns {
		c := &t.Columns[i]
		switch {
		case !c.hashed():
		case c.Name == column:
			return Place{c, p.At, len(c.words)}, true
		default:
			p.At += len(c.words)
		}
	}
	return Place{}, false
}

// WordsOf are the words of a value of the column: a truth value, an integer, the name of a named
// value, 32 bytes of a number, big endian, as an array, or those of a hash as a
// slice. It returns an error for what a column of its type cannot have.
func (c *Column) WordsOf(value any) ([]uint64, error) {
	switch v := reflect.ValueOf(value); {
	case v.Kind() == reflect.Bool && c.Type == Bool.name && v.Bool():
		return []uint64{1}, nil
	case v.Kind() == reflect.Bool && c.Type == Bool.name:
		return []uint64{0}, nil
	case v.CanUint() && len(c.words) == 1:
		return []uint64{v.Uint()}, nil
	case v.CanInt() && len(c.words) == 1:
		return []uint64{uint64(v.Int())}, nil
	case v.CanUint() && c.Type == UInt256.name:
		return []uint64{v.Uint(), 0, 0, 0}, nil
	case v.CanInt() && v.Int() >= 0 && c.Type == UInt256.name:
		return []uint64{uint64(v.Int()), 0, 0, 0}, nil
	case v.Kind() == reflect.String && c.named != nil:
		if n, ok := c.named[v.String()]; ok {
			return []uint64{uint64(int64(n))}, nil
		}
	case v.Kind() == reflect.String && len(c.words) == 1:
		return []uint64{xxhash.Sum64String(v.String())}, nil
	case v.Kind() == reflect.Array && v.Len() == 32 && c.Type == UInt256.name:
		b := v.Convert(reflect.TypeFor[[32]byte]()).Interface().([32]byte)
		w := wordsOfNumber(new(big.Int).SetBytes(b[:]))
		return w[:], nil
	case v.Kind() == reflect.Slice && v.Len() == 32 && c.Type == Hash.name:
		w := wordsOfHash(v.Bytes())
		return w[:], nil
	}
	return nil, fmt.Errorf("column %s of type %s has no value %v", c.Name, c.Type, value)
}

// Compare compares the words of two values of the column: numbers by their values,
// others in some order.
func (c *Column) Compare(a, b []uint64) int {
	if c.Signed {
		return cmp.Compare(int64(a[0]), int64(b[0]))
	}
	for i := len(a) - 1; i >= 0; i-- {
		if d := cmp.Compare(a[i], b[i]); d != 0 {
			return d
		}
	}
	return 0
}

// Word is the first word of a column of a row.
func (t *Table) Word(row []uint64, column string) (word uint64) {
	t.eachColumn(row, func(c *Column, words []uint64) {
		if c.Name == column {
			word = words[0]
		}
	})
	return word
}

// Text writes a whole row.
func (t *Table) Text(row []uint64) string {
	var parts []string
	t.eachColumn(row, func(c *Column, words []uint64) { parts = append(parts, c.Name+" "+c.text(words)) })
	return strings.Join(parts, ", ")
}

// Difference is the first column in which two rows differ, with both values; no
// name when they are equal.
func (t *Table) Difference(have, want []uint64) (name, haveText, wantText string) {
	at := 0
	t.eachColumn(have, func(c *Column, words []uint64) {
		other := want[at:][:len(words)]
		if at += len(words); name == "" && !slices.Equal(words, other) {
			name, haveText, wantText = c.Name, c.text(words), c.text(other)
		}
	})
	return name, haveText, wantText
}

func (t *Table) eachColumn(row []uint64, take func(c *Column, words []uint64)) {
	for i := range t.Columns {
		if c := &t.Columns[i]; c.hashed() {
			take(c, row[:len(c.words)])
			row = row[len(c.words):]
		}
	}
}

// Buffer is rows of one table, column by column.
type Buffer interface {
	Table() *Table
	// Rows is how many there are.
	Rows() int
	// Values are the values of the columns that are inserted: slices, of what the
	// driver maps to the column's type.
	Values() []Values
	Reset()
}

// Values are those of one column.
type Values struct {
	Column string
	Slice  any
}

// Rows is the Buffer of a table with rows of type R.
type Rows[R any] struct {
	of      *Of[R]
	columns []values[R]
	names   []string
	rows    int
	add     func(R)
}

// NewRows returns an empty buffer.
func NewRows[R any](of *Of[R]) *Rows[R] {
	b := &Rows[R]{of: of}
	for _, c := range of.columns {
		if !c.Alias && !c.Aside {
			b.columns, b.names = append(b.columns, c.values()), append(b.names, c.Name)
		}
	}
	b.add = b.addRow
	return b
}

// Add adds the table's rows for one row of the source.
func (b *Rows[R]) Add(row R) { b.of.Each(row, b.add) }

func (b *Rows[R]) addRow(row R) {
	for _, c := range b.columns {
		c.add(row)
	}
	b.rows++
}

// Table is part of Buffer.
func (b *Rows[R]) Table() *Table { return &b.of.Table }

// Rows is part of Buffer.
func (b *Rows[R]) Rows() int { return b.rows }

// Values is part of Buffer.
func (b *Rows[R]) Values() []Values {
	all := make([]Values, len(b.columns))
	for i, c := range b.columns {
		all[i] = Values{b.names[i], c.slice()}
	}
	return all
}

// Reset empties the buffer.
func (b *Rows[R]) Reset() {
	for _, c := range b.columns {
		c.reset()
	}
	b.rows = 0
}

// values are the values of one column.
type values[R any] interface {
	add(R)
	reset()
	slice() any
}

type list[R, V any] struct {
	value  func(R) V
	values []V
}

func (l *list[R, V]) add(row R)  { l.values = append(l.values, l.value(row)) }
func (l *list[R, V]) reset()     { clear(l.values); l.values = l.values[:0] }
func (l *list[R, V]) slice() any { return l.values }
