// Package orders takes the order of a multisig wallet apart into what it does
// (contract 3.25). In comes the order's bag of cells, as the contract holds it;
// out goes JSON. It must never fail: what cannot be read is told as such, and an
// order that was made to be expensive costs no more than its 256 actions.
package orders

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/decode/contract"
	"tonscribe/query/render"
	toncell "tonscribe/ton/cell"
)

// Tags of the actions of an order.
const (
	tagSend   = 0xf1381e5b
	tagUpdate = 0x1d0cfbd3
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

// Actions are what an order does, as a JSON list. address is called with every
// address in it. left is how many more bytes the answer may hold; it goes down
// by those of the order and of the list. Where none are left, the list says so.
func Actions(boc []byte, left *int, address func([]byte)) []byte {
	list, err := actionCells(boc, *left)
	*left -= len(boc)
	if err != nil {
		return []byte(`[{"destination":null,"value":null,"body_raw":null,"parsed":false,"error":` + string(render.Text(nil, err.Error())) +
			`,"parsed_body":null,"parsed_body_type":"unknown","send_mode":0}]`)
	}
	out := []byte{'['}
	for i, c := range list {
		if i > 0 {
			out = append(out, ',')
		}
		if *left <= 0 {
			out = append(out, describe(message{}, "unknown", nil, 0, errFull.Error())...)
			break
		}
		one := action(c, address)
		*left -= len(one)
		out = append(out, one...)
	}
	return append(out, ']')
}

var (
	errOrder    = errors.New("the order is not a dictionary of actions")
	errTooLarge = fmt.Errorf("the order is larger than %d bytes", maxOrderBytes)
	errFull     = errors.New("the answer is full, ask for fewer orders")
)

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

func action(c *cell.Cell, address func([]byte)) []byte {
	r := newReader(c, address)
	switch r.uint(32) {
	case tagSend:
		mode := r.uint(8)
		m := r.reference().message()
		if r.ok && m.ok {
			kind, body := parse(m.body, address)
			return describe(m, kind, body, mode, "")
		}
	case tagUpdate:
		if body := update(r); r.ok {
			return describe(message{}, "multisig_update_params", body, 0, "")
		}
	}
	return describe(message{}, "unknown", nil, 0, "the action cannot be read")
}

// describe is an OrderAction.
func describe(m message, kind string, body []byte, mode uint64, failure string) []byte {
	o := object{'{'}
	o.raw("destination", render.Address(nil, m.destination))
	if m.body == nil {
		o.raw("value", null)
		o.raw("body_raw", null)
	} else {
		o.raw("value", render.Amount(nil, m.value))
		o.boc("body_raw", m.body)
	}
	o.raw("parsed", strconv.AppendBool(nil, failure == ""))
	if failure == "" {
		o.raw("error", null)
	} else {
		o.text("error", failure)
	}
	if body == nil {
		body = null
	}
	o.raw("parsed_body", body)
	o.text("parsed_body_type", kind)
	o.raw("send_mode", strconv.AppendUint(nil, mode, 10))
	return o.close()
}

var null = []byte("null")

// object is a JSON object that is being written.
type object []byte

func (o *object) raw(name string, value []byte) {
	if len(*o) > 1 {
		*o = append(*o, ',')
	}
	*o = append(append(append(append(*o, '"'), name...), '"', ':'), value...)
}

func (o *object) text(name, value string) { o.raw(name, render.Text(nil, value)) }

func (o *object) boc(name string, c *cell.Cell) {
	if c == nil {
		o.raw(name, null)
		return
	}
	o.raw(name, []byte(`"`+base64.StdEncoding.EncodeToString(c.ToBOC())+`"`))
}

func (o *object) close() []byte { return append(*o, '}') }

// message is an internal message that is to be sent.
type message struct {
	destination, value []byte
	body               *cell.Cell
	ok                 bool
}

// message reads MessageRelaxed (block.tlb), internal ones only.
func (r *reader) message() (m message) {
	if r.uint(1) != 0 { // int_msg_info$0
		return m
	}
	r.uint(3)
	r.readAddress()
	m.destination = r.readAddress()
	m.value = r.coinBytes()
	r.maybe() // extra currencies
	r.coinBytes()
	r.coinBytes()
	r.uint(64)
	r.uint(32)
	if r.uint(1) == 1 {
		if r.uint(1) == 1 {
			r.reference()
		} else {
			r.stateInit()
		}
	}
	if r.uint(1) == 1 {
		m.body = r.reference().whole()
	} else {
		m.body = r.rest()
	}
	m.ok = r.ok && m.body != nil
	return m
}

// stateInit passes over TL-B StateInit.
func (r *reader) stateInit() {
	if r.uint(1) == 1 {
		r.uint(5)
	}
	if r.uint(1) == 1 {
		r.uint(2)
	}
	for range 3 {
		r.maybe()
	}
}

// update reads what an order sets in its wallet.
func update(r *reader) []byte {
	o := object{'{'}
	o.raw("new_threshold", strconv.AppendUint(nil, r.uint(8), 10))
	o.raw("new_signers", r.members(r.reference().whole()))
	o.raw("new_proposers", r.members(r.maybe()))
	return o.close()
}

// members is a list of addresses out of a dictionary, null without one.
func (r *reader) members(root *cell.Cell) []byte {
	if root == nil {
		return null
	}
	entries, err := toncell.Dictionary{Root: root, Bits: 8}.Entries(maxActions)
	if err != nil {
		r.ok = false
		return null
	}
	out := []byte{'['}
	for i, e := range entries {
		a, ok := contract.ReadAddress(e.Value)
		if !ok {
			r.ok = false
			return null
		}
		if i > 0 {
			out = append(out, ',')
		}
		r.address(a)
		out = render.Address(out, a)
	}
	return append(out, ']')
}
