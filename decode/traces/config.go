package traces

import (
	"errors"
	"fmt"
	"time"

	"github.com/rs/zerolog"

	"tonscribe/internal/stage"
)

// Configuration of the component.
type Configuration struct {
	// Group is the consumer group; one member of it works, the others stand by.
	Group string `yaml:"group"`
	// Dir is the folder of the store. Empty is one in the data folder.
	Dir string `yaml:"dir"`
	// CacheBytes is the memory of the store's cache.
	CacheBytes int64 `yaml:"cache_bytes"`
	// ChunkBytes is the size of a record of many rows. It is part of what makes the
	// output of a bundle always the same.
	ChunkBytes int `yaml:"chunk_bytes"`
	// PublishBytes is how much output of finished bundles goes to the log at
	// once when there is a backlog.
	PublishBytes int `yaml:"publish_bytes"`
	// CommitEvery is the longest time between commits when there is a backlog.
	CommitEvery time.Duration `yaml:"commit_every"`
	// Handover keeps a topic of what changes in the store, so that a stand-by
	// takes over without the folder. An embedded log needs none.
	Handover bool `yaml:"handover"`
}

// DefaultConfiguration suits any machine.
func DefaultConfiguration() Configuration {
	return Configuration{
		Group:        "traces",
		CacheBytes:   64 << 20,
		ChunkBytes:   256 << 10,
		PublishBytes: 4 << 20,
		CommitEvery:  500 * time.Millisecond,
		Handover:     true,
	}
}

func (c Configuration) validate() error {
	switch {
	case c.Group == "":
		return errors.New("traces: group is empty")
	case c.Dir == "":
		return errors.New("traces: dir is empty")
	case c.PublishBytes < 1:
		return errors.New("traces: publish_bytes must be at least 1")
	case c.ChunkBytes < 1 || c.ChunkBytes > 8<<20:
		return fmt.Errorf("traces: chunk_bytes %d: must be between 1 and 8 MiB", c.ChunkBytes)
	}
	return nil
}

// layout is the version of what the store holds.
const layout = 1

func (c Configuration) store(log zerolog.Logger) stage.StoreOptions {
	return stage.StoreOptions{
		Dir: c.Dir, CacheBytes: c.CacheBytes, Version: layout, Log: log,
		Remedy: "stop, delete the folder " + c.Dir + " and start again; traces then takes the store from its topic where it has one, else reads the log again from its oldest bundle, and traces that began before are broken",
	}
}
