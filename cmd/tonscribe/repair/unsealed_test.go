package repair

import (
	"context"
	"testing"

	"tonscribe/internal/kafka"
	"tonscribe/internal/report"
	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/schema/table"
	"tonscribe/sink"
)

// A log may have dropped bundles before any sink had read them.
func TestBundlesThatNoSinkHasInsertedComeBackInAllTables(t *testing.T) {
	for name, dropped := range map[string][]schema.Topic{
		"of all topics": schema.Topics, "of one topic": {schema.Transactions}, "of one that no other table counts": {schema.Traces},
	} {
		t.Run(name, func(t *testing.T) {
			whole := newIndex(t)
			from, to := whole.middle()
			i := whole.without(dropped, from, to)
			watch := i.watch()
			// A sink may be cut off when it has told of what is in the tables and not yet
			// committed it: of this group the log knows nothing.
			uncommitted := sink.DefaultConfiguration()
			uncommitted.Group = "none"
			err := Run(t.Context(), Options{
				Tables: i.tables, Watch: watch, Partitions: 1, Sink: uncommitted, Report: report.Silent(), SkipChecksums: true,
				Log: func(context.Context) (*kafka.Client, error) { return whole.log, nil }, Out: t.Output(), Progress: func(string) {},
			})
			if err != nil {
				t.Fatal(err)
			}
			for _, of := range table.All {
				if have, want := i.sum(of), whole.sum(of); have != want {
					t.Errorf("table %s has %d rows with the sum %x, want %d with %x", of.Name, have[1], have[0], want[1], want[0])
				}
			}
		})
	}
}

// middle are bundles in the midst of the index.
func (i *index) middle() (from, to uint32) {
	i.Helper()
	var first, last uint32
	if err := i.tables.Conn().QueryRow(i.Context(), "SELECT min(mc_seqno), max(mc_seqno) FROM blocks").Scan(&first, &last); err != nil || last < first+10 {
		i.Fatalf("bundles %d to %d, %v", first, last, err)
	}
	return first + 3, last - 3
}

// without makes tables of the same log that lack the bundles between two, these included,
// of some topics.
func (i *index) without(topics []schema.Topic, from, to uint32) *index {
	i.Helper()
	tables, early := openEngines(i.T)
	_, late := openEngines(i.T)
	dropped := map[string]bool{}
	for _, topic := range topics {
		dropped[topic.Name] = true
	}
	last := uint32(0)
	for _, topic := range schema.TableTopics {
		var before, after []*record.Record
		err := i.log.Read(i.Context(), topic.Name, 0, 0, func(item kafka.Item) error {
			r := item.Record
			last = max(last, r.McSeqno)
			switch {
			case r.McSeqno < from:
				before = append(before, r)
			case r.McSeqno > to || !dropped[topic.Name]:
				after = append(after, r)
			}
			return nil
		})
		if err != nil {
			i.Fatal(err)
		}
		for log, records := range map[*kafka.Client][]*record.Record{early: before, late: after} {
			if err := log.Publish(i.Context(), topic.Name, 0, records); err != nil {
				i.Fatal(err)
			}
		}
	}
	(&index{i.T, tables, early}).fill(from - 1)
	made := &index{i.T, tables, late}
	made.fill(last)
	return made
}
