package network

import (
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// Configuration says where a network's global config is published. Empty values
// are those of the network's preset.
type Configuration struct {
	// URL of the TON global config: https, or http on a loopback address.
	URL string `yaml:"url"`
	// Zerostate is the root hash (hex) of the masterchain's zerostate: a global
	// config of another chain is refused.
	Zerostate string `yaml:"zerostate"`
	// Refresh is the time between two fetches while the process runs.
	Refresh time.Duration `yaml:"refresh"`
	// Timeout bounds one fetch, redirects included.
	Timeout time.Duration `yaml:"timeout"`
	// MaxBytes of a global config.
	MaxBytes int64 `yaml:"max_bytes"`
}

// DefaultConfiguration is that of the presets.
func DefaultConfiguration() Configuration {
	return Configuration{Refresh: time.Hour, Timeout: 15 * time.Second, MaxBytes: 1 << 20}
}

// Names of the presets.
const (
	Mainnet = "mainnet"
	Testnet = "testnet"
)

// preset is what everybody knows of a public network.
type preset struct {
	url                string
	rootHash, fileHash string // of the masterchain's zerostate, hex
	globalID           int32
}

var presets = map[string]preset{
	Mainnet: {
		url:      "https://ton.org/global.config.json",
		rootHash: "17a3a92992aabea785a7a090985a265cd31f323d849da51239737e321fb05569",
		fileHash: "5e994fcf4d425c0a6ce6a792594b7173205f740a39cd56f537defd28b48a0f6e",
		globalID: -239,
	},
	Testnet: {
		url:      "https://ton.org/testnet-global.config.json",
		rootHash: "823f81f306ff02694f935cf5021548e3ce2b86b529812af6a12148879e95a128",
		fileHash: "67e20ac184b9e039a62667acc3f9c00f90f359a76738233379efa47604980ce8",
		globalID: -3,
	},
}

// Known reports whether a network has a preset.
func Known(name string) bool {
	_, ok := presets[name]
	return ok
}

// Chain returns what tells the chain of a network that has a preset from others: the
// global_id of its blocks, and the root hash (hex) of the masterchain's zerostate.
func Chain(name string) (globalID int32, zerostate string, known bool) {
	p, known := presets[name]
	return p.globalID, p.rootHash, known
}

// Validate tells what is wrong with a configuration, whatever the network.
func (c Configuration) Validate() error {
	if hash, err := hex.DecodeString(c.Zerostate); c.Zerostate != "" && (err != nil || len(hash) != 32) {
		return fmt.Errorf("network_config.zerostate %q: want 64 hex digits", c.Zerostate)
	}
	if c.URL != "" {
		address, err := url.Parse(c.URL)
		if err != nil {
			return fmt.Errorf("network_config.url: %w", err)
		}
		if err := safe(address); err != nil {
			return fmt.Errorf("network_config.url %s: %w", c.URL, err)
		}
	}
	if c.Refresh <= 0 || c.Timeout <= 0 || c.MaxBytes <= 0 {
		return errors.New("network_config: refresh, timeout and max_bytes must be above 0")
	}
	return nil
}

// complete fills in the preset and checks the rest.
func (c Configuration) complete(name string) (Configuration, preset, error) {
	if err := c.Validate(); err != nil {
		return c, preset{}, err
	}
	p := presets[name]
	if c.URL == "" {
		c.URL = p.url
	}
	if c.Zerostate != "" {
		p.rootHash, p.fileHash = strings.ToLower(c.Zerostate), ""
	}
	if c.URL == "" || p.rootHash == "" {
		return c, p, fmt.Errorf("network %q has no preset: set network_config.url and network_config.zerostate", name)
	}
	return c, p, nil
}

// safe refuses addresses whose answers anybody on the way could change.
func safe(address *url.URL) error {
	switch {
	case address.Host == "":
		return errors.New("it names no host")
	case address.Scheme == "https", address.Scheme == "http" && isLoopback(address.Hostname()):
		return nil
	}
	return errors.New("it must begin with https:// (http:// only on a loopback address): what it says is trusted")
}

func isLoopback(host string) bool {
	ip, _ := netip.ParseAddr(host)
	return host == "localhost" || ip.IsLoopback()
}
