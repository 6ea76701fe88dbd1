package endpoints

import (
	"maps"
	"math/big"
	"net/http"
	"slices"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/decode/trace"
	"tonscribe/query/api"
	"tonscribe/query/list"
	"tonscribe/query/list/paging"
	"tonscribe/query/list/traced"
	"tonscribe/query/openapi"
	"tonscribe/query/params"
	"tonscribe/query/rows"
	v3 "tonscribe/query/v3"
	"tonscribe/schema/record"
	"tonscribe/ton/address"
	"tonscribe/ton/body"
	toncell "tonscribe/ton/cell"
)

var (
	errNoTraceOrAction = &params.Error{Status: http.StatusBadRequest, Text: "trace_id or action_id is required"}
	errNoAction        = params.NotFound("action_id not found")
	errNoTrace         = &params.Error{Status: http.StatusInternalServerError, Text: "trace not found"}
	errLargeTrace      = params.Unprocessable("trace is too large: it has more than %d transactions", trace.MaxNodes)
)

var balanceChanges = &v3.Endpoint{
	Path: "/balanceChanges", Tag: actionsAndTraces, Summary: "Changes of balances",
	Description: "What the accounts of a trace, or of one action, have more or less than before: toncoins, fees, jettons. Of a trace that has open messages, as of now.",
	Params: []params.Param{
		{Name: "trace_id", Kind: params.TextKind, Description: "id of a trace"},
		{Name: "action_id", Kind: params.TextKind, Description: "id of an action: only its transactions count; with trace_id it is looked for in that trace"},
	},
	Result: balanceChangesAnswer, Rows: trace.MaxNodes,
	Errors: []params.Error{*errNoTraceOrAction, *errNoAction, *errNoTrace, *errLargeTrace},
	Serve:  serveBalanceChanges,
}

// amounts are what accounts have more or less.
type amounts map[address.Address]*big.Int

func (a amounts) add(account []byte, amount *big.Int) {
	key := address.Address(account)
	if a[key] == nil {
		a[key] = new(big.Int)
	}
	a[key].Add(a[key], amount)
}

func (a amounts) addCoins(account []byte, nanotons uint64) {
	a.add(account, new(big.Int).SetUint64(nanotons))
}

// changes are what transactions did to balances, nil for no transactions.
type changes struct {
	coins, fees amounts
	jettons     map[address.Address]amounts // owner → master → amount
}

var balanceChangesAnswer = api.New("BalanceChangesAnswer",
	changesOf("changes", openapi.Schema("type", "integer"), func(c *changes) amounts { return c.coins }, writeInteger).
		Doc("nanotons that accounts received, less what they sent and paid as fees"),
	changesOf("fees", openapi.Schema("type", "integer", "minimum", 0), func(c *changes) amounts { return c.fees }, writeInteger).
		Doc("nanotons that accounts paid: fees of their transactions, and forward fees of what these sent"),
	changesOf("jettons", openapi.Schema("type", "object", "additionalProperties", openapi.Schema("type", "string", "pattern", `^-?[0-9]+$`)),
		func(c *changes) map[address.Address]amounts { return c.jettons }, func(w *api.Writer, a amounts) {
			writeByAddress(w, a, func(w *api.Writer, n *big.Int) {
				w.JSON = append(n.Append(append(w.JSON, '"'), 10), '"')
			})
		}).Doc("owner → jetton master → what its wallet got from other wallets, less what it sent to them, in the jetton's units"),
)

func writeInteger(w *api.Writer, n *big.Int) { w.JSON = n.Append(w.JSON, 10) }

// changesOf is an object whose names are addresses, null without changes.
func changesOf[M ~map[address.Address]V, V any](name string, value openapi.Object, get func(*changes) M, write func(*api.Writer, V)) api.Member[*changes] {
	return api.Written(name, func(*openapi.Components) openapi.Object {
		return openapi.OrNull(openapi.Schema("type", "object", "additionalProperties", value))
	}, func(w *api.Writer, c *changes) bool {
		if c != nil {
			writeByAddress(w, get(c), write)
		}
		return c != nil
	})
}

func writeByAddress[M ~map[address.Address]V, V any](w *api.Writer, of M, write func(*api.Writer, V)) {
	w.JSON = append(w.JSON, '{')
	for i, a := range slices.SortedFunc(maps.Keys(of), rows.CompareRaw) {
		if i > 0 {
			w.JSON = append(w.JSON, ',')
		}
		w.JSON = append(address.AppendRaw(append(w.JSON, '"'), a[:]), `":`...)
		write(w, of[a])
	}
	w.JSON = append(w.JSON, '}')
}

func serveBalanceChanges(q *v3.Request) error {
	transactions, err := changing(q)
	if err != nil {
		return err
	}
	wallets, err := q.Contracts(q, partiesOf(transactions))
	if err == nil {
		q.Body = balanceChangesAnswer.Append(q.Body, changesBy(transactions, wallets))
	}
	return err
}

// changing are the transactions whose changes are asked for.
func changing(q *v3.Request) ([]*record.Transaction, error) {
	traceID, actionID := q.Values.Text("trace_id"), q.Values.Text("action_id")
	switch {
	case traceID == "" && actionID == "":
		return nil, errNoTraceOrAction
	case actionID == "":
		return transactionsOfTrace(q, traceID)
	}
	f := &traced.ActionFilter{Utime: list.Everything, Lts: list.Everything, Types: traced.AllActionTypes()}
	for _, named := range []struct {
		text string
		to   *[]list.Hash
	}{{actionID, &f.IDs}, {traceID, &f.Traces}} {
		if named.text == "" {
			continue
		}
		id, ok := params.ParseHash(named.text)
		if !ok {
			return nil, errNoAction
		}
		*named.to = []list.Hash{id}
	}
	found, _, err := q.Store.Actions(q, q.View, f, paging.Page{Limit: 1}, nil)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, errNoAction
	}
	hashes := make([]list.Hash, len(found[0].Transactions))
	for i, h := range found[0].Transactions {
		hashes[i] = list.Hash(h)
	}
	return q.Store.TransactionsWith(q, q.View, hashes)
}

func transactionsOfTrace(q *v3.Request, text string) ([]*record.Transaction, error) {
	id, ok := params.ParseHash(text)
	if !ok {
		return nil, errNoTrace
	}
	found, _, err := q.Store.Traces(q, q.View, &traced.Filter{IDs: []list.Hash{id}, Utime: list.Everything, Lts: list.Everything}, paging.Page{Limit: 1}, nil)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, errNoTrace
	}
	if found[0].Nodes > trace.MaxNodes {
		return nil, errLargeTrace
	}
	of, err := q.Store.TransactionsOf(q, q.View, found)
	return of[list.Hash(found[0].Id)], err
}

// carriesJettons reports whether a transaction received what a jetton wallet sends to
// another one (TEP-74), and kept it.
func carriesJettons(tx *record.Transaction) bool {
	in := tx.InMsg
	return in != nil && in.Kind == record.Message_INTERNAL && !in.Bounced && in.Opcode != nil && *in.Opcode == body.JettonInternalTransfer && !tx.Aborted
}

// partiesOf are the accounts that may be jetton wallets which sent to each other.
func partiesOf(transactions []*record.Transaction) api.Book {
	book := api.Book{}
	for _, tx := range transactions {
		if carriesJettons(tx) {
			book.Add(tx.InMsg.Source)
			book.Add(tx.InMsg.Destination)
		}
	}
	return book
}

// changesBy adds up what transactions did, knowing which accounts are jetton wallets.
func changesBy(transactions []*record.Transaction, wallets map[address.Address]*record.Contract) *changes {
	if len(transactions) == 0 {
		return nil
	}
	c := &changes{coins: amounts{}, fees: amounts{}, jettons: map[address.Address]amounts{}}
	for _, tx := range transactions {
		c.add(tx)
		if carriesJettons(tx) {
			c.addJettons(tx.InMsg, rows.ContractAt(wallets, tx.InMsg.Source).GetJettonWallet(), rows.ContractAt(wallets, tx.InMsg.Destination).GetJettonWallet())
		}
	}
	for account, fee := range c.fees {
		c.coins.add(account[:], new(big.Int).Neg(fee))
	}
	return c
}

// add counts what a transaction received, sent and paid.
func (c *changes) add(tx *record.Transaction) {
	c.fees.addCoins(tx.Account, tx.TotalFees)
	if in := tx.InMsg; in != nil && in.Kind == record.Message_INTERNAL {
		c.coins.addCoins(tx.Account, in.Value)
		c.coins.addCoins(tx.Account, in.IhrFee)
	}
	for _, m := range tx.OutMsgs {
		if m.Kind != record.Message_INTERNAL {
			continue
		}
		for _, sent := range []uint64{m.Value, m.IhrFee} {
			c.coins.add(tx.Account, new(big.Int).Neg(new(big.Int).SetUint64(sent)))
		}
		c.fees.addCoins(tx.Account, m.FwdFee)
	}
}

// addJettons counts what a jetton wallet sent to another one.
func (c *changes) addJettons(m *record.Message, from, to *record.JettonWallet) {
	if from == nil || to == nil || string(from.Master) != string(to.Master) || len(from.Master) != address.Size || len(from.Owner) != address.Size || len(to.Owner) != address.Size {
		return
	}
	root, err := cell.FromBOC(m.Body)
	if err != nil {
		return
	}
	r := toncell.NewReader(root)
	r.Skip(32 + 64) // opcode, query_id
	amount := r.Coins()
	if r.Err() != nil {
		return
	}
	c.owner(from.Owner).add(from.Master, new(big.Int).Neg(amount))
	c.owner(to.Owner).add(to.Master, amount)
}

func (c *changes) owner(account []byte) amounts {
	key := address.Address(account)
	if c.jettons[key] == nil {
		c.jettons[key] = amounts{}
	}
	return c.jettons[key]
}
