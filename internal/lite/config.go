package lite

import (
	"errors"
	"fmt"
	"time"
)

// Proofs says how the masterchain is followed.
type Proofs string

// The ways.
const (
	// Secure follows it by validators' signatures from a trusted block on.
	Secure Proofs = "secure"
	// Off believes the block that most servers name. For networks whose global
	// config has no block to start from.
	Off Proofs = "off"
)

// Validate refuses other words.
func (p Proofs) Validate() error {
	if p != Secure && p != Off {
		return fmt.Errorf("proofs %q: must be secure or off", p)
	}
	return nil
}

// Configuration of the pool.
type Configuration struct {
	// Config is the path of a TON global config: the servers, the zerostate and
	// the block that trust starts from (validator.init_block).
	Config string `yaml:"config"`
	// Inline is the content of a global config, used instead of a file.
	Inline []byte `yaml:"-"`
	// Zerostate is the root hash (hex) of the masterchain's zerostate, empty: any. A
	// global config of another chain is refused, and so are servers of one.
	Zerostate string `yaml:"-"`
	// Proofs is secure or off.
	Proofs Proofs `yaml:"proofs"`
	Tuning `yaml:",inline"`
}

// Tuning is how the servers are used.
type Tuning struct {
	// TrustedFile keeps the newest key block that was proven, so that the next
	// start need not prove the whole chain again; empty: it does.
	TrustedFile string `yaml:"trusted_file"`

	// Concurrency is how many requests one server gets at a time.
	Concurrency int `yaml:"concurrency"`
	// Rate is how many requests per second one server gets; 0 means no bound.
	// Public servers answer about 10 a second.
	Rate float64 `yaml:"rate"`
	// Timeout is how long a request may take that has no deadline of its own,
	// all servers together.
	Timeout time.Duration `yaml:"timeout"`
	// AttemptTimeout is how long one server may take.
	AttemptTimeout time.Duration `yaml:"attempt_timeout"`
	// HedgeMin and HedgeMax bound how long a server may take before a second
	// one is asked as well; between them the time in which it gave 95 % of its
	// answers decides.
	HedgeMin time.Duration `yaml:"hedge_min"`
	HedgeMax time.Duration `yaml:"hedge_max"`
	// Attempts is how many servers are asked before the answer "it is not here"
	// is believed.
	Attempts int `yaml:"attempts"`
	// SendTo is how many servers get an external message.
	SendTo int `yaml:"send_to"`

	// ReconnectMin and ReconnectMax bound the pauses between two attempts to
	// reach a server.
	ReconnectMin time.Duration `yaml:"reconnect_min"`
	ReconnectMax time.Duration `yaml:"reconnect_max"`
	// CoolOff is how long a server is left out after a wrong answer. It doubles
	// with every further one, up to CoolOffMax.
	CoolOff    time.Duration `yaml:"cool_off"`
	CoolOffMax time.Duration `yaml:"cool_off_max"`
	// MaxLag is how many masterchain blocks a server may be behind and still be
	// asked before others.
	MaxLag uint32 `yaml:"max_lag"`
	// WaitHead is how long a server is asked to wait for its next masterchain
	// block before it answers.
	WaitHead time.Duration `yaml:"wait_head"`
	// ArchiveEvery is the time between two looks for old blocks on a server.
	ArchiveEvery time.Duration `yaml:"archive_every"`
}

// DefaultConfiguration suits public servers. The config is still to be named.
func DefaultConfiguration() Configuration {
	return Configuration{Proofs: Secure, Tuning: DefaultTuning()}
}

// DefaultTuning suits public servers.
func DefaultTuning() Tuning {
	return Tuning{
		Concurrency:    8,
		Timeout:        10 * time.Second,
		AttemptTimeout: 5 * time.Second,
		HedgeMin:       100 * time.Millisecond,
		HedgeMax:       2 * time.Second,
		Attempts:       3,
		SendTo:         5,
		ReconnectMin:   500 * time.Millisecond,
		ReconnectMax:   30 * time.Second,
		CoolOff:        10 * time.Second,
		CoolOffMax:     10 * time.Minute,
		MaxLag:         25, // ten seconds of mainnet
		WaitHead:       10 * time.Second,
		ArchiveEvery:   2 * time.Minute,
	}
}

func (c Configuration) validate() error {
	if err := c.Proofs.Validate(); err != nil {
		return fmt.Errorf("lite: %w", err)
	}
	if c.Config == "" && len(c.Inline) == 0 {
		return errors.New("lite: no TON global config named")
	}
	if c.Rate < 0 {
		return errors.New("lite: rate may not be negative")
	}
	for _, n := range []struct {
		key   string
		value int64
	}{
		{"concurrency", int64(c.Concurrency)}, {"timeout", int64(c.Timeout)}, {"attempt_timeout", int64(c.AttemptTimeout)},
		{"hedge_min", int64(c.HedgeMin)}, {"hedge_max", int64(c.HedgeMax)}, {"attempts", int64(c.Attempts)}, {"send_to", int64(c.SendTo)},
		{"reconnect_min", int64(c.ReconnectMin)}, {"reconnect_max", int64(c.ReconnectMax)}, {"cool_off", int64(c.CoolOff)},
		{"cool_off_max", int64(c.CoolOffMax)}, {"wait_head", int64(c.WaitHead)}, {"archive_every", int64(c.ArchiveEvery)},
	} {
		if n.value <= 0 {
			return fmt.Errorf("lite: %s must be above 0", n.key)
		}
	}
	return nil
}
