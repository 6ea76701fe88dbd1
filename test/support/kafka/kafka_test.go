package kafkatest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/sasl"
	"github.com/segmentio/kafka-go/sasl/plain"
	"github.com/segmentio/kafka-go/sasl/scram"
)

const topic = "records"

// client writes and reads with retries, as brokers come and go.
type client struct {
	t         *testing.T
	calls     *kafka.Client
	transport *kafka.Transport
	dialer    *kafka.Dialer
	brokers   []string
}

func newClient(t *testing.T, brokers []string) *client {
	transport := &kafka.Transport{MetadataTTL: time.Second, DialTimeout: 5 * time.Second}
	t.Cleanup(transport.CloseIdleConnections)
	return &client{
		t: t, transport: transport, dialer: &kafka.Dialer{Timeout: 5 * time.Second}, brokers: brokers,
		calls: &kafka.Client{Addr: kafka.TCP(brokers...), Transport: transport, Timeout: 5 * time.Second},
	}
}

// eventually repeats what fails while brokers fail over.
func (c *client) eventually(what string, try func(ctx context.Context) error) {
	c.t.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		err := try(c.t.Context())
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			c.t.Fatalf("%s: %v", what, err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func (c *client) create() {
	c.t.Helper()
	c.eventually("create topic", func(ctx context.Context) error {
		response, err := c.calls.CreateTopics(ctx, &kafka.CreateTopicsRequest{Topics: []kafka.TopicConfig{{
			Topic: topic, NumPartitions: 1, ReplicationFactor: len(c.brokers),
		}}})
		if err == nil && !errors.Is(response.Errors[topic], kafka.TopicAlreadyExists) {
			err = response.Errors[topic]
		}
		return err
	})
}

// produce writes records until all brokers that must have them do.
func (c *client) produce(values ...string) {
	c.t.Helper()
	for _, value := range values {
		c.eventually("produce", func(ctx context.Context) error {
			response, err := c.calls.Produce(ctx, &kafka.ProduceRequest{
				Topic: topic, RequiredAcks: kafka.RequireAll, Records: kafka.NewRecordReader(kafka.Record{Value: kafka.NewBytes([]byte(value))}),
			})
			if err == nil {
				err = response.Error
			}
			return err
		})
	}
}

// expect reads the log from its beginning; a retried write may be there twice.
func (c *client) expect(values ...string) {
	c.t.Helper()
	reader := kafka.NewReader(kafka.ReaderConfig{
		Brokers: c.brokers, Dialer: c.dialer, Topic: topic, MinBytes: 1, MaxBytes: 1 << 20, MaxWait: time.Second,
	})
	defer reader.Close()
	ctx, cancel := context.WithTimeout(c.t.Context(), time.Minute)
	defer cancel()
	last := ""
	for _, want := range values {
		for {
			m, err := reader.ReadMessage(ctx)
			if err != nil {
				c.t.Fatalf("waiting for %q: %v", want, err)
			}
			if got := string(m.Value); got == want {
				last = got
				break
			} else if got != last {
				c.t.Fatalf("read %q, want %q", got, want)
			}
		}
	}
}

func numbered(from, to int) (values []string) {
	for i := from; i < to; i++ {
		values = append(values, fmt.Sprint("record ", i))
	}
	return values
}

func TestKilledBrokerComesBackWithEveryAcknowledgedRecord(t *testing.T) {
	cluster := Start(t, Options{})
	c := newClient(t, cluster.Brokers())
	c.create()
	c.produce(numbered(0, 50)...)
	cluster.Kill9(0)
	cluster.Restart(0)
	c.produce(numbered(50, 60)...)
	c.expect(numbered(0, 60)...)
	cluster.Terminate(0)
	cluster.Restart(0)
	c.expect(numbered(0, 60)...)
	cluster.Stop()
}

func TestThreeBrokersGoOnWithoutOne(t *testing.T) {
	cluster := Start(t, Options{Brokers: 3})
	c := newClient(t, cluster.Brokers())
	c.create()
	c.produce(numbered(0, 20)...)
	cluster.Kill9(0)
	c.produce(numbered(20, 40)...)
	cluster.Restart(0)
	c.produce(numbered(40, 60)...)
	c.expect(numbered(0, 60)...)
}

func TestOnlyKnownUsersGetInOverTLS(t *testing.T) {
	const user, password = "app", "a secret"
	cluster := Start(t, Options{Users: map[string]string{user: password}})
	mechanism := func(kind, password string) sasl.Mechanism {
		if kind == "PLAIN" {
			return plain.Mechanism{Username: user, Password: password}
		}
		m, err := scram.Mechanism(scram.SHA512, user, password)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	c := newClient(t, cluster.SecureBrokers())
	for _, kind := range []string{"SCRAM-SHA-512", "PLAIN"} {
		t.Run(kind, func(t *testing.T) {
			c.t = t
			c.transport.TLS, c.dialer.TLS = cluster.TLS(), cluster.TLS()
			c.transport.SASL, c.dialer.SASLMechanism = mechanism(kind, password), mechanism(kind, password)
			c.create()
			c.produce("first")
			c.expect("first")
			wrong := &kafka.Dialer{TLS: cluster.TLS(), SASLMechanism: mechanism(kind, "wrong"), Timeout: time.Minute}
			if _, err := wrong.Dial("tcp", cluster.SecureBrokers()[0]); !errors.Is(err, kafka.SASLAuthenticationFailed) {
				t.Errorf("wrong password: %v", err)
			}
		})
	}
	stranger := &kafka.Dialer{TLS: nil, Timeout: 5 * time.Second}
	if conn, err := stranger.Dial("tcp", cluster.SecureBrokers()[0]); err == nil {
		if _, err := conn.Brokers(); err == nil {
			t.Error("the port with TLS answers without")
		}
		conn.Close()
	}
}
