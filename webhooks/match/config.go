package match

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
	// Ticker is what the native coin is called in webhooks.
	Ticker string `yaml:"-"`
}

// DefaultConfiguration suits any machine.
func DefaultConfiguration() Configuration {
	return Configuration{
		Group:        "webhooks-match",
		CacheBytes:   8 << 20,
		ChunkBytes:   256 << 10,
		PublishBytes: 1 << 20,
		CommitEvery:  500 * time.Millisecond,
		Handover:     true,
		Ticker:       "TON",
	}
}

func (c Configuration) validate() error {
	switch {
	case c.Group == "":
		return errors.New("webhooks.match: group is empty")
	case c.Dir == "":
		return errors.New("webhooks.match: dir is empty")
	case c.PublishBytes < 1:
		return errors.New("webhooks.match: publish_bytes must be at least 1")
	case c.ChunkBytes < 1 || c.ChunkBytes > 8<<20:
		return fmt.Errorf("webhooks.match: chunk_bytes %d: must be between 1 and 8 MiB", c.ChunkBytes)
	case c.Ticker == "" || len(c.Ticker) > 20:
		return fmt.Errorf("webhooks.match: ticker %q: want 1 to 20 characters", c.Ticker)
	}
	return nil
}

// layout is the version of what the store holds.
const layout = 1

func (c Configuration) store(log zerolog.Logger) stage.StoreOptions {
	return stage.StoreOptions{
		Dir: c.Dir, CacheBytes: c.CacheBytes, Version: layout, Log: log,
		Remedy: "stop, delete the folder " + c.Dir + " and start again; the store is then taken from its topic where it has one, else the log is read again from its oldest bundle",
	}
}
