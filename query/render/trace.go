package render

import (
	"encoding/base64"
	"slices"
	"strings"

	"tonscribe/decode/trace"
	"tonscribe/query/api"
	"tonscribe/query/openapi"
	"tonscribe/schema/record"
)

// MaxTraceTransactions is the greatest number of transactions of a trace that an
// answer shows; of larger ones it shows none.
const MaxTraceTransactions = 4000

// TraceRow is a trace of an answer.
type TraceRow struct {
	*record.Trace
	Tree    *trace.Tree // of its transactions, nil where they are withheld
	Actions []ActionRow
	// Foreseen are the transactions that no block has.
	Foreseen map[*record.Transaction]bool
}

// TraceOf is the row of a trace, with its tree where that is not too large.
func TraceOf(t *record.Trace, tree *trace.Tree) TraceRow {
	if len(tree.Transactions) > MaxTraceTransactions {
		tree = nil
	}
	return TraceRow{Trace: t, Tree: tree}
}

var traceStates = api.Words{"complete", "pending", "broken"}

// TooLarge reports that the transactions are withheld.
func (t TraceRow) TooLarge() bool { return t.Tree == nil }

func (t TraceRow) whole() bool { return t.Tree != nil }

func (t TraceRow) warning() string {
	switch {
	case t.Tree == nil:
		return "trace is too large"
	case len(t.Tree.Missing) > 0:
		return "missing node in trace found"
	}
	return ""
}

// classification is the word for how far actions are known: they are made when the
// last message of the trace is received, or is foreseen to be, of what is put together and
// makes a tree.
func (t TraceRow) classification() string {
	if t.PendingEdges > 0 && len(t.Foreseen) == 0 || t.Nodes > trace.MaxNodes || t.Unclassified {
		return "unclassified"
	}
	return "ok"
}

var traceInfo = api.New("TraceMeta",
	api.Enum("trace_state", traceStates, func(t TraceRow) record.TraceState { return t.State }),
	api.Uint32("messages", func(t TraceRow) uint32 { return t.Edges }).Doc("that were received, or go to outside"),
	api.Uint32("transactions", func(t TraceRow) uint32 { return t.Nodes }),
	api.Uint32("pending_messages", func(t TraceRow) uint32 { return t.PendingEdges }).Doc("that were not received yet"),
	api.Word("classification_state", api.Words{"unclassified", "ok", "failed", "broken"}, TraceRow.classification),
)

// Trace is a trace with its transactions.
var Trace = api.New("Trace",
	api.Hash("trace_id", func(t TraceRow) []byte { return t.Id }).Null(),
	api.Hash("external_hash", func(t TraceRow) []byte { return t.ExternalHash }).Null(),
	api.Decimal("mc_seqno_start", func(t TraceRow) uint32 { return t.McSeqnoStart }),
	api.Decimal("mc_seqno_end", func(t TraceRow) uint32 { return t.McSeqnoEnd }),
	api.Decimal("start_lt", func(t TraceRow) uint64 { return t.StartLt }),
	api.UnixTime("start_utime", func(t TraceRow) uint32 { return t.StartUtime }),
	api.Decimal("end_lt", func(t TraceRow) uint64 { return t.EndLt }).Null(),
	api.UnixTime("end_utime", func(t TraceRow) uint32 { return t.EndUtime }).Null(),
	api.Object("trace_info", traceInfo, api.Same[TraceRow], nil),
	api.Bool("is_incomplete", TraceRow.TooLarge),
	api.Text("warning", TraceRow.warning).Optional(),
	api.List("actions", Action, func(t TraceRow) []ActionRow { return t.Actions }, api.Same).Asked(TraceActions),
	api.Written("trace", func(c *openapi.Components) openapi.Object { return Tree.Schema(c) }, func(w *api.Writer, t TraceRow) bool {
		WriteTree(w, t.Tree)
		return true
	}).If(TraceRow.whole),
	hashes("transactions_order", TraceRow.order).If(TraceRow.whole),
	api.Written("transactions", func(c *openapi.Components) openapi.Object {
		return openapi.Schema("type", "object", "additionalProperties", Transaction.Schema(c))
	}, writeTransactions).If(TraceRow.whole),
)

// Row is the row of a transaction of the trace.
func (t TraceRow) Row(tx *record.Transaction) TransactionRow {
	return TransactionRow{Transaction: tx, Trace: t.Trace, Foreseen: t.Foreseen[tx]}
}

// all are the transactions in order, those that nothing led to as well.
func (t TraceRow) all() []*record.Transaction { return t.Tree.Transactions }

func (t TraceRow) order() [][]byte {
	list := make([][]byte, len(t.all()))
	for i, tx := range t.all() {
		list[i] = tx.Hash
	}
	return list
}

// writeTransactions writes an object whose names are the hashes, in the order of their
// texts.
func writeTransactions(w *api.Writer, t TraceRow) bool {
	type named struct {
		name string
		tx   *record.Transaction
	}
	list := make([]named, len(t.all()))
	for i, tx := range t.all() {
		list[i] = named{base64.StdEncoding.EncodeToString(tx.Hash), tx}
	}
	slices.SortFunc(list, func(a, b named) int { return strings.Compare(a.name, b.name) })
	w.JSON = append(w.JSON, '{')
	for i, n := range list {
		if w.Full() {
			break
		}
		if i > 0 {
			w.JSON = append(w.JSON, ',')
		}
		w.JSON = append(append(append(w.JSON, '"'), n.name...), `":`...)
		Transaction.Write(w, t.Row(n.tx))
	}
	w.JSON = append(w.JSON, '}')
	return true
}

// Tree describes what WriteTree writes: a shape that lies in itself.
var Tree = nodeForm{}

type nodeForm struct{}

// Schema implements openapi.Described.
func (nodeForm) Schema(c *openapi.Components) openapi.Object {
	return c.Component(Tree, "TraceNode", func() openapi.Object {
		return openapi.Schema("type", "object", "required", []string{"tx_hash", "children"}, "properties", openapi.Object{}.
			With("tx_hash", c.Form("Hash")).With("in_msg_hash", c.Form("Hash")).
			With("children", openapi.Schema("type", []string{"array", "null"}, "items", Tree.Schema(c))))
	})
}

// WriteTree writes which transaction led to which, without calling itself: a tree may be
// as deep as a trace is large.
func WriteTree(w *api.Writer, t *trace.Tree) {
	type level struct {
		list []*trace.Node
		next int
	}
	stack := []level{{list: []*trace.Node{t.Root}}}
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		if top.next == len(top.list) {
			if stack = stack[:len(stack)-1]; len(stack) > 0 {
				w.JSON = append(w.JSON, "]}"...)
			}
			continue
		}
		n := top.list[top.next]
		if top.next++; top.next > 1 {
			w.JSON = append(w.JSON, ',')
		}
		w.JSON = append(w.JSON, `{"tx_hash":`...)
		w.JSON = api.AppendBase64(w.JSON, n.Tx.Hash)
		if n.Tx.InMsg != nil {
			w.JSON = append(w.JSON, `,"in_msg_hash":`...)
			w.JSON = api.AppendBase64(w.JSON, n.Tx.InMsg.Hash)
		}
		w.JSON = append(w.JSON, `,"children":`...)
		switch {
		case len(n.Children) > 0:
			w.JSON = append(w.JSON, '[')
			stack = append(stack, level{list: n.Children})
		case len(n.Tx.OutMsgs) > 0:
			w.JSON = append(w.JSON, "null}"...)
		default:
			w.JSON = append(w.JSON, "[]}"...)
		}
	}
}
