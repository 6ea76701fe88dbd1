package tail

import (
	"errors"
	"fmt"

	"tonscribe/schema/table"
)

// Configuration says what is followed and how much of it is held.
type Configuration struct {
	// Group is the consumer group that all sinks of the log share: where it has
	// committed tells about where following begins. Nothing is committed.
	Group string `yaml:"sink_group"`
	// MaxBytes bounds what is held; with 0 the log is not followed. A bundle that is
	// larger by itself is held alone.
	MaxBytes int `yaml:"head_bytes"`
	// Options are those that the sinks make rows with. Take is not used.
	Options table.Options `yaml:"-"`
}

// DefaultConfiguration leaves it to the tables to tell what is new.
func DefaultConfiguration() Configuration { return Configuration{Group: "sink"} }

// Validate returns an error for what cannot work.
func (c Configuration) Validate() error {
	switch {
	case c.Group == "":
		return errors.New("sink_group is empty")
	case c.MaxBytes != 0 && c.MaxBytes < 1<<20:
		return fmt.Errorf("head_bytes is %d, at least 1 MiB is needed, or 0 for none", c.MaxBytes)
	}
	return nil
}
