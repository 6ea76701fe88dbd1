package match

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math/big"
	"time"

	"tonscribe/schema/record"
	"tonscribe/ton/address"
	"tonscribe/webhooks/event"
	"tonscribe/webhooks/payment"
	"tonscribe/webhooks/store"
)

// ending is how a payment ended.
type ending struct {
	amount    *big.Int // in base units
	from      []byte   // whose it was
	why       *payment.Failure
	duplicate bool
}

// addEvent adds the event of an end.
func (b *bundle) addEvent(s *sighting, p *store.Payment, e ending) error {
	trace := b.traceOf[string(s.tx.Hash)]
	if len(trace) == 0 {
		return fmt.Errorf("bundle %d: the topic of traces has no trace of it", b.mcSeqno)
	}
	happened := event.Time{Time: time.Unix(int64(s.tx.Now), 0)}
	told := &event.Event{Type: event.TransferCompleted, Timestamp: happened, Data: event.Data{
		Amount: payment.Text(e.amount, p.Decimals), RawAmount: e.amount.String(),
		SenderAddr: written(e.from, p.Sender, p.SenderText), RecipientAddr: written(p.Recipient[:], p.Recipient, p.RecipientText),
		Asset: b.ticker, AssetTicker: b.ticker, Status: event.Success,
		Reference: payment.Reference(p.Reference).String(), BodyBase64Hash: base64.StdEncoding.EncodeToString(p.BodyHash[:]),
		TxHash: hex.EncodeToString(s.tx.Hash), TraceID: hex.EncodeToString(trace),
		CommentToSender: p.CommentToSender, CommentToRecipient: p.CommentToRecipient, Date: happened,
	}}
	if p.Master != nil {
		told.Data.Asset, told.Data.AssetTicker = payment.Address(p.Master[:]), p.Ticker
	}
	out := &record.TransferEvent{
		Id: idOf(p, s.tx.Hash, told.Type), Merchant: p.Merchant[:], Reference: p.Reference[:], BodyHash: p.BodyHash[:],
		TxHash: s.tx.Hash, TraceId: trace, McSeqno: b.mcSeqno, Duplicate: e.duplicate, Happened: uint64(s.tx.Now),
	}
	if e.why != nil {
		told.Data.Status, told.Data.ErrorCode, told.Data.ErrorMessage = event.Failed, &e.why.Code, e.why.Text
		out.Status, out.ErrorCode, out.HasError = record.TransferStatus_TRANSFER_FAILED, e.why.Code, true
	}
	var err error
	out.Body, err = told.Encode()
	b.events = append(b.events, out)
	return err
}

// written is an address as the merchant wrote it, where it is the one that he wrote.
func written(account []byte, registered address.Address, text string) string {
	if text != "" && is(account, registered) {
		return text
	}
	return payment.Address(account)
}
