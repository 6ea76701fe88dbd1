package orders

import (
	"encoding/base64"
	"strconv"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/decode/contract"
	"tonscribe/query/render"
)

// kind is how a body with an opcode is read.
type kind struct {
	name string
	read func(r *reader, o *object)
}

const (
	opComment          = 0
	opEncryptedComment = 0x2167da4b
	opSetStatus        = 0xeed236d3
	opStonfiSwap       = 0x25938561
)

var kinds = map[uint64]kind{
	contract.OpJettonTransfer: {"jetton_transfer", jettonTransfer},
	contract.OpJettonBurn:     {"jetton_burn", fields(queryID, coins("amount"), party("response_destination"))},
	0x00000015:                {"jetton_mint", mint(0x00000015)},
	0x642b7d07:                {"jetton_mint", mint(0x642b7d07)},
	contract.OpNFTTransfer: {"nft_transfer", fields(queryID, party("new_owner"), party("response_destination"), maybe("custom_payload"), coins("forward_amount"),
		func(r *reader, o *object) { o.boc("forward_payload", r.either()) })},
	0x00009fd3:  {"jetton_top_up", fields(queryID)},
	0x6501f354:  {"jetton_change_admin", fields(queryID, party("new_admin_address"))},
	0xfb88e119:  {"jetton_claim_admin", fields(queryID)},
	0xcb862902:  {"jetton_change_content", fields(queryID, snake("new_metadata_url"))},
	0x235caf52:  {"jetton_call_to", fields(queryID, party("to_address"), coins("ton_amount"), calledAction)},
	opSetStatus: {"jetton_set_status", fields(queryID, number("new_status", 4))},
	0x00001000:  {"single_nominator_withdraw", fields(queryID, coins("coins"))},
	0x00001001:  {"single_nominator_change_validator", fields(queryID, party("validator_address"))},
	0x75097f5d:  {"vesting_internal_transfer", fields(queryID, number("send_mode", 8), vestingMessage)},
}

// parse says what a body is.
func parse(body *cell.Cell, address func([]byte)) (string, []byte) {
	r := newReader(body, address)
	if !r.ok {
		return "unknown", unknown(0, body)
	}
	if r.left() < 32 {
		return "ton_transfer", comment("", false)
	}
	op := r.uint(32)
	switch op {
	case opComment:
		if text, ok := r.snake(); ok {
			return "ton_transfer", comment(text, false)
		}
		return "unknown", unknown(op, body)
	case opEncryptedComment:
		return "ton_transfer", comment(encrypted(r), true)
	}
	if k, ok := kinds[op]; ok {
		o := object{'{'}
		k.read(r, &o)
		if r.ok {
			return k.name, o.close()
		}
	}
	return "unknown", unknown(op, body)
}

func comment(text string, encrypted bool) []byte {
	o := object{'{'}
	o.text("comment", text)
	o.raw("encrypted", strconv.AppendBool(nil, encrypted))
	return o.close()
}

// encrypted is an encrypted text as base64.
func encrypted(r *reader) string {
	var all []byte
	for at := r; at.ok && len(all) <= mostText; at = at.reference() {
		part, err := at.s.LoadSlice(at.left() / 8 * 8)
		if err != nil {
			break
		}
		all = append(all, part...)
		if at.s.RefsNum() == 0 {
			break
		}
	}
	return base64.StdEncoding.EncodeToString(all)
}

func unknown(op uint64, body *cell.Cell) []byte {
	o := object{'{'}
	o.raw("opcode", strconv.AppendUint(nil, op, 10))
	o.boc("data", body)
	return o.close()
}

// fields reads one field after the other.
func fields(list ...func(*reader, *object)) func(*reader, *object) {
	return func(r *reader, o *object) {
		for _, field := range list {
			field(r, o)
		}
	}
}

func number(name string, bits uint) func(*reader, *object) {
	return func(r *reader, o *object) { o.raw(name, strconv.AppendUint(nil, r.uint(bits), 10)) }
}

var queryID = number("query_id", 64)

func coins(name string) func(*reader, *object) {
	return func(r *reader, o *object) { o.raw(name, render.Amount(nil, r.coinBytes())) }
}

func party(name string) func(*reader, *object) {
	return func(r *reader, o *object) { o.raw(name, render.Address(nil, r.readAddress())) }
}

func maybe(name string) func(*reader, *object) {
	return func(r *reader, o *object) { o.boc(name, r.maybe()) }
}

func snake(name string) func(*reader, *object) {
	return func(r *reader, o *object) {
		text, ok := r.snake()
		r.ok = r.ok && ok
		o.text(name, text)
	}
}

// either is the cell of an Either X ^X, nil when it is empty. A missing one
// counts as empty.
func (r *reader) either() *cell.Cell {
	if r.left() == 0 {
		return nil
	}
	if r.uint(1) == 1 {
		return r.reference().whole()
	}
	if r.left() == 0 && r.ok && r.s.RefsNum() == 0 {
		return nil
	}
	return r.rest()
}

func jettonTransfer(r *reader, o *object) {
	fields(queryID, coins("amount"), party("destination"), party("response"), maybe("custom_payload"), coins("forward_amount"))(r, o)
	payload := r.either()
	p := newReader(payload, r.address)
	text, kind, swap, hidden := "", "", null, false
	if payload != nil {
		kind = "Unknown"
		switch p.uint(32) {
		case opComment:
			if s, ok := p.snake(); ok {
				text, kind = s, "TextComment"
			}
		case opEncryptedComment:
			text, kind, hidden = encrypted(p), "EncryptedTextComment", true
		case opStonfiSwap:
			body := object{'{'}
			fields(party("jetton_wallet"), coins("min_amount"), party("user_address"))(p, &body)
			if p.ok {
				kind, swap = "StonfiSwap", body.close()
			}
		}
	}
	o.text("comment", text)
	o.raw("encrypted_comment", strconv.AppendBool(nil, hidden))
	o.boc("forward_payload", payload)
	o.text("payload_sum_type", kind)
	o.raw("stonfi_swap_body", swap)
}

func mint(op uint64) func(*reader, *object) {
	return func(r *reader, o *object) {
		o.raw("opcode", strconv.AppendUint(nil, op, 10))
		fields(queryID, party("to_address"), coins("ton_amount"))(r, o)
		m := r.reference()
		m.uint(32)
		fields(number("master_msg_query_id", 64), coins("master_msg_jetton_amount"))(m, o)
		r.ok = r.ok && m.ok
	}
}

var calledTypes = map[uint64]string{opSetStatus: "JettonSetStatus", contract.OpJettonTransfer: "JettonTransfer", contract.OpJettonBurn: "JettonBurn"}

func calledAction(r *reader, o *object) {
	called := r.reference()
	c := called.whole()
	name := calledTypes[called.uint(32)]
	if name == "" {
		name = "Unknown"
	}
	o.text("action_type", name)
	o.boc("action_data", c)
}

func vestingMessage(r *reader, o *object) {
	m := r.reference().message()
	r.ok = r.ok && m.ok
	o.raw("destination", render.Address(nil, m.destination))
	o.raw("value", render.Amount(nil, m.value))
	o.boc("message_body", m.body)
	text := ""
	if b := newReader(m.body, r.address); b.left() >= 32 && b.uint(32) == opComment {
		text, _ = b.snake()
	}
	o.text("comment", text)
}
