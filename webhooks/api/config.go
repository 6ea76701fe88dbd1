package api

import (
	"fmt"
	"strings"

	"tonscribe/ton/address"
	"tonscribe/webhooks/signature"
)

// Configuration of the merchants' API.
type Configuration struct {
	// Ticker is what the native coin is called in payments and events.
	Ticker string `yaml:"ticker"`
	// Masters are the jettons that payments may be in; none is any.
	Masters []string `yaml:"masters"`
	// Rate and Burst bound the requests of a merchant, a second and at once; a rate of 0 is
	// no limit.
	Rate  float64 `yaml:"rate"`
	Burst uint32  `yaml:"burst"`
	// TransferRate and TransferBurst bound the payments that a merchant registers.
	TransferRate  float64 `yaml:"transfer_rate"`
	TransferBurst uint32  `yaml:"transfer_burst"`
	// ChangeRate and ChangeBurst bound what else a merchant changes: its endpoint, secrets
	// and keys, and deliveries that it orders.
	ChangeRate  float64 `yaml:"change_rate"`
	ChangeBurst uint32  `yaml:"change_burst"`
	// LookupRate and LookupBurst bound what a client address asks without a key: payments
	// by the hash of their body, and sign-ins.
	LookupRate  float64 `yaml:"lookup_rate"`
	LookupBurst uint32  `yaml:"lookup_burst"`

	// Header is the name of the header with the signature, as the sender has it.
	Header string `yaml:"-"`
	// AllowHTTP lets endpoints have plain http, as the sender does.
	AllowHTTP bool `yaml:"-"`
	// Network is mainnet, testnet or devnet.
	Network string `yaml:"-"`
}

// DefaultConfiguration is that of mainnet.
func DefaultConfiguration() Configuration {
	return Configuration{
		Ticker: "TON", Rate: 50, Burst: 100, TransferRate: 50, TransferBurst: 200, ChangeRate: 5, ChangeBurst: 50, LookupRate: 10, LookupBurst: 40,
		Header: signature.Header, Network: "mainnet",
	}
}

// maxTicker is how long the ticker is, in bytes.
const maxTicker = 20

func (c Configuration) masters() (map[address.Address]bool, error) {
	masters := map[address.Address]bool{}
	for _, text := range c.Masters {
		master, _, err := address.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("masters: %q: %w", text, err)
		}
		masters[master] = true
	}
	return masters, nil
}

func (c Configuration) validate() error {
	if c.Ticker == "" || len(c.Ticker) > maxTicker || strings.ContainsFunc(c.Ticker, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return fmt.Errorf("ticker %q: want 1 to %d printable ASCII characters", c.Ticker, maxTicker)
	}
	for name, rate := range map[string]float64{"rate": c.Rate, "transfer_rate": c.TransferRate, "change_rate": c.ChangeRate, "lookup_rate": c.LookupRate} {
		if !(rate >= 0 && rate <= 1e6) {
			return fmt.Errorf("%s is %v: want 0 for no limit, or up to 1000000 requests a second", name, rate)
		}
	}
	return nil
}
