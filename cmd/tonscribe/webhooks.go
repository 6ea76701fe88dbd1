package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"tonscribe/internal/lifetime"
	frame "tonscribe/internal/stage"
	"tonscribe/query/auth"
	"tonscribe/query/node"
	"tonscribe/query/rows"
	index "tonscribe/query/store"
	"tonscribe/ton/address"
	merchantapi "tonscribe/webhooks/api"
	"tonscribe/webhooks/event"
	"tonscribe/webhooks/match"
	"tonscribe/webhooks/payment"
	"tonscribe/webhooks/send"
	"tonscribe/webhooks/store"
)

// openMerchants starts to follow the tables of merchants, once in a process.
func (p *process) openMerchants() (*store.Store, error) {
	if p.merchants != nil {
		return p.merchants, nil
	}
	client, err := p.openTables("clickhouse merchants", p.dsn)
	if err != nil {
		return nil, err
	}
	merchants, err := store.New(p.settings.Webhooks.Store, store.Dependencies{Report: p.report.For("merchants"), ClickHouse: client})
	if err != nil {
		return nil, err
	}
	p.merchants = merchants
	p.health.Add("merchants", merchants.Ready)
	p.onStop("merchants", merchants.Stop)
	return merchants, merchants.Start(context.Background())
}

// newMerchantAPI makes the API of merchants. What it asks of the chain is set later.
func (p *process) newMerchantAPI(chain *chainFacts) (*merchantapi.API, error) {
	merchants, err := p.openMerchants()
	if err != nil {
		return nil, err
	}
	client, err := p.openTables("clickhouse deliveries", p.dsn)
	if err != nil {
		return nil, err
	}
	c := p.settings.Webhooks.Send
	manual, err := send.NewManual(c, send.Dependencies{
		Report: p.report.For("webhooks"), ClickHouse: client, Endpoints: endpoints{merchants.Endpoints}, Version: version,
	})
	if err != nil {
		return nil, err
	}
	if err := manual.Start(context.Background()); err != nil {
		return nil, err
	}
	p.onStop("replays", manual.Stop)
	reaches, err := send.Reaches(c)
	if err != nil {
		return nil, err
	}
	log := send.NewLog(c, client)
	return merchantapi.New(p.settings.Webhooks.API, merchantapi.Dependencies{
		Report: p.report.For("merchants"), Store: merchants, Client: auth.Client, Reaches: reaches,
		Build: build, Tokens: chain, Outcomes: outcomes{log}, Deliveries: deliveries{log, manual},
	})
}

// webhooks finds payments, and tells of them.
type webhooks struct {
	*lifetime.Run
	match *frame.Component
	send  *send.Component
}

func (p *process) newWebhooks() (*webhooks, error) {
	merchants, err := p.openMerchants()
	if err != nil {
		return nil, err
	}
	client, err := p.openTables("clickhouse webhooks", p.dsn)
	if err != nil {
		return nil, err
	}
	finder, err := match.New(p.settings.Webhooks.Match, match.Dependencies{Report: p.report, Kafka: p.log, Payments: merchants.Payments})
	if err != nil {
		return nil, err
	}
	sender, err := send.New(p.settings.Webhooks.Send, send.Dependencies{
		Report: p.report, ClickHouse: client, Endpoints: endpoints{merchants.Endpoints}, Log: p.log, Version: version,
	})
	if err != nil {
		return nil, err
	}
	return &webhooks{lifetime.NewRun(), finder, sender}, nil
}

// Start begins both, and returns at once.
func (w *webhooks) Start(ctx context.Context) error {
	w.Run.Start(w.run)
	return nil
}

// run ends both when one of them ends.
func (w *webhooks) run(ctx context.Context) error {
	for _, s := range []stage{w.match, w.send} {
		if err := s.Start(ctx); err != nil {
			return err
		}
	}
	select {
	case <-ctx.Done():
	case <-w.match.Done():
	case <-w.send.Done():
	}
	stopping := context.WithoutCancel(ctx)
	return errors.Join(w.match.Stop(stopping), w.send.Stop(stopping))
}

// endpoints are the merchants' for the sender.
type endpoints struct{ *store.Endpoints }

// Get implements send.Endpoints.
func (e endpoints) Get(ctx context.Context, merchant send.ID) (send.Endpoint, error) {
	one, err := e.Endpoints.Get(ctx, merchant)
	return endpointOf(&one), err
}

// Newest implements send.Endpoints.
func (e endpoints) Newest(ctx context.Context, merchant send.ID) (send.Endpoint, error) {
	one, err := e.Endpoints.Newest(ctx, merchant)
	return endpointOf(&one), err
}

func endpointOf(one *store.Endpoint) send.Endpoint {
	of := send.Endpoint{
		URL: one.URL, Enabled: one.Enabled, DisabledReason: one.DisabledReason, Secret: one.Current(), Next: one.Next, Old: one.Old, Changed: one.ChangedAt(),
	}
	if one.Signing == store.SignedByKey { // nothing takes a key's place
		of.Next, of.Old = "", ""
	}
	return of
}

// build makes the message of a payment.
func build(p store.Payment) (payment.Message, error) {
	return payment.Build(payment.Reference(p.Reference), payment.Order{
		Master: p.Master, Amount: p.Amount, To: p.Recipient, From: p.Sender, ToWallet: p.RecipientWallet, FromWallet: p.SenderWallet,
		QueryID: p.QueryID, Comment: p.CommentToRecipient,
	})
}

// chainFacts is what payments need to know of jettons.
type chainFacts struct {
	index *rows.Reader
	node  *node.Node
}

// Token implements merchantapi.Tokens.
func (c *chainFacts) Token(ctx context.Context, master address.Address) (merchantapi.Token, error) {
	j, is, err := c.index.Jetton(ctx, master)
	switch {
	case errors.Is(err, index.ErrEmpty):
		err = fmt.Errorf("%w: %w", merchantapi.ErrNoIndex, err)
	case err == nil && !is:
		err = store.ErrNotFound
	}
	return merchantapi.Token{Decimals: uint8(j.Decimals), Symbol: j.Symbol, Waits: j.Waits, Assumed: j.Assumed}, err
}

// WalletsOf implements merchantapi.Tokens.
func (c *chainFacts) WalletsOf(ctx context.Context, master address.Address, owners ...address.Address) ([]address.Address, error) {
	if !c.node.Configured() {
		return nil, merchantapi.ErrNoServers
	}
	wallets, err := c.node.WalletsOf(ctx, master, owners...)
	switch known := node.Known(err); {
	case errors.Is(err, node.ErrNoToken):
		err = store.ErrNotFound
	case known != nil && known.Unanswered():
		err = fmt.Errorf("%w: %w", merchantapi.ErrNoAnswer, err)
	}
	return wallets, err
}

// outcomes are the ends of payments that merchants were told of.
type outcomes struct{ log *send.Log }

// Of implements merchantapi.Outcomes.
func (o outcomes) Of(ctx context.Context, merchant store.ID, references []store.Reference) (map[store.Reference]merchantapi.Outcome, error) {
	ends, err := o.log.Ends(ctx, merchant, references)
	all := make(map[store.Reference]merchantapi.Outcome, len(ends))
	for reference, end := range ends {
		all[reference] = merchantapi.Outcome(end)
	}
	return all, err
}

// deliveries are those of the sender for the merchants' API.
type deliveries struct {
	log    *send.Log
	manual *send.Manual
}

// named is an error that the API knows by the name of another one.
type named struct {
	error
	as error
}

// Is makes errors.Is find it by that.
func (n named) Is(target error) bool { return target == n.as }

// failure makes an error of the sender one that the API knows.
func failure(err error) error {
	for _, known := range []struct{ of, is error }{
		{send.ErrNotFound, store.ErrNotFound}, {send.ErrCursor, merchantapi.ErrCursor}, {send.ErrBusy, merchantapi.ErrBusy},
		{send.ErrRefused, merchantapi.ErrRefused}, {send.ErrReplaying, merchantapi.ErrRefused}, {send.ErrRange, merchantapi.ErrRefused},
		{send.ErrNoSecret, store.ErrNoSealKey},
	} {
		if errors.Is(err, known.of) {
			return named{err, known.is}
		}
	}
	return err
}

// Search implements merchantapi.Deliveries.
func (d deliveries) Search(ctx context.Context, merchant store.ID, s merchantapi.Search) (list []merchantapi.Delivery, next string, err error) {
	asked := send.Search{
		Event: s.Event, Reference: s.Reference, BodyHash: s.BodyHash, TxHash: s.TxHash, TraceID: s.TraceID,
		Code: s.Code, Class: send.Class(s.Class), From: s.From, To: s.To, Test: s.Test, Limit: s.Limit, Cursor: s.Cursor,
	}
	if s.State != "" {
		asked.States = []send.State{send.State(s.State)}
	}
	found, next, err := d.log.Search(ctx, merchant, asked)
	for i := range found {
		list = append(list, deliveryOf(&found[i]))
	}
	return list, next, failure(err)
}

func deliveryOf(d *send.Delivery) merchantapi.Delivery {
	var due time.Time
	if d.State == send.Pending {
		due = d.Due
	}
	return merchantapi.Delivery{
		Event: d.Event, Reference: d.ReferenceText(), BodyHash: d.BodyHash, TxHash: d.TxHash, TraceID: d.TraceID, Status: d.Status, Test: d.Test,
		Happened: d.Happened, State: string(d.State), Reason: d.Reason, Attempts: d.Attempts, Due: due, LastCode: d.LastCode, LastClass: d.LastClass,
	}
}

func attemptOf(a *send.Attempt, body []byte) merchantapi.Attempt {
	return merchantapi.Attempt{
		Number: a.Number, Kind: string(a.Kind), Began: a.Began, Ended: a.Ended, DNS: a.DNS, Connect: a.Connect, TLS: a.TLS, FirstByte: a.FirstByte, Total: a.Total,
		Remote: a.Remote, Code: a.Code, Class: string(a.Class), Text: a.Text, RequestHeaders: a.RequestHeaders, ResponseHeaders: a.ResponseHeaders,
		RequestBody: body, ResponseBody: a.ResponseBody, KeyID: a.KeyID,
	}
}

// Detail implements merchantapi.Deliveries.
func (d deliveries) Detail(ctx context.Context, merchant, event store.ID) (merchantapi.Delivery, []byte, []merchantapi.Attempt, error) {
	found, body, attempts, err := d.log.Detail(ctx, merchant, event)
	list := make([]merchantapi.Attempt, len(attempts))
	for i := range attempts {
		list[i] = attemptOf(&attempts[i], body)
	}
	return deliveryOf(&found), body, list, failure(err)
}

// Redeliver implements merchantapi.Deliveries.
func (d deliveries) Redeliver(ctx context.Context, merchant, event store.ID) (merchantapi.Attempt, error) {
	made, err := d.manual.Redeliver(ctx, merchant, event)
	return attemptOf(&made, nil), failure(err)
}

// Test implements merchantapi.Deliveries.
func (d deliveries) Test(ctx context.Context, merchant store.ID, e event.Event) (merchantapi.Attempt, error) {
	made, err := d.manual.Test(ctx, merchant, e)
	return attemptOf(&made, nil), failure(err)
}

func rangeOf(r merchantapi.ReplayRange) send.Range {
	of := send.Range{From: r.From, To: r.To}
	if r.State != "" {
		of.States = []send.State{send.State(r.State)}
	}
	return of
}

func replayOf(r *send.Replay) merchantapi.Replay {
	return merchantapi.Replay{ID: r.ID, State: string(r.State), Count: r.Found, Sent: r.Done, Delivered: r.Delivered}
}

// CountReplay implements merchantapi.Deliveries.
func (d deliveries) CountReplay(ctx context.Context, merchant store.ID, r merchantapi.ReplayRange) (uint64, error) {
	n, err := d.manual.Count(ctx, merchant, rangeOf(r))
	return n, failure(err)
}

// StartReplay implements merchantapi.Deliveries.
func (d deliveries) StartReplay(ctx context.Context, merchant store.ID, r merchantapi.ReplayRange) (merchantapi.Replay, error) {
	made, err := d.manual.Replay(ctx, merchant, rangeOf(r))
	return replayOf(&made), failure(err)
}

// FindReplay implements merchantapi.Deliveries.
func (d deliveries) FindReplay(ctx context.Context, merchant, replay store.ID) (merchantapi.Replay, error) {
	found, err := d.manual.Replays(ctx, merchant, replay)
	return replayOf(&found), failure(err)
}

// CancelReplay implements merchantapi.Deliveries.
func (d deliveries) CancelReplay(ctx context.Context, merchant, replay store.ID) (merchantapi.Replay, error) {
	found, err := d.manual.Cancel(ctx, merchant, replay)
	return replayOf(&found), failure(err)
}

// Health implements merchantapi.Deliveries.
func (d deliveries) Health(ctx context.Context, merchant store.ID) (merchantapi.Health, error) {
	found, err := d.log.Health(ctx, merchant)
	h := merchantapi.Health{
		State: "ok", P50: found.P50, P95: found.P95, P99: found.P99, Queued: found.Queued, OldestUndelivered: found.OldestUndelivered, LastSuccess: found.LastSuccess,
	}
	if found.Open {
		h.State = "failing"
	}
	if found.Ended > 0 {
		h.SuccessRate = &found.SuccessRate
	}
	return h, failure(err)
}
