package match

import (
	"fmt"

	"github.com/rs/zerolog"

	"tonscribe/internal/stage"
)

// Configuration of the component.
type Configuration struct {
	stage.Settings `yaml:",inline"`
	// Ticker is what the native coin is called in webhooks.
	Ticker string `yaml:"-"`
}

// DefaultConfiguration suits any machine: there are few payments among transactions.
func DefaultConfiguration() Configuration {
	c := Configuration{stage.DefaultSettings("webhooks-match"), "TON"}
	c.CacheBytes, c.PublishBytes = 8<<20, 1<<20
	return c
}

func (c Configuration) validate() error {
	if c.Ticker == "" || len(c.Ticker) > 20 {
		return fmt.Errorf("webhooks.match: ticker %q: want 1 to 20 characters", c.Ticker)
	}
	return c.Validate("webhooks.match")
}

// layout is the version of what the store holds.
const layout = 1

func (c Configuration) store(log zerolog.Logger) stage.StoreOptions {
	return c.Store(layout, "the store is then taken from its topic where it has one, else the log is read again from its oldest bundle", log)
}
