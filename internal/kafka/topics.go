package kafka

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/segmentio/kafka-go"

	"tonscribe/schema"
)

// EnsureTopics creates the topics that are missing and refuses those with
// another number of partitions than configured. It waits for brokers that do
// not answer yet, until ctx ends.
func (c *Client) EnsureTopics(ctx context.Context, topics []schema.Topic) error {
	if err := c.connect(ctx); err != nil {
		return fmt.Errorf("kafka: %w", err)
	}
	missing, err := c.missing(ctx, topics)
	if err != nil {
		return fmt.Errorf("kafka: %w", err)
	}
	// Who may create none is refused even those that are there.
	if len(missing) > 0 {
		if err := c.persist(ctx, "create topics", func(ctx context.Context) error { return c.createTopics(ctx, missing) }); err != nil {
			return fmt.Errorf("kafka: create topics: %w", err)
		}
	}
	return c.awaitTopics(ctx, topics)
}

// HasTopics reports whether all topics are there, and creates none. It refuses those with
// another number of partitions than configured, and waits for brokers that do not answer
// yet, until ctx ends.
func (c *Client) HasTopics(ctx context.Context, topics []schema.Topic) (bool, error) {
	if err := c.connect(ctx); err != nil {
		return false, fmt.Errorf("kafka: %w", err)
	}
	missing, err := c.missing(ctx, topics)
	if err != nil {
		return false, fmt.Errorf("kafka: %w", err)
	}
	if len(missing) > 0 {
		return false, nil
	}
	return true, c.awaitTopics(ctx, topics)
}

// missing are the topics that the brokers have not, or do not show to this client.
func (c *Client) missing(ctx context.Context, topics []schema.Topic) (missing []schema.Topic, err error) {
	err = c.persist(ctx, "list topics", func(ctx context.Context) error {
		metadata, err := c.calls.Metadata(ctx, &kafka.MetadataRequest{})
		if err != nil {
			return err
		}
		missing = slices.DeleteFunc(slices.Clone(topics), func(topic schema.Topic) bool {
			return slices.ContainsFunc(metadata.Topics, func(t kafka.Topic) bool { return t.Name == topic.Name })
		})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list topics: %w", err)
	}
	return missing, nil
}

func (c *Client) createTopics(ctx context.Context, topics []schema.Topic) error {
	request := &kafka.CreateTopicsRequest{}
	for _, topic := range topics {
		request.Topics = append(request.Topics, kafka.TopicConfig{
			Topic:             topic.Name,
			NumPartitions:     c.partitionsOf(topic),
			ReplicationFactor: c.configuration.ReplicationFactor,
			ConfigEntries:     entriesOf(topic),
		})
	}
	response, err := c.calls.CreateTopics(ctx, request)
	if err != nil {
		return err
	}
	var failures []error
	for topic, err := range response.Errors {
		if err != nil && !errors.Is(err, kafka.TopicAlreadyExists) {
			failures = append(failures, fmt.Errorf("topic %s: %w", topic, err))
		}
	}
	return errors.Join(failures...)
}

func (c *Client) partitionsOf(topic schema.Topic) int {
	return cmp.Or(topic.Partitions, c.configuration.Partitions)
}

// entriesOf are the settings of a topic.
func entriesOf(topic schema.Topic) []kafka.ConfigEntry {
	list := []kafka.ConfigEntry{
		{ConfigName: "max.message.bytes", ConfigValue: strconv.Itoa(topic.MaxMessageBytes)},
		// Retention by time must count from the arrival of a record,
		// whatever the writer's clock says.
		{ConfigName: "message.timestamp.type", ConfigValue: "LogAppendTime"},
	}
	if topic.Retention > 0 {
		const segments = 3 // only whole segments are dropped
		list = append(list,
			kafka.ConfigEntry{ConfigName: "cleanup.policy", ConfigValue: "delete"},
			kafka.ConfigEntry{ConfigName: "retention.ms", ConfigValue: strconv.FormatInt(topic.Retention.Milliseconds(), 10)},
			kafka.ConfigEntry{ConfigName: "segment.ms", ConfigValue: strconv.FormatInt(topic.Retention.Milliseconds()/segments, 10)})
	}
	if topic.RetentionBytes > 0 {
		const segments = 8
		list = append(list,
			kafka.ConfigEntry{ConfigName: "retention.bytes", ConfigValue: strconv.FormatInt(topic.RetentionBytes, 10)},
			kafka.ConfigEntry{ConfigName: "segment.bytes", ConfigValue: strconv.FormatInt(topic.RetentionBytes/segments, 10)})
	}
	return list
}

// awaitTopics waits until every partition of the topics has a leader: brokers
// learn of a new topic some time after it was created.
func (c *Client) awaitTopics(ctx context.Context, topics []schema.Topic) error {
	for _, topic := range topics {
		err := c.persist(ctx, "look up topic "+topic.Name, func(ctx context.Context) error {
			return c.lookUpTopic(ctx, topic.Name, c.partitionsOf(topic))
		})
		if err != nil {
			return fmt.Errorf("kafka: %w", err)
		}
	}
	return nil
}

// there is an error while a topic is not there. Brokers that make topics by themselves
// (auto.create.topics.enable) make the one whose partitions a connection asks for, with
// their settings.
func (c *Client) there(ctx context.Context, topics ...string) error {
	metadata, err := c.calls.Metadata(ctx, &kafka.MetadataRequest{Topics: topics})
	if err != nil {
		return err
	}
	for _, t := range metadata.Topics {
		if errors.Is(t.Error, kafka.UnknownTopicOrPartition) {
			return fmt.Errorf("topic %s is not there, or this user may not see it: %w", t.Name, t.Error)
		}
	}
	return nil
}

func (c *Client) lookUpTopic(ctx context.Context, topic string, want int) error {
	if err := c.there(ctx, topic); err != nil {
		return err
	}
	conn, err := c.dialAny(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	defer closeWith(ctx, conn)()
	partitions, err := conn.ReadPartitions(topic)
	if err != nil {
		return fmt.Errorf("topic %s: %w", topic, err)
	}
	if len(partitions) != want {
		return finalError{fmt.Errorf("topic %s has %d partitions, but %d are configured: "+
			"set the number of the log, or start with new topics", topic, len(partitions), want)}
	}
	for _, partition := range partitions {
		if partition.Leader.Host == "" {
			return fmt.Errorf("topic %s: partition %d has no leader", topic, partition.ID)
		}
	}
	return nil
}

// closeWith closes the connection when ctx ends, so that no read outlasts it.
func closeWith(ctx context.Context, conn *kafka.Conn) (stop func() bool) {
	return context.AfterFunc(ctx, func() { conn.Close() })
}
