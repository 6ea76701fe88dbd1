package send

import (
	"context"
	"fmt"
	"strings"
	"time"

	"tonscribe/internal/clickhouse"
	"tonscribe/internal/kafka"
	"tonscribe/schema/record"
)

const (
	// maxIntake is how many events are taken up at once.
	maxIntake = 500
	// commitEvery is how often the place in the log is committed while it has no events.
	commitEvery = time.Second
)

// take makes the events of the log durable, one after another, and hands them to the
// queue. The log is read no more from before them once they are.
func (q *queue) take(ctx context.Context, reader *kafka.PartitionReader) error {
	committed := time.Now()
	for {
		item, err := reader.Next(ctx)
		if err != nil {
			return err
		}
		var events []*record.TransferEvent
		for more := true; more; {
			events = append(events, item.Record.GetTransfers().GetTransfers()...)
			if len(events) >= maxIntake {
				break
			}
			var next kafka.Item
			if next, more, err = reader.Poll(ctx, 0); err != nil {
				return err
			} else if more {
				item = next
			}
		}
		if len(events) == 0 && time.Since(committed) < commitEvery {
			continue
		}
		fresh, err := q.enter(ctx, events)
		if err != nil {
			return err
		}
		// A member that the group has gone on without must not send.
		if err := reader.Commit(ctx, item.Offset+1); err != nil {
			return err
		}
		committed = time.Now()
		q.metrics.bundle.WithLabelValues(q.label).Set(float64(item.Record.McSeqno))
		for _, d := range fresh {
			q.add(d)
		}
	}
}

// enter makes events durable, and returns the deliveries of those that were not known.
func (q *queue) enter(ctx context.Context, events []*record.TransferEvent) ([]delivery, error) {
	if len(events) == 0 {
		return nil, nil
	}
	now := time.Now().UTC().Truncate(time.Microsecond)
	all := make([]delivery, len(events))
	for n, e := range events {
		if err := check(e); err != nil {
			return nil, fmt.Errorf("event of bundle %d: %w", e.McSeqno, err)
		}
		all[n] = deliveryOf(e, now, q.configuration.KeepEvents)
	}
	var known map[ID]bool
	err := q.persist(ctx, func() (err error) {
		known, err = q.known(ctx, all)
		return err
	})
	if err != nil {
		return nil, err
	}
	var fresh []delivery
	var unknown []*record.TransferEvent
	for n, d := range all {
		if known[d.Event] {
			q.metrics.repeated.Inc()
			q.recall(&d)
			continue
		}
		known[d.Event] = true
		d.changed = uint64(now.UnixMicro())
		fresh, unknown = append(fresh, d), append(unknown, events[n])
	}
	if len(fresh) == 0 {
		return nil, nil
	}
	// What has a delivery is known: its event must be there before.
	if err := insertEvents(ctx, q.tables, unknown, fresh); err != nil {
		return nil, err
	}
	rows := make([]Delivery, len(fresh))
	for n := range fresh {
		rows[n] = fresh[n].Delivery
	}
	return fresh, insertDeliveries(ctx, q.tables, rows)
}

// recall has the table read for a delivery that it has already: a sender that has lost the
// partition may have written it when this one had looked for what waits.
func (q *queue) recall(d *delivery) {
	q.mutex.Lock()
	b := q.backlog(d.Merchant)
	_, held := b.held[d.Event]
	_, ended := q.ended[d.Event]
	if !held && !ended {
		b.await(d.Happened)
	}
	q.mutex.Unlock()
	if !held && !ended {
		q.queue.Wake(d.Merchant, time.Now())
	}
}

func check(e *record.TransferEvent) error {
	for _, f := range []struct {
		name  string
		value []byte
		size  int
	}{{"id", e.Id, 16}, {"merchant", e.Merchant, 16}, {"reference", e.Reference, 16}, {"body_hash", e.BodyHash, 32}, {"tx_hash", e.TxHash, 32}, {"trace_id", e.TraceId, 32}} {
		if len(f.value) != f.size {
			return fmt.Errorf("%s has %d bytes, want %d", f.name, len(f.value), f.size)
		}
	}
	return nil
}

// known are those of some deliveries whose events have one already, or had one that has
// expired: the event outlives it.
func (q *queue) known(ctx context.Context, list []delivery) (map[ID]bool, error) {
	merchants, events := map[ID]bool{}, make([]ID, len(list))
	first, last := list[0].Happened, list[0].Happened
	for n := range list {
		d := &list[n]
		merchants[d.Merchant], events[n] = true, d.Event
		if d.Happened.Before(first) {
			first = d.Happened
		}
		if d.Happened.After(last) {
			last = d.Happened
		}
	}
	var of []string
	for merchant := range merchants {
		of = append(of, literal(merchant[:]))
	}
	known := map[ID]bool{}
	var key string
	these := "WHERE merchant IN (" + strings.Join(of, ",") + ") AND event IN (" + literals(events) + ")"
	err := clickhouse.Each(ctx, q.tables.Conn(), "SELECT event FROM deliveries "+these+" AND happened BETWEEN "+moment(first)+" AND "+moment(last)+
		" UNION ALL SELECT event FROM events "+these+" AND expires <= now()", nil, func() {
		var id ID
		copy(id[:], key)
		known[id] = true
	}, &key)
	q.mutex.Lock()
	defer q.mutex.Unlock()
	for _, id := range events {
		if _, is := q.ended[id]; is {
			known[id] = true
		}
	}
	return known, err
}
