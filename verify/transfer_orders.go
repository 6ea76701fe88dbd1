package verify

import (
	"bytes"
	"encoding/binary"
	"fmt"

	tvmcell "github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/decode/contract"
	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/schema/table"
	"tonscribe/ton/body"
)

// orderDigest is that of what a transaction and its message say.
func orderDigest(t *table.Transfer) uint64 {
	var b bytes.Buffer
	for _, part := range [][]byte{t.Hash, t.Amount, t.ForwardAmount, t.From, t.To, t.Response} {
		b.WriteByte(byte(len(part)))
		b.Write(part)
	}
	var numbers [17]byte
	binary.BigEndian.PutUint32(numbers[:], t.Now)
	binary.BigEndian.PutUint32(numbers[4:], t.TransactionMCSeqno)
	binary.BigEndian.PutUint64(numbers[8:], t.QueryID)
	numbers[16] = byte(flag(t.Aborted))
	b.Write(numbers[:])
	return digest(b.Bytes())
}

// unlikeOrder names the first field in which a row differs from its transaction.
func unlikeOrder(t, order *table.Transfer) string {
	for _, f := range []struct {
		name        string
		have, wants any
	}{
		{"transaction_hash", fmt.Sprintf("%x", t.Hash), fmt.Sprintf("%x", order.Hash)},
		{"now", t.Now, order.Now}, {"transaction_mc_seqno", t.TransactionMCSeqno, order.TransactionMCSeqno},
		{"aborted", t.Aborted, order.Aborted}, {"query_id", t.QueryID, order.QueryID},
		{"amount", fmt.Sprintf("0x%x", t.Amount), fmt.Sprintf("0x%x", order.Amount)},
		{"source", fmt.Sprintf("%x", t.From), fmt.Sprintf("%x", order.From)},
		{"destination", fmt.Sprintf("%x", t.To), fmt.Sprintf("%x", order.To)},
		{"response_destination", fmt.Sprintf("%x", t.Response), fmt.Sprintf("%x", order.Response)},
		{"forward_amount", fmt.Sprintf("0x%x", t.ForwardAmount), fmt.Sprintf("0x%x", order.ForwardAmount)},
	} {
		if f.have != f.wants {
			return fmt.Sprintf("%s is %v, but the transaction says %v", f.name, f.have, f.wants)
		}
	}
	return ""
}

// orderOf reads what a transaction's message orders; nil when it orders nothing
// of the kind.
func orderOf(t *record.Transaction) *table.Transfer {
	m := t.InMsg
	if !carries(t) {
		return nil
	}
	o := &table.Transfer{Account: t.Account, Lt: t.Lt, Hash: t.Hash, Now: t.Now, TransactionMCSeqno: t.McSeqno, Aborted: t.Aborted, From: m.Source}
	switch *m.Opcode {
	case body.JettonTransfer:
		o.Kind = schema.JettonTransfer
	case body.JettonBurn:
		o.Kind = schema.JettonBurn
	case body.NFTTransfer:
		o.Kind = schema.NFTTransfer
	default:
		return nil
	}
	root, err := tvmcell.FromBOC(m.Body)
	if err != nil {
		return nil
	}
	s, err := root.BeginParse()
	if err != nil || !readOrder(o, s) {
		return nil
	}
	return o
}

// carries says that a transaction is one of an internal message with an opcode.
func carries(t *record.Transaction) bool {
	m := t.InMsg
	return t.Type == record.TransactionType_ORD && m.GetKind() == record.Message_INTERNAL && !m.Bounced && m.Opcode != nil
}

// readOrder reads the body: opcode and query_id, then what the kind has (TEP-74
// transfer and burn, TEP-62 transfer), up to what is optional.
func readOrder(t *table.Transfer, s *tvmcell.Slice) bool {
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
	t.QueryID = number(64)
	if t.Kind != schema.NFTTransfer {
		t.Amount = coins()
	}
	if t.Kind != schema.JettonBurn {
		t.To = address()
	}
	t.Response = address()
	if t.Kind == schema.JettonBurn || !ok {
		return ok
	}
	if number(1) == 1 {
		_, err := s.LoadRefCell()
		ok = ok && err == nil
	}
	t.ForwardAmount = coins()
	return ok
}

// carrier is the message that takes the jettons of an order on; nil without one.
func carrierOf(t *table.Transfer, tx *record.Transaction) *record.Message {
	opcode := body.JettonInternalTransfer
	switch {
	case tx.Aborted || t.Kind == schema.NFTTransfer:
		return nil
	case t.Kind == schema.JettonBurn:
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
	e.key, e.digest = placeKey(o.Kind, o.Account, o.Lt), orderDigest(o)
	e.flags |= uint64(o.Kind) << endKind
	if m := carrierOf(o, t); m != nil {
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
func (w *transactionWalk) mustTransfer(o *table.Transfer, t *record.Transaction) bool {
	c := w.contracts[string(schema.AccountID(t.Account))]
	if c == nil || c.record.FirstMcSeqno > t.McSeqno || c.bundle() > w.to || t.StateBefore == nil || !bytes.Equal(t.StateBefore.CodeHash, c.record.CodeHash) {
		return false
	}
	if o.Kind == schema.NFTTransfer {
		return c.record.NftItem != nil
	}
	return c.record.JettonWallet != nil
}
