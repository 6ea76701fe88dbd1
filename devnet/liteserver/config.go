package liteserver

import (
	"crypto/ed25519"
	"errors"
	"time"
)

// Configuration of a lite server.
type Configuration struct {
	// Listen is HOST:PORT, an IPv4 host; port 0 takes a free one.
	Listen string `yaml:"listen"`
	// Key is the server's key. Clients know its public half.
	Key ed25519.PrivateKey `yaml:"-"`
	// Connections at a time.
	Connections int `yaml:"connections"`
	// Queries of one connection that may be in work.
	Queries int `yaml:"queries"`
	// Heavy is how many get-methods and old states may be in work for all.
	Heavy int `yaml:"heavy"`
	// MaxWait bounds how long a client may wait for a masterchain block.
	MaxWait time.Duration `yaml:"max_wait"`
	// MethodTime bounds a get-method.
	MethodTime time.Duration `yaml:"method_time"`
}

// DefaultConfiguration listens on a free port of the loopback interface.
func DefaultConfiguration() Configuration {
	return Configuration{
		Listen:      "127.0.0.1:0",
		Connections: 1024,
		Queries:     64,
		Heavy:       8,
		MaxWait:     30 * time.Second,
		MethodTime:  5 * time.Second,
	}
}

func (c Configuration) validate() error {
	switch {
	case len(c.Key) != ed25519.PrivateKeySize:
		return errors.New("lite server: key is missing")
	case c.Connections < 1 || c.Queries < 1 || c.Heavy < 1:
		return errors.New("lite server: connections, queries and heavy must be at least 1")
	case c.MaxWait <= 0 || c.MethodTime <= 0:
		return errors.New("lite server: max_wait and method_time must be positive")
	}
	return nil
}
