package clickhouse

import (
	"context"
	"errors"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"tonscribe/schema"
)

// ErrNoWatermark says that no bundle is complete in all tables yet.
var ErrNoWatermark = errors.New("no bundle is complete in all tables yet")

// Watermark is the newest masterchain block whose bundle, and every one before
// it, is in all tables.
type Watermark struct {
	MCSeqno  uint32
	GenUtime uint32
}

// ReadWatermark is the smallest progress over all partitions of all topics that
// have tables. Until each of them has some, it is ErrNoWatermark.
func ReadWatermark(ctx context.Context, conn driver.Conn) (Watermark, error) {
	rows, err := conn.Query(ctx, `SELECT topic, max(partitions), uniqExact(partition), min(newest.1), min(newest).2
		FROM (SELECT topic, partition, max(partitions) AS partitions, max((mc_seqno, gen_utime)) AS newest
			FROM progress GROUP BY topic, partition)
		GROUP BY topic`)
	if err != nil {
		return Watermark{}, err
	}
	defer rows.Close()
	lowest, missing := Watermark{MCSeqno: ^uint32(0)}, topicsWithTables()
	for rows.Next() {
		var topic string
		var partitions uint16
		var present uint64
		var w Watermark
		if err := rows.Scan(&topic, &partitions, &present, &w.MCSeqno, &w.GenUtime); err != nil {
			return Watermark{}, err
		}
		if !missing[topic] || present < uint64(partitions) {
			continue
		}
		delete(missing, topic)
		if w.MCSeqno < lowest.MCSeqno {
			lowest = w
		}
	}
	switch {
	case rows.Err() != nil:
		return Watermark{}, rows.Err()
	case len(missing) > 0:
		return Watermark{}, ErrNoWatermark
	}
	return lowest, nil
}

func topicsWithTables() map[string]bool {
	names := map[string]bool{}
	for _, topic := range schema.Topics {
		if topic.Table {
			names[topic.Name] = true
		}
	}
	return names
}
