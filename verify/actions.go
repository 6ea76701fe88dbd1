package verify

import (
	"context"
	"errors"
	"fmt"

	"tonscribe/decode/trace"
	"tonscribe/reclassify"
	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/schema/table"
)

// checkActions recognises the actions of every closed trace again, with what contracts
// were as of its end, and compares them with those that the tables have, and the traces
// with their transactions.
func (v *verifier) checkActions(ctx context.Context) error {
	rows, err := v.number(ctx, "SELECT count() FROM traces_by_list WHERE list = ? AND mc_seqno BETWEEN ? AND ?", schema.AllTraces.Number(nil), v.from, v.to)
	if err != nil {
		return err
	}
	meter := v.meter("actions of traces", rows)
	reader, whole := reclassify.NewReader(v.client), true
	err = reclassify.Windows(v.from, v.to, func(low, high uint32) (traces uint64, err error) {
		err = reader.Each(ctx, low, high, func(t *reclassify.Trace) error {
			traces++
			if t.Missing > 0 { // the check of traces says so
				return nil
			}
			v.compareActions(t)
			return v.compareTrace(t)
		})
		if errors.Is(err, reclassify.ErrRecord) { // other checks name the row, and this one goes on
			v.findings.differs(CheckActions, table.Actions.Name, fmt.Sprintf("mc_seqno BETWEEN %d AND %d", low, high), "not all of them can be recognised again: %v", err)
			err, whole = nil, false
		}
		meter.add(traces)
		return traces, err
	})
	if err != nil || !whole {
		return err
	}
	return v.checkTraceLists(ctx)
}

// checkTraceLists compares the lists of traces with the rows that traces with their
// transactions make. Those that are too large to be put together, and those that are a
// part of another one by now, are left out.
func (v *verifier) checkTraceLists(ctx context.Context) error {
	t, want := table.TracesByList, v.rowSide
	have := make([]cell, len(want.cells[traceListRows]))
	var bucket uint32
	var c cell
	query := fmt.Sprintf(`SELECT toUInt32(intDiv(mc_seqno - %d, %d)) AS bucket, count(), sum(%s) FROM %s FINAL WHERE mc_seqno BETWEEN %d AND %d
		AND trace_prefix NOT IN (SELECT trace_prefix FROM traces WHERE replaced OR nodes > %d) GROUP BY bucket`,
		want.low, want.width, t.HashSQL(), t.Name, want.low, want.high, trace.MaxNodes)
	if err := v.each(ctx, query, nil, []any{&bucket, &c.rows, &c.sum}, func() error {
		have[bucket] = c
		return nil
	}); err != nil {
		return err
	}
	if n := firstDifferent(have, want.cells[traceListRows]); n >= 0 {
		low, high := want.bucket(n)
		v.findings.differs(CheckTraces, t.Name, fmt.Sprintf("mc_seqno BETWEEN %d AND %d", low, high),
			"a row of a trace is not one that its transactions make: %d rows with the sum %016x, instead of %d with %016x", have[n].rows, have[n].sum,
			want.cells[traceListRows][n].rows, want.cells[traceListRows][n].sum)
	}
	return nil
}

// compareTrace compares what a trace says of itself with its transactions.
func (v *verifier) compareTrace(t *reclassify.Trace) error {
	made, _, err := (&trace.Recorded{Transactions: t.Transactions}).Assemble()
	if errors.Is(err, trace.ErrOrder) { // the check of accounts says so
		return nil
	}
	if err != nil {
		return err
	}
	v.takeLists(made, t.Transactions)
	stored := t.CloneVT()
	stored.Replaces, made.Replaces = nil, nil // which parts of it came first is not told any more
	if path, have, want := firstField(stored, made); path != "" {
		v.findings.differs(CheckTraces, table.Traces.Name, fmt.Sprintf("trace_prefix = 0x%x AND NOT replaced", t.Id[:8]), "%s is %s, by its transactions it is %s", path, have, want)
	}
	return nil
}

// takeLists sums up the rows of the lists of a trace.
func (v *verifier) takeLists(t *record.Trace, transactions []*record.Transaction) {
	if !v.rowSide.holds(t.McSeqnoEnd) { // not as it says itself
		return
	}
	step := &record.TraceStep{Trace: t}
	seen := map[string]bool{}
	for _, tx := range transactions {
		if !seen[string(tx.Account)] {
			seen[string(tx.Account)] = true
			step.Accounts = append(step.Accounts, tx.Account)
		}
	}
	(&table.TraceStep{TraceStep: step}).Lists(func(l *table.ListedTrace) {
		v.rowSide.add(traceListRows, t.McSeqnoEnd, 1, table.TracesByList.Hash(l))
	})
}

// compareActions compares the actions of a trace.
func (v *verifier) compareActions(t *reclassify.Trace) {
	v.findings.checked(CheckActions, uint64(len(t.Actions)))
	stored := map[[32]byte]*reclassify.StoredAction{}
	for _, s := range t.Standing() {
		stored[[32]byte(s.Action.Id)] = s
	}
	where := func(number uint32) string {
		return fmt.Sprintf("trace_prefix = 0x%x AND trace_end_lt = %d AND number = %d", t.Id[:8], t.EndLt, number)
	}
	for _, made := range t.Actions {
		have := stored[[32]byte(made.Id)]
		delete(stored, [32]byte(made.Id))
		switch {
		case have == nil:
			v.findings.differs(CheckActions, table.Actions.Name, where(made.Number), "no row, but a %s is recognised: 'tonscribe reclassify' adds it", made.Type)
		case !have.Is(made):
			v.findings.differs(CheckActions, table.Actions.Name, where(have.Number), "it is not the %s that is recognised: 'tonscribe reclassify' replaces it", made.Type)
		}
	}
	for _, s := range t.Standing() {
		if stored[[32]byte(s.Action.Id)] == s {
			v.findings.differs(CheckActions, table.Actions.Name, where(s.Number), "a %s that is not recognised: 'tonscribe reclassify' takes it away", s.Action.Type)
		}
	}
}
