package clickhouse

import "fmt"

// Sealed is what the seals of a topic promise of a table.
type Sealed struct {
	Topic, Table string
	// Rows is how the table's rows are counted, Where which of them; empty is all.
	Rows, Where string
	// Partitions of the topic; 0 counts a bundle's rows without telling of which
	// partition they are.
	Partitions int
}

// Query is a statement of (mc_seqno, part, sealed, present), UInt32, UInt16 and
// twice UInt64, for the bundles from low to high: how many rows are promised and
// how many are there.
func (s Sealed) Query(low, high uint32) string {
	part, where := "toUInt16(0)", fmt.Sprintf("mc_seqno BETWEEN %d AND %d", low, high)
	if s.Partitions > 0 {
		part = fmt.Sprintf("toUInt16(bitShiftRight(bitShiftRight(account_prefix, 32) * %d, 32))", s.Partitions)
	}
	rows := where
	if s.Where != "" {
		rows += " AND " + s.Where
	}
	return fmt.Sprintf(`SELECT mc_seqno, part, max(promised) AS sealed, max(there) AS present FROM (
			SELECT mc_seqno, partition AS part, rows AS promised, toUInt64(0) AS there FROM seals WHERE topic = '%s' AND %s
			UNION ALL SELECT mc_seqno, %s AS part, toUInt64(0), toUInt64(%s) FROM %s WHERE %s GROUP BY mc_seqno, part)
		GROUP BY mc_seqno, part`, s.Topic, where, part, s.Rows, s.Table, rows)
}
