package send

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"tonscribe/internal/clickhouse"
	"tonscribe/internal/dispatch"
	"tonscribe/internal/lifetime"
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
	putOff    zerolog.Logger // of attempts that cannot be made

	mutex     sync.Mutex
	merchants map[ID]*backlog
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
	maxBusyAhead = 128 // of one whose endpoint fails
	maxWritten   = 256 // deliveries that are written at once
	writeEvery   = 100 * time.Millisecond
	// fewRead is less than what a look into the table is worth at any time; readPause is the time
	// after which it is.
	fewRead   = 32
	readPause = 250 * time.Millisecond
	// postponement is how long a delivery waits whose endpoint is not known.
	postponement = 2 * time.Second
	// endedKept is longer than a replica lags.
	endedKept = 2 * time.Minute
	// brokenPause is how long ClickHouse is left alone after it failed.
	brokenPause = 500 * time.Millisecond
	// measureEvery is how often the gauges are set.
	measureEvery = time.Second
)

func (c *Component) newQueue(partition int) *queue {
	q := &queue{Component: c, partition: partition, label: strconv.Itoa(partition), putOff: c.report.Rarely(),
		merchants: map[ID]*backlog{}, ended: map[ID]time.Time{}, suspects: map[ID]bool{}, checked: map[ID]time.Time{}}
	q.queue = dispatch.New(q.options(c.log.Partitions()), q, q.try)
	return q
}

// options are those of one of so many partitions.
func (q *queue) options(partitions int) dispatch.Options[ID] {
	c := q.configuration
	share := func(of int) int { return max(1, of/partitions) }
	return dispatch.Options[ID]{
		Limits:   q.limits,
		Parallel: share(c.Attempts), Items: max(share(c.Held), c.EndpointMax), Bytes: share(maxHeldBytes),
		WriteItems: maxWritten, WriteBytes: maxHeldBytes, Poll: writeEvery,
		Hold: true, BusyAhead: maxBusyAhead, MaxAfter: time.Minute,
	}
}

// limits of a merchant's endpoint.
func (q *queue) limits(merchant ID) dispatch.Limits {
	l := dispatch.Limits{Parallel: q.conditions.parallel(merchant), Ahead: maxAhead}
	if rate := q.configuration.EndpointRate; rate > 0 {
		l.Pause = time.Duration(float64(l.Parallel) / rate * float64(time.Second))
	}
	return l
}

// run sends until ctx ends, or ClickHouse fails.
func (q *queue) run(ctx context.Context) error {
	err := q.queue.Run(ctx)
	if err == nil {
		err = ctx.Err()
	}
	return err
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
	more := len(list) == limit+held
	for _, d := range list {
		_, isHeld := b.held[d.Event]
		if _, hasEnded := q.ended[d.Event]; isHeld || hasEnded {
			continue
		}
		if len(outside) == limit { // those that are held are older than from
			more = true
			break
		}
		outside = append(outside, delivery{Delivery: d, number: 1, taken: time.Now()})
	}
	if more {
		b.await(list[0].Happened)
		again = time.Now()
	}
	q.mutex.Unlock()
	if err := q.recover(ctx, merchant, outside); err != nil {
		return nil, time.Time{}, err
	}
	q.mutex.Lock()
	defer q.mutex.Unlock()
	latest := time.Now().Add(maxPause)
	for _, d := range outside {
		b.held[d.Event] = d.Detected
		if d.Due.After(latest) { // the wall clock was put back since
			d.Due = latest
		}
		items = append(items, d.item())
	}
	return items, again, nil
}

// try makes the next attempt of a delivery.
func (q *queue) try(ctx context.Context, i *item) dispatch.Result {
	d := &i.Value
	if d.State != Pending || q.hasEnded(d.Event) {
		return dispatch.Result{}
	}
	endpoint, err := q.endpoints.Get(ctx, d.Merchant)
	to, reason := q.courier.refusal(endpoint)
	if reason != "" { // a delivery is ignored for what the endpoint is, not for what it was
		endpoint, err = q.endpoints.Newest(ctx, d.Merchant)
		to, reason = q.courier.refusal(endpoint)
	}
	switch {
	case err != nil && !errors.Is(err, clickhouse.ErrNoRow):
		return q.postpone(ctx, d, err)
	case reason != "":
		d.end(reason)
		return dispatch.Result{}
	case endpoint.Secret == "":
		return q.postpone(ctx, d, ErrNoSecret)
	}
	q.observe(d)
	a, err := q.courier.attempt(ctx, endpoint, to, d, KindAuto, d.number)
	if a == nil {
		return q.postpone(ctx, d, err)
	}
	return q.tried(d, a)
}

// tried notes an attempt, and tells the queue what it says of the endpoint.
func (q *queue) tried(d *delivery, a *Attempt) dispatch.Result {
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
	if ctx.Err() == nil {
		q.putOff.Error().Err(err).Hex("merchant", d.Merchant[:]).Msg("attempts cannot be made, and are put off")
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
	q.metrics.sinceBlock.Observe(max(0, now.Sub(d.Happened).Seconds())) // of another clock
	q.metrics.sinceTaken.Observe(now.Sub(d.taken).Seconds())
}

// Write implements dispatch.Store. An attempt by hand that succeeds either finds that the delivery has
// ended, or is found here: once more after the rows are written, as it may have come meanwhile.
func (q *queue) Write(ctx context.Context, tried []*item) error {
	for written := false; ; written = true {
		var taken bool
		if err := q.persist(ctx, func() (err error) { taken, err = q.takenByHand(ctx, tried); return err }); err != nil {
			return err
		}
		if written && !taken {
			break
		}
		if err := q.writeDeliveries(ctx, tried); err != nil {
			return err
		}
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

// writeDeliveries writes how those stand that have not ended, and when they are due.
func (q *queue) writeDeliveries(ctx context.Context, tried []*item) error {
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
	return insertDeliveries(ctx, q.tables, rows)
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
	outage := q.report.Rarely()
	for {
		err := do()
		if err == nil || !clickhouse.Retryable(err) {
			return err
		}
		q.metrics.broken.Inc()
		outage.Warn().Err(err).Msg("clickhouse failed; trying again")
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
