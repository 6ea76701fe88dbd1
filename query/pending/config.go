package pending

import (
	"fmt"
	"time"

	cascade "tonscribe/decode/pending"
)

// Configuration of the component.
type Configuration struct {
	// Enabled shows what messages that were sent will do.
	Enabled bool `yaml:"enabled"`
	// Workers is how many messages are worked out at a time, and how many processes
	// execute their transactions.
	Workers int `yaml:"workers"`
	// Queue is how many messages may wait for that.
	Queue int `yaml:"queue"`
	// Keep is how long a trace is shown that does not come.
	Keep time.Duration `yaml:"keep"`
	// MaxTraces and MaxBytes bound the traces that are held.
	MaxTraces int `yaml:"max_traces"`
	MaxBytes  int `yaml:"max_bytes"`
	// MaxPerAccount bounds those that begin at one account.
	MaxPerAccount int `yaml:"max_per_account"`
	// Limits bound what one message may cost.
	Limits cascade.Limits `yaml:",inline"`
}

// DefaultConfiguration suits any machine.
func DefaultConfiguration() Configuration {
	return Configuration{
		Enabled: true, Workers: 1, Queue: 1000, Keep: 10 * time.Minute,
		MaxTraces: 10_000, MaxBytes: 64 << 20, MaxPerAccount: 64, Limits: cascade.DefaultLimits(),
	}
}

// Validate names the first value that makes no sense.
func (c Configuration) Validate() error {
	switch {
	case c.Workers < 1 || c.Workers > 64:
		return fmt.Errorf("pending: workers %d: want 1 to 64", c.Workers)
	case c.Queue < 1:
		return fmt.Errorf("pending: queue %d: want 1 at least", c.Queue)
	case c.Keep < time.Second || c.Keep > time.Hour:
		return fmt.Errorf("pending: keep %s: want 1s to 1h", c.Keep)
	case c.MaxTraces < 1:
		return fmt.Errorf("pending: max_traces %d: want 1 at least", c.MaxTraces)
	case c.MaxBytes < 1<<20:
		return fmt.Errorf("pending: max_bytes %d: want 1 MiB at least", c.MaxBytes)
	case c.MaxPerAccount < 1:
		return fmt.Errorf("pending: max_per_account %d: want 1 at least", c.MaxPerAccount)
	}
	if err := c.Limits.Validate(); err != nil {
		return fmt.Errorf("pending: %w", err)
	}
	return nil
}
