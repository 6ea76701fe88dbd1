package kafka

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"tonscribe/internal/clienttls"
)

// Configuration says how the log is reached and how its topics are made.
type Configuration struct {
	// Brokers are the addresses (host:port) asked first.
	Brokers []string `yaml:"brokers"`
	// Partitions of every topic, a power of two. It is fixed when the topics
	// are created: a log with another number is refused.
	Partitions int `yaml:"partitions"`
	// ReplicationFactor of topics that are created here.
	ReplicationFactor int `yaml:"replication_factor"`
	// Compression of record batches: none, lz4, zstd, or auto, which is none in the
	// embedded log and lz4 otherwise.
	Compression string                  `yaml:"compression"`
	TLS         clienttls.Configuration `yaml:"tls"`
	SASL        SASL                    `yaml:"sasl"`
}

// SASL authenticates this client to the brokers.
type SASL struct {
	// Mechanism is plain, scram-sha-256, scram-sha-512, or empty for none.
	Mechanism string `yaml:"mechanism"`
	Username  string `yaml:"username"`
	Password  string `yaml:"password" secret:"true"`
}

// DefaultConfiguration fits one broker on this machine.
func DefaultConfiguration() Configuration {
	return Configuration{Partitions: 1, ReplicationFactor: 1, Compression: "auto"}
}

// maxPartitions is the largest power of two that 16 bits hold, in which the tables have it.
const maxPartitions = 1 << 15

func (c Configuration) validate() error {
	if len(c.Brokers) == 0 {
		return errors.New("kafka: no broker address")
	}
	for _, broker := range c.Brokers {
		if strings.Contains(broker, "/") {
			return fmt.Errorf("kafka: broker %q: want HOST:PORT", broker)
		}
	}
	if c.Partitions < 1 || c.Partitions > maxPartitions || c.Partitions&(c.Partitions-1) != 0 {
		return fmt.Errorf("kafka: %d partitions: must be a power of two, at most %d", c.Partitions, maxPartitions)
	}
	if c.ReplicationFactor < 1 || c.ReplicationFactor > math.MaxInt16 {
		return fmt.Errorf("kafka: replication factor %d: must be between 1 and %d", c.ReplicationFactor, math.MaxInt16)
	}
	return nil
}
