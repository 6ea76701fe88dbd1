// Package sql composes the text of statements to ClickHouse out of parts.
//
// In: names of tables and columns, which are ours, and numbers and hashes, which
// may be a client's. Out: text. It must never take a text of a client's.
package sql

import (
	"encoding/hex"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// Conditions are parts of a WHERE, all of which must hold.
type Conditions []string

// Add adds one.
func (c *Conditions) Add(format string, args ...any) {
	*c = append(*c, fmt.Sprintf(format, args...))
}

// Between adds a range of a column whose greatest value is top, both ends
// included.
func (c *Conditions) Between(column string, from, to, top uint64) {
	if from > 0 {
		c.Add("%s >= %d", column, min(from, top))
		if from > top {
			c.Add("0")
		}
	}
	if to < top {
		c.Add("%s <= %d", column, to)
	}
}

// With returns the conditions and some more.
func (c Conditions) With(more ...string) Conditions { return append(slices.Clip(c), more...) }

func (c Conditions) String() string {
	if len(c) == 0 {
		return "1"
	}
	return strings.Join(c, " AND ")
}

// IsNot is the condition that a column of truth values is false, in a form that
// ClickHouse makes nothing of: for NOT it would look at every granule of a range.
func IsNot(column string) string { return column + " + 0 = 0" }

// NotBefore is the condition that columns of a key do not lie before values in its
// order: the first by itself, which ClickHouse finds in a key by halving, then all
// of them. For comparisons joined by OR it would look at every granule of the
// table.
func NotBefore(descending bool, columns, values []string) string {
	sign := ">"
	if descending {
		sign = "<"
	}
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

// Direction is that of an ORDER BY.
func Direction(descending bool) string {
	if descending {
		return "DESC"
	}
	return "ASC"
}

// Order is an ORDER BY of columns in one direction.
func Order(descending bool, columns ...string) string {
	d := " " + Direction(descending)
	return strings.Join(columns, d+", ") + d
}

// SmallBlocks is the setting of a statement that reads a key in its order up to a
// limit. ClickHouse reads the granule that the range begins in, then whole blocks:
// when the rows wanted lie in the next granule, too, a block of the usual size is
// 65,536 rows.
func SmallBlocks(limit int) string {
	return fmt.Sprintf("max_block_size = %d", min(max(limit, 256), 65_536))
}

// NoProjections is the setting of a statement that reads a table with projections
// by its own key: ClickHouse then need not look which would do.
const NoProjections = "optimize_use_projections = 0"

// Projection is the setting of a statement that reads a projection.
func Projection(name string) string { return "preferred_optimize_projection_name = '" + name + "'" }

// Tuple joins values in brackets.
func Tuple(values ...string) string { return "(" + strings.Join(values, ",") + ")" }

// In is the condition that a column, or several, have one of some values, of which
// those of several columns are tuples.
func In(columns []string, values []string) string {
	name := columns[0]
	if len(columns) > 1 {
		name = "(" + strings.Join(columns, ", ") + ")"
	}
	return name + " IN (" + strings.Join(values, ",") + ")"
}

// Uints writes numbers.
func Uints(list []uint64) []string {
	texts := make([]string, len(list))
	for i, n := range list {
		texts[i] = strconv.FormatUint(n, 10)
	}
	return texts
}

// Uint256 writes a number of 256 bits, big endian.
func Uint256(n [32]byte) string {
	return "toUInt256('" + new(big.Int).SetBytes(n[:]).String() + "')"
}

// Hash writes a hash, or another FixedString.
func Hash(h []byte) string { return "unhex('" + hex.EncodeToString(h) + "')" }
