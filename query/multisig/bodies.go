package multisig

import (
	"encoding/base64"
	"math/big"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/ton/body"
	toncell "tonscribe/ton/cell"
)

// kind is how a body is shown that has a layout.
type kind struct {
	// fields are how many of the layout's are shown, all where it is 0.
	fields int
	// more shows the others; false for a body that cannot be read.
	more func(o *object, f body.Fields) bool
}

// kinds are the bodies that are spelt out, by the name of their layout, which is
// what they are called.
var kinds = map[string]kind{
	"jetton_transfer":                   {fields: 3, more: jettonTransfer},
	"jetton_burn":                       {fields: 3},
	"jetton_mint":                       {},
	"nft_transfer":                      {},
	"jetton_top_up":                     {},
	"jetton_change_admin":               {},
	"jetton_claim_admin":                {},
	"jetton_change_content":             {},
	"jetton_call_to":                    {fields: 3, more: calledAction},
	"jetton_set_status":                 {},
	"single_nominator_withdraw":         {},
	"single_nominator_change_validator": {},
	"vesting_internal_transfer":         {fields: 2, more: vestingMessage},
}

// parse returns the type of a body and its JSON.
func (w *writer) parse(c *cell.Cell) (string, []byte) {
	r := toncell.NewReader(c)
	if r.Err() == nil && r.BitsLeft() < 32 {
		return "ton_transfer", w.comment("", false)
	}
	opcode := uint32(r.Uint(32))
	switch {
	case r.Err() != nil:
	case opcode == body.Comment:
		if text := body.Text(r); r.Err() == nil {
			return "ton_transfer", w.comment(text, false)
		}
	case opcode == body.EncryptedComment:
		return "ton_transfer", w.comment(encrypted(r), true)
	default:
		if layout := body.Of(opcode); layout != nil {
			if shown, ok := w.writeFields(layout, r); ok {
				return layout.Name, shown
			}
		}
	}
	o := w.open()
	o.uint("opcode", uint64(opcode))
	o.boc("data", c)
	return "unknown", o.close()
}

// writeFields writes the fields of a body; false where it does not fit its layout.
func (w *writer) writeFields(layout *body.Layout, r *toncell.Reader) ([]byte, bool) {
	k, ok := kinds[layout.Name]
	if !ok {
		return nil, false
	}
	f, err := layout.Read(r)
	shown := f
	if k.fields > 0 {
		shown = f[:min(k.fields, len(f))]
	}
	if err != nil && (k.fields == 0 || len(f) < k.fields) {
		return nil, false
	}
	o := w.open()
	if layout.Name == "jetton_mint" {
		o.uint("opcode", uint64(layout.Opcode))
	}
	o.fields(shown)
	if k.more != nil && !k.more(o, f) {
		return nil, false
	}
	return o.close(), true
}

func (w *writer) comment(text string, encrypted bool) []byte {
	o := w.open()
	o.text("comment", text)
	o.bool("encrypted", encrypted)
	return o.close()
}

// encrypted returns the whole bytes of a chain of cells, in base64.
func encrypted(r *toncell.Reader) string {
	var all []byte
	for len(all) <= body.MaxText {
		part, err := r.Slice().LoadSlice(r.BitsLeft() / 8 * 8)
		if err != nil {
			break
		}
		all = append(all, part...)
		if r.Slice().RefsNum() == 0 {
			break
		}
		if r = toncell.NewReader(r.Ref()); r.Err() != nil {
			break
		}
	}
	return base64.StdEncoding.EncodeToString(all)
}

// jettonTransfer shows the fields behind the destination under names of their
// own, and what the payload says.
func jettonTransfer(o *object, f body.Fields) bool {
	payload := f.Payload("forward_payload").Cell
	if len(f) == 0 || f[len(f)-1].Name != "forward_payload" {
		return false
	}
	o.field("response", f.Address("response_destination"))
	o.field("custom_payload", f.Cell("custom_payload"))
	o.field("forward_amount", body.Value[*big.Int](f, "forward_ton_amount"))
	text, kind, swap, hidden := "", "", null, false
	if payload != nil {
		kind = "Unknown"
		r := toncell.NewReader(payload)
		switch opcode := uint32(r.Uint(32)); opcode {
		case body.Comment:
			if s := body.Text(r); r.Err() == nil {
				text, kind = s, "TextComment"
			}
		case body.EncryptedComment:
			text, kind, hidden = encrypted(r), "EncryptedTextComment", true
		case body.StonfiSwap:
			if s, err := body.Of(opcode).Read(r); err == nil {
				inner := o.open()
				inner.fields(s)
				kind, swap = "StonfiSwap", inner.close()
			}
		}
	}
	o.text("comment", text)
	o.bool("encrypted_comment", hidden)
	o.boc("forward_payload", payload)
	o.text("payload_sum_type", kind)
	o.raw("stonfi_swap_body", swap)
	return true
}

// calledTypes are the actions of jetton_call_to that have a name, by their layout.
var calledTypes = map[string]string{"jetton_set_status": "JettonSetStatus", "jetton_transfer": "JettonTransfer", "jetton_burn": "JettonBurn"}

func calledAction(o *object, f body.Fields) bool {
	c := f.Cell("action")
	if c == nil {
		return false
	}
	name := "Unknown"
	if layout := body.Of(uint32(toncell.NewReader(c).Uint(32))); layout != nil && calledTypes[layout.Name] != "" {
		name = calledTypes[layout.Name]
	}
	o.text("action_type", name)
	o.boc("action_data", c)
	return true
}

func vestingMessage(o *object, f body.Fields) bool {
	m, err := body.ReadMessage(f.Cell("message"))
	if err != nil {
		return false
	}
	o.field("destination", m.Destination)
	o.field("value", m.Value)
	o.boc("message_body", m.Body)
	text := ""
	if r := toncell.NewReader(m.Body); r.BitsLeft() >= 32 && r.Uint(32) == body.Comment {
		text = body.Text(r)
	}
	o.text("comment", text)
	return true
}
