package detect

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/decode/contract"
	"tonscribe/schema/record"
	"tonscribe/ton/body"
	toncell "tonscribe/ton/cell"
)

// transferKind is which of the three a transfer is.
type transferKind byte

const (
	jettonTransfer transferKind = iota
	jettonBurn
	nftTransfer
)

// row is the record of a transfer.
type row interface {
	MarshalVT() ([]byte, error)
	UnmarshalVT([]byte) error
	SizeVT() int
}

// transferKinds are what the kinds of transfers differ in.
var transferKinds = [...]struct {
	name    string // of a row, in metrics
	carrier uint32 // opcode of the message that carries jettons, 0 for none
	claim   contract.ClaimKind
	empty   func() row
	read    func(*record.Transaction, *toncell.Reader) row // nil for what is no order
	put     func(*record.ContractBatch, row)
}{
	jettonTransfer: {"jetton transfer", body.JettonInternalTransfer, contract.ClaimJettonWallet,
		func() row { return &record.JettonTransfer{} }, readJettonTransfer,
		func(b *record.ContractBatch, r row) {
			b.JettonTransfers = append(b.JettonTransfers, r.(*record.JettonTransfer))
		}},
	jettonBurn: {"jetton burn", body.JettonBurnNotification, contract.ClaimJettonWallet,
		func() row { return &record.JettonBurn{} }, readJettonBurn,
		func(b *record.ContractBatch, r row) { b.JettonBurns = append(b.JettonBurns, r.(*record.JettonBurn)) }},
	nftTransfer: {"NFT transfer", 0, contract.ClaimNFTItem,
		func() row { return &record.NFTTransfer{} }, readNFTTransfer,
		func(b *record.ContractBatch, r row) { b.NftTransfers = append(b.NftTransfers, r.(*record.NFTTransfer)) }},
}

// transfer is a transfer or a burn.
type transfer struct {
	account []byte
	lt      uint64
	kind    transferKind
	held    bool // the account is not confirmed yet
	dropped bool // the account turned out to be nothing of the kind
	row     row
	message []byte // hash of the message that carries the jettons, empty when it has arrived
	stored  bool
	as      *entry // what the account was confirmed as with this bundle
}

// later returns the fields of the row that are found out after its order was read:
// the bundle of the record, the jetton master or the collection, and what became
// of the order.
func (o *transfer) later() (mcSeqno *uint32, parent *[]byte, delivery *record.Delivery, receipt **record.Receipt) {
	switch r := o.row.(type) {
	case *record.JettonTransfer:
		return &r.McSeqno, &r.Master, &r.Delivery, &r.Receipt
	case *record.JettonBurn:
		return &r.McSeqno, &r.Master, &r.Delivery, &r.Receipt
	}
	r := o.row.(*record.NFTTransfer)
	return &r.McSeqno, &r.Collection, &r.Delivery, new(*record.Receipt) // no message follows
}

func transferKey(account []byte, lt uint64) []byte {
	return binary.BigEndian.AppendUint64(append([]byte{}, account...), lt)
}

// follow takes the bundle's transactions: orders to jetton wallets and items,
// and the arrival of what they sent.
func (w *work) follow(context.Context) error {
	slices.SortFunc(w.now.transactions, func(a, b *record.Transaction) int {
		return cmp.Or(cmp.Compare(a.Lt, b.Lt), bytes.Compare(a.Account, b.Account))
	})
	for _, t := range w.now.transactions {
		var err error
		switch opcode := opcodeOf(t); opcode {
		case body.JettonTransfer, body.JettonBurn, body.NFTTransfer:
			err = w.order(t)
		case body.JettonInternalTransfer, body.JettonBurnNotification:
			err = w.arrive(t)
		}
		if err != nil {
			return err
		}
	}
	return w.release()
}

// opcodeOf is that of the internal message that a transaction received, 0 for none.
func opcodeOf(t *record.Transaction) uint32 {
	m := t.InMsg
	if t.Type != record.TransactionType_ORD || m.GetKind() != record.Message_INTERNAL || m.Bounced {
		return 0
	}
	return m.GetOpcode()
}

// standing says what an account is to an order of a kind: as is what it was when it
// was confirmed, nil when it was not.
func (w *work) standing(account []byte, kind transferKind) (as *entry, held bool, err error) {
	e, err := w.entry(account)
	if err != nil {
		return nil, false, err
	}
	c := w.changes[string(account)]
	for _, e := range []*entry{e, c.before(kind)} {
		is, waits := e.takes(kind)
		if is {
			return e, false, nil
		}
		held = held || waits
	}
	unread := c != nil && (c.unread && e == nil || c.former != nil && c.former.unread)
	return nil, held || unread, nil
}

// takes reports whether an entry is what orders of a kind are for, or may be found to be.
func (e *entry) takes(kind transferKind) (is, waits bool) {
	if e == nil {
		return false, false
	}
	has := e.facts.JettonWallet != nil
	if kind == nftTransfer {
		has = e.facts.NftItem != nil
	}
	state := e.claims[transferKinds[kind].claim]
	return has && (state == confirmed || state == unclaimed), has && state == waiting
}

// before is what an account was to orders of a kind before the bundle, nil where it claims
// the same still.
func (c *change) before(kind transferKind) *entry {
	claim := transferKinds[kind].claim
	switch {
	case c == nil || c.old == nil || c.new != nil && claim.Same(c.old.facts, c.new.facts):
		return nil
	case c.former != nil && claim.Parent(c.former.new.facts) != nil:
		return c.former.new
	}
	return c.old
}

// orderOf reads the order of a transaction, nil where it has none.
func orderOf(t *record.Transaction) (kind transferKind, order row) {
	switch opcodeOf(t) {
	case body.JettonTransfer:
		kind = jettonTransfer
	case body.JettonBurn:
		kind = jettonBurn
	case body.NFTTransfer:
		kind = nftTransfer
	default:
		return 0, nil
	}
	root, err := cell.FromBOC(t.InMsg.Body)
	if err != nil {
		return 0, nil // a stranger's body that is none
	}
	r := toncell.NewReader(root)
	r.Skip(32) // the opcode
	return kind, transferKinds[kind].read(t, r)
}

// order takes a message that tells a wallet or an item to send something.
func (w *work) order(t *record.Transaction) error {
	kind, row := orderOf(t)
	if row == nil {
		return nil
	}
	as, held, err := w.standing(t.Account, kind)
	if err != nil || as == nil && !held {
		return err
	}
	o := &transfer{account: t.Account, lt: t.Lt, kind: kind, held: held, row: row, as: as}
	if held {
		w.metrics.held.WithLabelValues("held").Inc()
		if err := w.hold(t.Account); err != nil {
			return err
		}
	}
	w.send(o, t)
	w.transfers[string(transferKey(t.Account, t.Lt))] = o
	if len(o.message) == 0 {
		return nil
	}
	return w.store.Set(transferKey(t.Account, t.Lt), keyMessage, o.message)
}

// hold notes that transfers wait for an account of which nothing is known.
func (w *work) hold(account []byte) error {
	if e, err := w.entry(account); err != nil || e != nil {
		return err
	}
	return w.store.Set(nil, keyHeld, account)
}

// send finds out what became of an order in its own transaction.
func (w *work) send(o *transfer, t *record.Transaction) {
	carrier := transferKinds[o.kind].carrier
	delivery := record.Delivery_NOT_SENT
	switch {
	case t.Aborted:
		delivery = record.Delivery_REFUSED
	case carrier == 0:
		delivery = record.Delivery_DELIVERED
	default:
		for _, m := range t.OutMsgs {
			if m.Kind == record.Message_INTERNAL && m.Opcode != nil && *m.Opcode == carrier {
				delivery, o.message = record.Delivery_IN_PROGRESS, m.Hash
				break
			}
		}
	}
	o.deliver(delivery, nil)
}

func (o *transfer) deliver(d record.Delivery, r *record.Receipt) {
	_, _, delivery, receipt := o.later()
	*delivery, *receipt = d, r
}

// arrive takes the transaction of a message that carries jettons.
func (w *work) arrive(t *record.Transaction) error {
	key, err := w.store.Get(keyMessage, t.InMsg.Hash)
	if err != nil || key == nil {
		return err
	}
	if err := w.store.Delete(keyMessage, t.InMsg.Hash); err != nil {
		return err
	}
	o, err := w.transfer(key)
	if err != nil || o == nil {
		return err
	}
	delivery := record.Delivery_DELIVERED
	if t.Aborted {
		delivery = record.Delivery_RETURNED
	}
	o.message = nil
	o.deliver(delivery, &record.Receipt{Account: t.Account, Lt: t.Lt, TransactionHash: t.Hash, Now: t.Now, McSeqno: t.McSeqno})
	return nil
}

// transfer makes a stored one a part of the bundle.
func (w *work) transfer(key []byte) (*transfer, error) {
	if o := w.transfers[string(key)]; o != nil {
		return o, nil
	}
	raw, err := w.store.Get(keyTransfer, key)
	if err != nil || raw == nil {
		return nil, err
	}
	o, err := decodeTransfer(key, raw)
	if err != nil {
		return nil, err
	}
	w.transfers[string(key)] = o
	return o, nil
}

// decision is what of an account's transfers need not wait any more: those of what it is now,
// and those of what it claimed before, by the lt up to which it did.
type decision struct {
	now     bool
	formers map[uint64]*change
}

// release lets go the transfers of accounts that are confirmed now, and drops
// those of accounts that are not what they claimed.
func (w *work) release() error {
	decided := map[string]*decision{}
	of := func(account []byte) *decision {
		if decided[string(account)] == nil {
			decided[string(account)] = &decision{formers: map[uint64]*change{}}
		}
		return decided[string(account)]
	}
	for _, c := range w.ordered() {
		if settled, err := w.resolved(c); err != nil {
			return err
		} else if settled {
			of(c.account).now = true
		}
	}
	for _, c := range w.formers {
		if c.opened || slices.ContainsFunc(c.new.claims[:], func(s claimState) bool { return s == confirmed || s == denied }) {
			of(c.account).formers[c.until] = c
		}
	}
	for _, account := range slices.Sorted(maps.Keys(decided)) {
		if err := w.decide([]byte(account), decided[account]); err != nil {
			return err
		}
	}
	return nil
}

// decide lets go or drops transfers of an account. Whoever makes an account claim much has no
// more gone through for it than there is to be decided.
func (w *work) decide(account []byte, d *decision) error {
	untils, err := w.untils(account)
	if err != nil {
		return err
	}
	var after []byte
	if len(d.formers) == 0 && len(untils) > 0 {
		after = binary.BigEndian.AppendUint64(nil, untils[len(untils)-1])
	}
	type held struct {
		key    []byte
		former *change
	}
	var list []held
	if err := w.store.Each(append([]byte{keyTransfer}, account...), after, func(lt, raw []byte) bool {
		for len(untils) > 0 && untils[0] < binary.BigEndian.Uint64(lt) {
			untils = untils[1:]
		}
		o := held{key: slices.Concat(account, lt)}
		if len(untils) > 0 {
			if o.former = d.formers[untils[0]]; o.former == nil {
				return true
			}
		} else if !d.now {
			return false
		}
		if isHeld(raw) {
			list = append(list, o)
		}
		return true
	}); err != nil {
		return err
	}
	for _, o := range list {
		if err := w.decideOne(o.key, o.former); err != nil {
			return err
		}
	}
	return nil
}

// decideOne lets go or drops a transfer, of what its account claimed before, nil for what it
// is now, or lets it wait.
func (w *work) decideOne(key []byte, former *change) error {
	o, err := w.transfer(key)
	if err != nil {
		return err
	}
	as, held, err := w.standingOf(o, former)
	switch {
	case err != nil:
		return err
	case as != nil:
		o.held, o.as = false, as
		w.metrics.held.WithLabelValues("released").Inc()
	case !held:
		o.held, o.dropped = false, true
		w.metrics.held.WithLabelValues("dropped").Inc()
	}
	return nil
}

// standingOf is standing for a transfer of what its account claimed before, nil for what it
// is now.
func (w *work) standingOf(o *transfer, former *change) (as *entry, held bool, err error) {
	if former == nil {
		return w.standing(o.account, o.kind)
	}
	is, held := former.new.takes(o.kind)
	if is {
		as = former.new
	}
	return as, held, nil
}

// resolved reports whether an account may have transfers that wait for it, and that
// something has come of it.
func (w *work) resolved(c *change) (bool, error) {
	switch {
	case c.unread:
		return false, nil
	case c.old != nil:
		return c.old.claims != c.new.claims, nil
	}
	held, err := w.store.Get(keyHeld, c.account)
	if err != nil || held == nil {
		return false, err
	}
	return true, w.store.Delete(keyHeld, c.account)
}

// A stored transfer is kind, whether it is held, the length of the hash of its
// message, the hash, and the row.
func (o *transfer) encode() ([]byte, error) {
	held := byte(0)
	if o.held {
		held = 1
	}
	out := append([]byte{byte(o.kind), held, byte(len(o.message))}, o.message...)
	row, err := o.row.MarshalVT()
	if err != nil {
		return nil, fmt.Errorf("transfer %x %d: %w", o.account, o.lt, err)
	}
	return append(out, row...), nil
}

// isHeld reports whether a stored transfer is.
func isHeld(raw []byte) bool { return len(raw) > 1 && raw[1] == 1 }

var errTransfer = errors.New("contracts: store: a transfer that does not decode")

func decodeTransfer(key, raw []byte) (*transfer, error) {
	if len(key) != 36+8 || len(raw) < 3 || len(raw) < 3+int(raw[2]) {
		return nil, errTransfer
	}
	o := &transfer{account: key[:36], lt: binary.BigEndian.Uint64(key[36:]), kind: transferKind(raw[0]), held: isHeld(raw),
		message: raw[3 : 3+int(raw[2])], stored: true}
	if int(o.kind) >= len(transferKinds) {
		return nil, errTransfer
	}
	o.row = transferKinds[o.kind].empty()
	if err := o.row.UnmarshalVT(raw[3+len(o.message):]); err != nil {
		return nil, fmt.Errorf("%w: %w", errTransfer, err)
	}
	return o, nil
}
