package store

import (
	"fmt"
	"time"
)

// Configuration says how ClickHouse is read and how much is held in memory.
type Configuration struct {
	// Connections is the most statements that run at a time.
	Connections int `yaml:"connections"`
	// ClientConnections is the most of them that one client has at a time: an API
	// key, or an address without one.
	ClientConnections int `yaml:"client_connections"`
	// ScanBytes is how much one statement goes through to find the rows of a page,
	// beyond those that the page needs.
	ScanBytes int `yaml:"scan_bytes"`
	// MaxOffset is the largest offset of a page. What lies deeper is reached by
	// cursor.
	MaxOffset int `yaml:"max_offset"`
	// Poll is how often the watermark is read.
	Poll time.Duration `yaml:"poll"`
	// Wake says that the watermark may have moved, where the sink is in the same
	// process: nobody then waits for the next poll. May be nil.
	Wake <-chan struct{} `yaml:"-"`
	// Refuse is an error for a statement whose tables have lost rows, and Suspect
	// is called with what ClickHouse says when one fails as if a file were damaged.
	// Both may be nil.
	Refuse  func(statement string) error `yaml:"-"`
	Suspect func(message string)         `yaml:"-"`
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
		Connections: 16, ClientConnections: 8, ScanBytes: 4 << 20, MaxOffset: 100_000, Poll: 75 * time.Millisecond, HeadTransactionBytes: 64 << 20, HeadBlockBytes: 64 << 20,
		DirectoryAccounts: 2_000_000, HeldAccountBytes: 1 << 30, HeldContractBytes: 512 << 20,
	}
}

func (c Configuration) validate() error {
	switch {
	case c.Connections < 2:
		return fmt.Errorf("connections is %d, at least 2 are needed: the watermark is read beside the requests", c.Connections)
	case c.ClientConnections < 1:
		return fmt.Errorf("client_connections is %d, at least 1 is needed", c.ClientConnections)
	case c.ScanBytes < 64<<10:
		return fmt.Errorf("scan_bytes is %d, at least 64 KiB is needed", c.ScanBytes)
	case c.MaxOffset < 0:
		return fmt.Errorf("max_offset is %d, it may not be negative", c.MaxOffset)
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
