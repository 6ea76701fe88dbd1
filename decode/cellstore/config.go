package cellstore

import "errors"

// Configuration of a Store.
type Configuration struct {
	// Dir is the folder of the cells, for one process. Without one there is no
	// store, and the BoCs of code and data that a block does not show are null.
	Dir string `yaml:"dir"`
	// MaxBytes is what both generations take on disk, about.
	MaxBytes int64 `yaml:"max_bytes"`
	// CacheBytes is what is held in memory.
	CacheBytes int64 `yaml:"cache_bytes"`
}

// DefaultConfiguration has room for a hundred million changes of accounts.
func DefaultConfiguration() Configuration {
	return Configuration{MaxBytes: 32 << 30, CacheBytes: 32 << 20}
}

func (c Configuration) validate() error {
	switch {
	case c.Dir == "":
		return errors.New("cells: dir is empty")
	case c.MaxBytes < 1<<20:
		return errors.New("cells: max_bytes must be at least 1 MiB")
	case c.CacheBytes < 1<<20:
		return errors.New("cells: cache_bytes must be at least 1 MiB")
	}
	return nil
}
