package sql

import (
	"fmt"
	"slices"
	"strings"
)

// Condition is a part of a WHERE: one of the types below.
type Condition interface {
	fmt.Stringer
	condition()
}

// Conditions are parts of a WHERE, all of which must hold.
type Conditions []Condition

// Add adds some.
func (c *Conditions) Add(more ...Condition) { *c = append(*c, more...) }

// Between adds a range of a column whose greatest value is top, both ends
// included.
func (c *Conditions) Between(column string, from, to, top uint64) {
	if from > 0 {
		c.Add(AtLeast(column, min(from, top)))
		if from > top {
			c.Add(Never{})
		}
	}
	if to < top {
		c.Add(AtMost(column, to))
	}
}

// With returns the conditions and some more.
func (c Conditions) With(more ...Condition) Conditions { return append(slices.Clip(c), more...) }

func (c Conditions) String() string {
	if len(c) == 0 {
		return "1"
	}
	texts := make([]string, len(c))
	for i, one := range c {
		texts[i] = one.String()
	}
	return strings.Join(texts, " AND ")
}

// Compare is the condition that a column compares to a value.
type Compare struct {
	Column, Sign string
	Value        any // see Literal
}

func (c Compare) String() string { return c.Column + " " + c.Sign + " " + Literal(c.Value) }

// Is is the condition that a column has a value.
func Is(column string, value any) Compare { return Compare{column, "=", value} }

// AtLeast is the condition that a column has a value or a greater one.
func AtLeast(column string, value any) Compare { return Compare{column, ">=", value} }

// AtMost is the condition that a column has a value or a smaller one.
func AtMost(column string, value any) Compare { return Compare{column, "<=", value} }

// Above is the condition that a column has a greater value.
func Above(column string, value any) Compare { return Compare{column, ">", value} }

// Among is the condition that columns have one of some values, which are tuples
// where there are several columns.
type Among struct {
	Columns []string
	Tuples  [][]any
}

// Any is the condition that a column has one of some values.
func Any[V any](column string, values []V) Among {
	c := Among{Columns: []string{column}, Tuples: make([][]any, len(values))}
	for i, v := range values {
		c.Tuples[i] = []any{v}
	}
	return c
}

// String compares a column whose values are all one by itself: of keys that begin with
// the same workchain, as most do, ClickHouse finds the granules in a third less time.
func (c Among) String() string {
	var conditions, columns []string
	rest := make([][]string, len(c.Tuples))
	for i, name := range c.Columns {
		values := make([]string, len(c.Tuples))
		for n, tuple := range c.Tuples {
			values[n] = Literal(tuple[i])
		}
		if len(values) > 0 && len(slices.Compact(slices.Clone(values))) == 1 {
			conditions = append(conditions, name+" = "+values[0])
			continue
		}
		columns = append(columns, name)
		for n := range rest {
			rest[n] = append(rest[n], values[n])
		}
	}
	if len(columns) > 0 {
		conditions = append(conditions, in(columns, "IN", rest))
	}
	return strings.Join(conditions, " AND ")
}

// in writes whether columns have one of some values, with a sign for it.
func in(columns []string, sign string, values [][]string) string {
	tuple := func(parts []string, between string) string {
		if len(parts) == 1 {
			return parts[0]
		}
		return "(" + strings.Join(parts, between) + ")"
	}
	texts := make([]string, len(values))
	for i, value := range values {
		texts[i] = tuple(value, ",")
	}
	return tuple(columns, ", ") + " " + sign + " (" + strings.Join(texts, ",") + ")"
}

// Except is the condition that columns have none of some values.
type Except Among

func (c Except) String() string {
	values := make([][]string, len(c.Tuples))
	for i, tuple := range c.Tuples {
		values[i] = literals(tuple)
	}
	return in(c.Columns, "NOT IN", values)
}

// Flag is the condition that a column of truth values has one.
type Flag struct {
	Column string
	Value  bool
}

// String writes that it is false in a form that ClickHouse makes nothing of: for NOT
// it would look at every granule of a range.
func (c Flag) String() string {
	if c.Value {
		return c.Column
	}
	return c.Column + " + 0 = 0"
}

// Never holds for no row.
type Never struct{}

func (Never) String() string { return "0" }

// Narrows is a condition that holds for every row that the others hold for: it only
// spares ClickHouse to look at rows.
type Narrows string

func (c Narrows) String() string { return string(c) }

// Text is a condition that only ClickHouse can tell.
type Text string

func (c Text) String() string { return string(c) }

// NotBefore is the condition that columns of a key do not lie before values in its
// order.
type NotBefore struct {
	Descending bool
	Columns    []string
	Values     []any
}

// String compares the first by itself, which ClickHouse finds in a key by halving,
// then all of them. For comparisons joined by OR it would look at every granule of
// the table.
func (c NotBefore) String() string {
	sign := ">"
	if c.Descending {
		sign = "<"
	}
	columns, values := c.Columns, literals(c.Values)
	last := len(columns) - 1
	condition := fmt.Sprintf("%s %s= %s", columns[last], sign, values[last])
	switch {
	case last == 0:
	case strings.HasSuffix(columns[0], "workchain"):
		// Hardly anything is before a workchain: all columns have to lead to the granule.
		for i := last - 1; i >= 0; i-- {
			condition = fmt.Sprintf("%[1]s %[2]s= %[3]s AND (%[1]s %[2]s %[3]s OR %[4]s)", columns[i], sign, values[i], condition)
		}
	default:
		condition = fmt.Sprintf("%[1]s %[2]s= %[3]s AND (%[4]s) %[2]s= (%[5]s)", columns[0], sign, values[0], strings.Join(columns, ", "), strings.Join(values, ", "))
	}
	return condition
}

func (Compare) condition()   {}
func (Among) condition()     {}
func (Except) condition()    {}
func (Flag) condition()      {}
func (Never) condition()     {}
func (Narrows) condition()   {}
func (Text) condition()      {}
func (NotBefore) condition() {}
