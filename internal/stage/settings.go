package stage

import (
	"errors"
	"fmt"
	"time"

	"github.com/rs/zerolog"
)

// Settings are those that every stage of this frame has in the program's configuration.
type Settings struct {
	// Group is the consumer group; one member of it works, the others stand by.
	Group string `yaml:"group"`
	// Dir is the folder of the store. It belongs to the group: the member that works must
	// have the one that was written last, or the topic of its changes. Empty is one in the
	// data folder.
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

// DefaultSettings suit any machine.
func DefaultSettings(group string) Settings {
	return Settings{
		Group:        group,
		CacheBytes:   64 << 20,
		ChunkBytes:   256 << 10,
		PublishBytes: 4 << 20,
		CommitEvery:  500 * time.Millisecond,
		Handover:     true,
	}
}

// Validate returns an error that names the part of the configuration.
func (s Settings) Validate(part string) error {
	switch {
	case s.Group == "":
		return errors.New(part + ": group is empty")
	case s.Dir == "":
		return errors.New(part + ": dir is empty")
	case s.CacheBytes < 0 || s.CommitEvery < 0:
		return errors.New(part + ": cache_bytes and commit_every may not be negative")
	case s.PublishBytes < 1:
		return errors.New(part + ": publish_bytes must be at least 1")
	case s.ChunkBytes < 1 || s.ChunkBytes > 8<<20:
		return fmt.Errorf("%s: chunk_bytes %d: must be between 1 and 8 MiB", part, s.ChunkBytes)
	}
	return nil
}

// Store is where the store lies. lost is what becomes of it when its folder is deleted.
func (s Settings) Store(version byte, lost string, log zerolog.Logger) StoreOptions {
	return StoreOptions{Dir: s.Dir, CacheBytes: s.CacheBytes, Version: version, Log: log, Remedy: "stop, delete the folder " + s.Dir + " and start again; " + lost}
}
