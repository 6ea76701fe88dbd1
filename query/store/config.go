package store

import (
	"fmt"
	"time"
)

// Configuration says how ClickHouse is read and how much is held in memory.
type Configuration struct {
	// Connections is the most statements that run at a time.
	Connections int `yaml:"connections"`
	// Poll is how often the watermark is read.
	Poll time.Duration `yaml:"poll"`
	// Wake says that the watermark may have moved, where the sink is in the same
	// process: nobody then waits for the next poll. May be nil.
	Wake <-chan struct{} `yaml:"-"`
	// HeadTransactionBytes and HeadBlockBytes bound what is held of the newest
	// bundles; 0 holds none.
	HeadTransactionBytes int `yaml:"head_transaction_bytes"`
	HeadBlockBytes       int `yaml:"head_block_bytes"`
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
		Connections: 16, Poll: 75 * time.Millisecond, HeadTransactionBytes: 64 << 20, HeadBlockBytes: 64 << 20,
		DirectoryAccounts: 2_000_000, HeldAccountBytes: 1 << 30, HeldContractBytes: 512 << 20,
	}
}

func (c Configuration) validate() error {
	switch {
	case c.Connections < 2:
		return fmt.Errorf("connections is %d, at least 2 are needed: the watermark is read beside the requests", c.Connections)
	case c.Poll < time.Millisecond:
		return fmt.Errorf("poll is %s, at least 1ms is needed", c.Poll)
	case c.HeldAccountBytes < 0 || c.HeldContractBytes < 0:
		return fmt.Errorf("held_account_bytes is %d and held_contract_bytes %d, neither may be negative", c.HeldAccountBytes, c.HeldContractBytes)
	case c.DirectoryAccounts < 0:
		return fmt.Errorf("directory_accounts is %d, it may not be negative", c.DirectoryAccounts)
	case c.HeadTransactionBytes < 0 || c.HeadBlockBytes < 0:
		return fmt.Errorf("head_transaction_bytes is %d and head_block_bytes %d, neither may be negative", c.HeadTransactionBytes, c.HeadBlockBytes)
	}
	return nil
}
