package detect

import (
	"errors"
	"fmt"

	"tonscribe/decode/contract"
	"tonscribe/internal/retry"
	"tonscribe/internal/stage"
)

// Configuration of the component.
type Configuration struct {
	stage.Settings `yaml:",inline"`
	// RunGas bounds a run of a get-method, AccountGas all runs for one account.
	// They are part of what makes the output of a bundle always the same.
	RunGas     int64 `yaml:"run_gas"`
	AccountGas int64 `yaml:"account_gas"`
	// Retries is how many claims whose parent has appeared are checked in one
	// bundle, fewer where that takes much gas; the rest follows in the next ones.
	// It is part of the output too.
	Retries int `yaml:"retries"`
	// Fetch is how lite servers are asked for what the blocks do not show.
	Fetch retry.Configuration `yaml:"fetch"`
	// Zones are the collections whose items are names, by raw address: the zone
	// that is added to the label ("ton"), or nothing where an item knows its
	// whole name. Those of the network, and the zone ton of the root that the
	// config names, are known besides.
	Zones map[string]string `yaml:"zones"`
	// Network is which one it is; of another one than mainnet and testnet no
	// collection is known.
	Network string `yaml:"-"`
}

// DefaultConfiguration suits any machine.
func DefaultConfiguration() Configuration {
	limits := contract.DefaultLimits()
	return Configuration{
		Settings:   stage.DefaultSettings("contracts"),
		RunGas:     limits.RunGas,
		AccountGas: limits.AccountGas,
		Retries:    2000,
		Fetch:      retry.DefaultConfiguration(),
	}
}

func (c Configuration) limits() contract.Limits {
	limits := contract.DefaultLimits()
	limits.RunGas, limits.AccountGas = c.RunGas, c.AccountGas
	return limits
}

func (c Configuration) validate() error {
	switch {
	case c.RunGas < 1 || c.AccountGas < c.RunGas:
		return errors.New("contracts: run_gas must be at least 1, and account_gas no less than that")
	case c.Retries < 1:
		return errors.New("contracts: retries must be at least 1")
	}
	if err := c.Validate("contracts"); err != nil {
		return err
	}
	if err := c.Fetch.Validate(); err != nil {
		return fmt.Errorf("contracts: %w", err)
	}
	return nil
}
