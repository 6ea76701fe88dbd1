package render

import "tonscribe/schema/record"

// MessageOptions are what a message's own record does not say.
type MessageOptions struct {
	// InTransaction is the hash of the transaction that consumed the message,
	// OutTransaction of the one that produced it. Empty ones are left out.
	InTransaction, OutTransaction []byte
}

// Message appends a message (contract 3.8).
func Message(dst []byte, m *record.Message, opts MessageOptions) []byte {
	o := open(dst)
	o.hash("hash", m.Hash)
	o.address("source", m.Source)
	o.address("destination", m.Destination)
	messageValue(&o, m)
	if m.Kind == record.Message_EXTERNAL_IN {
		o.null("created_lt")
		o.null("created_at")
	} else {
		o.decimal("created_lt", m.CreatedLt)
		o.decimal("created_at", uint64(m.CreatedAt))
	}
	messageOpcode(&o, m.Opcode)
	if m.Kind == record.Message_INTERNAL {
		o.bool("ihr_disabled", m.IhrDisabled)
		o.bool("bounce", m.Bounce)
		o.bool("bounced", m.Bounced)
	} else {
		o.null("ihr_disabled")
		o.null("bounce")
		o.null("bounced")
	}
	if m.Kind == record.Message_EXTERNAL_IN {
		o.decimal("import_fee", m.ImportFee)
	} else {
		o.null("import_fee")
	}
	o.hashIf("in_msg_tx_hash", opts.InTransaction)
	o.hashIf("out_msg_tx_hash", opts.OutTransaction)
	o.key("message_content")
	o.dst = messageContent(o.dst, m.BodyHash, m.Body)
	o.key("init_state")
	o.dst = messageContent(o.dst, m.InitStateHash, m.InitState)
	o.hashIf("hash_norm", m.HashNorm)
	return o.close()
}

// messageValue writes what only internal messages have.
func messageValue(o *object, m *record.Message) {
	if m.Kind != record.Message_INTERNAL {
		for _, name := range [...]string{"value", "value_extra_currencies", "fwd_fee", "ihr_fee", "extra_flags"} {
			o.null(name)
		}
		return
	}
	o.decimal("value", m.Value)
	o.key("value_extra_currencies")
	o.dst = ExtraCurrencies(o.dst, m.ValueExtra)
	o.decimal("fwd_fee", m.FwdFee)
	o.decimal("ihr_fee", m.IhrFee)
	o.decimalOrNull("extra_flags", m.ExtraFlags)
}

func messageOpcode(o *object, opcode *uint32) {
	if opcode == nil {
		o.null("opcode")
		o.null("decoded_opcode")
		return
	}
	o.key("opcode")
	o.dst = Opcode(o.dst, *opcode)
	if name := OpcodeName(*opcode); name != "" {
		o.word("decoded_opcode", name)
	} else {
		o.null("decoded_opcode")
	}
}

// messageContent appends a MessageContent, null when the message has none.
func messageContent(dst, hash, boc []byte) []byte {
	if len(hash) == 0 && len(boc) == 0 {
		return append(dst, "null"...)
	}
	o := open(dst)
	o.hash("hash", hash)
	o.hash("body", boc)
	o.null("decoded")
	return o.close()
}
