package clickhouse

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"time"

	driver "github.com/ClickHouse/clickhouse-go/v2"

	"tonscribe/internal/clienttls"
)

// Configuration says how ClickHouse is reached.
type Configuration struct {
	// DSN is clickhouse://user:password@host:port,host:port/database. Several
	// hosts are tried in order.
	DSN string `yaml:"dsn" secret:"true"`
	// MaxConnections is the most connections that are open at a time. Inserts have as
	// many of their own.
	MaxConnections int `yaml:"max_connections"`
	// DialTimeout is the longest that making a connection takes.
	DialTimeout time.Duration `yaml:"dial_timeout"`
	// ReadTimeout is the longest that the server is silent during a statement.
	ReadTimeout time.Duration `yaml:"read_timeout"`
	// Compression on the wire: none, lz4, zstd, or auto, which is none for
	// addresses of this machine and lz4 for others.
	Compression string                  `yaml:"compression"`
	TLS         clienttls.Configuration `yaml:"tls"`
	// Settings go with every statement, like insert_quorum on a replicated
	// cluster. A read-only user may not be allowed to give any.
	Settings map[string]string `yaml:"settings"`
}

// DefaultConfiguration has everything but the DSN.
func DefaultConfiguration() Configuration {
	return Configuration{MaxConnections: 16, DialTimeout: 5 * time.Second, ReadTimeout: 5 * time.Minute, Compression: "auto"}
}

// MaxConnections bounds what is made for each connection before there is one.
const MaxConnections = 10_000

// sendAt is how many bytes of columns are collected before they are sent. Many grow,
// and are copied, for longer than it takes to write few.
const sendAt = 1 << 20

func (c Configuration) options() (*driver.Options, error) {
	switch {
	case c.DSN == "":
		return nil, errors.New("clickhouse: no DSN")
	case c.MaxConnections < 1 || c.MaxConnections > MaxConnections:
		return nil, fmt.Errorf("clickhouse: max_connections is %d, it must be between 1 and %d", c.MaxConnections, MaxConnections)
	case c.DialTimeout <= 0 || c.ReadTimeout <= 0:
		return nil, errors.New("clickhouse: dial_timeout and read_timeout must be positive")
	}
	o, err := driver.ParseDSN(c.DSN)
	if err != nil {
		return nil, fmt.Errorf("clickhouse: DSN: %w", err)
	}
	if o.Compression, err = c.compression(o.Addr); err != nil {
		return nil, err
	}
	secure, err := c.TLS.Read()
	if err != nil {
		return nil, fmt.Errorf("clickhouse: %w", err)
	}
	if secure != nil {
		o.TLS = secure
	}
	// On a cluster, rows that a statement finds in one table lie in the shard of those that it
	// reads from the other. Where they do not it says GLOBAL.
	settings := driver.Settings{"distributed_product_mode": "local"}
	maps.Copy(settings, o.Settings)
	o.Settings = settings
	for name, value := range c.Settings {
		o.Settings[name] = value
	}
	o.MaxOpenConns, o.MaxIdleConns = c.MaxConnections, c.MaxConnections
	o.DialTimeout, o.ReadTimeout = c.DialTimeout, c.ReadTimeout
	o.ConnOpenStrategy = driver.ConnOpenInOrder
	o.FreeBufOnConnRelease = true // of the largest column of an insert, for each connection
	o.MaxCompressionBuffer = sendAt
	return o, nil
}

func (c Configuration) compression(addresses []string) (*driver.Compression, error) {
	switch c.Compression {
	case "none":
		return nil, nil
	case "lz4":
		return &driver.Compression{Method: driver.CompressionLZ4}, nil
	case "zstd":
		return &driver.Compression{Method: driver.CompressionZSTD}, nil
	case "auto", "":
		if slices.ContainsFunc(addresses, isRemote) {
			return &driver.Compression{Method: driver.CompressionLZ4}, nil
		}
		return nil, nil
	}
	return nil, fmt.Errorf("clickhouse: compression %q: must be auto, none, lz4 or zstd", c.Compression)
}

// isRemote reports whether an address is of another machine.
func isRemote(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = address
	}
	ip := net.ParseIP(host)
	return host != "localhost" && !ip.IsLoopback()
}
