package engine_test

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"

	"tonscribe/internal/engine"
	"tonscribe/test/support/enginetest"
)

const topic = "records"

func startKafka(t *testing.T, options engine.KafkaOptions) *engine.Kafka {
	t.Helper()
	options.Report = enginetest.Report(t)
	k, err := engine.StartKafka(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { k.Stop(context.Background()) })
	return k
}

func stopKafka(t *testing.T, k *engine.Kafka) {
	t.Helper()
	if err := k.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// client speaks to a log through its dialer.
type client struct {
	*kafka.Client
	transport *kafka.Transport
	dialer    *kafka.Dialer
	address   string
}

func newClient(k *engine.Kafka) *client {
	transport := &kafka.Transport{Dial: k.Dial}
	return &client{
		Client:    &kafka.Client{Addr: kafka.TCP(k.Address()), Transport: transport, Timeout: 10 * time.Second},
		transport: transport, dialer: &kafka.Dialer{DialFunc: k.Dial, Timeout: 10 * time.Second}, address: k.Address(),
	}
}

func (c *client) create(ctx context.Context, partitions int) error {
	response, err := c.CreateTopics(ctx, &kafka.CreateTopicsRequest{Topics: []kafka.TopicConfig{{
		Topic: topic, NumPartitions: partitions, ReplicationFactor: 1,
		ConfigEntries: []kafka.ConfigEntry{{ConfigName: "max.message.bytes", ConfigValue: "16777216"}},
	}}})
	if err == nil {
		err = response.Errors[topic]
	}
	return err
}

// produce writes one batch and returns the offset of its first record.
func (c *client) produce(ctx context.Context, partition int, values ...[]byte) (int64, error) {
	var records []kafka.Record
	for _, v := range values {
		records = append(records, kafka.Record{Value: kafka.NewBytes(v)})
	}
	response, err := c.Produce(ctx, &kafka.ProduceRequest{
		Topic: topic, Partition: partition, RequiredAcks: kafka.RequireAll, Records: kafka.NewRecordReader(records...),
	})
	if err == nil {
		err = response.Error
	}
	if err != nil {
		return 0, err
	}
	return response.BaseOffset, nil
}

func (c *client) mustProduce(t *testing.T, partition int, values ...[]byte) int64 {
	t.Helper()
	offset, err := c.produce(t.Context(), partition, values...)
	if err != nil {
		t.Fatal(err)
	}
	return offset
}

// bounds are the first offset and the end of a partition.
func (c *client) bounds(t *testing.T, partition int) (first, end int64) {
	t.Helper()
	conn, err := c.dialer.DialLeader(t.Context(), "tcp", c.address, topic, partition)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if first, end, err = conn.ReadOffsets(); err != nil {
		t.Fatal(err)
	}
	return first, end
}

// read returns n messages from an offset on.
func (c *client) read(t *testing.T, partition int, from int64, n int) []kafka.Message {
	t.Helper()
	conn, err := c.dialer.DialLeader(t.Context(), "tcp", c.address, topic, partition)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(time.Minute))
	if _, err := conn.Seek(from, kafka.SeekAbsolute); err != nil {
		t.Fatal(err)
	}
	messages := make([]kafka.Message, 0, n)
	for len(messages) < n {
		batch := conn.ReadBatchWith(kafka.ReadBatchConfig{MinBytes: 1, MaxBytes: 8 << 20, MaxWait: time.Second})
		m, err := batch.ReadMessage()
		for ; err == nil; m, err = batch.ReadMessage() {
			messages = append(messages, m)
		}
		if batch.Close(); !errors.Is(err, io.EOF) {
			t.Fatalf("record %d of %d: %v", len(messages), n, err)
		}
	}
	return messages[:n]
}

func (c *client) commit(t *testing.T, group string, partition int, offset int64, metadata string) {
	t.Helper()
	response, err := c.OffsetCommit(t.Context(), &kafka.OffsetCommitRequest{GroupID: group, GenerationID: -1,
		Topics: map[string][]kafka.OffsetCommit{topic: {{Partition: partition, Offset: offset, Metadata: metadata}}}})
	if err == nil {
		err = response.Topics[topic][0].Error
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (c *client) committed(t *testing.T, group string, partition int) (int64, string) {
	t.Helper()
	response, err := c.OffsetFetch(t.Context(), &kafka.OffsetFetchRequest{GroupID: group, Topics: map[string][]int{topic: {partition}}})
	if err != nil {
		t.Fatal(err)
	}
	p := response.Topics[topic][0]
	if p.Error != nil {
		t.Fatal(p.Error)
	}
	return p.CommittedOffset, p.Metadata
}

func withTopic(t *testing.T, k *engine.Kafka, partitions int) *client {
	t.Helper()
	c := newClient(k)
	if err := c.create(t.Context(), partitions); err != nil {
		t.Fatal(err)
	}
	return c
}

func partitionFolder(dir string, partition int) string {
	return filepath.Join(dir, "data", "partitions", topic+"-"+strconv.Itoa(partition))
}

// numbered is a value of the given size that starts with a number.
func numbered(n uint64, size int) []byte {
	value := make([]byte, size)
	binary.BigEndian.PutUint64(value, n)
	for i := 8; i < size; i++ {
		value[i] = byte(rand.Uint32())
	}
	return value
}
