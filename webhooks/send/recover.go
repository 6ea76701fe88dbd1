package send

import (
	"context"
	"math"
	"time"

	"tonscribe/internal/clickhouse"
	"tonscribe/schema"
)

// restore tells the queue of all merchants who may have deliveries that have not ended.
func (q *queue) restore(ctx context.Context) error {
	var key string
	var from time.Time
	return clickhouse.Each(ctx, q.tables.Conn(), "SELECT merchant, min(happened) FROM deliveries WHERE state = 'pending' AND expires > now() GROUP BY merchant", nil, func() {
		var merchant ID
		copy(merchant[:], key)
		if schema.PartitionOf(merchant[:], q.log.Partitions()) == q.partition {
			q.await(merchant, from.UTC())
			q.queue.Wake(merchant, time.Now())
		}
	}, &key, &from)
}

// recover works out from the attempts how deliveries of a merchant stand, and writes which of the
// attempts were cut.
func (q *queue) recover(ctx context.Context, merchant ID, list []delivery) error {
	if len(list) == 0 {
		return nil
	}
	events, by := make([]ID, len(list)), map[ID]*delivery{}
	for n := range list {
		events[n], by[list[n].Event] = list[n].Event, &list[n]
	}
	var bodies map[ID][]byte
	var attempts []Attempt
	err := q.persist(ctx, func() (err error) {
		if bodies, err = readBodies(ctx, q.tables, merchant, events); err == nil {
			// Not those by hand, of which merchants make as many as they like.
			attempts, err = readAttempts(ctx, q.tables, merchant, events, math.MaxInt, KindAuto, KindInterrupted)
		}
		return err
	})
	if err != nil {
		return err
	}
	var cut []Attempt
	for _, a := range attempts {
		if a.Ended.IsZero() {
			a.interrupt(time.Now())
			cut = append(cut, a)
		}
		by[a.Event].note(&a)
	}
	for n := range list {
		d := &list[n]
		if d.body = bodies[d.Event]; d.body == nil && d.State == Pending {
			d.end(ReasonExpired)
		}
	}
	if len(cut) == 0 {
		return nil
	}
	q.report.Log.Warn().Hex("merchant", merchant[:]).Int("attempts", len(cut)).Msg("attempts were interrupted by the end of their sender; making them again")
	return insertAttempts(ctx, q.tables, cut)
}

// interrupt ends an attempt whose sender did not.
func (a *Attempt) interrupt(now time.Time) {
	a.Kind, a.Class, a.Text = KindInterrupted, ClassInterrupted, "the sender was killed"
	a.Ended = now.UTC().Truncate(time.Microsecond)
	a.changed = max(a.changed+1, uint64(now.UnixMicro()))
}

// takenByHand finds deliveries that end without success, but that a manual attempt has made, and
// reports whether there are any.
func (q *queue) takenByHand(ctx context.Context, tried []*item) (found bool, err error) {
	ended, by := []ID{}, map[ID]*delivery{}
	merchants := map[ID]bool{}
	for _, i := range tried {
		if d := &i.Value; d.State != Pending && d.State != Delivered {
			ended, by[d.Event], merchants[d.Merchant] = append(ended, d.Event), d, true
		}
	}
	if len(ended) == 0 {
		return false, nil
	}
	var of []ID
	for merchant := range merchants {
		of = append(of, merchant)
	}
	var key string
	err = clickhouse.Each(ctx, q.tables.Conn(), "SELECT event FROM delivery_attempts WHERE merchant IN ("+literals(of)+") AND event IN ("+literals(ended)+
		") AND kind = 'manual' AND class = '' AND code != 0", nil, func() {
		var id ID
		copy(id[:], key)
		by[id].State, by[id].Reason, found = Delivered, "", true
	}, &key)
	return found, err
}
