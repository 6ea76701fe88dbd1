package live

import (
	"errors"
	"fmt"
	"time"
)

// Configuration bounds the streams.
type Configuration struct {
	// Enabled serves streams.
	Enabled bool `yaml:"enabled"`
	// Connections is how many streams there are at a time, ClientConnections how many of
	// them an API key has that says nothing else, and AnonymousConnections how many one
	// address without a key.
	Connections          int `yaml:"connections"`
	ClientConnections    int `yaml:"client_connections"`
	AnonymousConnections int `yaml:"anonymous_connections"`
	// Addresses is how many addresses, and how many hashes of traces, one stream names
	// whose key says nothing else, AnonymousAddresses the same without a key, and
	// AllAddresses how many all streams do.
	Addresses          int `yaml:"addresses"`
	AnonymousAddresses int `yaml:"anonymous_addresses"`
	AllAddresses       int `yaml:"all_addresses"`
	// Everything names the API keys, by their ids, that may have what happens to all
	// accounts: "*" is all keys, "anonymous" whoever has none, too.
	Everything []string `yaml:"everything"`
	// Queue and QueueBytes are how many events, and bytes of them, wait for a client; more
	// it is given from memory when it has taken those. AllQueuedBytes is the same of all.
	Queue          int `yaml:"queue"`
	QueueBytes     int `yaml:"queue_bytes"`
	AllQueuedBytes int `yaml:"all_queued_bytes"`
	// Operations is how many operations and pings a second a client may send.
	Operations float64 `yaml:"operations"`
	// MessageBytes is the largest subscription.
	MessageBytes int `yaml:"message_bytes"`
	// KeepAlive is the time between signs of life of a stream of events; a WebSocket has a
	// ping each fourth time.
	KeepAlive time.Duration `yaml:"keep_alive"`
	// WriteTimeout is the time in which a client must take an event. One that takes nothing
	// for half of it while more events come than wait is told that it is too slow.
	WriteTimeout time.Duration `yaml:"write_timeout"`
	// HistoryBytes is about what is held of the newest bundles, as events, for those that
	// are behind, or come back, and again of older ones that are read for these.
	HistoryBytes int `yaml:"history_bytes"`
	// Replays is how many streams are brought up to the present at a time.
	Replays int `yaml:"replays"`
	// PendingDeadline is how long a message that was sent may take to be in a block before
	// it is told to be invalid.
	PendingDeadline time.Duration `yaml:"pending_deadline"`
}

// DefaultConfiguration suits a small machine.
func DefaultConfiguration() Configuration {
	return Configuration{
		Enabled: true, Connections: 10_000, ClientConnections: 100, AnonymousConnections: 2,
		Addresses: 10_000, AnonymousAddresses: 100, AllAddresses: 1_000_000,
		Queue: 256, QueueBytes: 4 << 20, AllQueuedBytes: 128 << 20, Operations: 10, MessageBytes: 1 << 20,
		KeepAlive: 5 * time.Second, WriteTimeout: 10 * time.Second, HistoryBytes: 32 << 20, Replays: 4, PendingDeadline: 30 * time.Second,
	}
}

// Validate names the first value that makes no sense.
func (c *Configuration) Validate() error {
	for _, n := range []struct {
		name  string
		value int
	}{
		{"connections", c.Connections}, {"client_connections", c.ClientConnections}, {"anonymous_connections", c.AnonymousConnections},
		{"addresses", c.Addresses}, {"anonymous_addresses", c.AnonymousAddresses}, {"all_addresses", c.AllAddresses},
		{"queue", c.Queue}, {"queue_bytes", c.QueueBytes}, {"all_queued_bytes", c.AllQueuedBytes}, {"message_bytes", c.MessageBytes},
		{"replays", c.Replays},
	} {
		if n.value < 1 {
			return fmt.Errorf("live: %s %d: want 1 at least", n.name, n.value)
		}
	}
	switch {
	case !(c.Operations > 0):
		return fmt.Errorf("live: operations %v: want a positive number", c.Operations)
	case c.KeepAlive < 100*time.Millisecond || c.KeepAlive > time.Minute:
		return fmt.Errorf("live: keep_alive %s: want 100ms to 1m", c.KeepAlive)
	case c.WriteTimeout < time.Second:
		return fmt.Errorf("live: write_timeout %s: want 1s at least", c.WriteTimeout)
	case c.HistoryBytes < 0:
		return errors.New("live: history_bytes is negative")
	case c.PendingDeadline < time.Second:
		return fmt.Errorf("live: pending_deadline %s: want 1s at least", c.PendingDeadline)
	}
	return nil
}
