package verify

import (
	"bytes"
	"slices"

	tvmcell "github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/schema/table"
	"tonscribe/ton/body"
	toncell "tonscribe/ton/cell"
)

// orderBodies are those that tell a wallet or an item to do something (TEP-74
// transfer and burn, TEP-62 transfer), by opcode, with the names that their
// layouts give to the fields. Bodies are read by the interpreter that detection
// reads them with, whose own tests say what it makes of them; verify's second
// opinion is about which transactions are orders, and what became of these.
var orderBodies = map[uint32]struct {
	kind        schema.TransferKind
	to, forward string
	last        string // of the fields that must be there
}{
	body.JettonTransfer: {schema.JettonTransfer, "destination", "forward_ton_amount", "forward_ton_amount"},
	body.JettonBurn:     {schema.JettonBurn, "", "", "response_destination"},
	body.NFTTransfer:    {schema.NFTTransfer, "new_owner", "forward_amount", "forward_amount"},
}

// orderOf returns what a transaction's message orders, as a jetton transfer of
// any kind; nil when it orders nothing.
func orderOf(t *record.Transaction) (*record.JettonTransfer, schema.TransferKind) {
	if !carries(t) {
		return nil, 0
	}
	o, known := orderBodies[*t.InMsg.Opcode]
	root, err := tvmcell.FromBOC(t.InMsg.Body)
	if !known || err != nil {
		return nil, 0
	}
	r := toncell.NewReader(root)
	r.Skip(32)
	// Senders leave out or mistake what is behind the last field that counts.
	f, _ := body.Of(*t.InMsg.Opcode).Read(r)
	if !slices.ContainsFunc(f, func(f body.Field) bool { return f.Name == o.last }) {
		return nil, 0
	}
	return &record.JettonTransfer{
		SourceWallet: t.Account, Lt: t.Lt, TransactionHash: t.Hash, Now: t.Now, TransactionMcSeqno: t.McSeqno, Aborted: t.Aborted,
		QueryId: f.Uint("query_id"), Amount: f.Amount("amount"), ForwardAmount: f.Amount(o.forward),
		Source: t.InMsg.Source, Destination: f.Address(o.to), ResponseDestination: f.Address("response_destination"),
	}, o.kind
}

// asOrdered is what a row says of its transaction and its message.
func asOrdered(t *table.Transfer) *record.JettonTransfer {
	return &record.JettonTransfer{
		SourceWallet: t.Account, Lt: t.Lt, TransactionHash: t.Hash, Now: t.Now, TransactionMcSeqno: t.TransactionMCSeqno, Aborted: t.Aborted,
		QueryId: t.QueryID, Amount: t.Amount, ForwardAmount: t.ForwardAmount, Source: t.From, Destination: t.To, ResponseDestination: t.Response,
	}
}

func orderDigest(o *record.JettonTransfer) (uint64, error) {
	raw, err := o.MarshalVT()
	return digest(raw), err
}

// carries reports whether a transaction is one of an internal message with an
// opcode.
func carries(t *record.Transaction) bool {
	m := t.InMsg
	return t.Type == record.TransactionType_ORD && m.GetKind() == record.Message_INTERNAL && !m.Bounced && m.Opcode != nil
}

// carrierOf returns the message that takes the jettons of an order on; nil
// without one.
func carrierOf(kind schema.TransferKind, tx *record.Transaction) *record.Message {
	opcode := body.JettonInternalTransfer
	switch {
	case tx.Aborted || kind == schema.NFTTransfer:
		return nil
	case kind == schema.JettonBurn:
		opcode = body.JettonBurnNotification
	}
	for _, m := range tx.OutMsgs {
		if m.Kind == record.Message_INTERNAL && m.Opcode != nil && *m.Opcode == opcode {
			return m
		}
	}
	return nil
}

// keepOrder keeps what a transaction orders, and that it took what another sent.
func (w *transactionWalk) keepOrder(t *record.Transaction) error {
	if w.orders == nil || !carries(t) {
		return nil
	}
	e := transferEnd{lt: t.Lt, prefix: schema.Prefix(schema.AccountID(t.Account))}
	if t.Aborted {
		e.flags |= endAborted
	}
	switch *t.InMsg.Opcode {
	case body.JettonInternalTransfer, body.JettonBurnNotification:
		e.key = halfOf(t.InMsg.Hash)
		e.receipt = receiptDigest(t.Account, t.Lt, t.Hash, t.Now, t.McSeqno)
		return e.addTo(w.carriers)
	}
	o, kind := orderOf(t)
	if o == nil {
		return nil
	}
	var err error
	if e.digest, err = orderDigest(o); err != nil {
		return err
	}
	e.key = transactionEnd(kind, t.Account, t.Lt)
	e.flags |= uint64(kind) << endKind
	if m := carrierOf(kind, t); m != nil {
		e.carrier = halfOf(m.Hash)
	}
	if w.mustTransfer(kind, t) {
		e.flags |= endMust
	}
	return e.addTo(w.orders)
}

// mustTransfer reports whether an order must be in its table: the account is a
// confirmed wallet or item, has been since before, and had the same code.
func (w *transactionWalk) mustTransfer(kind schema.TransferKind, t *record.Transaction) bool {
	c := w.contracts[string(schema.AccountID(t.Account))]
	if c == nil || schema.WalletSince(c.record) > t.McSeqno || c.bundle() > w.to || t.StateBefore == nil || !bytes.Equal(t.StateBefore.CodeHash, c.record.CodeHash) {
		return false
	}
	if kind == schema.NFTTransfer {
		return c.record.NftItem != nil
	}
	return c.record.JettonWallet != nil
}
