package metadata

import "time"

// Configuration of the fetcher.
type Configuration struct {
	Enabled      bool          `yaml:"enabled" help:"fetch the documents that tokens point to"`
	IPFSGateway  string        `yaml:"ipfs_gateway" help:"where ipfs links are fetched; empty: they are not"`
	Timeout      time.Duration `yaml:"timeout" help:"longest time for a document"`
	MaxBytes     int64         `yaml:"max_bytes" help:"largest document"`
	Workers      int           `yaml:"workers" help:"documents fetched at once"`
	Refresh      time.Duration `yaml:"refresh" help:"a document is fetched again after this time"`
	AllowPrivate bool          `yaml:"allow_private" help:"also reach addresses of private networks; for tests and closed networks"`
}

// DefaultConfiguration fetches public addresses only.
func DefaultConfiguration() Configuration {
	return Configuration{
		IPFSGateway: "https://ipfs.io/ipfs", Timeout: 10 * time.Second, MaxBytes: 256 << 10, Workers: 8, Refresh: 7 * 24 * time.Hour,
	}
}
