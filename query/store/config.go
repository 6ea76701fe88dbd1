package store

import (
	"errors"
	"fmt"
	"time"

	"tonscribe/query/head"
	"tonscribe/query/reader"
)

// Configuration says how ClickHouse is read and how much is held in memory.
type Configuration struct {
	reader.Configuration `yaml:",inline"`
	// MaxOffset is the largest offset of a page. What lies deeper is reached by
	// cursor.
	MaxOffset int `yaml:"max_offset"`
	// Poll is how often the watermark is read.
	Poll time.Duration `yaml:"poll"`
	// Wake says that the watermark may have moved, where the sink is in the same
	// process: nobody then waits for the next poll. May be nil.
	Wake <-chan struct{} `yaml:"-"`
	// Head bounds what is held of the newest bundles.
	Head head.Configuration `yaml:",inline"`
	// CacheBytes bounds what is held of rows that are asked for again: states of
	// accounts, what contracts are, codes and names; 0 holds none.
	CacheBytes int `yaml:"cache_bytes"`
}

// DefaultConfiguration fits a small machine.
func DefaultConfiguration() Configuration {
	return Configuration{
		Configuration: reader.Configuration{Connections: 16, ClientConnections: 8, ScanBytes: 4 << 20}, Head: head.Configuration{TransactionBytes: 64 << 20, BlockBytes: 64 << 20},
		MaxOffset: 100_000, Poll: 75 * time.Millisecond, CacheBytes: 128 << 20,
	}
}

func (c Configuration) validate() error {
	if err := errors.Join(c.Configuration.Validate(), c.Head.Validate()); err != nil {
		return err
	}
	switch {
	case c.MaxOffset < 0:
		return fmt.Errorf("max_offset is %d, it may not be negative", c.MaxOffset)
	case c.Poll < time.Millisecond:
		return fmt.Errorf("poll is %s, at least 1ms is needed", c.Poll)
	case c.CacheBytes < 0:
		return fmt.Errorf("cache_bytes is %d, it may not be negative", c.CacheBytes)
	}
	return nil
}
