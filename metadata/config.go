package metadata

import (
	"errors"
	"fmt"
	"net/url"
	"time"

	"tonscribe/ton/airdrop"
)

// Configuration of the fetcher.
type Configuration struct {
	// Enabled reports whether `up` fetches documents.
	Enabled bool `yaml:"enabled"`
	// IPFSGateway is where ipfs links are fetched; empty: they are not.
	IPFSGateway string `yaml:"ipfs_gateway"`
	// Timeout is the longest time for a document.
	Timeout time.Duration `yaml:"timeout"`
	// MaxBytes is the size of the largest document that is read.
	MaxBytes int64 `yaml:"max_bytes"`
	// Workers is how many documents are fetched at once.
	Workers int `yaml:"workers"`
	// HostRequests is how many requests there are at once to one host, and how many
	// more that other hosts redirect to it; HostPause is the pause of each of them
	// before its next one.
	HostRequests int           `yaml:"host_requests"`
	HostPause    time.Duration `yaml:"host_pause"`
	// Retry is the pause after the first failure; it doubles with each further
	// one, up to Refresh.
	Retry time.Duration `yaml:"retry"`
	// Refresh is the age at which a document is fetched again.
	Refresh time.Duration `yaml:"refresh"`
	// Poll is how often new links are looked for.
	Poll time.Duration `yaml:"poll"`
	// Lease is how long a process that is silent counts as one that fetches.
	Lease time.Duration `yaml:"lease"`
	// AllowNetworks are networks that are reached although they are not globally
	// reachable, or are addresses of this machine (10.1.0.7/32), for closed networks and a gateway of one's own. Links of
	// strangers reach them too.
	AllowNetworks []string `yaml:"allow_networks"`
	// Dumps says how the dumps of mintless jettons' airdrops (TEP-177) are fetched.
	Dumps Dumps `yaml:"dumps"`
}

// Dumps is how the dumps of airdrops are fetched, a few at a time. Reading one takes
// up to twelve times its size in memory.
type Dumps struct {
	// MaxBytes is the size of the largest dump that is read; 0: none is.
	MaxBytes int64 `yaml:"max_bytes"`
	// Timeout is the longest time for a dump.
	Timeout time.Duration `yaml:"timeout"`
	// MaxAmounts is how many amounts all dumps together may have.
	MaxAmounts uint64 `yaml:"max_amounts"`
}

// DefaultConfiguration fetches from public addresses only.
func DefaultConfiguration() Configuration {
	return Configuration{
		Enabled:      true,
		IPFSGateway:  "https://ipfs.io/ipfs",
		Timeout:      10 * time.Second,
		MaxBytes:     256 << 10,
		Workers:      16,
		HostRequests: 2,
		HostPause:    100 * time.Millisecond,
		Retry:        time.Minute,
		Refresh:      7 * 24 * time.Hour,
		Poll:         5 * time.Second,
		Lease:        15 * time.Second,
		Dumps:        Dumps{MaxBytes: 32 << 20, Timeout: 3 * time.Minute, MaxAmounts: 20_000_000},
	}
}

func (c Configuration) validate() error {
	gateway, err := url.Parse(c.IPFSGateway)
	switch {
	case c.IPFSGateway != "" && (err != nil || gateway.Host == "" || gateway.Scheme != "http" && gateway.Scheme != "https"):
		return fmt.Errorf("metadata: ipfs_gateway %q is not an http or https address", c.IPFSGateway)
	case c.Timeout <= 0 || c.MaxBytes <= 0:
		return fmt.Errorf("metadata: timeout %s and max_bytes %d must be positive", c.Timeout, c.MaxBytes)
	case c.Workers < 1 || c.HostRequests < 1:
		return errors.New("metadata: workers and host_requests must be at least 1")
	case c.HostPause < 0 || c.Poll <= 0 || c.Lease < time.Second:
		return errors.New("metadata: host_pause must not be negative, poll must be positive, lease at least 1s")
	case c.Retry < time.Second || c.Refresh < c.Retry || c.Refresh > 10*365*24*time.Hour:
		return errors.New("metadata: retry must be at least 1s, and refresh no less than that and no more than 10 years")
	case c.Dumps.MaxBytes < 0 || c.Dumps.MaxBytes > airdrop.MaxBytes || c.Dumps.MaxBytes > 0 && c.Dumps.Timeout <= 0:
		return fmt.Errorf("metadata: dumps.max_bytes %d must be from 0 to %d, and dumps.timeout %s positive", c.Dumps.MaxBytes, airdrop.MaxBytes, c.Dumps.Timeout)
	}
	return nil
}
