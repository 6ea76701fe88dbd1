package sink

import "tonscribe/internal/clickhouse"

// table declares a ClickHouse table that is filled from rows of type R: its
// name, its columns, and which rows it has.
type table[R any] struct {
	name    string
	columns []column[R]
	// last says that rows go in when those of the other tables are there.
	last bool
	// each hands out the table's rows for one row of the source; nil means that
	// row itself.
	each func(row R, add func(R))
}

// column declares one column.
type column[R any] func() cells[R]

// cells are the values of one column in a batch.
type cells[R any] interface {
	add(R)
	reset()
	column() clickhouse.Column
}

// col is a column whose values are computed from the row. V must be what the
// driver maps to the column's type without reflection (clickhouse.Column).
func col[R, V any](name string, value func(R) V) column[R] {
	return func() cells[R] { return &list[R, V]{name: name, value: value} }
}

type list[R, V any] struct {
	name   string
	value  func(R) V
	values []V
}

func (l *list[R, V]) add(row R) { l.values = append(l.values, l.value(row)) }
func (l *list[R, V]) reset()    { clear(l.values); l.values = l.values[:0] }
func (l *list[R, V]) column() clickhouse.Column {
	return clickhouse.Column{Name: l.name, Values: l.values}
}

// sheet is the rows of one table in a batch.
type sheet[R any] struct {
	table table[R]
	cells []cells[R]
	rows  int
}

func newSheets[R any](tables []table[R]) []*sheet[R] {
	sheets := make([]*sheet[R], len(tables))
	for i, t := range tables {
		s := &sheet[R]{table: t}
		for _, c := range t.columns {
			s.cells = append(s.cells, c())
		}
		sheets[i] = s
	}
	return sheets
}

func (s *sheet[R]) add(row R) {
	if s.table.each == nil {
		s.addRow(row)
		return
	}
	s.table.each(row, s.addRow)
}

func (s *sheet[R]) addRow(row R) {
	for _, c := range s.cells {
		c.add(row)
	}
	s.rows++
}

func (s *sheet[R]) reset() {
	for _, c := range s.cells {
		c.reset()
	}
	s.rows = 0
}

func (s *sheet[R]) size() int { return s.rows }

func (s *sheet[R]) tableName() string { return s.table.name }

func (s *sheet[R]) last() bool { return s.table.last }

func (s *sheet[R]) insert(token string) clickhouse.Insert {
	insert := clickhouse.Insert{Table: s.table.name, Token: token}
	for _, c := range s.cells {
		insert.Columns = append(insert.Columns, c.column())
	}
	return insert
}

// page is a sheet of any row type.
type page interface {
	// tableName is that of the table it has rows of.
	tableName() string
	size() int
	// last says that it goes in when the others are there.
	last() bool
	insert(token string) clickhouse.Insert
	reset()
}
