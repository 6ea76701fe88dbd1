package traces

import (
	"github.com/rs/zerolog"

	"tonscribe/decode/trace"
	"tonscribe/internal/stage"
)

// Configuration of the component.
type Configuration struct {
	stage.Settings `yaml:",inline"`
}

// DefaultConfiguration suits any machine.
func DefaultConfiguration() Configuration {
	return Configuration{stage.DefaultSettings("traces")}
}

func (c Configuration) validate() error { return c.Validate("traces") }

// layout is the version of what the store holds.
const layout = 1

func (c Configuration) store(log zerolog.Logger) stage.StoreOptions {
	o := c.Store(layout, "traces then takes the store from its topic where it has one, else reads the log again from its oldest bundle, and traces that began before are broken", log)
	o.Few = trace.Few
	return o
}
