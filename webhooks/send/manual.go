package send

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"

	"tonscribe/internal/clickhouse"
	"tonscribe/internal/lifetime"
	"tonscribe/internal/report"
	"tonscribe/schema/record"
	"tonscribe/webhooks/event"
)

// ErrRefused is the error of an endpoint that nothing is sent to; its text says why.
var ErrRefused = errors.New("nothing is sent to the endpoint")

// Manual makes attempts that merchants ask for: through the same client as those of the
// schedule, with the same signer and rows, but one each, which nothing follows. It serves the
// merchants' API; the sender may be another process.
//
// Stop breaks off replays and waits for them.
type Manual struct {
	*lifetime.Run
	configuration Configuration
	report        report.Reporter
	tables        *clickhouse.Client
	endpoints     Endpoints
	courier       *courier
	log           *Log
	jobs          chan *Replay

	mutex   sync.Mutex
	replays map[ID]*Replay // those that this process makes, by merchant
}

// NewManual makes one that does nothing yet. Redeliver and Test need no Start.
func NewManual(configuration Configuration, dependencies Dependencies) (*Manual, error) {
	client, err := newClient(configuration, dependencies.Version)
	if err != nil {
		return nil, err
	}
	reporter := dependencies.Report.For("send")
	m := &Manual{
		Run:           lifetime.NewRun(),
		configuration: configuration,
		report:        reporter,
		tables:        dependencies.ClickHouse,
		endpoints:     dependencies.Endpoints,
		log:           NewLog(configuration, dependencies.ClickHouse),
		jobs:          make(chan *Replay),
		replays:       map[ID]*Replay{},
	}
	m.courier = &courier{configuration: configuration, client: client, metrics: newMetrics(reporter), report: reporter,
		write: func(ctx context.Context, a *Attempt) error {
			a.changed = max(a.changed+1, uint64(time.Now().UnixMicro()))
			return insertAttempts(ctx, m.tables, []Attempt{*a})
		}}
	return m, nil
}

// Start begins to serve replays, and returns at once.
func (m *Manual) Start(context.Context) error {
	m.Run.Start(func(ctx context.Context) error {
		defer m.courier.client.close()
		for {
			select {
			case r := <-m.jobs:
				m.Run.Go(func() { m.replay(ctx, r) })
			case <-ctx.Done():
				return nil
			}
		}
	})
	return nil
}

// Redeliver makes one attempt to deliver an event, whatever the state of its delivery, with
// the id and the body of before. A success makes the delivery Delivered; a failure changes nothing,
// nor does either change the schedule of a pending one.
func (m *Manual) Redeliver(ctx context.Context, merchant, id ID) (Attempt, error) {
	d, body, attempts, err := m.log.Detail(ctx, merchant, id)
	if err != nil {
		return Attempt{}, err
	}
	endpoint, err := m.endpoint(ctx, merchant)
	if err != nil {
		return Attempt{}, err
	}
	number := 1
	for _, a := range attempts {
		if a.Kind != KindInterrupted {
			number = max(number, a.Number+1)
		}
	}
	return m.attempt(ctx, endpoint, &delivery{Delivery: d, body: body}, KindManual, number)
}

// endpoint is that of a merchant, one without an URL where there is none.
func (m *Manual) endpoint(ctx context.Context, merchant ID) (Endpoint, error) {
	e, err := m.endpoints.Get(ctx, merchant)
	switch {
	case errors.Is(err, clickhouse.ErrNoRow):
		return Endpoint{}, nil
	case err == nil && e.URL != "" && e.Secret == "":
		return Endpoint{}, ErrNoSecret
	}
	return e, err
}

// ErrNoSecret is the error of an endpoint whose requests nothing would sign.
var ErrNoSecret = errors.New("the secret of the endpoint cannot be read")

// attempt makes one, and puts down how the delivery stands then.
func (m *Manual) attempt(ctx context.Context, e Endpoint, d *delivery, kind Kind, number int) (Attempt, error) {
	to, reason := m.courier.refusal(e)
	if reason != "" {
		return Attempt{}, fmt.Errorf("%w: %s", ErrRefused, reason)
	}
	// Whoever asked may go; what was begun is ended.
	ctx = context.WithoutCancel(ctx)
	a, err := m.courier.attempt(ctx, e, to, d, kind, number)
	if err != nil {
		return Attempt{}, err
	}
	if kind != KindTest { // more may have become of it meanwhile
		if d.Delivery, _, err = m.log.find(ctx, d.Merchant, d.Event); err != nil {
			return *a, err
		}
	}
	switch {
	case d.State == Pending && kind != KindTest: // the sender, which has it in hand, finds the attempt at the end of the schedule
		return *a, nil
	case a.Succeeded() && d.Reason == ReasonDuplicate: // which replays leave out
		d.State = Delivered
	case a.Succeeded():
		d.State, d.Reason = Delivered, ""
	case kind == KindTest:
		d.State = Exhausted
	}
	d.LastEnded, d.LastCode, d.LastClass, d.LastTook = a.Ended, a.Code, string(a.Class), a.Total
	d.changed = max(d.changed+1, uint64(time.Now().UnixMicro()))
	return *a, insertDeliveries(ctx, m.tables, []Delivery{d.Delivery})
}

// Test makes an event for a test, and one attempt to deliver it, to endpoints that are disabled
// too. The event has a reference that no order has, which takes the place of the one given;
// it never counts for what an endpoint takes.
func (m *Manual) Test(ctx context.Context, merchant ID, e event.Event) (Attempt, error) {
	endpoint, err := m.endpoint(ctx, merchant)
	if err != nil {
		return Attempt{}, err
	}
	endpoint.Enabled = true
	if _, reason := m.courier.refusal(endpoint); reason != "" {
		return Attempt{}, fmt.Errorf("%w: %s", ErrRefused, reason)
	}
	reference, err := uuid.NewV7()
	if err != nil {
		return Attempt{}, err
	}
	now := time.Now().UTC().Truncate(time.Microsecond)
	if e.Timestamp.IsZero() {
		e.Timestamp, e.Data.Date = event.Time{Time: now}, event.Time{Time: now}
	}
	e.Type, e.Data.Reference = event.TransferCompleted, referenceText(ID(reference), true)
	body, err := e.Encode()
	if err != nil {
		return Attempt{}, err
	}
	r := &record.TransferEvent{Id: make([]byte, 16), Merchant: merchant[:], Reference: reference[:],
		BodyHash: hashOf(base64.StdEncoding.DecodeString(e.Data.BodyBase64Hash)), TxHash: hashOf(hex.DecodeString(e.Data.TxHash)), TraceId: hashOf(hex.DecodeString(e.Data.TraceID)),
		Test: true, Body: body, Happened: uint64(now.Unix())}
	_, _ = rand.Read(r.Id) // never fails
	if e.Data.Status == event.Failed {
		r.Status, r.ErrorCode, r.HasError = record.TransferStatus_TRANSFER_FAILED, *e.Data.ErrorCode, true
	}
	d := deliveryOf(r, now, m.configuration.KeepEvents)
	d.Happened = now
	if err := insertEvents(ctx, m.tables, []*record.TransferEvent{r}, []delivery{d}); err != nil {
		return Attempt{}, err
	}
	return m.attempt(ctx, endpoint, &d, KindTest, 1)
}

// hashOf is a hash that a made-up event has, zeros where it is none.
func hashOf(raw []byte, err error) []byte {
	if err != nil || len(raw) != 32 {
		return make([]byte, 32)
	}
	return raw
}
