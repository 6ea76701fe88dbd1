package query

import (
	"time"

	"tonscribe/query/auth"
	"tonscribe/query/live"
	"tonscribe/query/pending"
	"tonscribe/query/store"
	"tonscribe/query/tail"
	v2 "tonscribe/query/v2"
)

// Configuration of the HTTP API.
type Configuration struct {
	// Timeout bounds each request; a client may ask for less (X-Timeout).
	Timeout time.Duration       `yaml:"timeout"`
	Store   store.Configuration `yaml:",inline"`
	// Tail bounds what is held of bundles that the log has and the tables have not.
	Tail tail.Configuration `yaml:",inline"`
	// Pending bounds what is shown before a block has it.
	Pending pending.Configuration `yaml:"pending"`
	// Live bounds the streams of what happens.
	Live live.Configuration `yaml:"live"`
	// V2 is the section api: the node-access layer.
	V2 v2.Configuration `yaml:"-"`
	// Auth is the section auth, for every layer.
	Auth auth.Configuration `yaml:"-"`
	// TestNetwork gives user-friendly addresses the flag of the test network.
	TestNetwork bool `yaml:"-"`
}

// DefaultConfiguration is that of the public service, with memory for a small
// machine.
func DefaultConfiguration() Configuration {
	return Configuration{
		Timeout: 3 * time.Second, Store: store.DefaultConfiguration(), Tail: tail.DefaultConfiguration(), Pending: pending.DefaultConfiguration(), Live: live.DefaultConfiguration(), V2: v2.DefaultConfiguration(), Auth: auth.DefaultConfiguration(),
	}
}
