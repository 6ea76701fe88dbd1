package paging

import (
	"context"
	"fmt"
	"slices"

	"tonscribe/query/list/plan"
	"tonscribe/query/reader"
)

// ReadRecords reads records by a statement from ClickHouse, and adds those that are
// held in memory.
func ReadRecords[R any](ctx context.Context, s plan.Source, reads, statement string, held []string, unpack func([]byte) (R, error)) ([]R, error) {
	list, err := reader.Records(ctx, s.Tables, reads, statement, unpack)
	if err != nil {
		return nil, err
	}
	more, err := UnpackAll(held, unpack)
	return append(list, more...), err
}

// UnpackAll reads records that are held in memory.
func UnpackAll[R any](held []string, unpack func([]byte) (R, error)) ([]R, error) {
	list := make([]R, len(held))
	for i, record := range held {
		reader.Yield(i)
		var err error
		if list[i], err = unpack([]byte(record)); err != nil {
			return nil, fmt.Errorf("record in memory: %w", err)
		}
	}
	return list, nil
}

// InChunks reads what keys lead to, some of them at a time.
func InChunks[K, R any](ctx context.Context, keys []K, read func(context.Context, []K) ([]R, error)) ([]R, error) {
	return reader.Gather(ctx, slices.Collect(slices.Chunk(keys, reader.MaxNamed)), read)
}
