package send

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"tonscribe/internal/clickhouse"
)

// ErrNotFound is the error of an event or a replay that the merchant does not have.
var ErrNotFound = errors.New("the merchant has no such delivery")

// ErrCursor is the error of a cursor that Search has not given.
var ErrCursor = errors.New("not a cursor")

// Log is what became of events.
type Log struct {
	tables  *clickhouse.Client
	timeout time.Duration
}

// NewLog makes one that reads the tables.
func NewLog(configuration Configuration, tables *clickhouse.Client) *Log {
	return &Log{tables: tables, timeout: configuration.Timeout}
}

// Search is what deliveries are looked for. Nil and zero values are no conditions.
type Search struct {
	States                    []State
	Event, Reference          *ID
	BodyHash, TxHash, TraceID *[32]byte
	Code                      int
	Class                     Class
	From, To                  time.Time // of the block, From included, To not
	Test                      *bool
	Limit                     int // at most MaxLimit; 0 is MaxLimit
	Cursor                    string
}

// MaxLimit is the most deliveries that Search returns.
const MaxLimit = 100

// Search returns deliveries of a merchant, newest first, and the cursor of those that follow,
// empty for none. Deliveries that come meanwhile do not move what follows.
func (l *Log) Search(ctx context.Context, merchant ID, s Search) (list []Delivery, next string, err error) {
	limit := s.Limit
	if limit <= 0 || limit > MaxLimit {
		limit = MaxLimit
	}
	var from *place
	if s.Cursor != "" {
		if from, err = parseCursor(s.Cursor); err != nil {
			return nil, "", err
		}
	}
	lasting, changing := s.conditions()
	list, err = page(ctx, l.tables, merchant, lasting, changing, from, "DESC", limit+1)
	if err == nil && len(list) > limit {
		list = list[:limit]
		next = list[limit-1].place().cursor()
	}
	return list, next, err
}

// place is that of a delivery in the order of time.
type place struct {
	happened time.Time
	event    ID
}

func (d *Delivery) place() *place { return &place{d.Happened, d.Event} }

// page reads the first deliveries of a merchant behind a place, nil for none, in an order of time,
// "DESC" or "": those that have a row which meets the conditions, if that is the one that counts.
func page(ctx context.Context, tables *clickhouse.Client, merchant ID, lasting, changing []string, from *place, order string, limit int) (list []Delivery, err error) {
	for more := true; more && len(list) < limit; {
		var keys []place
		keys, more, err = places(ctx, tables, merchant, slices.Concat(lasting, changing), from, order, limit)
		if err != nil || len(keys) == 0 {
			return list, err
		}
		from = &keys[len(keys)-1]
		events := make([]ID, len(keys))
		for n := range keys {
			events[n] = keys[n].event
		}
		first, last := keys[0].happened, from.happened
		if last.Before(first) {
			first, last = last, first
		}
		found, err := readDeliveries(ctx, tables, "SELECT "+deliveryColumns+" FROM (SELECT * FROM deliveries WHERE merchant = "+literal(merchant[:])+
			" AND happened BETWEEN "+moment(first)+" AND "+moment(last)+" AND event IN ("+literals(events)+
			") ORDER BY happened, event, changed DESC LIMIT 1 BY happened, event) WHERE "+strings.Join(append([]string{"1"}, changing...), " AND ")+
			" ORDER BY happened "+order+", event "+order)
		if err != nil {
			return nil, err
		}
		list = append(list, found...)
	}
	return list[:min(len(list), limit)], nil
}

// places are those of rows that meet conditions, each once, and whether there may be more.
func places(ctx context.Context, tables *clickhouse.Client, merchant ID, conditions []string, from *place, order string, limit int) (keys []place, more bool, err error) {
	const versions = 3 // rows of a delivery, about
	where := append([]string{"merchant = " + literal(merchant[:])}, conditions...)
	if from != nil {
		sign := ">"
		if order == "DESC" {
			sign = "<"
		}
		// The first of the two is what the primary key serves.
		where = append(where, fmt.Sprintf("happened %s= %s", sign, moment(from.happened)), fmt.Sprintf("(happened, event) %s (%s, %s)", sign, moment(from.happened), literal(from.event[:])))
	}
	var one place
	var key string
	rows := 0
	err = clickhouse.Each(ctx, tables.Conn(), "SELECT happened, event FROM deliveries WHERE "+strings.Join(where, " AND ")+
		" ORDER BY merchant "+order+", happened "+order+", event "+order+" LIMIT "+strconv.Itoa(versions*limit), nil, func() {
		rows++
		copy(one.event[:], key)
		if len(keys) == 0 || keys[len(keys)-1] != one {
			keys = append(keys, one)
		}
	}, &one.happened, &key)
	return keys, rows == versions*limit, err
}

// conditions are those on what all rows of a delivery have in common, and on the others.
func (s *Search) conditions() (lasting, changing []string) {
	is := func(column string, value []byte) { lasting = append(lasting, column+" = "+literal(value)) }
	if s.Event != nil {
		is("event", s.Event[:])
	}
	if s.Reference != nil {
		is("reference", s.Reference[:])
	}
	if s.BodyHash != nil {
		is("body_hash", s.BodyHash[:])
	}
	if s.TxHash != nil {
		is("tx_hash", s.TxHash[:])
	}
	if s.TraceID != nil {
		is("trace_id", s.TraceID[:])
	}
	if !s.From.IsZero() {
		lasting = append(lasting, "happened >= "+moment(s.From))
	}
	if !s.To.IsZero() {
		lasting = append(lasting, "happened < "+moment(s.To))
	}
	if s.Test != nil {
		lasting = append(lasting, "test = "+strconv.FormatBool(*s.Test))
	}
	if len(s.States) > 0 {
		states := make([]string, len(s.States))
		for n, state := range s.States {
			states[n] = literal([]byte(state))
		}
		changing = append(changing, "state IN ("+strings.Join(states, ",")+")")
	}
	if s.Code != 0 {
		changing = append(changing, "last_code = "+strconv.Itoa(s.Code))
	}
	if s.Class != "" {
		changing = append(changing, "last_class = "+literal([]byte(s.Class)))
	}
	return lasting, changing
}

// cursor is a place as text: its time in microseconds, and its event.
func (p *place) cursor() string {
	raw := binary.BigEndian.AppendUint64(nil, uint64(p.happened.UnixMicro()))
	return base64.RawURLEncoding.EncodeToString(append(raw, p.event[:]...))
}

func parseCursor(text string) (*place, error) {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(raw) != 8+len(ID{}) {
		return nil, ErrCursor
	}
	return &place{time.UnixMicro(int64(binary.BigEndian.Uint64(raw))), ID(raw[8:])}, nil
}

// maxAttempts is how many attempts of a delivery are shown: merchants make as many as they like.
const maxAttempts = 200

// Detail returns a delivery, the body of its requests, and its newest attempts, the first one first.
// An attempt that nobody will end any more is returned as KindInterrupted.
func (l *Log) Detail(ctx context.Context, merchant, event ID) (d Delivery, body []byte, attempts []Attempt, err error) {
	if d, body, err = l.find(ctx, merchant, event); err != nil {
		return d, nil, nil, err
	}
	attempts, err = readAttempts(ctx, l.tables, merchant, []ID{event}, maxAttempts)
	for n := range attempts {
		if a := &attempts[n]; a.Ended.IsZero() && time.Since(a.Began) > l.timeout+maxStopTimeout {
			a.Kind, a.Class = KindInterrupted, ClassInterrupted
		}
	}
	return d, body, attempts, err
}

// find reads a delivery and its event's body.
func (l *Log) find(ctx context.Context, merchant, event ID) (d Delivery, body []byte, err error) {
	var happened time.Time
	var text string
	found := false
	err = clickhouse.Each(ctx, l.tables.Conn(), "SELECT happened, body FROM events WHERE merchant = "+literal(merchant[:])+" AND event = "+literal(event[:])+" LIMIT 1", nil,
		func() { found = true }, &happened, &text)
	if err != nil {
		return d, nil, err
	}
	if !found {
		return d, nil, ErrNotFound
	}
	list, err := readDeliveries(ctx, l.tables, "SELECT "+deliveryColumns+" FROM deliveries WHERE merchant = "+literal(merchant[:])+
		" AND happened = "+moment(happened)+" AND event = "+literal(event[:])+" ORDER BY changed DESC LIMIT 1")
	if err == nil && len(list) == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return d, nil, err
	}
	return list[0], []byte(text), nil
}

// Health is how a merchant's endpoint does, test sends left out.
type Health struct {
	// Open reports that most recent attempts failed: one is made at a time.
	Open bool
	// Of deliveries of the last HealthTime that ended. SuccessRate is from 0 to 1; the others are times of
	// their last attempts, zero where there was none.
	Ended         uint64
	SuccessRate   float64
	P50, P95, P99 time.Duration
	// Queued counts deliveries that have not ended; OldestUndelivered is the age of the oldest.
	Queued            uint64
	OldestUndelivered time.Duration
	LastSuccess       time.Time // zero where there was none
}

// HealthTime is what Health looks back at.
const HealthTime = 24 * time.Hour

// Health reads how a merchant's endpoint does.
func (l *Log) Health(ctx context.Context, merchant ID) (h Health, err error) {
	now := time.Now()
	var (
		delivered, failed, recent, recentFailed, row uint64
		quantiles                                    []float64
		success, from, oldest                        time.Time
		pending                                      uint64
	)
	of := "FROM deliveries FINAL WHERE NOT test AND merchant = " + literal(merchant[:])
	err = l.tables.Conn().QueryRow(ctx, fmt.Sprintf(`SELECT countIf(state = 'delivered'), countIf(state = 'exhausted'), quantilesIf(0.5, 0.95, 0.99)(last_us, last_us > 0),
			countIf(last_ended >= %[1]s) AS recent, countIf(last_ended >= %[1]s AND last_class != ''),
			arraySum(arrayMap(r -> r.2, arraySlice(arrayReverseSort(groupArrayIf((last_ended, last_class != ''), last_us > 0)), 1, %[2]d))) %[3]s AND happened >= %[4]s`,
		moment(now.Add(-recentTime)), openAfter, of, moment(now.Add(-HealthTime)))).
		Scan(&delivered, &failed, &quantiles, &recent, &recentFailed, &row)
	if err != nil {
		return h, err
	}
	h.Open = row >= openAfter || recent >= openOf && recentFailed*100 >= openShare*recent
	if h.Ended = delivered + failed; h.Ended > 0 {
		h.SuccessRate = float64(delivered) / float64(h.Ended)
	}
	for n, p := range []*time.Duration{&h.P50, &h.P95, &h.P99} {
		if quantiles[n] > 0 { // not of nothing
			*p = time.Duration(quantiles[n] * float64(time.Microsecond))
		}
	}
	// Rows that do not count any more tell of successes too, and from when on there may be pending ones.
	err = l.tables.Conn().QueryRow(ctx, "SELECT maxIf(last_ended, state = 'delivered'), countIf(state = 'pending'), minIf(happened, state = 'pending') FROM deliveries WHERE NOT test AND merchant = "+
		literal(merchant[:])).Scan(&success, &pending, &from)
	if h.LastSuccess = read(success); err != nil || pending == 0 {
		return h, err
	}
	err = l.tables.Conn().QueryRow(ctx, "SELECT count(), min(detected) "+of+" AND happened >= "+moment(from)+" AND state = 'pending'").Scan(&h.Queued, &oldest)
	if h.Queued > 0 {
		h.OldestUndelivered = now.Sub(oldest)
	}
	return h, err
}
