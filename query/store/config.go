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
	// DirectoryAccounts is of how many accounts, about, the codes are held, some
	// 50 bytes each, and names; 0 holds none of both.
	DirectoryAccounts int `yaml:"directory_accounts"`
	// HeldAccountBytes and HeldContractBytes bound what is held of the states of
	// accounts and of what contracts are; 0 holds none.
	HeldAccountBytes  int `yaml:"held_account_bytes"`
	HeldContractBytes int `yaml:"held_contract_bytes"`
}

// DefaultConfiguration fits a small machine.
func DefaultConfiguration() Configuration {
	return Configuration{
		Configuration: reader.Configuration{Connections: 16, ClientConnections: 8, ScanBytes: 4 << 20}, Head: head.Configuration{TransactionBytes: 64 << 20, BlockBytes: 64 << 20},
		MaxOffset: 100_000, Poll: 75 * time.Millisecond,
		DirectoryAccounts: 2_000_000, HeldAccountBytes: 1 << 30, HeldContractBytes: 512 << 20,
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
	case c.HeldAccountBytes < 0 || c.HeldContractBytes < 0:
		return fmt.Errorf("held_account_bytes is %d and held_contract_bytes %d, neither may be negative", c.HeldAccountBytes, c.HeldContractBytes)
	case c.DirectoryAccounts < 0:
		return fmt.Errorf("directory_accounts is %d, it may not be negative", c.DirectoryAccounts)
	}
	return nil
}
