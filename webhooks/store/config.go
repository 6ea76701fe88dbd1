package store

import (
	"fmt"
	"time"
)

// Configuration of what is kept of merchants.
type Configuration struct {
	// SealKey is the key that secrets are sealed with: 32 bytes as base64 or hex. Further
	// ones, behind commas, only open what was sealed with them.
	SealKey string `yaml:"seal_key" secret:"true"`
	// Refresh is how often the tables are looked at.
	Refresh time.Duration `yaml:"refresh"`
	// Overlap is how long the next secret waits for its switch, and how long the switch
	// may be undone.
	Overlap time.Duration `yaml:"secret_overlap"`
	// Session is how long a session of the dashboard lasts.
	Session time.Duration `yaml:"session"`
}

// DefaultConfiguration lacks the key.
func DefaultConfiguration() Configuration {
	return Configuration{Refresh: 5 * time.Second, Overlap: 24 * time.Hour, Session: 12 * time.Hour}
}

func (c Configuration) validate() error {
	for name, d := range map[string]time.Duration{"refresh": c.Refresh, "secret_overlap": c.Overlap, "session": c.Session} {
		if d <= 0 {
			return fmt.Errorf("%s is %s, it must be positive", name, d)
		}
	}
	return nil
}
