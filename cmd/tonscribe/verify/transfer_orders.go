package verify

import (
	"bytes"

	tvmcell "github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/decode/contract"
	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/ton/body"
)

// orderOf reads what a transaction's message orders; nil when it orders nothing
// of the kind.
func orderOf(t *record.Transaction) *transfer {
	m := t.InMsg
	if !carries(t) {
		return nil
	}
	o := &transfer{account: t.Account, lt: t.Lt, hash: t.Hash, now: t.Now, transactionBundle: t.McSeqno, aborted: t.Aborted, from: m.Source}
	switch *m.Opcode {
	case body.JettonTransfer:
		o.kind = jettonTransfer
	case body.JettonBurn:
		o.kind = jettonBurn
	case body.NFTTransfer:
		o.kind = nftTransfer
	default:
		return nil
	}
	root, err := tvmcell.FromBOC(m.Body)
	if err != nil {
		return nil
	}
	s, err := root.BeginParse()
	if err != nil || !o.read(s) {
		return nil
	}
	return o
}

// carries says that a transaction is one of an internal message with an opcode.
func carries(t *record.Transaction) bool {
	m := t.InMsg
	return t.Type == record.TransactionType_ORD && m.GetKind() == record.Message_INTERNAL && !m.Bounced && m.Opcode != nil
}

// read reads the body: opcode and query_id, then what the kind has (TEP-74
// transfer and burn, TEP-62 transfer), up to what is optional.
func (t *transfer) read(s *tvmcell.Slice) bool {
	ok := true
	number := func(bits uint) uint64 {
		n, err := s.LoadUInt(bits)
		ok = ok && err == nil
		return n
	}
	coins := func() []byte {
		n, err := s.LoadBigCoins()
		if err != nil {
			ok = false
			return nil
		}
		return n.Bytes()
	}
	address := func() []byte {
		a, is := contract.ReadAddress(s)
		ok = ok && is
		return a
	}
	number(32)
	t.queryID = number(64)
	if t.kind != nftTransfer {
		t.amount = coins()
	}
	if t.kind != jettonBurn {
		t.to = address()
	}
	t.response = address()
	if t.kind == jettonBurn || !ok {
		return ok
	}
	if number(1) == 1 {
		_, err := s.LoadRefCell()
		ok = ok && err == nil
	}
	t.forwardAmount = coins()
	return ok
}

// carrier is the message that takes the jettons of an order on; nil without one.
func (t *transfer) carrier(tx *record.Transaction) *record.Message {
	opcode := uint32(body.JettonInternalTransfer)
	switch {
	case tx.Aborted || t.kind == nftTransfer:
		return nil
	case t.kind == jettonBurn:
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
		copy(e.key[:], t.InMsg.Hash)
		e.receipt = receiptDigest(t.Account, t.Lt, t.Hash, t.Now, t.McSeqno)
		raw := e.entry()
		return w.carriers.add(raw[:])
	}
	o := orderOf(t)
	if o == nil {
		return nil
	}
	e.key, e.digest = placeKey(o.kind, o.account, o.lt), o.digest()
	e.flags |= uint64(o.kind) << endKind
	if m := o.carrier(t); m != nil {
		copy(e.carrier[:], m.Hash)
	}
	if w.mustTransfer(o, t) {
		e.flags |= endMust
	}
	raw := e.entry()
	return w.orders.add(raw[:])
}

// mustTransfer says that an order must be in its table: the account is a
// confirmed wallet or item, has been since before, and had the same code.
func (w *transactionWalk) mustTransfer(o *transfer, t *record.Transaction) bool {
	c := w.contracts[string(schema.AccountID(t.Account))]
	if c == nil || c.record.FirstMcSeqno > t.McSeqno || c.mcSeqno > w.to || t.StateBefore == nil || !bytes.Equal(t.StateBefore.CodeHash, c.record.CodeHash) {
		return false
	}
	if o.kind == nftTransfer {
		return c.record.NftItem != nil
	}
	return c.record.JettonWallet != nil
}
