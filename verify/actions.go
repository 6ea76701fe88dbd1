package verify

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"tonscribe/reclassify"
	"tonscribe/schema"
	"tonscribe/schema/table"
)

// checkActions recognises the actions of every closed trace again, with what contracts
// were as of its end, and compares them with those that the tables have.
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
			if t.Missing == 0 { // else the check of traces says so
				v.compareActions(t)
			}
			return nil
		})
		meter.add(traces)
		return traces, err
	})
}

// compareActions compares the actions of a trace.
func (v *verifier) compareActions(t *reclassify.Trace) {
	v.findings.checked(CheckActions, uint64(len(t.Actions)))
	keys := map[reclassify.ActionKey]bool{}
	for key := range t.Actions {
		keys[key] = true
	}
	for key := range t.Stored {
		keys[key] = true
	}
	for _, key := range slices.SortedFunc(maps.Keys(keys), reclassify.ActionKey.Compare) {
		made, have := t.Actions[key], t.Stored[key]
		if have != nil && have.Gone {
			have = nil
		}
		where := fmt.Sprintf("trace_prefix = 0x%x AND start_lt = %d AND action_prefix = 0x%016x", t.Id[:8], key.StartLt, key.Prefix)
		switch {
		case made == nil && have != nil:
			v.findings.differs(CheckActions, table.Actions.Name, where, "a %s that is not recognised: 'tonscribe reclassify' takes it away", have.Type())
		case made != nil && have == nil:
			v.findings.differs(CheckActions, table.Actions.Name, where, "no row, but a %s is recognised: 'tonscribe reclassify' adds it", made.Type)
		case made != nil && !have.Is(made):
			v.findings.differs(CheckActions, table.Actions.Name, where, "it is not the %s that is recognised: 'tonscribe reclassify' replaces it", made.Type)
		}
	}
}
