package v2

import (
	"fmt"
	"regexp"
	"time"

	"tonscribe/internal/emulator"
	"tonscribe/internal/lite"
)

// Configuration of the node-access layer.
type Configuration struct {
	// TypeNamespace is the namespace part of @type. Existing TON clients need ton.
	TypeNamespace string `yaml:"type_namespace"`
	// Deadline bounds each request.
	Deadline time.Duration `yaml:"deadline"`
	// CacheBytes bounds the answers that are kept.
	CacheBytes int `yaml:"cache_bytes"`
	// Emulate executes messages before they are sent, so that one that the
	// contract would refuse gets a clear answer.
	Emulate bool `yaml:"emulate"`
	// GasLimit bounds get-methods.
	GasLimit int64 `yaml:"gas_limit"`
	// Emulation is how messages are executed, in processes of their own.
	Emulation emulator.Configuration `yaml:"emulation"`
	// Lite is how lite servers are asked; without a config nobody is.
	Lite lite.Configuration `yaml:"lite"`
}

// DefaultConfiguration is that of the public service.
func DefaultConfiguration() Configuration {
	return Configuration{TypeNamespace: "chain", Deadline: 10 * time.Second, CacheBytes: 64 << 20, Emulate: true, GasLimit: 4_000_000, Emulation: emulator.DefaultConfiguration(), Lite: lite.DefaultConfiguration()}
}

var namespaceForm = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`)

func (c *Configuration) check() error {
	switch {
	case !namespaceForm.MatchString(c.TypeNamespace):
		return fmt.Errorf("type namespace %q: want letters, digits and _, a letter first", c.TypeNamespace)
	case c.Deadline <= 0:
		return fmt.Errorf("deadline is %s, it must be positive", c.Deadline)
	case c.CacheBytes < 0:
		return fmt.Errorf("cache of %d bytes: it cannot be negative", c.CacheBytes)
	case c.GasLimit <= 0:
		return fmt.Errorf("gas limit is %d, it must be positive", c.GasLimit)
	}
	return c.Emulation.Validate()
}
