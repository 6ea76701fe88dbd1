package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"tonscribe/webhooks/event"
	"tonscribe/webhooks/store"
)

// Delivery is an event and how its delivery stands.
type Delivery struct {
	Event           store.ID
	Reference       string // as the body has it: of a test with test_ in front
	BodyHash        store.Hash
	TxHash, TraceID store.Hash
	Status          event.Status
	Test            bool
	Happened        time.Time
	State           string
	Reason          string // why it was ignored or cancelled
	Attempts        int
	Due             time.Time // of the next attempt, zero for none
	LastCode        int       // 0 for none
	LastClass       string    // empty for a success
}

// DeliveryStates are those of deliveries.
var DeliveryStates = []string{"pending", "in_flight", "delivered", "exhausted", "ignored", "cancelled"}

// Attempt is one request.
type Attempt struct {
	Number int
	Kind   string // auto, manual, test or interrupted
	Began  time.Time
	Ended  time.Time // zero while it is under way
	// Phases, zero for those that there were none of.
	DNS, Connect, TLS, FirstByte, Total time.Duration
	Remote                              string // address that was connected to
	Code                                int    // 0 without an answer
	Class, Text                         string // empty for a success
	RequestHeaders, ResponseHeaders     http.Header
	RequestBody, ResponseBody           []byte
	KeyID                               string // tells which secret signed
}

// Search is what deliveries are looked for; nil and zero values are no conditions.
type Search struct {
	State, Class              string
	Event                     *store.ID
	Reference                 *store.Reference
	TxHash, TraceID, BodyHash *store.Hash
	Code                      int
	From, To                  time.Time // of the event, From included, To not
	Test                      *bool
	Limit                     int // of 1 to 100
	Cursor                    string
}

// Replay is the making of deliveries of a range of time once more.
type Replay struct {
	ID                     store.ID
	State                  string // running, done, failed or cancelled
	Count, Sent, Delivered uint64 // to be made, made, taken
}

// ReplayRange says which deliveries are made once more.
type ReplayRange struct {
	From, To time.Time
	State    string // empty for those that failed
}

// Health is how an endpoint does.
type Health struct {
	State             string   // ok, failing, disabled or unset
	SuccessRate       *float64 // nil without deliveries
	P50, P95, P99     time.Duration
	Queued            uint64
	OldestUndelivered time.Duration // zero for none
	LastSuccess       time.Time     // zero for none
}

// Errors of Deliveries, besides store.ErrNotFound. Their texts are shown.
var (
	// ErrRefused wraps why nothing is sent to an endpoint, or no replay begins.
	ErrRefused = errors.New("nothing is sent")
	// ErrCursor is that of a cursor that Search has not given.
	ErrCursor = errors.New("not a cursor")
	// ErrBusy is that of what there is too much of at the moment.
	ErrBusy = errors.New("too much of this is under way: try again later")
)

// Deliveries is the log of webhooks, and what makes some by hand. What belongs to another
// merchant is store.ErrNotFound.
type Deliveries interface {
	// Search returns deliveries, the newest first, and the cursor of those that follow.
	Search(ctx context.Context, merchant store.ID, s Search) (list []Delivery, next string, err error)
	// Detail returns a delivery, the body of its requests and its newest attempts, the first one first.
	Detail(ctx context.Context, merchant, event store.ID) (d Delivery, body []byte, attempts []Attempt, err error)
	// Redeliver makes one attempt.
	Redeliver(ctx context.Context, merchant, event store.ID) (Attempt, error)
	// Test makes one attempt to deliver a made-up event, whose reference Test chooses.
	Test(ctx context.Context, merchant store.ID, e event.Event) (Attempt, error)
	// CountReplay returns how many deliveries a replay would make.
	CountReplay(ctx context.Context, merchant store.ID, r ReplayRange) (uint64, error)
	StartReplay(ctx context.Context, merchant store.ID, r ReplayRange) (Replay, error)
	FindReplay(ctx context.Context, merchant, replay store.ID) (Replay, error)
	CancelReplay(ctx context.Context, merchant, replay store.ID) (Replay, error)
	Health(ctx context.Context, merchant store.ID) (Health, error)
}

// sending is Deliveries where there are some.
func (c *call) sending() (Deliveries, error) {
	if c.deliveries == nil {
		return nil, errNotConfigured
	}
	return c.deliveries, nil
}
