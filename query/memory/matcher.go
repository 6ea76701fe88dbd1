package memory

import (
	"fmt"
	"slices"

	"tonscribe/query/sql"
	"tonscribe/schema/table"
)

// Matcher tells for which rows of a table conditions hold.
type Matcher struct {
	bounds prefix
	tests  []test
}

type test func(row []uint64) bool

// prefix are values of the first columns of a table's key.
type prefix []equal

type equal struct {
	table.Place
	words []uint64
}

// compare compares a row with the values.
func (p prefix) compare(row []uint64) int {
	for i := range p {
		e := &p[i]
		if d := e.Compare(row[e.At:e.At+e.Words], e.words); d != 0 {
			return d
		}
	}
	return 0
}

func (m *Matcher) holds(row []uint64) bool {
	for _, t := range m.tests {
		if !t(row) {
			return false
		}
	}
	return true
}

// maxTuple is how many words the values of one sql.Among have.
const maxTuple = 4

// Compile returns the matcher of conditions on a table. It returns an error for
// conditions that only ClickHouse can tell, and for columns and values that the table
// has not.
func Compile(t *table.Table, conditions sql.Conditions) (*Matcher, error) {
	m := &Matcher{}
	equals := map[string]equal{}
	for _, condition := range conditions {
		made, err := compile(t, condition, equals)
		if err != nil {
			return nil, fmt.Errorf("condition %s on rows of %s in memory: %w", condition, t.Name, err)
		}
		if made != nil {
			m.tests = append(m.tests, made)
		}
	}
	for _, column := range t.Key {
		e, ok := equals[column]
		if !ok {
			break
		}
		m.bounds = append(m.bounds, e)
	}
	return m, nil
}

func compile(t *table.Table, condition sql.Condition, equals map[string]equal) (test, error) {
	switch c := condition.(type) {
	case sql.Narrows:
		return nil, nil
	case sql.Never:
		return func([]uint64) bool { return false }, nil
	case sql.Flag:
		e, err := valueOf(t, c.Column, c.Value)
		return func(row []uint64) bool { return row[e.At] == e.words[0] }, err
	case sql.Compare:
		e, err := valueOf(t, c.Column, c.Value)
		if err != nil {
			return nil, err
		}
		wanted, ok := signs[c.Sign]
		if !ok {
			return nil, fmt.Errorf("sign %s", c.Sign)
		}
		if c.Sign == "=" {
			equals[c.Column] = e
		}
		return func(row []uint64) bool { return wanted(e.Compare(row[e.At:e.At+e.Words], e.words)) }, nil
	case sql.Among:
		return among(t, c)
	case sql.NotBefore:
		return notBefore(t, c)
	}
	return nil, fmt.Errorf("a condition of type %T", condition)
}

// signs tell what a comparison has to give.
var signs = map[string]func(int) bool{
	"=":  func(d int) bool { return d == 0 },
	">=": func(d int) bool { return d >= 0 },
	"<=": func(d int) bool { return d <= 0 },
	">":  func(d int) bool { return d > 0 },
	"<":  func(d int) bool { return d < 0 },
}

func valueOf(t *table.Table, column string, value any) (equal, error) {
	place, ok := t.Place(column)
	if !ok {
		return equal{}, fmt.Errorf("no column %s", column)
	}
	words, err := place.WordsOf(value)
	return equal{place, words}, err
}

// among looks tuples up in a set of their words.
func among(t *table.Table, c sql.Among) (test, error) {
	places := make([]table.Place, len(c.Columns))
	width := 0
	for i, name := range c.Columns {
		place, ok := t.Place(name)
		if !ok {
			return nil, fmt.Errorf("no column %s", name)
		}
		places[i] = place
		width += place.Words
	}
	if width > maxTuple {
		return nil, fmt.Errorf("values of %d words", width)
	}
	set := make(map[[maxTuple]uint64]struct{}, len(c.Tuples))
	for _, tuple := range c.Tuples {
		var key [maxTuple]uint64
		at := 0
		for i := range places {
			words, err := places[i].WordsOf(tuple[i])
			if err != nil {
				return nil, err
			}
			at += copy(key[at:], words)
		}
		set[key] = struct{}{}
	}
	return func(row []uint64) bool {
		var key [maxTuple]uint64
		at := 0
		for i := range places {
			at += copy(key[at:], row[places[i].At:places[i].At+places[i].Words])
		}
		_, in := set[key]
		return in
	}, nil
}

func notBefore(t *table.Table, c sql.NotBefore) (test, error) {
	var begin prefix
	for i := range c.Columns {
		e, err := valueOf(t, c.Columns[i], c.Values[i])
		if err != nil {
			return nil, err
		}
		begin = append(begin, e)
	}
	begin = slices.Clip(begin)
	return func(row []uint64) bool {
		if d := begin.compare(row); c.Descending {
			return d <= 0
		} else {
			return d >= 0
		}
	}, nil
}
