// Package kafka is how stages write to the log and read from it. Records
// (schema/record) come in and go out in order, partition by partition. Writing
// is at-least-once; a PartitionReader reads what was written exactly once and in order,
// and keeps its place in the commits of a consumer group. It must never look
// into blocks or transactions, and never knows a stage.
package kafka

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/segmentio/kafka-go"

	"tonscribe/internal/report"
	"tonscribe/schema"
)

const (
	dialTimeout = 10 * time.Second
	callTimeout = 10 * time.Second
	// produceTimeout is long because a broker may wait for its replicas; half
	// of it is what the broker is told.
	produceTimeout = 30 * time.Second
	// metadataTTL bounds how long requests go to a broker that lost a partition.
	metadataTTL = 2 * time.Second
	// writtenBytes is how much of what readers have not taken yet is kept for them: the
	// rest they read from the log.
	writtenBytes = 32 << 20
)

// Dependencies of a Client.
type Dependencies struct {
	Report report.Reporter
	// Dial opens connections to brokers; nil means TCP. The embedded log passes
	// its own.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Epoch names the state of an embedded log that can lose its tail; empty
	// means that the cluster's id is enough.
	Epoch string
	// Room is waited for before anything is written, by Publish; nil is room
	// always.
	Room func(ctx context.Context) error
	// Alone reports whether nobody but this client writes to the log. What it wrote is then in its
	// readers' hands without being read from there.
	Alone bool
	// Sync makes what a partition has survive a power loss. It is nil where what is
	// acknowledged does.
	Sync func(topic string, partition int) error
}

// Client writes and reads the log. It is safe for use by many goroutines.
type Client struct {
	configuration Configuration
	report        report.Reporter
	metrics       metrics
	compression   kafka.Compression
	dialer        *kafka.Dialer
	transport     *kafka.Transport
	calls         *kafka.Client // with callTimeout
	produce       *kafka.Client // with produceTimeout
	writers       sync.Map      // TopicPartition → chan struct{}: one batch in flight
	stuck         sync.Map      // group and partition → why the group cannot read it
	written       *written      // nil where others write as well
	room          func(ctx context.Context) error
	sync          func(topic string, partition int) error
	outages       outages

	connecting chan struct{} // has a value while one does
	epoch      string        // empty until connected
	epochOfLog string
}

// TopicPartition names one partition of a topic.
type TopicPartition struct {
	Topic     string
	Partition int
}

func (tp TopicPartition) String() string { return fmt.Sprintf("%s/%d", tp.Topic, tp.Partition) }

// New makes a client without connecting to anything.
func New(configuration Configuration, dependencies Dependencies) (*Client, error) {
	if err := configuration.validate(); err != nil {
		return nil, err
	}
	compression, err := compressionOf(configuration.Compression)
	if err != nil {
		return nil, err
	}
	tls, err := configuration.TLS.Read()
	if err != nil {
		return nil, fmt.Errorf("kafka: %w", err)
	}
	mechanism, err := configuration.SASL.mechanism()
	if err != nil {
		return nil, err
	}
	reporter := dependencies.Report.For("kafka")
	c := &Client{
		configuration: configuration,
		report:        reporter,
		metrics:       newMetrics(reporter),
		compression:   compression,
		epochOfLog:    dependencies.Epoch,
		room:          dependencies.Room,
		sync:          dependencies.Sync,
		outages:       outages{by: map[string]*outage{}},
		connecting:    make(chan struct{}, 1),
		dialer: &kafka.Dialer{ClientID: "tonscribe", Timeout: dialTimeout, KeepAlive: time.Minute,
			DialFunc: dependencies.Dial, TLS: tls, SASLMechanism: mechanism},
		transport: &kafka.Transport{ClientID: "tonscribe", DialTimeout: dialTimeout, MetadataTTL: metadataTTL,
			Dial: dependencies.Dial, TLS: tls, SASL: mechanism},
	}
	if dependencies.Alone {
		c.written = newWritten(writtenBytes)
	}
	address := kafka.TCP(configuration.Brokers...)
	c.calls = &kafka.Client{Addr: address, Timeout: callTimeout, Transport: c.transport}
	c.produce = &kafka.Client{Addr: address, Timeout: produceTimeout, Transport: c.transport}
	return c, nil
}

// Partitions is the number of partitions of every topic.
func (c *Client) Partitions() int { return c.configuration.Partitions }

// Close ends the connections. Publish and Consume must have returned.
func (c *Client) Close() { c.transport.CloseIdleConnections() }

// connect waits until a broker answers. It dials by itself once, because only
// a dial names a failed authentication clearly.
func (c *Client) connect(ctx context.Context) error {
	select {
	case c.connecting <- struct{}{}:
		defer func() { <-c.connecting }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if c.epoch != "" {
		return nil
	}
	return c.persist(ctx, "connect", func(ctx context.Context) error {
		conn, err := c.dialAny(ctx)
		if err != nil {
			return err
		}
		conn.Close()
		metadata, err := c.calls.Metadata(ctx, &kafka.MetadataRequest{})
		if err != nil {
			return fmt.Errorf("metadata: %w", err)
		}
		c.epoch = metadata.ClusterID + c.epochOfLog
		if c.epoch == "" {
			c.epoch = "log"
		}
		return nil
	})
}

// dial connects by the first broker that can be asked.
func (c *Client) dial(what string, dial func(broker string) (*kafka.Conn, error)) (*kafka.Conn, error) {
	var failures []error
	for _, broker := range c.configuration.Brokers {
		conn, err := dial(broker)
		if err == nil {
			return conn, nil
		}
		failures = append(failures, fmt.Errorf("%s %s: %w", what, broker, err))
	}
	return nil, errors.Join(failures...)
}

func (c *Client) dialAny(ctx context.Context) (*kafka.Conn, error) {
	return c.dial("broker", func(broker string) (*kafka.Conn, error) { return c.dialer.DialContext(ctx, "tcp", broker) })
}

// Ready is nil when a broker answers, has the topics, and what groups of this client read
// next.
func (c *Client) Ready(ctx context.Context, topics []schema.Topic) error {
	conn, err := c.dialAny(ctx)
	if err != nil {
		return fmt.Errorf("the log cannot be reached: %w", err)
	}
	conn.Close()
	names := make([]string, len(topics))
	for i, topic := range topics {
		names[i] = topic.Name
	}
	if err := c.there(ctx, names...); err != nil {
		return fmt.Errorf("the log: %w", err)
	}
	c.stuck.Range(func(_, why any) bool {
		err = fmt.Errorf("the log: %w", why.(error))
		return false
	})
	return err
}

// dialLeader connects to the broker that leads the partition. It asks each broker once:
// DialLeader of kafka-go asks for as long as there is no topic or no leader, and tells nobody.
func (c *Client) dialLeader(ctx context.Context, tp TopicPartition) (*kafka.Conn, error) {
	return c.dial(fmt.Sprintf("leader of %s by broker", tp), func(broker string) (*kafka.Conn, error) {
		partition, err := c.lookUpPartition(ctx, broker, tp)
		if err != nil {
			return nil, err
		}
		return c.dialer.DialPartition(ctx, "tcp", broker, partition)
	})
}

func (c *Client) lookUpPartition(ctx context.Context, broker string, tp TopicPartition) (kafka.Partition, error) {
	if err := c.there(ctx, tp.Topic); err != nil {
		return kafka.Partition{}, err
	}
	conn, err := c.dialer.DialContext(ctx, "tcp", broker)
	if err != nil {
		return kafka.Partition{}, err
	}
	defer conn.Close()
	defer closeWith(ctx, conn)()
	conn.SetDeadline(time.Now().Add(callTimeout))
	partitions, err := conn.ReadPartitions(tp.Topic)
	if err != nil {
		return kafka.Partition{}, err
	}
	for _, p := range partitions {
		switch {
		case p.ID != tp.Partition:
		case p.Leader.Host == "":
			return p, kafka.LeaderNotAvailable
		default:
			return p, nil
		}
	}
	return kafka.Partition{}, kafka.UnknownTopicOrPartition
}
