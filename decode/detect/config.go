package detect

import (
	"errors"
	"fmt"
	"time"

	"tonscribe/decode/contract"
	"tonscribe/internal/retry"
)

// Configuration of the component.
type Configuration struct {
	// Group is the consumer group; one member of it works, the others stand by.
	Group string `yaml:"group"`
	// Dir is the folder of the store. It belongs to the group: the member that
	// works must have the one that was written last. Empty is one in the data
	// folder.
	Dir string `yaml:"dir"`
	// CacheBytes is the memory of the store's cache.
	CacheBytes int64 `yaml:"cache_bytes"`
	// RunGas bounds a run of a get-method, AccountGas all runs for one account.
	// They are part of what makes the output of a bundle always the same.
	RunGas     int64 `yaml:"run_gas"`
	AccountGas int64 `yaml:"account_gas"`
	// Retries is how many claims whose parent has appeared are checked in one
	// bundle; the rest follows in the next ones. It is part of the output too.
	Retries int `yaml:"retries"`
	// ChunkBytes is the size of a record of many rows, part of the output too.
	ChunkBytes int `yaml:"chunk_bytes"`
	// PublishBytes is how much output of finished bundles goes to the log at
	// once when there is a backlog.
	PublishBytes int `yaml:"publish_bytes"`
	// CommitEvery is the longest time between commits when there is a backlog.
	CommitEvery time.Duration `yaml:"commit_every"`
	// Handover keeps a topic of what changes in the store, so that a stand-by
	// takes over without the folder. An embedded log needs none.
	Handover bool `yaml:"handover"`
	// Fetch is how lite servers are asked for what the blocks do not show.
	Fetch retry.Configuration `yaml:"fetch"`
	// Zones are the collections whose items are names, by raw address: the zone
	// that is added to the label ("ton"), or nothing where an item knows its
	// whole name. Those of mainnet and testnet, and the zone ton of the root that
	// the config names, are known besides.
	Zones map[string]string `yaml:"zones"`
}

// DefaultConfiguration suits any machine.
func DefaultConfiguration() Configuration {
	limits := contract.DefaultLimits()
	return Configuration{
		Group:        "contracts",
		CacheBytes:   64 << 20,
		RunGas:       limits.RunGas,
		AccountGas:   limits.AccountGas,
		Retries:      2000,
		ChunkBytes:   256 << 10,
		PublishBytes: 4 << 20,
		CommitEvery:  500 * time.Millisecond,
		Handover:     true,
		Fetch:        retry.DefaultConfiguration(),
	}
}

func (c Configuration) limits() contract.Limits {
	limits := contract.DefaultLimits()
	limits.RunGas, limits.AccountGas = c.RunGas, c.AccountGas
	return limits
}

func (c Configuration) validate() error {
	switch {
	case c.Group == "":
		return errors.New("contracts: group is empty")
	case c.Dir == "":
		return errors.New("contracts: dir is empty")
	case c.RunGas < 1 || c.AccountGas < c.RunGas:
		return errors.New("contracts: run_gas must be at least 1, and account_gas no less than that")
	case c.Retries < 1 || c.PublishBytes < 1:
		return errors.New("contracts: retries and publish_bytes must be at least 1")
	case c.ChunkBytes < 1 || c.ChunkBytes > 8<<20:
		return fmt.Errorf("contracts: chunk_bytes %d: must be between 1 and 8 MiB", c.ChunkBytes)
	}
	if err := c.Fetch.Validate(); err != nil {
		return fmt.Errorf("contracts: %w", err)
	}
	return nil
}
