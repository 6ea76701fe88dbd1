package send

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"golang.org/x/net/http/httpguts"

	"tonscribe/internal/egress"
	"tonscribe/webhooks/signature"
)

// Configuration of the sender.
type Configuration struct {
	// Group is the consumer group that all senders of a log share.
	Group string `yaml:"group"`
	// Header is the name of the header with the signature.
	Header string `yaml:"header"`
	// Documentation is an address that the header User-Agent names; empty for none.
	Documentation string `yaml:"documentation"`
	// Timeout is how long an attempt waits for the status line, from the look-up of the
	// name on.
	Timeout time.Duration `yaml:"timeout"`
	// StopTimeout is how long attempts under way may take when the sender is stopped.
	StopTimeout time.Duration `yaml:"stop_timeout"`
	// Attempts is how many there are at once; endpoints that fail get a quarter of them at
	// most.
	Attempts int `yaml:"attempts"`
	// EndpointAttempts is how many there are at once to an endpoint at first, and
	// EndpointMax the most for one that answers within a second.
	EndpointAttempts int `yaml:"endpoint_attempts"`
	EndpointMax      int `yaml:"endpoint_max"`
	// EndpointRate is how many attempts a second an endpoint gets, 0 for no limit.
	EndpointRate float64 `yaml:"endpoint_rate"`
	// Held is how many deliveries are held in memory; the others wait in the table.
	Held int `yaml:"held"`
	// DisableAfter is how long an endpoint may take nothing before it is disabled, 0 for
	// ever.
	DisableAfter time.Duration `yaml:"disable_after"`
	// ReplayRate is how many deliveries a second a replay makes.
	ReplayRate float64 `yaml:"replay_rate"`
	// KeepEvents is how long deliveries, and events of tests, are kept, KeepAttempts how
	// long attempts are. What a payment came to is kept for ever.
	KeepEvents   time.Duration `yaml:"keep_events"`
	KeepAttempts time.Duration `yaml:"keep_attempts"`
	// AllowHTTP lets plain http through, AllowNetworks networks that are not globally
	// reachable (127.0.0.1/32): for development.
	AllowHTTP     bool     `yaml:"allow_http"`
	AllowNetworks []string `yaml:"allow_networks"`
	// DenyNetworks are not reached, such as the public addresses of one's own.
	DenyNetworks []string `yaml:"deny_networks"`
	// CAFile holds certificates (PEM) that receivers are checked against, instead of
	// those of the system.
	CAFile string `yaml:"ca_file"`
}

// DefaultConfiguration is the one of production.
func DefaultConfiguration() Configuration {
	return Configuration{
		Group:            "send",
		Header:           signature.Header,
		Timeout:          10 * time.Second,
		StopTimeout:      4 * time.Second,
		Attempts:         2048,
		EndpointAttempts: 8,
		EndpointMax:      32,
		Held:             50_000,
		DisableAfter:     5 * 24 * time.Hour,
		ReplayRate:       20,
		KeepEvents:       90 * 24 * time.Hour,
		KeepAttempts:     30 * 24 * time.Hour,
	}
}

const (
	// maxTimeout is the longest Timeout: attempts are told from those of a killed sender by
	// their age.
	maxTimeout = time.Minute
	// maxStopTimeout keeps a member of the group from losing its partitions before it
	// has ended.
	maxStopTimeout = 8 * time.Second
	// maxKeep is less than what is left until 2106, when a DateTime ends.
	maxKeep = 50 * 365 * 24 * time.Hour
)

func (c Configuration) validate() error {
	_, allowed := egress.Networks(c.AllowNetworks)
	_, denied := egress.Networks(c.DenyNetworks)
	switch {
	case c.Group == "":
		return errors.New("webhooks.send: group is empty")
	case !httpguts.ValidHeaderFieldName(c.Header):
		return fmt.Errorf("webhooks.send: header %q is no name of a header", c.Header)
	case reserved[http.CanonicalHeaderKey(c.Header)]:
		return fmt.Errorf("webhooks.send: header %q is another header's name", c.Header)
	case !httpguts.ValidHeaderFieldValue(c.Documentation):
		return fmt.Errorf("webhooks.send: documentation %q is no address", c.Documentation)
	case c.Timeout <= 0 || c.Timeout > maxTimeout || c.StopTimeout < 0 || c.StopTimeout > maxStopTimeout:
		return fmt.Errorf("webhooks.send: timeout must be above 0 and at most %s, stop_timeout at most %s", maxTimeout, maxStopTimeout)
	case c.Attempts < 1 || c.EndpointAttempts < 1 || c.EndpointMax < c.EndpointAttempts || c.Held < c.EndpointMax:
		return errors.New("webhooks.send: attempts and endpoint_attempts must be at least 1, endpoint_max no less than endpoint_attempts, held no less than that")
	case c.EndpointRate < 0 || c.ReplayRate <= 0 || c.DisableAfter < 0:
		return errors.New("webhooks.send: endpoint_rate and disable_after must not be negative, replay_rate must be positive")
	case min(c.KeepEvents, c.KeepAttempts) < time.Hour || max(c.KeepEvents, c.KeepAttempts) > maxKeep:
		return fmt.Errorf("webhooks.send: keep_events and keep_attempts must be at least 1h, and at most %s", maxKeep)
	case allowed != nil:
		return fmt.Errorf("webhooks.send: allow_networks: %w", allowed)
	case denied != nil:
		return fmt.Errorf("webhooks.send: deny_networks: %w", denied)
	}
	return nil
}
