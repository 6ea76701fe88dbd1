package verify

import (
	"context"
	"fmt"
	"math"
	"slices"

	"tonscribe/decode/trace"
	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/schema/stored"
	"tonscribe/schema/table"
)

// tracedTable is what transaction_traces says of a transaction but its trace.
var tracedTable = func() *table.Table {
	t := table.TransactionTraces.Table
	t.Columns = slices.DeleteFunc(slices.Clone(t.Columns), func(c table.Column) bool {
		return c.Name == "mc_seqno" || c.Name == "later" || c.Name == "trace_prefix" || c.Name == "trace_rest"
	})
	return &t
}()

// traced are the transactions that belong to a trace: all.
var traced = copied{tracedTable, CheckTraces, tracedRows, "transaction_mc_seqno", "table transactions", func(v *verifier, ctx context.Context, low, high uint32, take takeRow) error {
	return v.eachDistinct(ctx, low, high, func(r *transactionRow) error {
		if r.record != nil {
			words := tracedWords(&r.transaction)
			take(r.bundle(), table.HashOf(words...), func() []uint64 { return words })
		}
		return nil
	})
}}

// tracedWords is the row of tracedTable of a transaction.
func tracedWords(t *table.Transaction) []uint64 {
	row := table.TransactionTraces.Words(&table.TraceOf{
		TraceTransaction: &record.TraceTransaction{Account: t.Account, Lt: t.Lt, Hash: t.Hash, McSeqno: t.McSeqno},
		Step:             &table.TraceStep{TraceStep: &record.TraceStep{Trace: &record.Trace{Id: make([]byte, 32)}}},
	})
	var words []uint64
	for _, c := range tracedTable.Columns {
		place, _ := table.TransactionTraces.Place(c.Name)
		words = append(words, row[place.At:place.At+place.Words]...)
	}
	return words
}

// actionLists are the lists of actions.
var actionLists = copied{&table.ActionsByList.Table, CheckTraces, actionListRows, "mc_seqno", "the record of the action", func(v *verifier, ctx context.Context, low, high uint32, take takeRow) error {
	return v.eachAction(ctx, "mc_seqno BETWEEN ? AND ?", []any{low, high}, nil, func(a *table.ActionRow, _ uint64) error {
		a.Lists(func(l *table.ListedAction) { rowTo(table.ActionsByList, a.Step.Trace.McSeqnoEnd, take)(l) })
		return nil
	})
}}

// tracesAtOnce is how many traces are held in memory, about.
const tracesAtOnce = 200_000

// checkTraces compares traces with their transactions, and their actions with the lists
// of these, a range of ids at a time.
func (v *verifier) checkTraces(ctx context.Context) error {
	if err := v.checkCopied(ctx, &traced, nil); err != nil {
		return err
	}
	rows, err := v.number(ctx, "SELECT count() FROM traces WHERE mc_seqno BETWEEN ? AND ?", v.from, v.to)
	if err != nil {
		return err
	}
	meter := v.meter("traces", rows)
	parts := rows/tracesAtOnce + 1
	width := math.MaxUint64/parts + 1
	if parts == 1 {
		width = 0 // all
	}
	for n := range parts {
		low, high := n*width, n*width+width-1
		if n == parts-1 {
			high = math.MaxUint64
		}
		if err := v.countNodes(ctx, low, high); err != nil {
			return err
		}
		if err := v.takeActions(ctx, low, high); err != nil {
			return err
		}
		meter.add(rows / parts)
	}
	if err := v.checkTraceSeals(ctx); err != nil {
		return err
	}
	return v.checkCopied(ctx, &actionLists, nil)
}

// countedAtOnce is the traces of how many transactions are counted at once, about.
const countedAtOnce = 2_000_000

// checkTraceSeals compares how many traces a bundle changed with those that its
// transactions belong to: fewer only when some of them turned out to be one, or when
// what it did to one of more than trace.MaxNodes was told in parts.
func (v *verifier) checkTraceSeals(ctx context.Context) error {
	others, err := v.number(ctx, "SELECT count() FROM traces WHERE replaced OR nodes > ?", trace.MaxNodes)
	if err != nil {
		return err
	}
	rows, err := v.number(ctx, "SELECT count() FROM transaction_traces WHERE transaction_mc_seqno BETWEEN ? AND ?", v.from, v.to)
	if err != nil {
		return err
	}
	wrong := "sealed != present"
	if others > 0 {
		wrong = "sealed < present OR sealed > 0 AND present = 0"
	}
	bundles := max(1, uint64(v.to-v.from+1)*countedAtOnce/max(rows, 1))
	for low := uint64(v.from); low <= uint64(v.to); low += bundles {
		high := min(low+bundles-1, uint64(v.to))
		s := sealRow{topic: schema.Traces.Name}
		var there uint64
		err := v.each(ctx, fmt.Sprintf(`SELECT bundle, part, sum(promised) AS sealed, sum(there) AS present FROM (
			SELECT mc_seqno AS bundle, partition AS part, max(rows) AS promised, toUInt64(0) AS there FROM seals WHERE topic = '%[1]s' AND mc_seqno BETWEEN %[2]d AND %[3]d GROUP BY mc_seqno, partition
			UNION ALL SELECT transaction_mc_seqno, toUInt16(bitShiftRight(bitShiftRight(trace_prefix, 32) * %[4]d, 32)) AS part, 0, uniqExact(trace_prefix) FROM transaction_traces FINAL
				WHERE transaction_mc_seqno BETWEEN %[2]d AND %[3]d GROUP BY transaction_mc_seqno, part)
			GROUP BY bundle, part HAVING %[5]s ORDER BY bundle, part LIMIT 1`, s.topic, low, high, v.partitions, wrong), nil, []any{&s.mcSeqno, &s.partition, &s.rows, &there}, func() error {
			v.findings.differs(CheckTraces, "seals", s.key(), "rows is %d, but the transactions of the bundle are of %d traces", s.rows, there)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// countNodes compares what traces say of their transactions, and the number of their
// lists, with the rows of these, and what these say of the traces. Rows may be from before
// they said it.
func (v *verifier) countNodes(ctx context.Context, low, high uint64) error {
	var r struct {
		prefix, nodes, have, start, first, end, last, lists, accounts uint64
		rows                                                          uint64
		named                                                         uint8
	}
	query := fmt.Sprintf(`SELECT trace_prefix, sum(nodes) AS n, sum(have) AS h, min(start) AS s, min(first) AS f, max(end) AS e, max(last) AS l, sum(lists) AS ls, sum(accounts) AS a, sum(rows) AS r, hasAll(groupUniqArrayArray(own), groupUniqArrayArray(rests)) AS named FROM (
		SELECT trace_prefix, toUInt64(if(replaced, 0, nodes)) AS nodes, toUInt64(0) AS have, if(replaced, %[1]d, start_lt) AS start, toUInt64(%[1]d) AS first, if(replaced, 0, end_lt) AS end, toUInt64(0) AS last,
			toUInt64(0) AS lists, toUInt64(0) AS accounts, toUInt64(1) AS rows, toUInt8(mc_seqno_start < %[2]d OR mc_seqno > %[3]d OR replaced) AS other, toUInt8(pending_edges > 0 OR nodes > %[4]d) AS unlisted,
			if(state = 'broken', [], [concat(substring(id, 9), external_hash)]) AS own, emptyArrayString() AS rests
		FROM traces FINAL WHERE trace_prefix BETWEEN %[5]d AND %[6]d
		UNION ALL SELECT trace_prefix, 0, uniqExact(workchain, account_prefix, lt, account_rest), %[1]d, min(lt), 0, max(lt), 0, uniqExact(workchain, account_prefix), 0, toUInt8(min(transaction_mc_seqno) < %[2]d OR max(transaction_mc_seqno) > %[3]d), 0, [], groupUniqArrayIf(trace_rest, trace_rest != '')
		FROM transaction_traces WHERE trace_prefix BETWEEN %[5]d AND %[6]d GROUP BY trace_prefix
		UNION ALL SELECT trace_prefix, 0, 0, %[1]d, %[1]d, 0, 0, uniqExact(list), 0, 0, 0, 0, [], [] FROM traces_by_list WHERE trace_prefix BETWEEN %[5]d AND %[6]d AND mc_seqno BETWEEN %[2]d AND %[3]d GROUP BY trace_prefix
		) GROUP BY trace_prefix HAVING max(other) = 0 AND (n != h OR s != f OR e != l OR r = 0 OR ls != a + r AND max(unlisted) = 0 OR ls > 0 AND max(unlisted) = 1 AND n <= %[4]d OR NOT named) ORDER BY trace_prefix LIMIT 1`,
		uint64(math.MaxUint64), v.from, v.to, trace.MaxNodes, low, high)
	return v.each(ctx, query, nil, []any{&r.prefix, &r.nodes, &r.have, &r.start, &r.first, &r.end, &r.last, &r.lists, &r.accounts, &r.rows, &r.named}, func() error {
		key := fmt.Sprintf("trace_prefix = 0x%016x", r.prefix)
		switch {
		case r.rows == 0:
			v.findings.differs(CheckTraces, table.Traces.Name, key, "no row, but transaction_traces has %d transactions of it", r.have)
		case r.nodes != r.have:
			v.findings.differs(CheckTraces, table.Traces.Name, key, "nodes are %d, but transaction_traces has %d transactions of it", r.nodes, r.have)
		case r.start != r.first:
			v.findings.differs(CheckTraces, table.Traces.Name, key, "start_lt is %d, that of the first transaction %d", r.start, r.first)
		case r.end != r.last:
			v.findings.differs(CheckTraces, table.Traces.Name, key, "end_lt is %d, that of the last transaction %d", r.end, r.last)
		case r.named == 0:
			v.findings.differs(CheckTraces, table.TransactionTraces.Name, key, "trace_rest of a transaction is not that of the trace")
		default:
			v.findings.differs(CheckTraces, table.TracesByList.Name, key, "it is in %d lists, but its transactions are of %d accounts", r.lists, r.accounts)
		}
		return nil
	})
}

// takeActions tests the columns of the traces and actions of a range of ids, and sums up
// the rows of the lists of actions.
func (v *verifier) takeActions(ctx context.Context, low, high uint64) error {
	with, without := map[uint64]bool{}, map[uint64]bool{}
	err := v.eachAction(ctx, "trace_prefix BETWEEN ? AND ? AND mc_seqno BETWEEN ? AND ?", []any{low, high, v.from, v.to}, func(prefix uint64, t *table.TraceRow, columns uint64) error {
		v.findings.checked(CheckTraces, 1)
		if t.Trace.PendingEdges == 0 && len(t.Trace.ExternalHash) > 0 && t.Trace.Nodes <= trace.MaxNodes {
			without[prefix] = true
		}
		if table.Traces.Hash(t) == columns {
			return nil
		}
		return v.column(ctx, CheckTraces, &table.Traces.Table, fmt.Sprintf("trace_prefix = 0x%016x AND NOT replaced", prefix), newestRow, table.Traces.Words(t), "the record")
	}, func(a *table.ActionRow, columns uint64) error {
		v.findings.checked(CheckTraces, 1)
		row := table.Actions.Words(a)
		with[row[0]] = true
		a.Lists(func(l *table.ListedAction) {
			v.rowSide.add(actionListRows, a.Step.Trace.McSeqnoEnd, 1, table.ActionsByList.Hash(l))
		})
		if table.Actions.Hash(a) != columns {
			return v.column(ctx, CheckTraces, &table.Actions.Table, table.Actions.Where(row), newestRow, row, "the record")
		}
		return nil
	})
	if err != nil {
		return err
	}
	for prefix := range without {
		if !with[prefix] {
			v.findings.differs(CheckTraces, table.Actions.Name, fmt.Sprintf("trace_prefix = 0x%016x", prefix), "no row, but every trace that a message began and that has no open ones has actions")
		}
	}
	return nil
}

// eachAction reads the newest rows of traces that a clause finds, then those of actions,
// with the traces that they belong to, those of a trace by their numbers. trace may be
// nil.
func (v *verifier) eachAction(ctx context.Context, clause string, args []any, trace func(prefix uint64, t *table.TraceRow, columns uint64) error, action func(a *table.ActionRow, columns uint64) error) error {
	steps := map[uint64][]*table.TraceStep{}
	var prefix, columns uint64
	var raw []byte
	err := v.each(ctx, fmt.Sprintf("SELECT trace_prefix, %s, %s FROM traces FINAL WHERE %s AND NOT replaced", table.Traces.HashSQL(), stored.TraceSQL, clause), args, []any{&prefix, &columns, &raw}, func() error {
		t := new(record.Trace)
		if _, err := stored.UnpackTrace(t, raw); err != nil || len(t.Id) != 32 {
			v.findings.differs(CheckTraces, table.Traces.Name, fmt.Sprintf("trace_prefix = 0x%016x", prefix), "record is no complete trace")
			return nil //nolint:nilerr // it is a finding, and the check goes on
		}
		step := &table.TraceStep{TraceStep: &record.TraceStep{Trace: t}}
		steps[prefix] = append(steps[prefix], step)
		if trace == nil {
			return nil
		}
		return trace(prefix, &table.TraceRow{TraceStep: step, ID: t.Id}, columns)
	})
	if err != nil {
		return err
	}
	var rows []*table.ActionRow // of one trace
	var hashes []uint64
	flush := func() error {
		if len(rows) > 0 {
			orderByTime(rows)
		}
		for i, a := range rows {
			if want := rows[0].Number + uint32(i); a.Number != want {
				v.findings.differs(CheckTraces, table.Actions.Name, fmt.Sprintf("trace_prefix = 0x%016x AND number = %d", schema.Prefix(a.Step.Trace.Id), want), "no row, but the trace has an action %d", a.Number)
			}
			if err := action(a, hashes[i]); err != nil {
				return err
			}
		}
		rows, hashes = nil, nil
		return nil
	}
	var endLt uint64
	var number uint32
	query := fmt.Sprintf("SELECT trace_prefix, trace_end_lt, number, %s, %s FROM actions FINAL WHERE %s ORDER BY trace_prefix, trace_end_lt, number SETTINGS optimize_use_projections = 0",
		table.Actions.HashSQL(), stored.ActionSQL, clause)
	err = v.each(ctx, query, args, []any{&prefix, &endLt, &number, &columns, &raw}, func() error {
		key := fmt.Sprintf("trace_prefix = 0x%016x AND trace_end_lt = %d AND number = %d", prefix, endLt, number)
		a := new(record.Action)
		if err := stored.UnpackAction(a, raw); err != nil {
			v.findings.differs(CheckTraces, table.Actions.Name, key, "record is no complete action")
			return nil //nolint:nilerr // it is a finding, and the check goes on
		}
		i := slices.IndexFunc(steps[prefix], func(s *table.TraceStep) bool { return s.Trace.EndLt == endLt })
		if i < 0 {
			v.findings.differs(CheckTraces, table.Actions.Name, key, "an action of a trace that table traces does not have")
			return nil
		}
		step := steps[prefix][i]
		if len(rows) > 0 && rows[0].Step != step {
			if err := flush(); err != nil {
				return err
			}
		}
		rows, hashes = append(rows, &table.ActionRow{Action: a, Step: step, Number: number}), append(hashes, columns)
		return nil
	})
	if err != nil {
		return err
	}
	return flush()
}

// orderByTime gives all actions of a trace, which come by their numbers, those in the
// order of time.
func orderByTime(rows []*table.ActionRow) {
	numbered := make([]*table.ActionRow, len(rows))
	for i, a := range rows {
		numbered[i] = &table.ActionRow{Action: a.Action}
	}
	table.NumberActions(numbered, rows[0].Number)
	times := make(map[*record.Action]uint32, len(rows))
	for _, a := range numbered {
		times[a.Action] = a.TimeNumber
	}
	for _, a := range rows {
		a.TimeNumber = times[a.Action]
	}
}
