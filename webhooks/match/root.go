// Package match is the stage that finds registered payments in final transactions. In
// come the topics transactions and traces, bundle by bundle and all partitions at once;
// out goes the topic transfers: every payment that a bundle ended, well or not, with the
// body of the webhook that says so. Its store holds what is on its way (a jetton wallet
// has sent, the other one not yet received) and what was paid before.
//
// The package must never give other events for the same bundle, trust a jetton wallet
// that is not the one its master names, or let a stranger end somebody's payment badly.
package match

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/rs/zerolog"

	"tonscribe/internal/kafka"
	"tonscribe/internal/report"
	"tonscribe/internal/stage"
	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/webhooks/store"
)

// Payments is where registered payments are looked up.
type Payments interface {
	// Find returns those that there are. A payment is found from when its message was
	// handed out.
	Find(ctx context.Context, references []store.Reference) (map[store.Reference]store.Payment, error)
}

// Dependencies of the component. The topics must exist.
type Dependencies struct {
	Report   report.Reporter
	Kafka    *kafka.Client
	Payments Payments
}

// New makes the component, a member of the stage's group: one works, the others stand
// by.
func New(configuration Configuration, dependencies Dependencies) (*stage.Component, error) {
	if err := configuration.validate(); err != nil {
		return nil, err
	}
	reporter := dependencies.Report.For("match")
	metrics := newMetrics(reporter)
	return stage.New(stage.Configuration{
		Settings: configuration.Settings, Name: "match", Inputs: []schema.Topic{schema.Transactions, schema.Traces}, Output: schema.Transfers,
		Store: configuration.store(reporter.Log),
		Gap:   "payments that ended in them are not told",
	}, stage.Dependencies{Report: reporter, Kafka: dependencies.Kafka,
		Begin: func(s *stage.Session) (stage.Logic, error) {
			return &work{
				store: s.Store, payments: dependencies.Payments, partitions: s.Partitions, chunk: configuration.ChunkBytes,
				ticker: configuration.Ticker, metrics: metrics, log: reporter.Log,
			}, nil
		}}), nil
}

// work turns bundles into records, with the store's help.
type work struct {
	store      memory
	payments   Payments
	partitions int
	chunk      int
	ticker     string
	metrics    *metrics
	log        zerolog.Logger
}

// memory is what the stage remembers (stage.Store).
type memory interface {
	Get(kind byte, parts ...[]byte) ([]byte, error)
	Set(value []byte, kind byte, parts ...[]byte) error
	Delete(kind byte, parts ...[]byte) error
}

// Kinds of keys of the store.
const (
	keyOnTheWay = 'o' // hash of a message between jetton wallets → onTheWay
	keyPaid     = 'p' // reference → hash of the transaction that paid it
	keyRefused  = 'f' // reference, hash of an external message → nothing: its failure was told
)

// Bundle works out the next bundle.
func (w *work) Bundle(ctx context.Context, b *stage.Bundle) (stage.Output, error) {
	of := &bundle{work: w, mcSeqno: b.McSeqno}
	for _, r := range b.Records {
		of.transactions = append(of.transactions, r.GetTransactions().GetTransactions()...)
	}
	slices.SortFunc(of.transactions, byTime)
	if err := of.findSightings(); err != nil {
		return stage.Output{}, err
	}
	if err := of.find(ctx); err != nil {
		return stage.Output{}, err
	}
	if len(of.known) > 0 {
		if err := of.follow(); err != nil {
			return stage.Output{}, err
		}
		of.traces(b.Records)
		if err := of.judge(); err != nil {
			return stage.Output{}, err
		}
	}
	pages := stage.NewPages(b, w.partitions, w.chunk, func(batch *record.TransferBatch) *record.Record {
		return &record.Record{Content: &record.Record_Transfers{Transfers: batch}}
	})
	for _, e := range of.events {
		w.metrics.events.WithLabelValues(e.Status.String()).Inc()
		pages.Add(schema.PartitionOf(e.Merchant, w.partitions), e.SizeVT(), func(batch *record.TransferBatch) { batch.Transfers = append(batch.Transfers, e) })
	}
	return pages.Seal(), nil
}

// Pauses between attempts to look payments up.
const (
	firstPause = 100 * time.Millisecond
	maxPause   = 5 * time.Second
)

// find looks up the payments that the bundle may have to do with, until it can.
func (b *bundle) find(ctx context.Context) error {
	if len(b.references) == 0 {
		return nil
	}
	wanted := make([]store.Reference, 0, len(b.references))
	for reference := range b.references {
		wanted = append(wanted, reference)
	}
	slices.SortFunc(wanted, func(a, b store.Reference) int { return slices.Compare(a[:], b[:]) })
	b.metrics.candidates.Add(float64(len(wanted)))
	for pause := firstPause; ; pause = min(2*pause, maxPause) {
		found, err := b.payments.Find(ctx, wanted)
		if err == nil {
			b.known = found
			return nil
		}
		if ctx.Err() == nil {
			b.log.Warn().Err(err).Uint32("bundle", b.mcSeqno).Msg("registered payments could not be looked up; trying again")
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("look payments up: %w", context.Cause(ctx))
		case <-time.After(pause):
		}
	}
}

// byTime is the order in which things happened.
func byTime(a, b *record.Transaction) int {
	return cmp.Or(cmp.Compare(a.Lt, b.Lt), slices.Compare(a.Account, b.Account))
}
