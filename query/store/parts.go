package store

import (
	"context"
	"fmt"
	"time"

	"github.com/ClickHouse/ch-go/proto"
)

const (
	// partsAge is how often parts are counted.
	partsAge = 5 * time.Second
	// partRows and partBytes are how much further a request and a statement that
	// looks for keys may go for each part of the table that has most of them: each
	// part is read by granules of its own, so that many parts make any page dear
	// until they are merged.
	partRows, partBytes = 4096, 128 << 10
)

// countParts keeps in mind how many parts the table has that has most of them.
// Only the follower calls it.
func (s *Store) countParts(ctx context.Context) error {
	if time.Since(s.partsRead) < partsAge {
		return nil
	}
	s.partsRead = time.Now()
	limited, cancel := context.WithTimeout(ctx, followLimit)
	defer cancel()
	var most proto.ColUInt64
	const statement = "SELECT max(parts) AS parts FROM (SELECT count() AS parts FROM system.parts WHERE active AND database = currentDatabase() GROUP BY table)"
	err := s.run(limited, "parts", statement, proto.Results{{Name: "parts", Data: &most}}, func(rows int) error {
		if rows > 0 {
			s.parts.Store(int64(most[0]))
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("count parts, which wants the grant SELECT ON system.parts: %w", err)
	}
	return nil
}
