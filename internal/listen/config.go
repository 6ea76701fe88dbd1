package listen

import (
	"errors"
	"time"
)

// Configuration bounds the connections of a listener, and how long each step of
// a request may take.
type Configuration struct {
	// Connections may be open at a time; never more than the listener's share of
	// the file descriptors.
	Connections int `yaml:"connections"`
	// PerAddress of them may come from one client address, IPv6 addresses by their
	// /64; never more than half of all.
	PerAddress int `yaml:"connections_per_address"`
	// HeaderTimeout is the time for a request's line and headers.
	HeaderTimeout time.Duration `yaml:"header_timeout"`
	// BodyTimeout is the time for a request's whole body.
	BodyTimeout time.Duration `yaml:"body_timeout"`
	// WriteTimeout is the time in which a client must take the next 64 KiB of an
	// answer.
	WriteTimeout time.Duration `yaml:"write_timeout"`
	// IdleTimeout is how long a connection may wait for its next request.
	IdleTimeout time.Duration `yaml:"idle_timeout"`
	// HeldBytes is how much of unfinished requests and of answers that were not
	// taken yet may be held for all connections.
	HeldBytes int64 `yaml:"held_bytes"`
}

// DefaultConfiguration is that of the public service.
func DefaultConfiguration() Configuration {
	return Configuration{
		Connections: 4096, PerAddress: 256,
		HeaderTimeout: 10 * time.Second, BodyTimeout: 15 * time.Second, WriteTimeout: 15 * time.Second, IdleTimeout: 2 * time.Minute,
		HeldBytes: 64 << 20,
	}
}

// Validate is nil for a configuration that a listener can have.
func (c Configuration) Validate() error {
	switch {
	case c.Connections < 1 || c.PerAddress < 1:
		return errors.New("http: connections and connections_per_address must be at least 1")
	case c.HeaderTimeout <= 0 || c.BodyTimeout <= 0 || c.WriteTimeout <= 0 || c.IdleTimeout <= 0:
		return errors.New("http: header_timeout, body_timeout, write_timeout and idle_timeout must be positive")
	case c.HeldBytes < 1<<20:
		return errors.New("http: held_bytes must be at least 1048576")
	}
	return nil
}
