package render

import (
	"cmp"
	"math/big"
	"slices"
	"strings"

	actions "tonscribe/decode/action"
	"tonscribe/query/api"
	"tonscribe/query/openapi"
	"tonscribe/schema/record"
)

// ActionRow is an action of an answer.
type ActionRow struct {
	*actions.Action
	Trace *record.Trace // that it lies in
	Full  []TransactionRow
	// Foreseen reports whether no block has one of the transactions.
	Foreseen bool
}

// values are the details of an action, or of an object in them.
type values = []actions.Value

// Action is an action: what it was follows from its type's list of details.
var Action = api.New("Action",
	api.Hash("trace_id", func(a ActionRow) []byte { return a.Trace.GetId() }).Null(),
	api.Hash("action_id", func(a ActionRow) []byte { return a.ID[:] }),
	api.Decimal("start_lt", func(a ActionRow) uint64 { return a.StartLt }),
	api.Decimal("end_lt", func(a ActionRow) uint64 { return a.EndLt }),
	api.UnixTime("start_utime", func(a ActionRow) uint32 { return a.StartUtime }),
	api.UnixTime("end_utime", func(a ActionRow) uint32 { return a.EndUtime }),
	api.Decimal("trace_end_lt", func(a ActionRow) uint64 { return a.Trace.GetEndLt() }),
	api.UnixTime("trace_end_utime", func(a ActionRow) uint32 { return a.Trace.GetEndUtime() }),
	api.Uint32("trace_mc_seqno_end", func(a ActionRow) uint32 { return a.Trace.GetMcSeqnoEnd() }),
	hashes("transactions", func(a ActionRow) [][]byte { return a.Transactions }).Doc("of the action, and the one that sent its first message"),
	api.Bool("success", func(a ActionRow) bool { return a.Success }),
	api.Text("type", ActionRow.TypeName),
	api.Written("details", detailForms.Schema, writeDetails),
	api.Hash("trace_external_hash", func(a ActionRow) []byte { return a.Trace.GetExternalHash() }).Optional().Doc("of the message that began the trace"),
	api.Hash("trace_external_hash_norm", func(a ActionRow) []byte { return a.Trace.GetExternalHashNorm() }).Optional().Doc("normalized (TEP-467), where it is another one"),
	api.Addresses("accounts", func(a ActionRow) [][]byte { return bytesOf(a.Accounts) }).Asked(ActionAccounts),
	api.List("transactions_full", Transaction, func(a ActionRow) []TransactionRow { return a.Full }, api.Same).Asked(ActionTransactions),
	api.Word("finality", finalities, func(a ActionRow) string { return Finality(a.Foreseen) }),
)

// extraCurrencyTransfer is what transfers and calls are called that carry currencies
// beside toncoins.
const extraCurrencyTransfer = "extra_currency_transfer"

// TypeName is the type as answers name it.
func (a ActionRow) TypeName() string {
	for _, v := range a.Details {
		if c, ok := v.(actions.Currencies); ok && len(c) > 0 {
			return extraCurrencyTransfer
		}
	}
	return a.Type.Name
}

// hashes is a list of hashes.
func hashes[R any](name string, get func(R) [][]byte) api.Member[R] {
	return api.Written(name, func(c *openapi.Components) openapi.Object {
		return openapi.Schema("type", "array", "items", c.Form("Hash"))
	}, func(w *api.Writer, row R) bool {
		w.JSON = api.AppendList(w.JSON, get(row), api.AppendBase64)
		return true
	})
}

func bytesOf(addresses []actions.Address) [][]byte {
	list := make([][]byte, len(addresses))
	for i, a := range addresses {
		list[i] = a
	}
	return list
}

// detailShapes are the forms of all types' details.
var detailShapes, detailForms = func() (map[*actions.Type]*api.Shape[values], *api.Union[values]) {
	shapes, forms := map[*actions.Type]*api.Shape[values]{}, api.OneOf[values]("ActionDetails")
	for _, t := range actions.Types() {
		s := shapeOf(componentName(t.Name)+"Details", t.Details)
		if len(t.Details) == 0 {
			s = withoutDetails(t)
		}
		shapes[t] = s
		forms.Add(api.When(s, func(v values) (values, bool) { return v, true }))
	}
	return shapes, forms
}()

func writeDetails(w *api.Writer, a ActionRow) bool {
	s := detailShapes[a.Type]
	if s == nil { // of another version of the program
		s = withoutDetails(a.Type)
	}
	s.Write(w, a.Details)
	return true
}

// withoutDetails is the form of a type of which no more is known than its name, as
// clients know it.
func withoutDetails(t *actions.Type) *api.Shape[values] {
	return api.New(componentName(t.Name)+"Details",
		api.Text("error", func(values) string { return "unsupported action type: '" + t.Name + "'" }))
}

// componentName makes a name for the OpenAPI document: of jetton_swap JettonSwap.
func componentName(name string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(name, "_") {
		if part != "" {
			b.WriteString(strings.ToUpper(part[:1]) + part[1:])
		}
	}
	return b.String()
}

func shapeOf(name string, details []actions.Detail) *api.Shape[values] {
	members := make([]api.Member[values], len(details))
	for i := range details {
		d := &details[i]
		there := func(v values) bool { return v[i] != nil }
		if m := detail(name, i, d); d.Optional {
			members[i] = m.If(there)
		} else {
			members[i] = m.NullUnless(there)
		}
	}
	return api.New(name, members...)
}

// at is a detail of a type, its zero value where it has none.
func at[T any](i int) func(values) T {
	return func(v values) T {
		t, _ := v[i].(T)
		return t
	}
}

// detail is the member that the i-th value is.
func detail(shape string, i int, d *actions.Detail) api.Member[values] {
	switch d.Kind {
	case actions.KindAddress:
		return api.Address(d.Name, func(v values) []byte { return at[actions.Address](i)(v) })
	case actions.KindDecimal:
		return api.BigDecimal(d.Name, at[*big.Int](i))
	case actions.KindUint:
		return api.Decimal(d.Name, at[uint64](i))
	case actions.KindNumber:
		return api.Int64(d.Name, at[int64](i))
	case actions.KindBool:
		return api.Bool(d.Name, at[bool](i))
	case actions.KindText:
		return api.Text(d.Name, at[string](i))
	case actions.KindOpcode:
		return api.Opcode(d.Name, func(v values) *uint32 {
			op := at[uint32](i)(v)
			return &op
		})
	case actions.KindBoC:
		return api.BoC(d.Name, func(v values) []byte { return at[actions.BoC](i)(v) })
	case actions.KindCurrencies:
		return currencies(d.Name, func(v values) []*record.ExtraCurrency { return at[actions.Currencies](i)(v) })
	case actions.KindAddresses:
		return api.Addresses(d.Name, func(v values) [][]byte { return bytesOf(at[[]actions.Address](i)(v)) })
	case actions.KindObject:
		return api.Object(d.Name, shapeOf(shape+componentName(d.Name), d.Details), at[values](i), nil)
	case actions.KindList:
		return api.List(d.Name, shapeOf(shape+componentName(d.Name), d.Details), at[[]values](i), api.Same)
	}
	panic("detail " + d.Name + " is of a kind that has no form")
}

// ActionsOf are rows of actions of a trace, in the order in which answers have them.
func ActionsOf(list []*actions.Action, trace *record.Trace) []ActionRow {
	rows := make([]ActionRow, len(list))
	for i, a := range list {
		rows[i] = ActionRow{Action: a, Trace: trace}
	}
	slices.SortStableFunc(rows, func(a, b ActionRow) int {
		return cmp.Or(cmp.Compare(a.StartLt, b.StartLt), cmp.Compare(a.EndLt, b.EndLt))
	})
	return rows
}

// PendingActionsOf are rows of actions of a trace of which some transactions are foreseen,
// in the order in which answers have what is to come: the newest first.
func PendingActionsOf(list []*actions.Action, trace *record.Trace, foreseen map[*record.Transaction]bool) []ActionRow {
	pending := make(map[string]bool, len(foreseen))
	for tx := range foreseen {
		pending[string(tx.Hash)] = true
	}
	rows := make([]ActionRow, len(list))
	for i, a := range list {
		rows[i] = ActionRow{Action: a, Trace: trace,
			Foreseen: slices.ContainsFunc(a.Transactions, func(h []byte) bool { return pending[string(h)] })}
	}
	slices.SortStableFunc(rows, func(a, b ActionRow) int {
		return cmp.Or(cmp.Compare(b.EndLt, a.EndLt), cmp.Compare(b.StartLt, a.StartLt))
	})
	return rows
}
