package send

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"tonscribe/internal/clickhouse"
	"tonscribe/internal/dispatch"
	"tonscribe/internal/lifetime"
	"tonscribe/schema"
)

// queue has the deliveries of one partition's merchants that have not ended. It is the
// store of a dispatch.Queue whose destinations are the merchants: the table deliveries.
type queue struct {
	*Component
	partition int
	label     string
	queue     *dispatch.Queue[ID, ID, delivery]
	suspects  map[ID]bool      // merchants whose deliveries fail; whether they do so for long is to be seen
	checked   map[ID]time.Time // when that was last seen
	measured  time.Time

	mutex     sync.Mutex
	merchants map[ID]*backlog
	warned    time.Time
	ended     map[ID]time.Time // events that have ended not long ago: a replica may not know it yet
}

// backlog is what is known of a merchant's deliveries that have not ended.
type backlog struct {
	held map[ID]time.Time // those in the queue's memory, and when the events were detected
	// from is the time of the first event that the queue may not hold, where there are any.
	from  time.Time
	waits bool
	read  time.Time // when the table was last read
	reads int       // how often it was
}

type item = dispatch.Item[ID, ID, delivery]

const (
	maxHeldBytes = 256 << 20
	maxAhead     = 512 // deliveries of a merchant
	maxBusyAhead = 64  // of one whose endpoint fails
	maxWritten   = 256 // deliveries that are written at once
	writeEvery   = 20 * time.Millisecond
	// fewRead is less than what a look into the table is worth at any time; readPause is the time
	// after which it is.
	fewRead   = 32
	readPause = 250 * time.Millisecond
	// postponement is how long a delivery waits whose endpoint is not known.
	postponement = 2 * time.Second
	warnEvery    = 10 * time.Second
	// endedKept is longer than a replica lags.
	endedKept = 2 * time.Minute
	// brokenPause is how long ClickHouse is left alone after it failed.
	brokenPause = 500 * time.Millisecond
	// measureEvery is how often the gauges are set.
	measureEvery = time.Second
	// suspectPause is the time between looks at how long an endpoint has failed.
	suspectPause = 10 * time.Minute
	// minFailing is the least time between the first and the last failure of an endpoint
	// that is disabled.
	minFailing = 12 * time.Hour
)

func (c *Component) newQueue(partition int) *queue {
	q := &queue{Component: c, partition: partition, label: strconv.Itoa(partition),
		merchants: map[ID]*backlog{}, ended: map[ID]time.Time{}, suspects: map[ID]bool{}, checked: map[ID]time.Time{}}
	share := func(of int) int { return max(1, of/c.log.Partitions()) }
	q.queue = dispatch.New(dispatch.Options[ID]{
		Limits:   q.limits,
		Parallel: share(c.configuration.Attempts), Items: max(share(c.configuration.Held), c.configuration.EndpointMax), Bytes: share(maxHeldBytes),
		WriteItems: maxWritten, WriteBytes: maxHeldBytes, Poll: writeEvery,
		Hold: true, BusyAhead: maxBusyAhead, MaxAfter: time.Minute,
	}, q, q.try)
	return q
}

// limits of a merchant's endpoint. One that fails has no pause: its attempts are made when
// they are due.
func (q *queue) limits(merchant ID) dispatch.Limits {
	l := dispatch.Limits{Parallel: q.conditions.parallel(merchant), Ahead: maxAhead}
	if rate := q.configuration.EndpointRate; rate > 0 {
		l.Pause = time.Duration(float64(l.Parallel) / rate * float64(time.Second))
	}
	return l
}

// run sends until ctx ends, or ClickHouse fails.
func (q *queue) run(ctx context.Context) error {
	if err := q.persist(ctx, func() error { return q.restore(ctx) }); err != nil {
		return err
	}
	err := q.queue.Run(ctx)
	if err == nil {
		err = ctx.Err()
	}
	return err
}

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

func (q *queue) backlog(merchant ID) *backlog {
	b := q.merchants[merchant]
	if b == nil {
		b = &backlog{held: map[ID]time.Time{}}
		q.merchants[merchant] = b
	}
	return b
}

// await notes that the table has a delivery from a time on that the queue may not hold.
func (q *queue) await(merchant ID, from time.Time) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	q.backlog(merchant).await(from)
}

func (b *backlog) await(from time.Time) {
	if !b.waits || from.Before(b.from) {
		b.from, b.waits = from, true
	}
}

// add hands to the queue a delivery that the table has.
func (q *queue) add(d delivery) {
	if d.State != Pending {
		q.metrics.end(&d.Delivery)
		return
	}
	q.mutex.Lock()
	b := q.backlog(d.Merchant)
	before := *b
	b.await(d.Happened) // it may be read from the table as soon as Add has returned
	q.mutex.Unlock()
	if !q.queue.Add(d.item()) {
		return
	}
	q.mutex.Lock()
	defer q.mutex.Unlock()
	if b.reads == before.reads {
		b.from, b.waits = before.from, before.waits
	}
	if _, is := q.ended[d.Event]; !is {
		b.held[d.Event] = d.Detected
		q.merchants[d.Merchant] = b
	}
}

func (d delivery) item() *item {
	const overhead = 600 // bytes, about
	return &item{Destination: d.Merchant, Key: d.Event, Series: string(d.Reference[:]), Due: d.Due, Size: len(d.body) + overhead, Value: d}
}

func (q *queue) hasEnded(id ID) bool {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	_, is := q.ended[id]
	return is
}

// Read implements dispatch.Store. Deliveries that wait for a retry are returned too: they
// have their due time.
func (q *queue) Read(ctx context.Context, merchant ID, limit int) (items []*item, again time.Time, err error) {
	q.mutex.Lock()
	b := q.backlog(merchant)
	from, waits, held := b.from, b.waits, len(b.held)
	if next := b.read.Add(readPause); waits && limit < fewRead && time.Now().Before(next) {
		q.mutex.Unlock()
		return nil, next, nil
	}
	b.waits, b.read, b.reads = false, time.Now(), b.reads+1 // what comes from here on is new
	q.mutex.Unlock()
	if !waits {
		return nil, time.Time{}, nil
	}
	var list []Delivery
	err = q.persist(ctx, func() (err error) {
		list, err = readDeliveries(ctx, q.tables, "SELECT "+deliveryColumns+" FROM deliveries FINAL WHERE merchant = "+literal(merchant[:])+
			" AND happened >= "+moment(from)+" AND state = 'pending' AND expires > now() ORDER BY happened, event LIMIT "+strconv.Itoa(limit+held)+
			" SETTINGS use_skip_indexes_if_final = 0")
		return err
	})
	if err != nil {
		return nil, time.Time{}, err
	}
	q.mutex.Lock()
	var outside []delivery
	for _, d := range list {
		_, isHeld := b.held[d.Event]
		if _, hasEnded := q.ended[d.Event]; !isHeld && !hasEnded && len(outside) < limit {
			outside = append(outside, delivery{Delivery: d, number: 1, taken: time.Now()})
		}
	}
	if len(list) == limit+held {
		b.await(list[0].Happened)
		again = time.Now()
	}
	q.mutex.Unlock()
	if err := q.recover(ctx, merchant, outside); err != nil {
		return nil, time.Time{}, err
	}
	q.mutex.Lock()
	defer q.mutex.Unlock()
	for _, d := range outside {
		b.held[d.Event] = d.Detected
		items = append(items, d.item())
	}
	return items, again, nil
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
			attempts, err = readAttempts(ctx, q.tables, merchant, events)
		}
		return err
	})
	if err != nil {
		return err
	}
	var cut []Attempt
	for _, a := range attempts {
		if a.Kind != KindAuto && a.Kind != KindInterrupted {
			continue
		}
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

// try makes the next attempt of a delivery.
func (q *queue) try(ctx context.Context, i *item) dispatch.Result {
	d := &i.Value
	if d.State != Pending || q.hasEnded(d.Event) {
		return dispatch.Result{}
	}
	endpoint, err := q.endpoints.Get(ctx, d.Merchant)
	to, reason := q.courier.refusal(endpoint)
	switch {
	case err != nil && !errors.Is(err, clickhouse.ErrNoRow):
		return q.postpone(ctx, d, err)
	case reason != "":
		d.end(reason)
		return dispatch.Result{}
	case endpoint.Secret == "":
		return q.postpone(ctx, d, errNoSecret)
	}
	q.observe(d)
	a, err := q.courier.attempt(ctx, endpoint, to, d, KindAuto, d.number)
	if a == nil {
		return q.postpone(ctx, d, err)
	}
	d.note(a)
	if a.Kind == KindInterrupted {
		return dispatch.Result{}
	}
	return dispatch.Result{Busy: q.conditions.note(d.Merchant, a), After: q.limits(d.Merchant).Pause}
}

// postpone puts off an attempt that cannot be made now, by no fault of the receiver.
func (q *queue) postpone(ctx context.Context, d *delivery, err error) dispatch.Result {
	d.Due = time.Now().Add(postponement)
	q.metrics.postponed.Inc()
	q.mutex.Lock()
	defer q.mutex.Unlock()
	if ctx.Err() == nil && time.Since(q.warned) > warnEvery {
		q.warned = time.Now()
		q.report.Log.Error().Err(err).Hex("merchant", d.Merchant[:]).Msg("attempts cannot be made, and are put off")
	}
	return dispatch.Result{}
}

// observe measures how late an attempt is.
func (q *queue) observe(d *delivery) {
	now := time.Now()
	if d.number > 1 {
		q.metrics.retries.Inc()
		q.metrics.late.Observe(max(0, now.Sub(d.Due).Seconds()))
		return
	}
	q.metrics.sinceBlock.Observe(now.Sub(d.Happened).Seconds())
	q.metrics.sinceTaken.Observe(now.Sub(d.taken).Seconds())
}

// Write implements dispatch.Store.
func (q *queue) Write(ctx context.Context, tried []*item) error {
	if err := q.persist(ctx, func() error { return q.takenByHand(ctx, tried) }); err != nil {
		return err
	}
	var rows []Delivery
	for _, i := range tried {
		d := &i.Value
		i.Due = time.Time{}
		if q.hasEnded(d.Event) {
			continue
		}
		if d.State == Pending {
			i.Due = d.Due
		}
		d.changed = max(d.changed+1, uint64(time.Now().UnixMicro()))
		rows = append(rows, d.Delivery)
	}
	if len(rows) == 0 {
		return nil
	}
	if err := insertDeliveries(ctx, q.tables, rows); err != nil {
		return err
	}
	q.mutex.Lock()
	defer q.mutex.Unlock()
	for _, i := range tried {
		d := &i.Value
		if _, is := q.ended[d.Event]; is || !i.Due.IsZero() {
			continue
		}
		q.metrics.end(&d.Delivery)
		q.ended[d.Event] = time.Now()
		delete(q.backlog(d.Merchant).held, d.Event)
		if _, is := q.checked[d.Merchant]; !is && d.State == Exhausted && q.configuration.DisableAfter > 0 {
			q.suspects[d.Merchant] = true
		}
	}
	return nil
}

// takenByHand finds deliveries whose schedule ends without success, but that a manual attempt
// has made.
func (q *queue) takenByHand(ctx context.Context, tried []*item) error {
	exhausted, by := []ID{}, map[ID]*delivery{}
	merchants := map[ID]bool{}
	for _, i := range tried {
		if d := &i.Value; d.State == Exhausted {
			exhausted, by[d.Event], merchants[d.Merchant] = append(exhausted, d.Event), d, true
		}
	}
	if len(exhausted) == 0 {
		return nil
	}
	var of []ID
	for merchant := range merchants {
		of = append(of, merchant)
	}
	var key string
	return clickhouse.Each(ctx, q.tables.Conn(), "SELECT event FROM delivery_attempts WHERE merchant IN ("+literals(of)+") AND event IN ("+literals(exhausted)+
		") AND kind = 'manual' AND class = '' AND code != 0", nil, func() {
		var id ID
		copy(id[:], key)
		by[id].State = Delivered
	}, &key)
}

// Poll implements dispatch.Store.
func (q *queue) Poll(ctx context.Context) error {
	now := time.Now()
	if now.Sub(q.measured) < measureEvery {
		return nil
	}
	q.measured = now
	q.forget(now)
	q.measure(now)
	for merchant := range q.suspects {
		delete(q.suspects, merchant)
		q.checked[merchant] = now
		return q.persist(ctx, func() error { return q.disable(ctx, merchant, now) })
	}
	return nil
}

// persist repeats what ClickHouse fails at until it works: whoever gave up would break off
// the attempts under way.
func (q *queue) persist(ctx context.Context, do func() error) error {
	for {
		err := do()
		if err == nil || !clickhouse.Retryable(err) {
			return err
		}
		q.metrics.broken.Inc()
		q.report.Log.Warn().Err(err).Msg("clickhouse failed; trying again")
		if err := lifetime.Sleep(ctx, brokenPause); err != nil {
			return err
		}
	}
}

// forget lets go of what is of no use any more.
func (q *queue) forget(now time.Time) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	for id, at := range q.ended {
		if now.Sub(at) > endedKept {
			delete(q.ended, id)
		}
	}
	for merchant, b := range q.merchants {
		if len(b.held) == 0 && !b.waits {
			delete(q.merchants, merchant)
		}
	}
	for merchant, at := range q.checked {
		if now.Sub(at) > suspectPause {
			delete(q.checked, merchant)
		}
	}
}

// measure sets the gauges, to nothing for a queue that has ended.
func (q *queue) measure(now time.Time) {
	var ages []age
	held := 0
	if !now.IsZero() {
		q.mutex.Lock()
		for merchant, b := range q.merchants {
			held += len(b.held)
			one := age{merchant: merchant}
			for _, detected := range b.held {
				one.seconds = max(one.seconds, now.Sub(detected).Seconds())
			}
			if len(b.held) > 0 {
				ages = append(ages, one)
			}
		}
		q.mutex.Unlock()
	}
	ages = worstOf(ages)
	q.metrics.queued.WithLabelValues(q.label).Set(float64(held))
	q.metrics.worst.DeletePartialMatch(map[string]string{"partition": q.label})
	oldest := 0.0
	for n, a := range ages {
		if n == 0 {
			oldest = a.seconds
		}
		q.metrics.worst.WithLabelValues(q.label, textOf(a.merchant)).Set(a.seconds)
	}
	q.metrics.oldest.WithLabelValues(q.label).Set(oldest)
	open, closed := q.conditions.count(time.Now())
	q.metrics.breakers.WithLabelValues("open").Set(float64(open))
	q.metrics.breakers.WithLabelValues("closed").Set(float64(closed))
}

// disable ends the sending to an endpoint that has taken nothing for long.
func (q *queue) disable(ctx context.Context, merchant ID, now time.Time) error {
	since := now.Add(-2 * q.configuration.DisableAfter) // failures of before are forgiven
	of := "FROM deliveries FINAL WHERE NOT test AND merchant = " + literal(merchant[:]) + " AND happened >= " + moment(since)
	var taken, first, last time.Time
	if err := q.tables.Conn().QueryRow(ctx, "SELECT max(last_ended) "+of+" AND state = 'delivered'").Scan(&taken); err != nil {
		return err
	}
	err := q.tables.Conn().QueryRow(ctx, "SELECT min(last_ended), max(last_ended) "+of+" AND state = 'exhausted' AND last_ended > "+moment(taken)).Scan(&first, &last)
	if err != nil || first.UnixMicro() <= 0 || now.Sub(first) < q.configuration.DisableAfter || last.Sub(first) < min(minFailing, q.configuration.DisableAfter) {
		return err
	}
	q.metrics.disabled.Inc()
	q.report.Log.Warn().Hex("merchant", merchant[:]).Time("since", first).Msg("the endpoint has taken nothing for long: disabled")
	return q.endpoints.Disable(ctx, merchant, "every delivery failed since "+first.UTC().Format(time.RFC3339))
}
