package match

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math/big"
	"slices"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/schema/record"
	"tonscribe/ton/address"
	"tonscribe/ton/body"
	toncell "tonscribe/ton/cell"
	"tonscribe/webhooks/payment"
	"tonscribe/webhooks/store"
)

// bundle is the work on one bundle.
type bundle struct {
	*work
	mcSeqno      uint32
	transactions []*record.Transaction // by lt
	sightings    []sighting            // likewise
	references   map[store.Reference]struct{}
	known        map[store.Reference]store.Payment
	traceOf      map[string][]byte // hash of a transaction → id of its trace
	events       []*record.TransferEvent
}

// sighting is a transaction that may have to do with a payment.
type sighting struct {
	tx        *record.Transaction
	reference store.Reference
	bodyHash  []byte
	kind      sightingKind
	own       bool // arrived: the payer's wallet had sent it, with the body that was built
}

type sightingKind byte

const (
	// delivered is a message with a native payment's body at its destination.
	delivered sightingKind = iota
	// ordered is a transfer at a jetton wallet.
	ordered
	// arrived is a message that a jetton wallet had sent for a payment, at its destination.
	arrived
	// refused is a message that a wallet was told to send, in a transaction that did
	// not all of what it was told.
	refused
)

// findSightings finds the bundle's sightings.
func (b *bundle) findSightings() error {
	b.references = map[store.Reference]struct{}{}
	for _, tx := range b.transactions {
		in := tx.InMsg
		if in == nil || in.Bounced {
			continue
		}
		if in.Kind == record.Message_INTERNAL && in.Opcode != nil {
			if err := b.received(tx, in); err != nil {
				return err
			}
		}
		if hasRefused(tx) {
			b.readOrders(tx)
		}
	}
	return nil
}

// received looks at an internal message.
func (b *bundle) received(tx *record.Transaction, in *record.Message) error {
	switch in.GetOpcode() {
	case payment.OpInvoice, body.Comment, body.JettonTransfer:
		root, err := parse(in.Body)
		if err != nil {
			return nil //nolint:nilerr // no body of ours
		}
		if reference, jetton, is := payment.Carried(root); is {
			kind := delivered
			if jetton {
				kind = ordered
			}
			b.see(sighting{tx: tx, reference: store.Reference(reference), bodyHash: in.BodyHash, kind: kind})
		}
	case body.JettonInternalTransfer:
		raw, err := b.store.Get(keyOnTheWay, in.Hash)
		if err != nil || raw == nil {
			return err
		}
		way, err := readOnTheWay(raw)
		if err != nil {
			return err
		}
		b.see(sighting{tx: tx, reference: way.reference, kind: arrived, own: way.own})
		return b.store.Delete(keyOnTheWay, in.Hash)
	}
	return nil
}

func (b *bundle) see(s sighting) {
	b.sightings = append(b.sightings, s)
	b.references[s.reference] = struct{}{}
}

// hasRefused reports whether a wallet's transaction left something undone that its owner
// had signed. What a stranger sends to a wallet and fails there is none: a message from
// outside is accepted by its signature only, one of many payments is from the wallet to
// itself, and actions come after them.
func hasRefused(tx *record.Transaction) bool {
	own := tx.InMsg.Kind == record.Message_EXTERNAL_IN || bytes.Equal(tx.InMsg.Source, tx.Account)
	acted := tx.GetCompute().GetSuccess() && tx.Action != nil && (!tx.Action.Success || tx.Action.SkippedActions > 0)
	return acted || own && tx.Aborted
}

// What is read of a message to a wallet.
const (
	maxToldCells = 4096
	maxBodyCells = 1024
)

// readOrders looks at what a wallet was told to send, wherever its order has it.
func (b *bundle) readOrders(tx *record.Transaction) {
	root, err := parseUpTo(tx.InMsg.Body, maxToldCells)
	if err != nil {
		return
	}
	seen := map[[32]byte]struct{}{}
	for next := []*cell.Cell{root}; len(next) > 0; {
		c := next[len(next)-1]
		next = next[:len(next)-1]
		hash := c.HashKey()
		if _, was := seen[hash]; was {
			continue
		}
		seen[hash] = struct{}{}
		if message, err := body.ReadMessage(c); err == nil && message.Body != nil {
			if reference, _, is := payment.Carried(message.Body); is {
				b.see(sighting{tx: tx, reference: store.Reference(reference), bodyHash: message.Body.Hash(), kind: refused})
			}
		}
		for i := range c.RefsNum() {
			if below, err := c.PeekRef(int(i)); err == nil {
				next = append(next, below)
			}
		}
	}
}

func parse(boc []byte) (*cell.Cell, error) { return parseUpTo(boc, maxBodyCells) }

func parseUpTo(boc []byte, cells int) (*cell.Cell, error) {
	return cell.FromBOCWithOptions(boc, cell.BOCParseOptions{MaxCells: cells})
}

// follow finds where the jettons arrive that wallets send for payments: in this bundle,
// or else in a later one.
func (b *bundle) follow() error {
	coming := map[string]onTheWay{}
	for i := range b.sightings {
		s := &b.sightings[i]
		p, is := b.payment(s)
		if !is || s.kind != ordered || s.tx.Aborted {
			continue
		}
		for _, out := range sent(s.tx, p) {
			coming[string(out.Hash)] = onTheWay{s.reference, s.ownOrder(p)}
		}
	}
	for _, tx := range b.transactions {
		message := string(tx.InMsg.GetHash())
		if way, is := coming[message]; is {
			b.sightings = append(b.sightings, sighting{tx: tx, reference: way.reference, kind: arrived, own: way.own})
			delete(coming, message)
		}
	}
	for message, way := range coming {
		if err := b.store.Set(way.append(nil), keyOnTheWay, []byte(message)); err != nil {
			return err
		}
	}
	slices.SortStableFunc(b.sightings, func(a, b sighting) int { return byTime(a.tx, b.tx) })
	return nil
}

// traces notes which traces the transactions of sightings belong to.
func (b *bundle) traces(records []*record.Record) {
	b.traceOf = map[string][]byte{}
	for i := range b.sightings {
		b.traceOf[string(b.sightings[i].tx.Hash)] = nil
	}
	for _, r := range records {
		for _, step := range r.GetTraces().GetTraces() {
			for _, tx := range step.Transactions {
				if _, wanted := b.traceOf[string(tx.Hash)]; wanted {
					b.traceOf[string(tx.Hash)] = step.Trace.Id
				}
			}
		}
	}
}

// payment is the registered one that a sighting is of.
func (b *bundle) payment(s *sighting) (*store.Payment, bool) {
	p, is := b.known[s.reference]
	switch {
	case !is, s.kind == refused && !s.built(&p):
		return nil, false
	case s.kind == delivered:
		return &p, p.Master == nil
	case s.kind == ordered:
		return &p, p.Master != nil
	}
	return &p, true
}

// built reports whether the body is the one that was built for the payment. Another one
// that carries the reference counts as a stranger's: it pays when it is enough, and fails
// nothing.
func (s *sighting) built(p *store.Payment) bool { return bytes.Equal(s.bodyHash, p.BodyHash[:]) }

// judge works out which of the sightings end a payment.
func (b *bundle) judge() error {
	for i := range b.sightings {
		s := &b.sightings[i]
		p, is := b.payment(s)
		if !is {
			continue
		}
		var err error
		switch s.kind {
		case delivered:
			err = b.delivered(s, p)
		case ordered:
			err = b.ordered(s, p)
		case arrived:
			err = b.arrived(s, p)
		case refused:
			err = b.refused(s, p)
		}
		if err != nil {
			return fmt.Errorf("transaction %x: %w", s.tx.Hash, err)
		}
	}
	return nil
}

// delivered ends a native payment. Coins stay where they are unless they bounce, which a
// recipient whose actions fail does not make them do by itself.
func (b *bundle) delivered(s *sighting, p *store.Payment) error {
	in, own := s.tx.InMsg, s.signed(p)
	switch {
	case !is(s.tx.Account, p.Recipient):
		if own {
			return b.fail(s, p, payment.Elsewhere)
		}
		return nil
	case s.tx.Aborted && s.tx.Bounce != nil:
		if own {
			return b.fail(s, p, payment.FailureOf(s.tx, false))
		}
		return nil
	}
	return b.succeed(s, p, new(big.Int).SetUint64(in.Value), in.Source, own)
}

// ordered ends a payment whose jettons were not sent on.
func (b *bundle) ordered(s *sighting, p *store.Payment) error {
	switch {
	case !s.signed(p):
		return nil
	case !s.ownOrder(p):
		return b.fail(s, p, payment.Elsewhere)
	case s.tx.Aborted:
		return b.fail(s, p, payment.FailureOf(s.tx, true))
	case len(sent(s.tx, p)) > 0:
		return nil
	case s.tx.GetAction().GetSkippedActions() > 0:
		return b.fail(s, p, payment.NoFunds)
	}
	return b.fail(s, p, payment.NotSent)
}

// signed reports whether the payer has sent the body that was built.
func (s *sighting) signed(p *store.Payment) bool {
	return s.built(p) && is(s.tx.InMsg.Source, p.Sender)
}

// ownOrder reports whether it is the payer's jetton wallet that the transfer was asked of,
// by the payer.
func (s *sighting) ownOrder(p *store.Payment) bool {
	return s.signed(p) && is(s.tx.Account, p.SenderWallet)
}

// sent are the messages with jettons to the recipient's jetton wallet.
func sent(tx *record.Transaction, p *store.Payment) (list []*record.Message) {
	for _, out := range tx.OutMsgs {
		if out.Opcode != nil && out.GetOpcode() == body.JettonInternalTransfer && is(out.Destination, p.RecipientWallet) {
			list = append(list, out)
		}
	}
	return list
}

// arrived ends a payment of jettons: their wallet has taken them, or not.
func (b *bundle) arrived(s *sighting, p *store.Payment) error {
	if s.tx.Aborted {
		if s.own {
			return b.fail(s, p, payment.FailureOf(s.tx, true))
		}
		return nil
	}
	root, err := parse(s.tx.InMsg.Body)
	if err != nil {
		return nil //nolint:nilerr // a wallet of that code took it, but it is no transfer
	}
	r := toncell.NewReader(root)
	r.Skip(32)
	fields, _ := body.Of(body.JettonInternalTransfer).Read(r) // what can be read of it
	amount, from := body.Value[*big.Int](fields, "amount"), []byte(fields.Address("from"))
	if s.own {
		from = p.Sender[:]
	}
	if amount == nil || from == nil { // a jetton of somebody's own
		return nil
	}
	return b.succeed(s, p, amount, from, s.own)
}

// refused ends a payment whose wallet did not send it. The same order may be tried again
// and again, by anybody and as another message; it is told once.
func (b *bundle) refused(s *sighting, p *store.Payment) error {
	if !is(s.tx.Account, p.Sender) || slices.ContainsFunc(s.tx.OutMsgs, func(out *record.Message) bool { return bytes.Equal(out.BodyHash, s.bodyHash) }) {
		return nil
	}
	told, err := b.store.Get(keyRefused, s.reference[:], s.tx.InMsg.BodyHash)
	if err != nil || told != nil {
		return err
	}
	if err := b.store.Set([]byte{1}, keyRefused, s.reference[:], s.tx.InMsg.BodyHash); err != nil {
		return err
	}
	if !s.tx.Aborted {
		return b.fail(s, p, payment.NoFunds)
	}
	return b.fail(s, p, payment.FailureOf(s.tx, false))
}

// succeed tells of a payment that has arrived. What a stranger pays counts when it is
// enough; once that was paid, what follows is told as a duplicate.
func (b *bundle) succeed(s *sighting, p *store.Payment, amount *big.Int, from []byte, own bool) error {
	enough := amount.Cmp(p.Amount) >= 0
	if !own && !enough {
		return nil
	}
	paid, err := b.store.Get(keyPaid, s.reference[:])
	if err != nil {
		return err
	}
	duplicate := paid != nil && !bytes.Equal(paid, s.tx.Hash)
	if enough && paid == nil {
		if err := b.store.Set(s.tx.Hash, keyPaid, s.reference[:]); err != nil {
			return err
		}
	}
	return b.addEvent(s, p, ending{amount: amount, from: from, duplicate: duplicate})
}

func (b *bundle) fail(s *sighting, p *store.Payment, why *payment.Failure) error {
	return b.addEvent(s, p, ending{amount: p.Amount, from: p.Sender[:], why: why})
}

func is(account []byte, a address.Address) bool { return bytes.Equal(account, a[:]) }

// onTheWay is what is remembered of a message between jetton wallets.
type onTheWay struct {
	reference store.Reference
	own       bool // the payer's wallet had sent it, with the body that was built
}

func (w onTheWay) append(dst []byte) []byte {
	own := byte(0)
	if w.own {
		own = 1
	}
	return append(append(dst, w.reference[:]...), own)
}

func readOnTheWay(raw []byte) (w onTheWay, err error) {
	if len(raw) != len(w.reference)+1 {
		return w, fmt.Errorf("a message on its way has %d bytes in the store", len(raw))
	}
	copy(w.reference[:], raw)
	w.own = raw[len(w.reference)] == 1
	return w, nil
}

// idOf names an event: the same end of a payment has the same one.
func idOf(p *store.Payment, tx []byte, kind string) []byte {
	h := sha256.New()
	h.Write(p.Merchant[:])
	h.Write(p.Reference[:])
	h.Write(tx)
	h.Write([]byte(kind))
	return h.Sum(nil)[:16]
}
