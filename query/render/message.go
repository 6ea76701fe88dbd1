package render

import (
	"tonscribe/query/api"
	"tonscribe/schema/record"
	"tonscribe/ton/body"
)

// MessageRow is a message of an answer.
type MessageRow struct {
	*record.Message
	Ends *MessageEnds // nil inside of a transaction
}

// MessageEnds are the hashes of the transactions at the ends of a message, empty
// where they are not known.
type MessageEnds struct{ Consumer, Producer []byte }

func (m MessageRow) internal() bool   { return m.Kind == record.Message_INTERNAL }
func (m MessageRow) externalIn() bool { return m.Kind == record.Message_EXTERNAL_IN }
func (m MessageRow) created() bool    { return m.Kind != record.Message_EXTERNAL_IN }

func (m MessageRow) ends() MessageEnds {
	if m.Ends == nil {
		return MessageEnds{}
	}
	return *m.Ends
}

func (m MessageRow) opcodeName() string {
	if m.Opcode == nil {
		return ""
	}
	return body.NameOf(*m.Opcode)
}

// cellOf is a body or an initial state.
type cellOf struct {
	hash, boc []byte
	isBody    bool
}

// body is the bag of a body, nil of an initial state.
func (c cellOf) body() []byte {
	if !c.isBody {
		return nil
	}
	return c.boc
}

var messageContent = api.New("MessageContent",
	api.Hash("hash", func(c cellOf) []byte { return c.hash }).Null(),
	api.BoC("body", func(c cellOf) []byte { return c.boc }).Null(),
	api.Body("decoded", cellOf.body).Doc("what the body says, by the layout of its opcode; null when that is not known, and of an initial state"),
)

func contentOfMessage(name string, get func(MessageRow) cellOf) api.Member[MessageRow] {
	return api.Object(name, messageContent, get, func(m MessageRow) bool { return len(get(m).hash) > 0 || len(get(m).boc) > 0 }).Null()
}

// Message is a message. What its kind does not have is null.
var Message = api.New("MessageShape",
	api.Hash("hash", func(m MessageRow) []byte { return m.Hash }),
	api.Address("source", func(m MessageRow) []byte { return m.Source }).Null(),
	api.Address("destination", func(m MessageRow) []byte { return m.Destination }).Null(),
	api.Decimal("value", func(m MessageRow) uint64 { return m.Value }).NullUnless(MessageRow.internal).Doc("nanotons"),
	currencies("value_extra_currencies", func(m MessageRow) []*record.ExtraCurrency { return m.ValueExtra }).NullUnless(MessageRow.internal),
	api.Decimal("fwd_fee", func(m MessageRow) uint64 { return m.FwdFee }).NullUnless(MessageRow.internal),
	api.Decimal("ihr_fee", func(m MessageRow) uint64 { return m.IhrFee }).NullUnless(MessageRow.internal),
	api.DecimalIf("extra_flags", func(m MessageRow) *uint64 { return m.ExtraFlags }).NullUnless(MessageRow.internal),
	api.Decimal("created_lt", func(m MessageRow) uint64 { return m.CreatedLt }).NullUnless(MessageRow.created),
	api.Decimal("created_at", func(m MessageRow) uint32 { return m.CreatedAt }).NullUnless(MessageRow.created),
	api.Opcode("opcode", func(m MessageRow) *uint32 { return m.Opcode }).Null().Doc("the first 32 bits of the body"),
	api.Text("decoded_opcode", MessageRow.opcodeName).Null(),
	api.Bool("ihr_disabled", func(m MessageRow) bool { return m.IhrDisabled }).NullUnless(MessageRow.internal),
	api.Bool("bounce", func(m MessageRow) bool { return m.Bounce }).NullUnless(MessageRow.internal),
	api.Bool("bounced", func(m MessageRow) bool { return m.Bounced }).NullUnless(MessageRow.internal),
	api.Decimal("import_fee", func(m MessageRow) uint64 { return m.ImportFee }).NullUnless(MessageRow.externalIn),
	api.Hash("in_msg_tx_hash", func(m MessageRow) []byte { return m.ends().Consumer }).Optional().Doc("the transaction that consumed it"),
	api.Hash("out_msg_tx_hash", func(m MessageRow) []byte { return m.ends().Producer }).Optional().Doc("the transaction that produced it"),
	contentOfMessage("message_content", func(m MessageRow) cellOf { return cellOf{m.BodyHash, m.Body, true} }),
	contentOfMessage("init_state", func(m MessageRow) cellOf { return cellOf{m.InitStateHash, m.InitState, false} }),
	api.Hash("hash_norm", func(m MessageRow) []byte { return m.HashNorm }).Optional().Doc("normalized hash (TEP-467) where it is another one"),
)
