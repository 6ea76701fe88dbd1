package verify

import (
	"context"
	"fmt"

	"tonscribe/decode/trace"
	"tonscribe/reclassify"
	"tonscribe/schema"
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
	reader := reclassify.NewReader(v.client)
	return reclassify.Windows(v.from, v.to, func(low, high uint32) (traces uint64, err error) {
		err = reader.Each(ctx, low, high, func(t *reclassify.Trace) error {
			traces++
			if t.Missing > 0 { // the check of traces says so
				return nil
			}
			v.compareActions(t)
			return v.compareTrace(t)
		})
		meter.add(traces)
		return traces, err
	})
}

// compareTrace compares what a trace says of itself with its transactions.
func (v *verifier) compareTrace(t *reclassify.Trace) error {
	made, _, err := (&trace.Recorded{Transactions: t.Transactions}).Assemble()
	if err != nil || made == nil { // its first transaction is none: the check of accounts says so
		return err
	}
	stored := t.CloneVT()
	stored.Replaces, made.Replaces = nil, nil // which parts of it came first is not told any more
	if path, have, want := firstField(stored, made); path != "" {
		v.findings.differs(CheckTraces, table.Traces.Name, fmt.Sprintf("trace_prefix = 0x%x AND NOT replaced", t.Id[:8]), "%s is %s, by its transactions it is %s", path, have, want)
	}
	return nil
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
