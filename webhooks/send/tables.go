package send

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"tonscribe/internal/clickhouse"
	"tonscribe/schema/record"
	"tonscribe/webhooks/event"
)

// Each insert of a process has a token, of which there is no second one.
var (
	processToken = rand.Text()
	inserts      atomic.Int64
)

func token() string { return fmt.Sprintf("%s/%d", processToken, inserts.Add(1)) }

func insertEvents(ctx context.Context, tables *clickhouse.Client, events []*record.TransferEvent, of []delivery) error {
	type row struct {
		*record.TransferEvent
		d *delivery
	}
	rows := make([]row, len(events))
	for n := range events {
		rows[n] = row{events[n], &of[n]}
	}
	return tables.Insert(ctx, clickhouse.Insert{Table: "events", Token: token(), Columns: []clickhouse.Column{
		clickhouse.ColumnOf("merchant", rows, func(r *row) []byte { return r.d.Merchant[:] }),
		clickhouse.ColumnOf("event", rows, func(r *row) []byte { return r.d.Event[:] }),
		clickhouse.ColumnOf("reference", rows, func(r *row) []byte { return r.d.Reference[:] }),
		clickhouse.ColumnOf("body_hash", rows, func(r *row) []byte { return r.d.BodyHash[:] }),
		clickhouse.ColumnOf("tx_hash", rows, func(r *row) []byte { return r.d.TxHash[:] }),
		clickhouse.ColumnOf("trace_id", rows, func(r *row) []byte { return r.d.TraceID[:] }),
		clickhouse.ColumnOf("mc_seqno", rows, func(r *row) uint32 { return r.McSeqno }),
		clickhouse.ColumnOf("status", rows, func(r *row) string { return string(r.d.Status) }),
		clickhouse.ColumnOf("error_code", rows, func(r *row) int64 { return r.ErrorCode }),
		clickhouse.ColumnOf("has_error", rows, func(r *row) bool { return r.HasError }),
		clickhouse.ColumnOf("duplicate", rows, func(r *row) bool { return r.Duplicate }),
		clickhouse.ColumnOf("test", rows, func(r *row) bool { return r.Test }),
		clickhouse.ColumnOf("body", rows, func(r *row) string { return string(r.Body) }),
		clickhouse.ColumnOf("happened", rows, func(r *row) time.Time { return r.d.Happened }),
		clickhouse.ColumnOf("detected", rows, func(r *row) time.Time { return r.d.Detected }),
		clickhouse.ColumnOf("expires", rows, func(r *row) time.Time { return r.d.expires }),
		clickhouse.ColumnOf("changed", rows, func(r *row) uint64 { return uint64(r.d.Detected.UnixMicro()) }),
	}})
}

func insertDeliveries(ctx context.Context, tables *clickhouse.Client, rows []Delivery) error {
	return tables.Insert(ctx, clickhouse.Insert{Table: "deliveries", Token: token(), Columns: []clickhouse.Column{
		clickhouse.ColumnOf("merchant", rows, func(d *Delivery) []byte { return d.Merchant[:] }),
		clickhouse.ColumnOf("happened", rows, func(d *Delivery) time.Time { return d.Happened }),
		clickhouse.ColumnOf("event", rows, func(d *Delivery) []byte { return d.Event[:] }),
		clickhouse.ColumnOf("reference", rows, func(d *Delivery) []byte { return d.Reference[:] }),
		clickhouse.ColumnOf("body_hash", rows, func(d *Delivery) []byte { return d.BodyHash[:] }),
		clickhouse.ColumnOf("tx_hash", rows, func(d *Delivery) []byte { return d.TxHash[:] }),
		clickhouse.ColumnOf("trace_id", rows, func(d *Delivery) []byte { return d.TraceID[:] }),
		clickhouse.ColumnOf("mc_seqno", rows, func(d *Delivery) uint32 { return d.McSeqno }),
		clickhouse.ColumnOf("status", rows, func(d *Delivery) string { return string(d.Status) }),
		clickhouse.ColumnOf("test", rows, func(d *Delivery) bool { return d.Test }),
		clickhouse.ColumnOf("detected", rows, func(d *Delivery) time.Time { return d.Detected }),
		clickhouse.ColumnOf("state", rows, func(d *Delivery) string { return string(d.State) }),
		clickhouse.ColumnOf("reason", rows, func(d *Delivery) string { return d.Reason }),
		clickhouse.ColumnOf("attempts", rows, func(d *Delivery) uint32 { return uint32(d.Attempts) }),
		clickhouse.ColumnOf("due", rows, func(d *Delivery) time.Time { return stored(d.Due) }),
		clickhouse.ColumnOf("last_ended", rows, func(d *Delivery) time.Time { return stored(d.LastEnded) }),
		clickhouse.ColumnOf("last_code", rows, func(d *Delivery) uint16 { return uint16(d.LastCode) }),
		clickhouse.ColumnOf("last_class", rows, func(d *Delivery) string { return d.LastClass }),
		clickhouse.ColumnOf("last_us", rows, func(d *Delivery) uint32 { return uint32(d.LastTook.Microseconds()) }),
		clickhouse.ColumnOf("expires", rows, func(d *Delivery) time.Time { return d.expires }),
		clickhouse.ColumnOf("changed", rows, func(d *Delivery) uint64 { return d.changed }),
	}})
}

func insertAttempts(ctx context.Context, tables *clickhouse.Client, rows []Attempt) error {
	micros := func(name string, of func(*Attempt) time.Duration) clickhouse.Column {
		return clickhouse.ColumnOf(name, rows, func(a *Attempt) uint32 { return uint32(of(a).Microseconds()) })
	}
	return tables.Insert(ctx, clickhouse.Insert{Table: "delivery_attempts", Token: token(), Columns: []clickhouse.Column{
		clickhouse.ColumnOf("merchant", rows, func(a *Attempt) []byte { return a.Merchant[:] }),
		clickhouse.ColumnOf("event", rows, func(a *Attempt) []byte { return a.Event[:] }),
		clickhouse.ColumnOf("began", rows, func(a *Attempt) time.Time { return a.Began }),
		clickhouse.ColumnOf("number", rows, func(a *Attempt) uint16 { return uint16(a.Number) }),
		clickhouse.ColumnOf("kind", rows, func(a *Attempt) string { return string(a.Kind) }),
		clickhouse.ColumnOf("ended", rows, func(a *Attempt) time.Time { return stored(a.Ended) }),
		micros("dns_us", func(a *Attempt) time.Duration { return a.DNS }),
		micros("connect_us", func(a *Attempt) time.Duration { return a.Connect }),
		micros("tls_us", func(a *Attempt) time.Duration { return a.TLS }),
		micros("first_byte_us", func(a *Attempt) time.Duration { return a.FirstByte }),
		micros("total_us", func(a *Attempt) time.Duration { return a.Total }),
		clickhouse.ColumnOf("remote", rows, func(a *Attempt) string { return a.Remote }),
		clickhouse.ColumnOf("code", rows, func(a *Attempt) uint16 { return uint16(a.Code) }),
		clickhouse.ColumnOf("class", rows, func(a *Attempt) string { return string(a.Class) }),
		clickhouse.ColumnOf("text", rows, func(a *Attempt) string { return a.Text }),
		clickhouse.ColumnOf("request_headers", rows, func(a *Attempt) string { return headerLines(a.RequestHeaders) }),
		clickhouse.ColumnOf("response_headers", rows, func(a *Attempt) string { return headerLines(a.ResponseHeaders) }),
		clickhouse.ColumnOf("response_body", rows, func(a *Attempt) string { return string(a.ResponseBody) }),
		clickhouse.ColumnOf("key_id", rows, func(a *Attempt) string { return a.KeyID }),
		clickhouse.ColumnOf("expires", rows, func(a *Attempt) time.Time { return a.expires }),
		clickhouse.ColumnOf("changed", rows, func(a *Attempt) uint64 { return a.changed }),
	}})
}

// stored is a time as tables have it: 1970 for none.
func stored(t time.Time) time.Time {
	if t.IsZero() {
		return time.Unix(0, 0)
	}
	return t
}

// read is the reverse of stored.
func read(t time.Time) time.Time {
	if t.UnixMicro() == 0 {
		return time.Time{}
	}
	return t.UTC()
}

// headerLines are headers as they are kept: "Name: value" and a newline each, cut to a
// limit.
func headerLines(h http.Header) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(h)) {
		for _, value := range h[name] {
			if b.Len()+len(name)+len(value)+3 <= maxHeaderKept {
				b.WriteString(name + ": " + value + "\n")
			}
		}
	}
	return b.String()
}

func headersOf(lines string) http.Header {
	h := http.Header{}
	for line := bufio.NewScanner(strings.NewReader(lines)); line.Scan(); {
		if name, value, is := strings.Cut(line.Text(), ": "); is {
			h[name] = append(h[name], value)
		}
	}
	return h
}

// deliveryColumns are those that readDeliveries reads.
const deliveryColumns = `merchant, happened, event, reference, body_hash, tx_hash, trace_id, mc_seqno, status, test, detected,
	state, reason, attempts, due, last_ended, last_code, last_class, last_us, expires, changed`

// readDeliveries runs a statement that selects the deliveryColumns.
func readDeliveries(ctx context.Context, tables *clickhouse.Client, statement string, arguments ...any) (list []Delivery, err error) {
	var (
		r struct {
			merchant, event, reference, bodyHash, txHash, traceID string
			status, state, reason, class                          string
			attempts, took                                        uint32
			code                                                  uint16
			happened, detected, due, ended                        time.Time
		}
		d Delivery
	)
	err = clickhouse.Each(ctx, tables.Conn(), statement, arguments, func() {
		one := d
		for _, f := range []struct {
			to   []byte
			from string
		}{
			{one.Merchant[:], r.merchant}, {one.Event[:], r.event}, {one.Reference[:], r.reference},
			{one.BodyHash[:], r.bodyHash}, {one.TxHash[:], r.txHash}, {one.TraceID[:], r.traceID},
		} {
			copy(f.to, f.from)
		}
		one.Status, one.State, one.Reason, one.LastClass = event.Status(r.status), State(r.state), r.reason, r.class
		one.Happened, one.Detected, one.Due, one.LastEnded = r.happened.UTC(), r.detected.UTC(), read(r.due), read(r.ended)
		one.Attempts, one.LastCode, one.LastTook = int(r.attempts), int(r.code), time.Duration(r.took)*time.Microsecond
		list = append(list, one)
	}, &r.merchant, &r.happened, &r.event, &r.reference, &r.bodyHash, &r.txHash, &r.traceID, &d.McSeqno, &r.status, &d.Test, &r.detected,
		&r.state, &r.reason, &r.attempts, &r.due, &r.ended, &r.code, &r.class, &r.took, &d.expires, &d.changed)
	return list, err
}

// readAttempts are the newest of some events of a merchant, those of each in the order in which they
// began; of some kinds, where any are named.
func readAttempts(ctx context.Context, tables *clickhouse.Client, merchant ID, events []ID, newest int, kinds ...Kind) (list []Attempt, err error) {
	var (
		r struct {
			event, kind, class, request, response, body string
			number, code                                uint16
			began, ended                                time.Time
			dns, connect, tls, firstByte, total         uint32
		}
		a  Attempt
		of string
	)
	if len(kinds) > 0 {
		texts := make([]string, len(kinds))
		for n, kind := range kinds {
			texts[n] = literal([]byte(kind))
		}
		of = " AND kind IN (" + strings.Join(texts, ",") + ")"
	}
	err = clickhouse.Each(ctx, tables.Conn(), `SELECT event, began, number, kind, ended, dns_us, connect_us, tls_us, first_byte_us, total_us,
			remote, code, class, text, request_headers, response_headers, response_body, key_id, expires, changed
		FROM delivery_attempts WHERE merchant = `+literal(merchant[:])+` AND event IN (`+literals(events)+`)`+of+`
		ORDER BY event, began DESC, changed DESC LIMIT 1 BY event, began LIMIT `+strconv.Itoa(newest), nil, func() {
		one := a
		one.Merchant = merchant
		copy(one.Event[:], r.event)
		one.Number, one.Kind, one.Began, one.Ended = int(r.number), Kind(r.kind), r.began.UTC(), read(r.ended)
		micros := func(n uint32) time.Duration { return time.Duration(n) * time.Microsecond }
		one.DNS, one.Connect, one.TLS, one.FirstByte, one.Total = micros(r.dns), micros(r.connect), micros(r.tls), micros(r.firstByte), micros(r.total)
		one.Code, one.Class = int(r.code), Class(r.class)
		one.RequestHeaders, one.ResponseHeaders, one.ResponseBody = headersOf(r.request), headersOf(r.response), []byte(r.body)
		list = append(list, one)
	}, &r.event, &r.began, &r.number, &r.kind, &r.ended, &r.dns, &r.connect, &r.tls, &r.firstByte, &r.total,
		&a.Remote, &r.code, &r.class, &a.Text, &r.request, &r.response, &r.body, &a.KeyID, &a.expires, &a.changed)
	slices.Reverse(list)
	return list, err
}

// readBodies are those of some events of a merchant.
func readBodies(ctx context.Context, tables *clickhouse.Client, merchant ID, events []ID) (map[ID][]byte, error) {
	bodies := make(map[ID][]byte, len(events))
	var key, body string
	err := clickhouse.Each(ctx, tables.Conn(), "SELECT event, body FROM events WHERE merchant = "+literal(merchant[:])+" AND event IN ("+literals(events)+") LIMIT 1 BY event",
		nil, func() {
			var id ID
			copy(id[:], key)
			bodies[id] = []byte(body)
		}, &key, &body)
	return bodies, err
}

// literal is a value of a FixedString: a thousand calls of unhex would take longer than
// the answer.
func literal(b []byte) string {
	const digits = "0123456789abcdef"
	text := make([]byte, 0, 4*len(b)+2)
	text = append(text, '\'')
	for _, c := range b {
		text = append(text, '\\', 'x', digits[c>>4], digits[c&15])
	}
	return string(append(text, '\''))
}

func literals(ids []ID) string {
	list := make([]string, len(ids))
	for i := range ids {
		list[i] = literal(ids[i][:])
	}
	return strings.Join(list, ",")
}

// moment is a time as a value of a DateTime64(6).
func moment(t time.Time) string {
	return fmt.Sprintf("fromUnixTimestamp64Micro(toInt64(%d), 'UTC')", t.UnixMicro())
}

// textOf is an id as JSON has it.
func textOf(id ID) string { return hex.EncodeToString(id[:]) }
