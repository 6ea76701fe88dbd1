// Package sql composes statements to ClickHouse out of parts.
//
// In: names of tables and columns, which are ours, and numbers and hashes, which
// may be a client's. Out: conditions as values, and text. It must never take a text
// of a client's.
package sql

import (
	"encoding/hex"
	"fmt"
	"math/big"
	"strconv"
	"strings"
)

// Name is a value of a column of named values.
type Name string

// Uint256 is a value of 256 bits, big endian.
type Uint256 [32]byte

// Bytes is a value of a FixedString: a hash, or an account id.
type Bytes []byte

// Literal writes a value: an integer, a Name, a Uint256 or Bytes.
func Literal(value any) string {
	switch v := value.(type) {
	case uint64:
		return strconv.FormatUint(v, 10)
	case Name:
		return "'" + string(v) + "'"
	case Uint256:
		return "toUInt256('" + new(big.Int).SetBytes(v[:]).String() + "')"
	case Bytes:
		return "unhex('" + hex.EncodeToString(v) + "')"
	}
	return fmt.Sprint(value)
}

// literals writes values.
func literals(values []any) []string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = Literal(v)
	}
	return texts
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

// Beside is a table in a subquery whose rows lie, on a cluster, in the shard of those that
// they are compared with, so that each shard looks into its own. It needs an alias there.
func Beside(table string) string { return table + " AS beside" }
