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

// Search is what deliveries are looked for. Zero values are no conditions.
type Search struct {
	States                    []State
	Event, Reference          ID
	BodyHash, TxHash, TraceID [32]byte
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
	lasting, changing := s.conditions()
	if s.Cursor != "" {
		happened, event, err := parseCursor(s.Cursor)
		if err != nil {
			return nil, "", err
		}
		lasting = append(lasting, fmt.Sprintf("(happened, event) < (%s, %s)", moment(happened), literal(event[:])))
	}
	list, err = readDeliveries(ctx, l.tables, "SELECT "+deliveryColumns+" FROM ("+newest(merchant, lasting, "DESC")+") WHERE "+strings.Join(changing, " AND ")+
		" ORDER BY happened DESC, event DESC LIMIT "+strconv.Itoa(limit+1))
	if err == nil && len(list) > limit {
		list = list[:limit]
		next = cursorOf(&list[limit-1])
	}
	return list, next, err
}

// newest is a statement for the row of each delivery of a merchant that counts, in an order of time.
func newest(merchant ID, lasting []string, order string) string {
	conditions := append([]string{"merchant = " + literal(merchant[:])}, lasting...)
	return "SELECT * FROM deliveries WHERE " + strings.Join(conditions, " AND ") +
		" ORDER BY merchant " + order + ", happened " + order + ", event " + order + ", changed DESC LIMIT 1 BY happened, event"
}

// conditions are those on what all rows of a delivery have in common, and on the others.
func (s *Search) conditions() (lasting, changing []string) {
	changing = []string{"1"}
	for _, f := range []struct {
		column string
		value  []byte
	}{{"event", s.Event[:]}, {"reference", s.Reference[:]}, {"body_hash", s.BodyHash[:]}, {"tx_hash", s.TxHash[:]}, {"trace_id", s.TraceID[:]}} {
		if slices.ContainsFunc(f.value, func(b byte) bool { return b != 0 }) {
			lasting = append(lasting, f.column+" = "+literal(f.value))
		}
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

// cursorOf is the place behind a delivery: its time in microseconds, and its event.
func cursorOf(d *Delivery) string {
	raw := binary.BigEndian.AppendUint64(nil, uint64(d.Happened.UnixMicro()))
	return base64.RawURLEncoding.EncodeToString(append(raw, d.Event[:]...))
}

func parseCursor(text string) (happened time.Time, event ID, err error) {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(raw) != 8+len(event) {
		return happened, event, ErrCursor
	}
	copy(event[:], raw[8:])
	return time.UnixMicro(int64(binary.BigEndian.Uint64(raw))), event, nil
}

// Detail returns a delivery, the body of its requests, and its attempts, the first one first.
// An attempt that nobody will end any more is returned as KindInterrupted.
func (l *Log) Detail(ctx context.Context, merchant, event ID) (d Delivery, body []byte, attempts []Attempt, err error) {
	if d, body, err = l.find(ctx, merchant, event); err != nil {
		return d, nil, nil, err
	}
	attempts, err = readAttempts(ctx, l.tables, merchant, []ID{event})
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
	list, err := readDeliveries(ctx, l.tables, "SELECT "+deliveryColumns+" FROM ("+
		newest(merchant, []string{"happened = " + moment(happened), "event = " + literal(event[:])}, "")+")")
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
	// Of deliveries that ended within HealthTime, SuccessRate is from 0 to 1; the others are times until the
	// status line of their last attempts, zero where there was none.
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
	since := []string{"NOT test"}
	now := time.Now()
	var (
		success                time.Time
		oldest                 time.Time
		quantiles              []float64
		delivered, row, failed uint64
		recent, recentFailed   uint64
	)
	err = l.tables.Conn().QueryRow(ctx, fmt.Sprintf(`SELECT countIf(state = 'delivered' AND last_ended >= %[1]s), countIf(state = 'exhausted' AND last_ended >= %[1]s),
			quantilesIf(0.5, 0.95, 0.99)(last_us, last_ended >= %[1]s), maxIf(last_ended, state = 'delivered'),
			countIf(state = 'pending'), minIf(detected, state = 'pending'), countIf(last_ended >= %[2]s), countIf(last_ended >= %[2]s AND last_class != ''),
			length(arrayFilter((f, i) -> f AND i <= %[3]d, arrayReverseSort(x -> x.1, groupArrayIf((last_ended, last_class != ''), last_ended > %[1]s)).2 AS failures, arrayEnumerate(failures)))
		FROM (%[4]s)`, moment(now.Add(-HealthTime)), moment(now.Add(-recentTime)), openAfter, newest(merchant, since, "DESC"))).
		Scan(&delivered, &failed, &quantiles, &success, &h.Queued, &oldest, &recent, &recentFailed, &row)
	if err != nil {
		return h, err
	}
	h.Open = row >= openAfter || recent >= openOf && recentFailed*100 >= openShare*recent
	h.LastSuccess = read(success)
	if h.Ended = delivered + failed; h.Ended > 0 {
		h.SuccessRate = float64(delivered) / float64(h.Ended)
	}
	if h.Queued > 0 {
		h.OldestUndelivered = now.Sub(oldest)
	}
	for n, p := range []*time.Duration{&h.P50, &h.P95, &h.P99} {
		if quantiles[n] > 0 { // not of nothing
			*p = time.Duration(quantiles[n] * float64(time.Microsecond))
		}
	}
	return h, nil
}
