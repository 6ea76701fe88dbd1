// Package traces is the stage that puts transactions together to traces and says what
// they were. In come the topics transactions and contracts, bundle by bundle and all
// partitions at once; out goes the topic traces: every trace that a bundle changed, as
// of then, and its actions once no message of it is open. Its store holds what later
// bundles need: open traces with their transactions, and what contracts are or were until
// lately. It must never commit a bundle whose output the log has not acknowledged, and
// never give other bytes for the same bundle.
package traces

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/rs/zerolog"

	"tonscribe/decode/action"
	"tonscribe/decode/trace"
	"tonscribe/internal/kafka"
	"tonscribe/internal/report"
	"tonscribe/internal/stage"
	"tonscribe/schema"
	"tonscribe/schema/record"
)

// Dependencies of the component. The topics must exist.
type Dependencies struct {
	Report report.Reporter
	Kafka  *kafka.Client
}

// New makes the component, a member of the stage's group: one works, the others stand
// by.
func New(configuration Configuration, dependencies Dependencies) (*stage.Component, error) {
	if err := configuration.validate(); err != nil {
		return nil, err
	}
	reporter := dependencies.Report.For("traces")
	metrics := newMetrics(reporter)
	return stage.New(stage.Configuration{
		Settings: configuration.Settings, Name: "traces", Inputs: []schema.Topic{schema.Transactions, schema.Contracts}, Output: schema.Traces,
		Store: configuration.store(reporter.Log),
		Gap:   "traces that they belong to are broken",
	}, stage.Dependencies{Report: reporter, Kafka: dependencies.Kafka,
		Begin: func(s *stage.Session) (stage.Logic, error) {
			return &work{partitions: s.Partitions, chunk: configuration.ChunkBytes, assembler: trace.NewAssembler(s.Store), contracts: contracts{s.Store}, metrics: metrics, log: reporter.Log}, nil
		}}), nil
}

// work turns bundles into records, with the store's help.
type work struct {
	partitions int
	chunk      int
	assembler  *trace.Assembler
	contracts  contracts
	metrics    *metrics
	log        zerolog.Logger
}

// Bundle works out the next bundle.
func (w *work) Bundle(ctx context.Context, b *stage.Bundle) (stage.Output, error) {
	var transactions []*record.Transaction
	for _, r := range b.Records {
		transactions = append(transactions, r.GetTransactions().GetTransactions()...)
		for _, c := range r.GetContracts().GetContracts() {
			if err := w.contracts.update(b.McSeqno, c); err != nil {
				return stage.Output{}, err
			}
		}
	}
	if err := w.contracts.forget(b.McSeqno); err != nil {
		return stage.Output{}, err
	}
	assembled, err := w.assembler.Bundle(b.McSeqno, transactions)
	if err != nil {
		return stage.Output{}, err
	}
	pages := stage.NewPages(b, w.partitions, w.chunk, func(batch *record.TraceBatch) *record.Record {
		return &record.Record{Content: &record.Record_Traces{Traces: batch}}
	})
	for i := range assembled {
		if ctx.Err() != nil {
			return stage.Output{}, context.Cause(ctx)
		}
		step, err := w.step(&assembled[i])
		if err != nil {
			return stage.Output{}, err
		}
		for _, part := range partsOf(step) {
			pages.Add(schema.PartitionOf(step.Trace.Id, w.partitions), part.SizeVT(), func(batch *record.TraceBatch) { batch.Traces = append(batch.Traces, part) })
		}
	}
	return pages.Seal(), nil
}

// step is what the bundle did to a trace.
func (w *work) step(a *trace.Assembled) (*record.TraceStep, error) {
	facts := &factsOf{contracts: w.contracts, trace: a.Trace}
	step, failed, err := Step(a, facts)
	if err = errors.Join(err, facts.problem); err != nil {
		return nil, fmt.Errorf("trace %x: %w", a.Id, err)
	}
	if failed != nil {
		w.metrics.failures.Inc()
		w.log.Error().Err(failed).Hex("trace", a.Id).Msg("recognisers failed, the actions are those of the others")
	}
	w.metrics.traces.WithLabelValues(a.State.String()).Inc()
	w.metrics.actions.Add(float64(len(step.Actions)))
	return step, nil
}

// partsOf cuts a step that has more transactions than a trace of which there are actions, or
// more accounts: the log may not take them in one record. Each part is a step of its own.
func partsOf(step *record.TraceStep) (parts []*record.TraceStep) {
	transactions, accounts := step.Transactions, step.Accounts
	if len(transactions) <= trace.MaxNodes && len(accounts) <= trace.MaxNodes {
		return []*record.TraceStep{step}
	}
	for len(transactions) > 0 || len(accounts) > 0 {
		t, a := min(len(transactions), trace.MaxNodes), min(len(accounts), trace.MaxNodes)
		parts = append(parts, &record.TraceStep{Trace: step.Trace, Transactions: transactions[:t], Accounts: accounts[:a]})
		transactions, accounts = transactions[t:], accounts[a:]
	}
	return parts
}

// Step makes the record of what a bundle did to a trace. failed names the recognisers
// that failed; the actions are those of the others then.
func Step(a *trace.Assembled, facts action.Facts) (step *record.TraceStep, failed, err error) {
	step = &record.TraceStep{Trace: a.Trace}
	for _, list := range [][]*record.Transaction{a.Moved, a.New} {
		for _, tx := range list {
			step.Transactions = append(step.Transactions, &record.TraceTransaction{Account: tx.Account, Lt: tx.Lt, Hash: tx.Hash, McSeqno: tx.McSeqno})
		}
	}
	if a.PendingEdges > 0 {
		return step, nil, nil
	}
	all := a.All
	if len(all) == 0 { // too large: of earlier bundles the accounts are kept
		all = slices.Concat(a.Moved, a.New)
	}
	step.Accounts = slices.Clone(a.Earlier)
	for _, tx := range all {
		step.Accounts = append(step.Accounts, tx.Account)
	}
	slices.SortFunc(step.Accounts, bytes.Compare)
	step.Accounts = slices.CompactFunc(step.Accounts, bytes.Equal)
	if len(a.All) == 0 {
		return step, nil, nil
	}
	tree, err := trace.NewTree(a.All)
	if err != nil {
		return nil, nil, err
	}
	actions, failed := action.Classify(tree, facts)
	step.Actions = action.Records(actions)
	return step, failed, nil
}
