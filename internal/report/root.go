// Package report is what every component tells the outside: log lines with the
// component's name, Prometheus metrics, and health. It knows no component.
package report

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
)

// Reporter is handed to every component.
type Reporter struct {
	// Log carries the component's name.
	Log zerolog.Logger
	// Metrics is where the component registers; names start with tonscribe_<component>_.
	Metrics prometheus.Registerer

	whole *zerolog.Logger // Log without the component's name; nil where it has none
}

// For is the reporter of a component, also of one that another component runs: a line has
// one name.
func (r Reporter) For(component string) Reporter {
	whole := r.whole
	if whole == nil {
		whole = &r.Log
	}
	return Reporter{Log: whole.With().Str("component", component).Logger(), Metrics: r.Metrics, whole: whole}
}

// Of the lines of a logger of Seldom this many are written in a time, of one of Rarely one.
const (
	seldomLines = 5
	seldomTime  = 10 * time.Second
)

// Seldom is Log for what strangers can bring about as often as they like: after the first
// few lines in ten seconds it drops them. Whoever logs keeps it.
func (r Reporter) Seldom() zerolog.Logger {
	return r.Log.Sample(&zerolog.BurstSampler{Burst: seldomLines, Period: seldomTime})
}

// Rarely is Log for one line that is said as long as something lasts: it writes it once in ten
// seconds. Whoever logs keeps it.
func (r Reporter) Rarely() zerolog.Logger {
	return r.Log.Sample(&zerolog.BurstSampler{Burst: 1, Period: seldomTime})
}

// Silent reports to nobody. For tests.
func Silent() Reporter {
	return Reporter{Log: zerolog.Nop(), Metrics: prometheus.NewRegistry()}
}
