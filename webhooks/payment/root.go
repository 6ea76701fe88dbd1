// Package payment is what a merchant registers and a payer signs.
//
// In: what is to be paid, and the bodies of messages. Out: the message that pays it, with
// a body that no other payment has, and the reference that a body carries. The package
// asks nobody: what it needs of the chain (jetton wallets) it is given.
package payment

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/ton/address"
	"tonscribe/ton/body"
	toncell "tonscribe/ton/cell"
)

// Reference names a payment: a UUID of version 7.
type Reference [16]byte

// NewReference makes one.
func NewReference() Reference { return Reference(uuid.Must(uuid.NewV7())) }

// String is the form of answers and webhooks: 8-4-4-4-12 hex digits.
func (r Reference) String() string { return uuid.UUID(r).String() }

func (r Reference) valid() bool {
	return uuid.UUID(r).Version() == 7 && uuid.UUID(r).Variant() == uuid.RFC4122
}

// ErrOrder is the error of an order that no message can be built of.
var ErrOrder = errors.New("this cannot be paid")

// Order is what is to be paid.
type Order struct {
	// Master is the jetton's, nil for the native coin.
	Master *address.Address
	// Amount is in base units.
	Amount *big.Int
	// To gets it, From signs.
	To, From address.Address
	// ToWallet and FromWallet are their jetton wallets.
	ToWallet, FromWallet address.Address
	// QueryID is that of a jetton transfer, nil for one made of the reference.
	QueryID *uint64
	// Comment is for the recipient.
	Comment string
}

// Message is what the payer's wallet is asked to send.
type Message struct {
	To     address.Address
	Amount *big.Int // nanotons
	Body   *cell.Cell
}

const (
	// OpInvoice is invoice_payload of TL-B: id:bits128 url:PaymentProviderUrl.
	OpInvoice = 0x7aa23eb5
	// MaxComment is the longest comment, in bytes.
	MaxComment = 500
	// jettonValue is what goes along with jettons, in nanotons: enough to deploy the
	// recipient's wallet. The rest comes back.
	jettonValue = 100_000_000
	// notified is what the recipient's notification carries, in nanotons.
	notified = 1
	// sign is what the reference follows behind a comment.
	sign = " #"
)

// Build makes the message of an order, whose body carries the reference: by itself
// (invoice_payload) or, with a comment, as text at its end.
func Build(reference Reference, o Order) (Message, error) {
	switch {
	case o.Amount == nil || o.Amount.Sign() <= 0 || o.Amount.Cmp(MaxAmount) > 0:
		return Message{}, fmt.Errorf("%w: an amount of 1 to 2^120-1 base units is wanted", ErrOrder)
	case len(o.Comment) > MaxComment || !utf8.ValidString(o.Comment):
		return Message{}, fmt.Errorf("%w: a comment is UTF-8 of at most %d bytes", ErrOrder, MaxComment)
	}
	note := invoice(reference)
	if o.Comment != "" {
		note = text(o.Comment + sign + base64.RawURLEncoding.EncodeToString(reference[:]))
	}
	if o.Master == nil {
		return Message{o.To, o.Amount, note}, nil
	}
	query := binary.BigEndian.Uint64(reference[8:])
	if o.QueryID != nil {
		query = *o.QueryID
	}
	transfer := cell.BeginCell().MustStoreUInt(uint64(body.JettonTransfer), 32).MustStoreUInt(query, 64).MustStoreBigCoins(o.Amount)
	storeAccount(transfer, o.To)
	storeAccount(transfer, o.From) // gets what is left of the value
	transfer.MustStoreMaybeRef(nil).MustStoreBigCoins(big.NewInt(notified)).MustStoreBoolBit(true).MustStoreRef(note)
	return Message{o.FromWallet, big.NewInt(jettonValue), transfer.EndCell()}, nil
}

func invoice(reference Reference) *cell.Cell {
	return cell.BeginCell().MustStoreUInt(OpInvoice, 32).MustStoreSlice(reference[:], 128).MustStoreUInt(0, 8).EndCell() // none#00
}

// text is a comment in a chain of cells.
func text(s string) *cell.Cell {
	b := cell.BeginCell().MustStoreUInt(body.Comment, 32)
	storeText(b, []byte(s))
	return b.EndCell()
}

func storeText(b *cell.Builder, s []byte) {
	n := min(len(s), int(b.BitsLeft()/8))
	b.MustStoreSlice(s[:n], uint(n)*8)
	if n < len(s) {
		rest := cell.BeginCell()
		storeText(rest, s[n:])
		b.MustStoreRef(rest.EndCell())
	}
}

// storeAccount writes an addr_std.
func storeAccount(b *cell.Builder, a address.Address) {
	b.MustStoreUInt(0b100, 3).MustStoreInt(int64(a.Workchain()), 8).MustStoreSlice(a.ID(), 256)
}

// Carried is the reference that a body carries: that of a native payment, or the one in
// the payload of a jetton's transfer.
func Carried(of *cell.Cell) (reference Reference, jetton, ok bool) {
	r := toncell.NewReader(of)
	switch opcode := uint32(r.Uint(32)); {
	case r.Err() != nil:
		return reference, false, false
	case opcode == body.JettonTransfer:
		fields, err := body.Of(opcode).Read(r)
		if err != nil {
			return reference, false, false
		}
		reference, ok = noted(toncell.NewReader(fields.Payload("forward_payload").Cell))
		return reference, true, ok
	}
	reference, ok = noted(toncell.NewReader(of))
	return reference, false, ok
}

// noted reads what Build makes to carry a reference.
func noted(r *toncell.Reader) (reference Reference, ok bool) {
	switch r.Uint(32) {
	case OpInvoice:
		binary.BigEndian.PutUint64(reference[:8], r.Uint(64))
		binary.BigEndian.PutUint64(reference[8:], r.Uint(64))
	case body.Comment:
		comment := body.Text(r)
		at := strings.LastIndex(comment, sign)
		if at < 0 {
			return reference, false
		}
		raw, err := base64.RawURLEncoding.Strict().DecodeString(strings.TrimSpace(comment[at+len(sign):]))
		if err != nil || len(raw) != len(reference) {
			return reference, false
		}
		copy(reference[:], raw)
	}
	return reference, r.Err() == nil && reference.valid()
}
