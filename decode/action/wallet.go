package action

import (
	"crypto/sha256"

	"tonscribe/schema/record"
	"tonscribe/ton/cell"
)

// maxSigned is the greatest number of messages that are read out of a signed body.
const maxSigned = 255

const (
	opWalletV5External = 0x7369676e
	opOutAction        = 0x0ec3c86d // action_send_msg
)

// signedMessages are the messages that the signed body of a wallet asks for: of
// version 5, 4 or 3.
func signedMessages(body Reader) []*record.Message {
	if op, ok := body.Peek(32); ok && op == opWalletV5External {
		return signedV5(body)
	}
	body.Skip(512)          // signature
	body.Skip(32 + 32 + 32) // wallet_id, valid_until, seqno
	if body.BitsLeft()%8 != 0 {
		return nil
	}
	if body.BitsLeft() == 8*(1+body.RefsLeft()) { // version 4: op
		if body.Uint(8) != 0 {
			return nil
		}
	}
	if body.Failed() || body.BitsLeft() != 8*body.RefsLeft() {
		return nil
	}
	var list []*record.Message
	for body.RefsLeft() > 0 {
		body.Skip(8) // mode
		if m := asked(body.Ref(), &body); m != nil {
			list = append(list, m)
		}
	}
	return list
}

// signedV5 reads signed_request of version 5: an OutList, whose last action lies
// on top.
func signedV5(body Reader) []*record.Message {
	body.Skip(32 + 32 + 32 + 32) // opcode, wallet_id, valid_until, seqno
	out, ok := body.MaybeOpen()
	if !ok {
		return nil
	}
	var list []*record.Message
	for range maxSigned {
		if out.RefsLeft() == 0 {
			break
		}
		prev := out.Open()
		if out.Uint(32) == opOutAction {
			out.Skip(8) // mode
			if m := asked(out.Ref(), &out); m != nil {
				list = append(list, m)
			}
		}
		if out.Failed() {
			break
		}
		out = prev
	}
	for i, j := 0, len(list)-1; i < j; i, j = i+1, j-1 {
		list[i], list[j] = list[j], list[i]
	}
	return list
}

// asked reads a MessageRelaxed with int_msg_info, nil where it is none.
func asked(c cell.Cell, from *Reader) *record.Message {
	if !c.Valid() {
		return nil
	}
	r := Reader{c.Slice(), from.bag}
	m := &record.Message{Kind: record.Message_INTERNAL, Hash: append([]byte(nil), c.Hash()[:]...)}
	if r.Bool() {
		return nil
	}
	m.IhrDisabled, m.Bounce, m.Bounced = r.Bool(), r.Bool(), r.Bool()
	r.Address()
	m.Destination = r.Address()
	value := r.Coins()
	m.Value = value.Uint64()
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
	if !p.There {
		m.Body = Reader{bag: r.bag}.BoC()
	}
	h := sha256.Sum256(m.Body)
	m.BodyHash = h[:]
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
