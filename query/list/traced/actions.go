package traced

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"

	"tonscribe/decode/action"
	"tonscribe/internal/clickhouse"
	"tonscribe/query/head"
	"tonscribe/query/list"
	"tonscribe/query/list/paging"
	"tonscribe/query/list/plan"
	"tonscribe/query/memory"
	"tonscribe/query/reader"
	"tonscribe/query/sql"
	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/schema/stored"
	"tonscribe/schema/table"
	"tonscribe/ton/address"
)

// ActionFilter says which actions are wanted; list.Everything and the zero value mean all of
// traces without open messages.
type ActionFilter struct {
	// Account is one that the action concerns.
	Account *address.Address
	// IDs are those of actions, Traces those of their traces.
	IDs, Traces []Hash
	// Transactions are such of which the action has one, Messages such of which a
	// transaction of it holds one, by their hashes, raw or normalised.
	Transactions, Messages []Hash
	// McSeqno is the bundle with which the trace ended.
	McSeqno *int32
	// Utime and Lts are of the end of the trace.
	Utime, Lts list.Span
	Types      ActionTypes
}

// ActionTypes says of which types actions are wanted.
type ActionTypes struct {
	// Supported are the types that the client knows: actions of others, and parts of
	// actions of these, are not seen.
	Supported map[*action.Type]bool
	// Version is what Supported is, NoVersion where it is no version's.
	Version action.Version
	// Only are the types of the actions, whether supported or not; nil stands for all
	// that are supported.
	Only map[*action.Type]bool
	// Without are types that are left out.
	Without map[*action.Type]bool
}

// AllActionTypes wants actions whatever they are, parts of others among them.
func AllActionTypes() ActionTypes {
	only := map[*action.Type]bool{nil: true}
	for _, typ := range action.Types() {
		only[typ] = true
	}
	return ActionTypes{Version: action.NoVersion, Only: only}
}

// own are the types that an action may have, nil where those of the version are.
func (t *ActionTypes) own() map[*action.Type]bool {
	if t.Only == nil && len(t.Without) == 0 && t.Version != action.NoVersion {
		return nil
	}
	types := maps.Clone(t.Only)
	if t.Only == nil {
		types = maps.Clone(t.Supported)
	}
	maps.DeleteFunc(types, func(typ *action.Type, _ bool) bool { return t.Without[typ] })
	return types
}

// Sees reports whether a client sees an action.
func (t *ActionTypes) Sees(a *record.Action) bool {
	typ := action.TypeNamed(a.Type)
	wanted := t.Supported[typ]
	if t.Only != nil {
		wanted = t.Only[typ]
	}
	return wanted && !t.Without[typ] && !slices.ContainsFunc(a.Ancestors, func(name string) bool { return t.Supported[action.TypeNamed(name)] })
}

// conditions are those on rows of actions_by_list, and whether records have to be looked
// at, too.
func (t *ActionTypes) conditions() (c sql.Conditions, residual bool) {
	if own := t.own(); own == nil {
		c.Add(sql.AtMost("since", uint8(t.Version)))
	} else {
		var numbers []uint32
		for typ := range own {
			numbers = append(numbers, schema.ActionType(typ.Name))
		}
		slices.Sort(numbers)
		if len(numbers) == 0 {
			return sql.Conditions{sql.Never{}}, false
		}
		c.Add(sql.Any("type", numbers))
	}
	if t.Version == action.NoVersion {
		return c, true
	}
	c.Add(sql.AtLeast("until", uint8(t.Version)))
	return c, false
}

// Action is an action with its trace.
type Action struct {
	*record.Action
	Trace *record.Trace
	row   actionKey
	// timeNumber is that of the row in a list, 0 without one.
	timeNumber uint32
}

// ActionKey is the key of an action in a list.
type ActionKey struct {
	TraceEndUtime uint32
	TraceEndLt    uint64
	Trace         Hash
	EndUtime      uint32
	EndLt         uint64
	ID            Hash
	// Number and TimeNumber say where in the trace's rows a list goes on.
	Number, TimeNumber uint32
}

// ActionKeyOf returns the key of an action.
func ActionKeyOf(a Action) ActionKey {
	return ActionKey{a.Trace.EndUtime, a.Trace.EndLt, Hash(a.Trace.Id), a.EndUtime, a.EndLt, Hash(a.Id), a.row.number, a.timeNumber}
}

func (f *ActionFilter) named() bool {
	return len(f.IDs)+len(f.Traces)+len(f.Transactions)+len(f.Messages) > 0
}

func (f *ActionFilter) compare(a, b *ActionKey, descending bool) int {
	var c int
	if f.Utime.Given {
		c = cmp.Or(cmp.Compare(a.TraceEndUtime, b.TraceEndUtime), bytes.Compare(a.Trace[:], b.Trace[:]), cmp.Compare(a.EndUtime, b.EndUtime))
	} else {
		c = cmp.Or(cmp.Compare(a.TraceEndLt, b.TraceEndLt), bytes.Compare(a.Trace[:], b.Trace[:]), cmp.Compare(a.EndLt, b.EndLt))
	}
	if c = cmp.Or(c, bytes.Compare(a.ID[:], b.ID[:])); descending {
		return -c
	}
	return c
}

// matches checks everything but traces, transactions and messages that are named.
func (f *ActionFilter) matches(a Action) bool {
	return (f.Account == nil || paging.HasAny([]address.Address{*f.Account}, a.Accounts)) &&
		(len(f.IDs) == 0 || slices.Contains(f.IDs, Hash(a.Id))) &&
		(f.McSeqno == nil || int64(a.Trace.McSeqnoEnd) == int64(*f.McSeqno)) &&
		f.Utime.Has(uint64(a.Trace.EndUtime)) && f.Lts.Has(a.Trace.EndLt) && f.Types.Sees(a.Action)
}

// Actions is a page of the list, and whether there are more after it. With after, the
// list begins behind that key.
func (l *Lists) Actions(ctx context.Context, v *head.View, f *ActionFilter, page paging.Page, after *ActionKey) ([]Action, bool, error) {
	narrowed := *f
	f = &narrowed
	if some, err := l.narrowToBundle(ctx, v, f.McSeqno, &f.Lts); err != nil || !some {
		return nil, false, err
	}
	records := &paging.Records[Action, ActionKey]{
		Page: page, After: after, Key: ActionKeyOf,
		Compare: func(a, b *ActionKey) int { return f.compare(a, b, page.Descending) },
		Match:   func(a Action) bool { return a.Trace.McSeqnoEnd <= v.Watermark && f.matches(a) },
		Same:    func(a, b Action) bool { return bytes.Equal(a.Id, b.Id) && bytes.Equal(a.Trace.Id, b.Trace.Id) },
	}
	if f.named() {
		found, err := l.namedActions(ctx, v, f)
		if err != nil {
			return nil, false, err
		}
		list, more := records.All(found)
		return list, more, nil
	}
	q := &paging.Query[Action, ActionKey]{
		Records: records, Source: plan.Source{Tables: l.reader, Memory: v.Memory}, Plan: actionPlan(v, f, page.Descending), RowsOfItem: 1, RowOf: rowOfAction,
		Read: func(ctx context.Context, items [][]plan.Row) ([]Action, error) {
			traces, timeNumbers := make([]uint64, len(items)), make(map[actionKey]uint32, len(items))
			for i, item := range items {
				k := actionKey{item[0][actionTrace], item[0][actionTraceLt], uint32(item[0][actionNumber])}
				timeNumbers[k], traces[i] = uint32(item[0][actionTimeNumber]), k.trace
			}
			actions, err := l.actionsOfTraces(ctx, v, traces, func(ctx context.Context) ([]actionRow, error) {
				return l.actionsAt(ctx, v, slices.Collect(maps.Keys(timeNumbers)))
			})
			for i := range actions {
				actions[i].timeNumber = timeNumbers[actions[i].row]
			}
			return actions, err
		},
	}
	return q.Run(ctx)
}

// The words of a row that leads to an action.
const actionTraceUtime, actionTraceLt, actionTrace, actionNumber, actionTimeNumber = 0, 1, 2, 3, 4

func rowOfAction(k *ActionKey) plan.Row {
	return plan.Row{
		actionTraceUtime: uint64(k.TraceEndUtime), actionTraceLt: k.TraceEndLt, actionTrace: schema.Prefix(k.Trace[:]),
		actionNumber: uint64(k.Number), actionTimeNumber: uint64(k.TimeNumber),
	}
}

// actionPlan reads a list of actions_by_list.
func actionPlan(v *head.View, f *ActionFilter, descending bool) *plan.Plan {
	columns := []plan.Column{
		{Name: "trace_end_utime", At: actionTraceUtime, Type: plan.Uint32}, {Name: "trace_end_lt", At: actionTraceLt}, {Name: "trace_prefix", At: actionTrace},
		{Name: "number", At: actionNumber, Type: plan.Uint32}, {Name: "time_number", At: actionTimeNumber, Type: plan.Uint32},
	}
	r := plan.Range{Prefix: []string{"list"}, Columns: []string{"list"}, Values: []any{schema.AllActions.Number(nil)}, Projection: plan.NoProjection}
	if f.Account != nil {
		r.Values = []any{schema.ActionsOf.Number(f.Account[:])}
	}
	p := &plan.Plan{
		Reads: "action keys", Table: "actions_by_list", Descending: descending, SmallBlocks: true, Bundle: "mc_seqno", Watermark: v.Tables, Columns: columns,
	}
	order := []int{actionTraceLt, actionTrace, actionNumber}
	if f.Utime.Given {
		order = []int{actionTraceUtime, actionTrace, actionTimeNumber}
		r.Projection = "by_time"
	}
	for _, at := range order {
		p.Keys, p.Seek = append(p.Keys, columns[at].Name), append(p.Seek, columns[at])
		p.Order = append(p.Order, plan.Term{At: at, Words: 1, Descending: descending})
	}
	r.Where.Between("trace_end_utime", f.Utime.From, f.Utime.To, 1<<32-1)
	r.Where.Between("trace_end_lt", f.Lts.From, f.Lts.To, ^uint64(0))
	if f.McSeqno != nil {
		r.Where.Add(sql.Is("mc_seqno", *f.McSeqno))
	}
	types, residual := f.Types.conditions()
	r.Where.Add(types...)
	r.Where.Add(sql.Narrows("gone = 0")) // no bundle brings such rows
	p.Residual, p.Ranges = residual, []plan.Range{r}
	return p
}

// actionKey is the key of a row of actions.
type actionKey struct {
	trace, traceEndLt uint64
	number            uint32
}

// actionRow is an action as its row has it.
type actionRow struct {
	*record.Action
	actionKey
	// revision is that of the row, twice, and one more where the action is gone.
	revision uint64
}

// standing are the actions whose newest rows say that they are there, each once.
func standing(list []actionRow) []actionRow {
	at := make(map[actionKey]int, len(list))
	all := list[:0]
	for _, a := range list {
		if i, has := at[a.actionKey]; !has {
			at[a.actionKey] = len(all)
			all = append(all, a)
		} else if a.revision > all[i].revision {
			all[i] = a
		}
	}
	return slices.DeleteFunc(all, func(a actionRow) bool { return a.revision%2 == 1 })
}

// actionsIn reads the actions that conditions on the table actions hold for.
func (l *Lists) actionsIn(ctx context.Context, v *head.View, c sql.Conditions) ([]actionRow, error) {
	var list []actionRow
	if v.Tables > 0 {
		var err error
		if list, err = l.readActions(ctx, c.String()); err != nil {
			return nil, err
		}
	}
	held, err := heldActions(ctx, v.Memory, c)
	return standing(append(list, held...)), err
}

// maxRowsOfKey is how many rows, for each that is wanted, may lie in the granules that have the
// actions of its trace.
const maxRowsOfKey = 1024

// actionsAt reads actions by their keys. ClickHouse finds the traces that these begin with in
// its index sooner than whole keys: all actions of the traces are read where they are not many.
func (l *Lists) actionsAt(ctx context.Context, v *head.View, keys []actionKey) ([]actionRow, error) {
	exact, traces := sql.Among{Columns: []string{"trace_prefix", "trace_end_lt", "number"}}, make([]uint64, len(keys))
	for i, k := range keys {
		traces[i] = k.trace
		exact.Tuples = append(exact.Tuples, []any{k.trace, k.traceEndLt, k.number})
	}
	var list []actionRow
	if v.Tables > 0 {
		slices.Sort(traces)
		var err error
		list, err = l.readActions(ctx, sql.Any("trace_prefix", slices.Compact(traces)).String()+plan.Settings(fmt.Sprintf("max_rows_to_read = %d", maxRowsOfKey*len(keys))))
		if clickhouse.IsTooManyRows(err) {
			list, err = l.readActions(ctx, exact.String())
		}
		if err != nil {
			return nil, err
		}
		wanted := make(map[actionKey]bool, len(keys))
		for _, k := range keys {
			wanted[k] = true
		}
		list = slices.DeleteFunc(list, func(a actionRow) bool { return !wanted[a.actionKey] })
	}
	held, err := heldActions(ctx, v.Memory, sql.Conditions{exact})
	return standing(append(list, held...)), err
}

// readActions reads the rows of actions that a condition holds for.
func (l *Lists) readActions(ctx context.Context, where string) ([]actionRow, error) {
	return reader.Records(ctx, l.reader, "actions", actionStatement(where), unpackAction)
}

// actionStatement reads the actions that a condition holds for, for unpackAction.
func actionStatement(where string) string {
	return "SELECT concat(reinterpretAsFixedString(trace_prefix), reinterpretAsFixedString(trace_end_lt), reinterpretAsFixedString(number), " +
		"reinterpretAsFixedString(toUInt64(2 * revision + gone)), " + stored.ActionSQL + ") AS record FROM actions WHERE " + where
}

// actionHead is what stands before what the stored form needs.
const actionHead = 8 + 8 + 4 + 8

func unpackAction(raw []byte) (actionRow, error) {
	if len(raw) < actionHead {
		return actionRow{}, fmt.Errorf("%d bytes", len(raw))
	}
	number := binary.LittleEndian
	a := actionRow{new(record.Action), actionKey{number.Uint64(raw), number.Uint64(raw[8:]), number.Uint32(raw[16:])}, number.Uint64(raw[20:])}
	return a, stored.UnpackAction(a.Action, raw[actionHead:])
}

// heldActions finds actions in memory.
func heldActions(ctx context.Context, bundles memory.Bundles, c sql.Conditions) ([]actionRow, error) {
	rows, err := bundles.Find(ctx, table.Actions.Name, c)
	if err != nil {
		return nil, err
	}
	list := make([]actionRow, len(rows))
	trace, _ := table.Actions.Place("trace_prefix")
	end, _ := table.Actions.Place("trace_end_lt")
	number, _ := table.Actions.Place("number")
	for i, r := range rows {
		reader.Yield(i)
		list[i] = actionRow{new(record.Action), actionKey{r.Words[trace.At], r.Words[end.At], uint32(r.Words[number.At])}, 0}
		if err := list[i].UnmarshalVT([]byte(r.Source)); err != nil {
			return nil, fmt.Errorf("action in memory: %w", err)
		}
	}
	return list, nil
}

// actionsOfTraces reads actions, and side by side the traces that they are of, by the
// prefixes of their ids.
func (l *Lists) actionsOfTraces(ctx context.Context, v *head.View, traces []uint64, read func(context.Context) ([]actionRow, error)) ([]Action, error) {
	slices.Sort(traces)
	var list []actionRow
	var found foundTraces
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		list, err = read(ctx)
		return err
	})
	group.Go(func() (err error) {
		found, err = l.tracesAt(ctx, v, slices.Compact(traces))
		return err
	})
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return withTraces(list, found.whole()), nil
}

// withTraces gives actions the traces that they are of. Those of traces that became parts
// of others are left out: the whole has actions of its own.
func withTraces(list []actionRow, traces []*record.Trace) (actions []Action) {
	index := traceIndex{}
	for _, t := range traces {
		p := schema.Prefix(t.Id)
		index[p] = append(index[p], tracePair{t, t})
	}
	for _, a := range list {
		if t := index.at(a.trace, a.StartLt, a.EndLt); t != nil {
			actions = append(actions, Action{Action: a.Action, Trace: t, row: a.actionKey})
		}
	}
	return actions
}

// ActionsOf reads the actions of traces, by the ids of these.
func (l *Lists) ActionsOf(ctx context.Context, v *head.View, traces []Trace) (map[Hash][]*record.Action, error) {
	all := map[Hash][]*record.Action{}
	if len(traces) == 0 {
		return all, nil
	}
	index, prefixes := traceIndex{}, make([]uint64, len(traces))
	for i, t := range traces {
		prefixes[i] = schema.Prefix(t.Id)
		index[prefixes[i]] = append(index[prefixes[i]], tracePair{t.Trace, t.Trace})
	}
	list, err := l.actionsIn(ctx, v, sql.Conditions{sql.Any("trace_prefix", prefixes)})
	if err != nil {
		return nil, err
	}
	for _, a := range list {
		if t := index.at(a.trace, a.StartLt, a.EndLt); t != nil && t.PendingEdges == 0 {
			all[Hash(t.Id)] = append(all[Hash(t.Id)], a.Action)
		}
	}
	return all, nil
}

// holding says which transactions an action must hold one of, where nothing else names
// it and they are few; nil otherwise.
func (f *ActionFilter) holding() *list.Named {
	switch {
	case len(f.IDs)+len(f.Traces) > 0 || len(f.Transactions)+len(f.Messages) > fewTraces:
		return nil
	case len(f.Messages) == 0:
		return list.NamedTransactions(f.Transactions)
	case len(f.Transactions) == 0:
		return list.NamedMessages(f.Messages)
	}
	return nil
}

// actionsHolding reads the actions of traces that may have those that are named, and side
// by side these traces; beside what leads there the transactions that hold messages.
func (l *Lists) actionsHolding(ctx context.Context, v *head.View, n *list.Named) ([]Action, error) {
	var prefixes []uint64
	hashes := n.Hashes
	group, inGroup := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		prefixes, err = l.prefixesBeside(inGroup, v, n)
		return err
	})
	if n.ByMessage() {
		group.Go(func() error {
			transactions, err := n.Read(l.chain, inGroup, v, n.Hashes)
			hashes = make([]Hash, len(transactions))
			for i, tx := range transactions {
				hashes[i] = Hash(tx.Hash)
			}
			return err
		})
	}
	if err := group.Wait(); err != nil || len(hashes) == 0 || len(prefixes) == 0 {
		return nil, err
	}
	held := make(map[Hash]bool, len(hashes))
	for _, h := range hashes {
		held[h] = true
	}
	list, err := l.actionsOfTraces(ctx, v, prefixes, func(ctx context.Context) ([]actionRow, error) {
		return paging.InChunks(ctx, prefixes, func(ctx context.Context, some []uint64) ([]actionRow, error) {
			return l.actionsIn(ctx, v, sql.Conditions{sql.Any("trace_prefix", some)})
		})
	})
	return slices.DeleteFunc(list, func(a Action) bool {
		return !slices.ContainsFunc(a.Transactions, func(h []byte) bool { return held[Hash(h)] })
	}), err
}

// namedActions reads the actions that each list of the filter names.
func (l *Lists) namedActions(ctx context.Context, v *head.View, f *ActionFilter) ([]Action, error) {
	if n := f.holding(); n != nil {
		return l.actionsHolding(ctx, v, n)
	}
	traces := &Filter{IDs: f.Traces, Transactions: f.Transactions}
	held := map[Hash]bool{} // transactions that hold the messages
	if len(f.Messages) > 0 {
		transactions, err := l.chain.TransactionsOfMessages(ctx, v, f.Messages)
		if err != nil || len(transactions) == 0 {
			return nil, err
		}
		for _, tx := range transactions {
			held[Hash(tx.Hash)] = true
		}
		if !traces.named() {
			traces.Transactions = slices.Collect(maps.Keys(held))
		}
	}
	var c sql.Conditions
	var found []*record.Trace
	if traces.named() {
		named, err := l.namedTraces(ctx, v, traces, withoutMembers)
		if err != nil || len(named) == 0 {
			return nil, err
		}
		prefixes := make([]uint64, len(named))
		for i, t := range named {
			found, prefixes[i] = append(found, t.Trace), schema.Prefix(t.Id)
		}
		c.Add(sql.Any("trace_prefix", prefixes))
	}
	if len(f.IDs) > 0 {
		prefixes := make([]uint32, len(f.IDs))
		for i, id := range f.IDs {
			prefixes[i] = schema.ShortPrefix(id[:])
		}
		wanted := sql.Any("id_prefix", prefixes)
		if !traces.named() {
			c.Add(sql.Narrows("trace_prefix IN (SELECT trace_prefix FROM " + sql.Beside("actions") + " WHERE " + wanted.String() + ")"))
		}
		c.Add(wanted)
	}
	rows, err := l.actionsIn(ctx, v, c)
	if err != nil {
		return nil, err
	}
	if !traces.named() {
		prefixes := make([]uint64, len(rows))
		for i, a := range rows {
			prefixes[i] = a.trace
		}
		slices.Sort(prefixes)
		of, err := l.tracesAt(ctx, v, slices.Compact(prefixes))
		if err != nil {
			return nil, err
		}
		found = of.whole()
	}
	return slices.DeleteFunc(withTraces(rows, found), func(a Action) bool {
		return len(f.Transactions) > 0 && !slices.ContainsFunc(a.Transactions, func(h []byte) bool { return slices.Contains(f.Transactions, Hash(h)) }) ||
			len(f.Messages) > 0 && !slices.ContainsFunc(a.Transactions, func(h []byte) bool { return held[Hash(h)] })
	}), nil
}
