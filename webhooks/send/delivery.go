package send

import (
	"encoding/hex"
	"time"

	"github.com/google/uuid"

	"tonscribe/schema/record"
	"tonscribe/webhooks/event"
)

// State is how a delivery stands.
type State string

// The states of a delivery. Pending is the only one that does not end it.
const (
	Pending   State = "pending"
	Delivered State = "delivered"
	Exhausted State = "exhausted" // the attempts of the schedule failed
	Ignored   State = "ignored"   // no attempt was made
	Cancelled State = "cancelled" // some were made, others not
)

// The reasons of deliveries that are ignored or cancelled.
const (
	ReasonNoEndpoint = "no endpoint"
	ReasonDisabled   = "disabled"
	ReasonInsecure   = "insecure URL" // plain http
	ReasonInvalid    = "invalid URL"
	ReasonDuplicate  = "duplicate payment" // an earlier event of the reference was a success
	ReasonExpired    = "expired"           // the event was deleted before its attempts ended
)

// Delivery is an event and how its delivery stands.
type Delivery struct {
	Merchant, Event ID
	Reference       ID // UUID of the payment
	BodyHash        [32]byte
	TxHash, TraceID [32]byte
	McSeqno         uint32
	Status          event.Status
	Test            bool
	Happened        time.Time // the block's
	Detected        time.Time // when the sender got to know of it

	State    State
	Reason   string
	Attempts int       // of the schedule
	Due      time.Time // of the next attempt, while the state is pending
	// Of the last attempt; LastEnded is zero before the first.
	LastEnded time.Time
	LastCode  int
	LastClass string
	LastTook  time.Duration

	expires time.Time
	changed uint64
}

// ReferenceText is the reference as the event's body has it.
func (d *Delivery) ReferenceText() string { return referenceText(d.Reference, d.Test) }

// testPrefix keeps a test's reference from matching an order's.
const testPrefix = "test_"

func referenceText(reference ID, test bool) string {
	text := uuid.UUID(reference).String()
	if test {
		return testPrefix + text
	}
	return text
}

// EventID is an event's id in the header webhook-id.
func EventID(id ID) string { return "evt_" + hex.EncodeToString(id[:]) }

// delivery is one that is tried.
type delivery struct {
	Delivery
	body   []byte
	number int // of the attempt that comes next
	taken  time.Time
}

// deliveryOf is that of an event that the log has.
func deliveryOf(e *record.TransferEvent, now time.Time, keep time.Duration) delivery {
	d := delivery{body: e.Body, number: 1, taken: now, Delivery: Delivery{
		McSeqno: e.McSeqno, Status: event.Success, Test: e.Test,
		Happened: time.Unix(int64(e.Happened), 0).UTC(), Detected: now,
		State: Pending, Due: now, expires: now.Add(keep),
	}}
	if e.Status == record.TransferStatus_TRANSFER_FAILED {
		d.Status = event.Failed
	}
	if e.Duplicate {
		d.State, d.Reason = Ignored, ReasonDuplicate
	}
	for _, f := range []struct{ to, from []byte }{
		{d.Merchant[:], e.Merchant}, {d.Event[:], e.Id}, {d.Reference[:], e.Reference},
		{d.BodyHash[:], e.BodyHash}, {d.TxHash[:], e.TxHash}, {d.TraceID[:], e.TraceId},
	} {
		copy(f.to, f.from)
	}
	return d
}

// end ends a delivery without an attempt.
func (d *delivery) end(reason string) {
	d.State, d.Reason = Ignored, reason
	if d.Attempts > 0 {
		d.State = Cancelled
	}
}

// note puts down what became of an attempt of the schedule.
func (d *delivery) note(a *Attempt) {
	d.LastEnded, d.LastCode, d.LastClass, d.LastTook = a.Ended, a.Code, string(a.Class), a.Total
	if a.Class == ClassInterrupted {
		d.number, d.Due = a.Number, a.Ended // again at once
		return
	}
	d.Attempts, d.number = a.Number, a.Number+1
	due, more := after(a.Number, a.Ended)
	switch {
	case a.Succeeded():
		d.State = Delivered
	case more:
		d.Due = due
	default:
		d.State = Exhausted
	}
}
