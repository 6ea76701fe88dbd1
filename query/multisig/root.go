// Package multisig spells the orders of multisig wallets out. In comes an
// order's bag of cells, as the contract holds it; out goes JSON of what it does.
// It must never fail: what cannot be read is told as such, and an order that was
// made to be expensive costs no more than its 256 actions.
package multisig

import (
	"errors"
	"fmt"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/query/api"
	"tonscribe/query/openapi"
	"tonscribe/ton/body"
	toncell "tonscribe/ton/cell"
)

const (
	// MaxAnswerBytes is how much the orders of one answer may hold: actions may
	// share a large body, which is written out for each.
	MaxAnswerBytes = 4 << 20
	// maxOrderBytes and maxOrderCells bound the bag of one order; what a message
	// can carry is a quarter of it.
	maxOrderBytes = 256 << 10
	maxOrderCells = 1 << 15
	// maxActions is how many actions an order has: their numbers have 8 bits.
	maxActions = 256
)

var (
	errOrder    = errors.New("the order is not a dictionary of actions")
	errTooLarge = fmt.Errorf("the order is larger than %d bytes", maxOrderBytes)
	errFull     = errors.New("the answer is full, ask for fewer orders")
	errAction   = errors.New("the action cannot be read")
)

// Actions returns what an order does, as a JSON list. address is called with
// every address in it. left is how many more bytes the answer may hold; it goes
// down by those of the order and of the list. Where none are left, the list says
// so.
func Actions(boc []byte, left *int, address func([]byte)) []byte {
	w := &writer{address}
	list, err := actionCells(boc, *left)
	*left -= len(boc)
	out := []byte{'['}
	if err != nil {
		out = Action.Append(out, failed(err))
	}
	for i, c := range list {
		if i > 0 {
			out = append(out, ',')
		}
		if *left <= 0 {
			out = Action.Append(out, failed(errFull))
			break
		}
		a := w.read(c)
		if len(a.Destination) > 0 {
			address(a.Destination)
		}
		before := len(out)
		out = Action.Append(out, a)
		*left -= len(out) - before
	}
	return append(out, ']')
}

// actionCells returns the actions of an order, in order.
func actionCells(boc []byte, left int) ([]*cell.Cell, error) {
	switch {
	case left <= 0:
		return nil, errFull
	case len(boc) > maxOrderBytes:
		return nil, errTooLarge
	}
	root, err := cell.FromBOCWithOptions(boc, cell.BOCParseOptions{MaxCells: maxOrderCells})
	if err != nil {
		return nil, errOrder
	}
	entries, err := toncell.Dictionary{Root: root, Bits: 8}.Entries(maxActions)
	if err != nil {
		return nil, errOrder
	}
	cells := make([]*cell.Cell, len(entries))
	for i, e := range entries {
		if cells[i], err = e.Value.LoadRefCell(); err != nil {
			return nil, errOrder
		}
	}
	return cells, nil
}

// action is what an order does in one place.
type action struct {
	body.Message        // nothing where none is sent
	mode         uint64 // of sending
	kind         string // of the body
	shown        []byte // the body spelt out
	err          error
}

func failed(err error) action { return action{kind: "unknown", err: err} }

func (w *writer) read(c *cell.Cell) action {
	r := toncell.NewReader(c)
	layout := body.Of(uint32(r.Uint(32)))
	if layout == nil {
		return failed(errAction)
	}
	f, err := layout.Read(r)
	switch {
	case err != nil:
	case layout.Name == "multisig_send_message":
		if m, err := body.ReadMessage(f.Cell("message")); err == nil {
			kind, shown := w.parse(m.Body)
			return action{Message: m, mode: f.Uint("mode"), kind: kind, shown: shown}
		}
	case layout.Name == "multisig_update_params":
		if shown, ok := w.update(f); ok {
			return action{kind: layout.Name, shown: shown}
		}
	}
	return failed(errAction)
}

// Action is the form of an action of an order.
var Action = api.New("OrderAction",
	api.Address("destination", func(a action) []byte { return a.Destination }).Null(),
	api.Amount("value", func(a action) []byte { return a.Value.Bytes() }).NullUnless(func(a action) bool { return a.Body != nil }),
	api.BoC("body_raw", func(a action) []byte {
		if a.Body == nil {
			return nil
		}
		return a.Body.ToBOC()
	}).Null(),
	api.Bool("parsed", func(a action) bool { return a.err == nil }).Doc("false when the action cannot be read"),
	api.Text("error", func(a action) string {
		if a.err == nil {
			return ""
		}
		return a.err.Error()
	}).Null(),
	api.Written("parsed_body", func(*openapi.Components) openapi.Object { return openapi.Schema() }, func(w *api.Writer, a action) bool {
		w.JSON = append(w.JSON, a.shown...)
		return a.shown != nil
	}),
	api.Text("parsed_body_type", func(a action) string { return a.kind }),
	api.Uint32("send_mode", func(a action) uint64 { return a.mode }),
)

// update shows what an order sets in its wallet.
func (w *writer) update(f body.Fields) ([]byte, bool) {
	signers, ok := w.members(f.Cell("new_signers"))
	proposers, also := w.members(f.Cell("new_proposers"))
	o := w.open()
	o.uint("new_threshold", f.Uint("new_threshold"))
	o.raw("new_signers", signers)
	o.raw("new_proposers", proposers)
	return o.close(), ok && also
}

// members returns a list of addresses out of a dictionary, null without one.
func (w *writer) members(root *cell.Cell) ([]byte, bool) {
	if root == nil {
		return null, true
	}
	entries, err := toncell.Dictionary{Root: root, Bits: 8}.Entries(maxActions)
	if err != nil {
		return null, false
	}
	out := []byte{'['}
	for i, e := range entries {
		r := toncell.ReaderOf(e.Value)
		a := r.Account()
		if r.Err() != nil {
			return null, false
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = w.account(out, a)
	}
	return append(out, ']'), true
}
