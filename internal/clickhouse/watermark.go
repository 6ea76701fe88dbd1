package clickhouse

import (
	"context"
	"errors"
	"fmt"

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
	lowest, missing := Watermark{MCSeqno: ^uint32(0)}, map[string]bool{}
	for _, topic := range schema.TableTopics {
		missing[topic.Name] = true
	}
	var (
		topic      string
		partitions uint16
		present    uint64
		w          Watermark
	)
	err := Each(ctx, conn, `SELECT topic, max(partitions), uniqExact(partition), min(newest.1), min(newest).2
		FROM (SELECT topic, partition, max(partitions) AS partitions, max((mc_seqno, gen_utime)) AS newest
			FROM progress GROUP BY topic, partition)
		GROUP BY topic`, nil, func() {
		if !missing[topic] || present < uint64(partitions) {
			return
		}
		delete(missing, topic)
		if w.MCSeqno < lowest.MCSeqno {
			lowest = w
		}
	}, &topic, &partitions, &present, &w.MCSeqno, &w.GenUtime)
	switch {
	case err != nil:
		return Watermark{}, err
	case len(missing) > 0:
		return Watermark{}, ErrNoWatermark
	}
	return lowest, nil
}

// ReadSealed is the bundle up to which all partitions that have seals have them.
func ReadSealed(ctx context.Context, conn driver.Conn) (mcSeqno uint32, err error) {
	err = conn.QueryRow(ctx, "SELECT toUInt32(min(newest)) FROM (SELECT max(mc_seqno) AS newest FROM seals GROUP BY topic, partition)").Scan(&mcSeqno)
	if err != nil {
		return 0, fmt.Errorf("read the newest seals: %w", err)
	}
	return mcSeqno, nil
}
