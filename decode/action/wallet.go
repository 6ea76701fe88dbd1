package action

import (
	"encoding/base64"
	"slices"
	"strconv"

	"tonscribe/schema/record"
	"tonscribe/ton/cell"
)

// maxSigned is the greatest number of messages that are read out of a signed body.
const maxSigned = 255

// Opcodes of signed bodies.
const (
	opWalletV5External = 0x7369676e
	opTelegramOne      = 0x63896e75
	opTelegramMany     = 0x73896e75
	opOutAction        = 0x0ec3c86d // action_send_msg
)

// signedMessages are the messages that the signed body of a wallet asks for: of
// version 5, of Telegram's wallet, of version 4 or 3.
func signedMessages(body Reader) []*record.Message {
	if op, ok := body.Peek(32); ok && op == opWalletV5External {
		return signedV5(body)
	}
	body.Skip(512) // signature
	if op, ok := body.Peek(32); ok && (op == opTelegramOne || op == opTelegramMany) {
		return signedTelegram(body)
	}
	body.Skip(32 + 32 + 32) // wallet_id, valid_until, seqno
	if body.BitsLeft() == 8*(1+body.RefsLeft()) && body.Uint(8) != 0 {
		return nil // another operation of version 4 than to send
	}
	if body.Failed() || body.BitsLeft() != 8*body.RefsLeft() {
		return nil
	}
	var list orders
	for body.RefsLeft() > 0 {
		list.add(&body)
	}
	return list.messages
}

// orders are messages that a signed body asks for.
type orders struct {
	messages []*record.Message
	count    int
}

// add reads a mode and a message. What is no internal message is passed. There is no
// hash of a message that was never sent: the one that it has here is made of the
// order's hash and place, since the same order may be there twice.
func (o *orders) add(r *Reader) {
	r.Skip(8) // mode
	c := r.Ref()
	place := o.count
	o.count++
	if m := asked(c, r.bag); m != nil {
		m.Hash = strconv.AppendInt(base64.StdEncoding.AppendEncode(nil, c.Hash()[:]), int64(place), 10)
		o.messages = append(o.messages, m)
	}
}

// signedV5 reads signed_request of version 5: an OutList, whose last action lies
// on top.
func signedV5(body Reader) []*record.Message {
	body.Skip(32 + 32 + 32 + 32) // opcode, wallet_id, valid_until, seqno
	out, ok := body.MaybeOpen()
	var list orders
	for ok && list.count < maxSigned && out.RefsLeft() > 0 {
		rest := out.Open()
		if out.Uint(32) == opOutAction {
			list.add(&out)
		}
		ok = !out.Failed()
		out = rest
	}
	slices.Reverse(list.messages)
	return list.messages
}

// signedTelegram reads the request of Telegram's wallet behind its signature.
func signedTelegram(body Reader) []*record.Message {
	var list orders
	op := body.Uint(32)
	body.Skip(32 + 32 + 32) // subwallet_id, valid_until, seqno
	if op == opTelegramOne {
		list.add(&body)
		return list.messages
	}
	body.Skip(8) // their number
	chunk, ok := body.MaybeOpen()
	for ok {
		next, more := chunk.MaybeOpen()
		for chunk.RefsLeft() > 0 && list.count < maxSigned {
			list.add(&chunk)
		}
		chunk, ok = next, more && list.count < maxSigned
	}
	return list.messages
}

// asked reads a MessageRelaxed with int_msg_info, nil where it is none.
func asked(c cell.Cell, bag *cell.Bag) *record.Message {
	if !c.Valid() {
		return nil
	}
	r := Reader{c.Slice(), bag}
	m := &record.Message{Kind: record.Message_INTERNAL}
	if r.Bool() {
		return nil
	}
	m.IhrDisabled, m.Bounce, m.Bounced = r.Bool(), r.Bool(), r.Bool()
	r.Address()
	m.Destination = r.Address()
	m.Value = r.VarUint(4)
	if r.Bool() {
		r.Ref()
	}
	m.IhrFee, m.FwdFee = r.VarUint(4), r.VarUint(4)
	r.Skip(64 + 32)
	if r.Bool() && !skipStateInit(&r) {
		return nil
	}
	p := r.Payload()
	if r.Failed() || p.Failed() {
		return nil
	}
	if op, ok := p.Opcode(); ok {
		m.Opcode = &op
	}
	m.Body = p.BoC()
	return m
}

// skipStateInit passes Either StateInit ^StateInit.
func skipStateInit(r *Reader) bool {
	if r.Bool() {
		r.Ref()
		return !r.Failed()
	}
	if r.Bool() {
		r.Skip(5)
	}
	if r.Bool() {
		r.Skip(2)
	}
	for range 3 {
		if r.Bool() {
			r.Ref()
		}
	}
	return !r.Failed()
}
