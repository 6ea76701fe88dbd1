package worker

import (
	"errors"
	"fmt"
	"runtime"
	"time"

	"tonscribe/decode/cellstore"
	"tonscribe/internal/retry"
)

// Configuration of the component.
type Configuration struct {
	// Group is the consumer group; members of it share the partitions.
	Group string `yaml:"group"`
	// Decoders is how many blocks are decoded at the same time.
	Decoders int `yaml:"decoders"`
	// MaxBytes bounds, per partition, the raw blocks that are being decoded or
	// published; one bundle may exceed it.
	MaxBytes int64 `yaml:"max_bytes"`
	// MaxBundles bounds, per partition, the bundles of these.
	MaxBundles int `yaml:"max_bundles"`
	// ChunkBytes is the size of a record of many transactions. It is part of
	// what makes the output of a bundle always the same: do not change it while
	// a topic is in use.
	ChunkBytes int `yaml:"chunk_bytes"`
	// PublishBytes is how much output of finished bundles goes to the log at
	// once when there is a backlog.
	PublishBytes int `yaml:"publish_bytes"`
	// CommitEvery is the longest time between commits when there is a backlog.
	CommitEvery time.Duration `yaml:"commit_every"`
	// Cells is the store of the accounts' cells.
	Cells cellstore.Configuration `yaml:"cells"`
	// Zerostates are folders with the states that workchains begin with; those
	// beside a source of files are found without.
	Zerostates []string `yaml:"zerostates"`
	// Fetch is how lite servers are asked for states, for each partition.
	Fetch retry.Configuration `yaml:"fetch"`
}

// DefaultConfiguration suits any machine.
func DefaultConfiguration() Configuration {
	return Configuration{
		Group:        "decode",
		Decoders:     runtime.GOMAXPROCS(0),
		MaxBytes:     16 << 20,
		MaxBundles:   1024,
		ChunkBytes:   256 << 10,
		PublishBytes: 8 << 20,
		CommitEvery:  100 * time.Millisecond,
		Cells:        cellstore.DefaultConfiguration(),
		Fetch:        retry.DefaultConfiguration(),
	}
}

// Bounds of what has its room from the start.
const (
	maxDecoders = 10_000
	maxBundles  = 1_000_000
)

func (c Configuration) validate() error {
	if c.Group == "" {
		return errors.New("decode: group is empty")
	}
	if c.Decoders < 1 || c.MaxBytes < 1 || c.MaxBundles < 1 || c.PublishBytes < 1 {
		return errors.New("decode: decoders, max_bytes, max_bundles and publish_bytes must be at least 1")
	}
	if c.CommitEvery < 0 {
		return errors.New("decode: commit_every may not be negative")
	}
	if c.Decoders > maxDecoders || c.MaxBundles > maxBundles {
		return fmt.Errorf("decode: decoders %d and max_bundles %d: at most %d and %d", c.Decoders, c.MaxBundles, maxDecoders, maxBundles)
	}
	if c.ChunkBytes < 1 || c.ChunkBytes > 8<<20 {
		return fmt.Errorf("decode: chunk_bytes %d: must be between 1 and 8 MiB", c.ChunkBytes)
	}
	if err := c.Fetch.Validate(); err != nil {
		return fmt.Errorf("decode: %w", err)
	}
	return nil
}
