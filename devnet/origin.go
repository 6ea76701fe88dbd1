package devnet

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"tonscribe/devnet/chain"
)

// origin is what the chain in a folder was made with. It must never change: the
// zerostates, all keys and all addresses follow from it.
type origin struct {
	Seed uint64 `json:"seed"`
	// GenesisTime is the Unix time of the zerostates.
	GenesisTime uint32 `json:"genesis_time"`
	// FixedTime reports whether the clock began at GenesisTime and follows the blocks.
	FixedTime bool `json:"fixed_time"`
	// Consensus is catchain where it is missing: there was no other.
	Consensus chain.Consensus `json:"consensus,omitempty"`
	// Burning reports whether the config has genesis.Burning. It is false where it is missing:
	// there was none.
	Burning bool `json:"burning,omitempty"`
}

const (
	originFile  = "origin.json"
	defaultSeed = 1

	// warmUpTime is how long before the present a chain begins, in seconds: the
	// times of the blocks that are made at once.
	warmUpTime = 60
)

// originOf is that of the chain in the folder, or a new one.
func originOf(c Configuration, now time.Time) (origin, error) {
	path := filepath.Join(c.Dir, originFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		o := newOrigin(c, now)
		return o, writeJSON(path, o, 0o600)
	}
	if err != nil {
		return origin{}, err
	}
	var o origin
	if err := json.Unmarshal(text, &o); err != nil {
		return origin{}, fmt.Errorf("%s: %w", path, err)
	}
	if o.Consensus == "" {
		o.Consensus = chain.Catchain
	}
	if c.Consensus != "" && c.Consensus != o.Consensus {
		return origin{}, fmt.Errorf("the devnet in %s was made with the consensus %s, not %s: choose another data folder, or leave it out", c.Dir, o.Consensus, c.Consensus)
	}
	if c.Seed != 0 && c.Seed != o.Seed {
		return origin{}, fmt.Errorf("the devnet in %s was made with seed %d, not %d: choose another data folder, or leave the seed out", c.Dir, o.Seed, c.Seed)
	}
	if c.FixedTime != 0 && (!o.FixedTime || c.FixedTime != o.GenesisTime) {
		return origin{}, fmt.Errorf("the devnet in %s was not made with the fixed time %d: choose another data folder, or leave it out", c.Dir, c.FixedTime)
	}
	return o, nil
}

func newOrigin(c Configuration, now time.Time) origin {
	o := origin{Seed: c.Seed, GenesisTime: uint32(now.Unix()) - warmUpTime, Consensus: c.Consensus, Burning: true}
	if o.Consensus == "" {
		o.Consensus = chain.Simplex
	}
	if o.Seed == 0 {
		o.Seed = defaultSeed
	}
	if c.FixedTime != 0 {
		o.GenesisTime, o.FixedTime = c.FixedTime, true
	}
	return o
}

func (o origin) clock(interval time.Duration) chainClock {
	c := chainClock{interval: interval}
	if o.FixedTime {
		c.fixed = o.GenesisTime
	}
	return c
}

// writeJSON replaces a file as a whole.
func writeJSON(path string, value any, mode os.FileMode) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	return writeWhole(path, append(text, '\n'), mode)
}

func writeWhole(path string, text []byte, mode os.FileMode) error {
	file, err := os.OpenFile(path+".new", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
