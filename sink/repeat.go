package sink

import (
	"context"
	"fmt"
	"slices"

	"tonscribe/internal/clickhouse"
	"tonscribe/internal/kafka"
	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/schema/table"
)

// Repeat says what rows are inserted once more. All rows of the tables are made
// of records alone, and a row that is there already is replaced by its equal: of
// one that changes the newer version counts, whatever comes last. So rows may be
// inserted again in any order and any number of times.
type Repeat struct {
	// Tables that get rows, seals and progress among them.
	Tables []string
	// From is the first bundle whose rows are inserted. Those of earlier ones are
	// read and passed.
	From uint32
	// Revision is that of rows of tables that have one; 0 leaves them the first.
	Revision uint32
	// Token is put before all tokens: what was inserted under the first ones is
	// gone, although ClickHouse remembers them.
	Token string
	// Done is up to which bundle a partition of a topic was in all tables: Again tells of
	// no later one.
	Done func(ctx context.Context, topic string, partition int) (mcSeqno uint32, err error)
	// Sealed is called when all rows of a partition up to a bundle are in the
	// tables. May be nil.
	Sealed func(topic string, partition int, mcSeqno uint32)
}

// wants reports whether a table gets rows; every table does of an ordinary sink.
func (r *Repeat) wants(table string) bool { return r == nil || slices.Contains(r.Tables, table) }

// revise gives rows their revision.
func (r *Repeat) revise(insert *clickhouse.Insert, rows table.Buffer) {
	if r == nil || r.Revision == 0 || !rows.Table().Revised() {
		return
	}
	revisions := slices.Repeat([]uint32{r.Revision}, rows.Rows())
	insert.Columns = append(insert.Columns, clickhouse.Column{Name: table.Revision, Values: revisions})
}

// passes reports whether a record's rows are left as they are.
func (r *Repeat) passes(item kafka.Item) bool { return r != nil && item.Record.McSeqno < r.From }

func (r *Repeat) sealed(topic string, partition int, mcSeqno uint32) {
	if r != nil && r.Sealed != nil {
		r.Sealed(topic, partition, mcSeqno)
	}
}

// Sources are the topics that the rows of a table are made of, none when it has
// others than those of records.
func Sources(name string) []schema.Topic {
	var list []schema.Topic
	for _, topic := range schema.TableTopics {
		f, err := table.NewFeed(topic.Name, table.Options{})
		if err != nil {
			continue // a topic that a test holds against the feeds
		}
		has := slices.ContainsFunc(f.Buffers(), func(rows table.Buffer) bool { return rows.Table().Name == name })
		if has || name == table.Seals.Name || name == table.Progress.Name {
			list = append(list, topic)
		}
	}
	return list
}

// Standalone reports whether a table's rows of a bundle are the same whatever was
// decoded before that bundle.
func Standalone(name string) bool {
	return slices.ContainsFunc(table.All, func(t *table.Table) bool { return t.Name == name && t.Standalone })
}

// Again inserts the rows of a partition's bundles, as far as the log has them now, and
// tells that those are there which the sink has inserted: the tables that get no rows have
// no others. It takes no part in a consumer group and leaves nothing behind.
func (c *Component) Again(ctx context.Context, topic schema.Topic, partition int) error {
	f, err := c.configuration.feedOf(topic.Name)
	if err != nil {
		return err
	}
	done, err := c.dependencies.Repeat.Done(ctx, topic.Name, partition)
	if err != nil {
		return fmt.Errorf("%s/%d: %w", topic.Name, partition, err)
	}
	l := &kafka.PartitionReader{Topic: topic.Name, Partition: partition}
	b := &batch{feed: f}
	b.reset(0)
	flush := func() error {
		if b.empty() {
			return nil
		}
		if err := c.insertAgain(ctx, l, b); err != nil {
			return err
		}
		b.reset(b.end)
		return nil
	}
	err = c.dependencies.Kafka.Read(ctx, topic.Name, partition, 0, func(item kafka.Item) error {
		if c.dependencies.Repeat.passes(item) {
			return nil
		}
		if b.empty() {
			b.start = item.Offset
		}
		if _, err := b.add(item); err != nil {
			return err
		}
		if item.Record.GetSeal() != nil && item.Record.McSeqno <= done {
			b.seals = append(b.seals, item.Record)
		}
		if b.rows < c.configuration.MaxRows && b.bytes < c.configuration.MaxBytes {
			return nil
		}
		return flush()
	})
	if err == nil {
		err = flush()
	}
	if err != nil {
		return fmt.Errorf("%s/%d: %w", topic.Name, partition, err)
	}
	return nil
}

func (c *Component) insertAgain(ctx context.Context, l *kafka.PartitionReader, b *batch) error {
	token := fmt.Sprintf("%s/%s/%d/%d-%d/%08x", c.dependencies.Repeat.Token, l.Topic, l.Partition, b.start, b.end, b.checksum)
	slices.SortFunc(b.seals, func(x, y *record.Record) int { return int(int64(x.McSeqno) - int64(y.McSeqno)) })
	return c.insertAll(ctx, l, b, token)
}
