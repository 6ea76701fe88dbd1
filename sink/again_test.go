package sink

import (
	"context"
	"testing"

	"tonscribe/internal/clickhouse"
	"tonscribe/schema"
)

// What the log has and the sink has not inserted yet is in no table but those that are
// repaired.
func TestARepairTellsOfNoBundleThatTheSinkHasNotInserted(t *testing.T) {
	s, tables := newStream(t, 1), newTables(t)
	all := bundles(4, 9)
	_, stop := s.start(tables, nil)
	s.publish(all[:2]...)
	s.await()
	stop()
	s.publish(all[2:]...)
	if err := tables.Conn().Exec(t.Context(), "TRUNCATE TABLE progress"); err != nil {
		t.Fatal(err)
	}
	repair, err := New(DefaultConfiguration(), Dependencies{Report: s.dependencies.Report, Kafka: s.client(), ClickHouse: tables, Repeat: &Repeat{
		Tables: []string{"progress"}, Token: "repair",
		Done: func(ctx context.Context, topic string, partition int) (uint32, error) {
			return s.producer.Done(ctx, DefaultConfiguration().Group, topic, partition)
		},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, topic := range schema.TableTopics {
		if err := repair.Again(t.Context(), topic, 0); err != nil {
			t.Fatal(err)
		}
	}
	w, err := clickhouse.ReadWatermark(t.Context(), tables.Conn())
	if err != nil || w.MCSeqno != all[1].Seqno {
		t.Errorf("the watermark is %d (%v), want %d", w.MCSeqno, err, all[1].Seqno)
	}
}
