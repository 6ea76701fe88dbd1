package verify

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"

	tvmcell "github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/decode/contract"
	"tonscribe/schema"
	"tonscribe/schema/record"
)

// Opcodes of TEP-74 and TEP-62.
const (
	opJettonTransfer   = 0x0f8a7ea5
	opInternalTransfer = 0x178d4519
	opJettonBurn       = 0x595f07bc
	opBurnNotification = 0x7bdd97de
	opNFTTransfer      = 0x5fcc3d14
)

// transferKind says what was ordered; it is the place in transferTables.
type transferKind byte

const (
	jettonTransfer transferKind = iota
	jettonBurn
	nftTransfer
	transferKinds
)

// transfer is what a wallet or an item was told to do: as a row of the tables of
// transfers has it, or as its transaction says.
type transfer struct {
	kind                       transferKind
	account                    []byte
	lt                         uint64
	hash                       []byte
	now                        uint32
	mcSeqno, transactionBundle uint32 // mcSeqno of rows only
	aborted                    bool
	queryID                    uint64
	amount, forwardAmount      []byte
	from, to, response         []byte
	parent                     []byte // jetton master or collection
	delivery                   record.Delivery
	receipt                    *record.Receipt
}

// digest is that of what the transaction and its message say.
func (t *transfer) digest() uint64 {
	var b bytes.Buffer
	for _, part := range [][]byte{t.hash, t.amount, t.forwardAmount, t.from, t.to, t.response} {
		b.WriteByte(byte(len(part)))
		b.Write(part)
	}
	var numbers [17]byte
	binary.BigEndian.PutUint32(numbers[:], t.now)
	binary.BigEndian.PutUint32(numbers[4:], t.transactionBundle)
	binary.BigEndian.PutUint64(numbers[8:], t.queryID)
	numbers[16] = byte(flag(t.aborted))
	b.Write(numbers[:])
	return digest(b.Bytes())
}

// unlike names the first field in which a row differs from its transaction.
func (t *transfer) unlike(order *transfer) string {
	for _, f := range []struct {
		name        string
		have, wants any
	}{
		{"transaction_hash", fmt.Sprintf("%x", t.hash), fmt.Sprintf("%x", order.hash)},
		{"now", t.now, order.now}, {"transaction_mc_seqno", t.transactionBundle, order.transactionBundle},
		{"aborted", t.aborted, order.aborted}, {"query_id", t.queryID, order.queryID},
		{"amount", fmt.Sprintf("0x%x", t.amount), fmt.Sprintf("0x%x", order.amount)},
		{"source", fmt.Sprintf("%x", t.from), fmt.Sprintf("%x", order.from)},
		{"destination", fmt.Sprintf("%x", t.to), fmt.Sprintf("%x", order.to)},
		{"response_destination", fmt.Sprintf("%x", t.response), fmt.Sprintf("%x", order.response)},
		{"forward_amount", fmt.Sprintf("0x%x", t.forwardAmount), fmt.Sprintf("0x%x", order.forwardAmount)},
	} {
		if f.have != f.wants {
			return fmt.Sprintf("%s is %v, but the transaction says %v", f.name, f.have, f.wants)
		}
	}
	return ""
}

func transferOfJetton(t *record.JettonTransfer) *transfer {
	return &transfer{jettonTransfer, t.SourceWallet, t.Lt, t.TransactionHash, t.Now, t.McSeqno, t.TransactionMcSeqno, t.Aborted, t.QueryId,
		t.Amount, t.ForwardAmount, t.Source, t.Destination, t.ResponseDestination, t.Master, t.Delivery, t.Receipt}
}

func transferOfBurn(b *record.JettonBurn) *transfer {
	return &transfer{jettonBurn, b.Wallet, b.Lt, b.TransactionHash, b.Now, b.McSeqno, b.TransactionMcSeqno, b.Aborted, b.QueryId,
		b.Amount, nil, b.Owner, nil, b.ResponseDestination, b.Master, b.Delivery, b.Receipt}
}

func transferOfItem(t *record.NFTTransfer) *transfer {
	return &transfer{nftTransfer, t.Item, t.Lt, t.TransactionHash, t.Now, t.McSeqno, t.TransactionMcSeqno, t.Aborted, t.QueryId,
		nil, t.ForwardAmount, t.OldOwner, t.NewOwner, t.ResponseDestination, t.Collection, t.Delivery, nil}
}

// orderOf reads what a transaction's message orders; nil when it orders nothing
// of the kind.
func orderOf(t *record.Transaction) *transfer {
	m := t.InMsg
	if !carries(t) {
		return nil
	}
	o := &transfer{account: t.Account, lt: t.Lt, hash: t.Hash, now: t.Now, transactionBundle: t.McSeqno, aborted: t.Aborted, from: m.Source}
	switch *m.Opcode {
	case opJettonTransfer:
		o.kind = jettonTransfer
	case opJettonBurn:
		o.kind = jettonBurn
	case opNFTTransfer:
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
func (o *transfer) read(s *tvmcell.Slice) bool {
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
	o.queryID = number(64)
	if o.kind != nftTransfer {
		o.amount = coins()
	}
	if o.kind != jettonBurn {
		o.to = address()
	}
	o.response = address()
	if o.kind == jettonBurn || !ok {
		return ok
	}
	if number(1) == 1 {
		_, err := s.LoadRefCell()
		ok = ok && err == nil
	}
	o.forwardAmount = coins()
	return ok
}

// carrier is the message that takes the jettons of an order on; nil without one.
func (o *transfer) carrier(t *record.Transaction) *record.Message {
	opcode := uint32(opInternalTransfer)
	switch {
	case t.Aborted || o.kind == nftTransfer:
		return nil
	case o.kind == jettonBurn:
		opcode = opBurnNotification
	}
	for _, m := range t.OutMsgs {
		if m.Kind == record.Message_INTERNAL && m.Opcode != nil && *m.Opcode == opcode {
			return m
		}
	}
	return nil
}

// Entries of the spills of transfers: 16 bytes that both sides agree on, half of
// the carrier's hash, the place (lt and account prefix), a digest of what is to be
// equal, that of the receipt, and flags.
const transferEntry = 16 + 16 + 5*8

type transferEnd struct {
	key     [16]byte
	carrier [16]byte // zeros without one
	lt      uint64
	prefix  uint64
	digest  uint64
	receipt uint64 // 0 without one
	flags   uint64
}

const (
	endRow     = 1 << iota // of a table of transfers; else of a transaction
	endMust                // a transfer that must be in its table
	endAborted             // of a transaction
	endBeyond              // the row became known after the range
	endKind    = 8         // shift
	endState   = 16        // shift of delivery
)

// entry is the end as it lies in a spill.
func (e *transferEnd) entry() (raw [transferEntry]byte) {
	copy(raw[:], e.key[:])
	copy(raw[16:], e.carrier[:])
	for n, word := range []uint64{e.lt, e.prefix, e.digest, e.receipt, e.flags} {
		binary.BigEndian.PutUint64(raw[32+8*n:], word)
	}
	return raw
}

func transferEndOf(raw []byte) (e transferEnd) {
	copy(e.key[:], raw)
	copy(e.carrier[:], raw[16:])
	for n, word := range []*uint64{&e.lt, &e.prefix, &e.digest, &e.receipt, &e.flags} {
		*word = binary.BigEndian.Uint64(raw[32+8*n:])
	}
	return e
}

func (e *transferEnd) kind() transferKind { return transferKind(e.flags >> endKind & 0xff) }

func (e *transferEnd) delivery() record.Delivery { return record.Delivery(e.flags >> endState & 0xff) }

func (e *transferEnd) is(flag uint64) bool { return e.flags&flag != 0 }

// where finds the row of the table of its kind.
func (e *transferEnd) where() string {
	return fmt.Sprintf("lt = %d AND account_prefix = 0x%x", e.lt, e.prefix)
}

// placeKey is the key of a transaction.
func placeKey(kind transferKind, account []byte, lt uint64) (key [16]byte) {
	raw := binary.BigEndian.AppendUint64(append([]byte{byte(kind)}, account...), lt)
	binary.BigEndian.PutUint64(key[:], digest(raw))
	binary.BigEndian.PutUint64(key[8:], digest(append(raw, 1)))
	return key
}

// receiptDigest is that of the transaction that a carrier led to.
func receiptDigest(account []byte, lt uint64, hash []byte, now, mcSeqno uint32) uint64 {
	raw := binary.BigEndian.AppendUint64(append([]byte{}, account...), lt)
	raw = append(raw, hash...)
	raw = binary.BigEndian.AppendUint32(raw, now)
	return digest(binary.BigEndian.AppendUint32(raw, mcSeqno)) | 1
}

// newTransferSpills makes the files in which transfers meet their transactions.
func (v *verifier) newTransferSpills(ctx context.Context) error {
	if !v.findings.wants(CheckTransfers) {
		return nil
	}
	rows, err := v.number(ctx, "SELECT (SELECT count() FROM jetton_transfers) + (SELECT count() FROM jetton_burns) + (SELECT count() FROM nft_transfers)")
	if err != nil {
		return err
	}
	for _, s := range []struct {
		spill   **spill
		entries uint64
	}{{&v.orders, 2 * rows}, {&v.carriers, 2 * rows}, {&v.copies, 4 * rows}} {
		if *s.spill, err = newSpill(v.Folder, transferEntry, s.entries); err != nil {
			return err
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
	case opInternalTransfer, opBurnNotification:
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

// spillTransfers reads the tables of transfers and keeps what must meet.
func (v *verifier) spillTransfers(ctx context.Context) error {
	if v.orders == nil {
		return nil
	}
	for kind := range transferKinds {
		if err := v.eachTransfer(ctx, kind, v.keepTransfer); err != nil {
			return err
		}
	}
	return v.spillCopies(ctx)
}

// transferRow is the newest row of a transfer.
type transferRow struct {
	workchain int32
	prefix    uint64
	lt        uint64
	mcSeqno   uint32
	columns   uint64
	raw       []byte
}

func (r *transferRow) key() string {
	return fmt.Sprintf("lt = %d AND workchain = %d AND account_prefix = 0x%x", r.lt, r.workchain, r.prefix)
}

// eachTransfer hands out the newest rows of a kind whose transactions are in the
// range.
func (v *verifier) eachTransfer(ctx context.Context, kind transferKind, take func(context.Context, transferKind, *transferRow) error) error {
	t := transferTables[kind]
	var r transferRow
	var newest *transferRow
	query := fmt.Sprintf(`SELECT workchain, account_prefix, lt, mc_seqno, %s, record FROM %s
		WHERE transaction_mc_seqno BETWEEN ? AND ? ORDER BY lt, workchain, account_prefix %s`, t.hashSQL(), t.name, streaming)
	err := v.each(ctx, query, []any{v.from, v.to}, []any{&r.workchain, &r.prefix, &r.lt, &r.mcSeqno, &r.columns, &r.raw}, func() error {
		row := r
		if newest != nil && newest.lt == r.lt && newest.workchain == r.workchain && newest.prefix == r.prefix {
			if newest.mcSeqno == r.mcSeqno && newest.columns != r.columns {
				v.findings.differs(CheckTransfers, t.name, row.key(), "two different rows of mc_seqno %d", r.mcSeqno)
			}
			if r.mcSeqno >= newest.mcSeqno {
				newest = &row
			}
			return nil
		}
		before := newest
		newest = &row
		if before == nil {
			return nil
		}
		return take(ctx, kind, before)
	})
	if err != nil || newest == nil {
		return err
	}
	return take(ctx, kind, newest)
}

// keepTransfer tests a row's columns and keeps it, to meet its transaction.
func (v *verifier) keepTransfer(ctx context.Context, kind transferKind, r *transferRow) error {
	t := transferTables[kind]
	v.findings.checked(CheckTransfers, 1)
	i := transferItem(kind, r.raw)
	if i == nil {
		v.findings.differs(CheckTransfers, t.name, r.key(), "record is no complete transfer")
		return nil
	}
	if t.hash(i) != r.columns {
		want := t.row(i)
		err := v.words(ctx, t, "WHERE "+r.key()+" ORDER BY mc_seqno DESC LIMIT 1", nil, func(row []uint64) error {
			if name, have, want := t.firstColumn(row, want); name != "" {
				v.findings.differs(CheckTransfers, t.name, r.key(), "column %s is %s, the record says %s", name, have, want)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	o := i.transfer
	if len(o.parent) == 0 && kind != nftTransfer {
		v.findings.differs(CheckTransfers, t.name, r.key(), "the jetton master is missing")
	}
	e := transferEnd{key: placeKey(kind, o.account, o.lt), lt: o.lt, prefix: i.prefix, digest: o.digest(),
		flags: endRow | uint64(kind)<<endKind | uint64(o.delivery)<<endState}
	if receipt := o.receipt; receipt != nil {
		e.receipt = receiptDigest(receipt.Account, receipt.Lt, receipt.TransactionHash, receipt.Now, receipt.McSeqno)
		if receipt.McSeqno > v.to {
			e.flags |= endBeyond
		}
	}
	if o.mcSeqno > v.to {
		e.flags |= endBeyond
	}
	raw := e.entry()
	if err := v.orders.add(raw[:]); err != nil || kind != jettonTransfer {
		return err
	}
	return v.keepEnds(o, r)
}

// matchTransfers lets transfers meet their transactions, then what these sent
// meet the transactions that it led to, then transfers by owner theirs.
func (v *verifier) matchTransfers(ctx context.Context) error {
	if v.orders == nil {
		return nil
	}
	for _, s := range []struct {
		*spill
		match func(context.Context, []transferEnd) error
	}{{v.orders, v.matchOrder}, {v.carriers, v.matchCarrier}, {v.copies, v.matchCopies}} {
		for part := range s.parts {
			err := s.groups(part, 16, func(entries [][]byte) error {
				ends := make([]transferEnd, len(entries))
				for n, raw := range entries {
					ends[n] = transferEndOf(raw)
				}
				return s.match(ctx, ends)
			})
			if err != nil {
				return err
			}
			if err := ctx.Err(); err != nil {
				return err
			}
		}
	}
	return nil
}

// sides are the first end that is a row, and the first that is none.
func sides(ends []transferEnd) (row, other *transferEnd) {
	for n := range ends {
		switch {
		case ends[n].is(endRow) && row == nil:
			row = &ends[n]
		case !ends[n].is(endRow) && other == nil:
			other = &ends[n]
		}
	}
	return row, other
}

func (v *verifier) matchOrder(ctx context.Context, ends []transferEnd) error {
	row, order := sides(ends)
	differs := func(format string, args ...any) {
		v.findings.differs(CheckTransfers, transferTables[ends[0].kind()].name, ends[0].where(), format, args...)
	}
	switch {
	case order == nil:
		differs("a row that no transaction of table transactions orders")
		return nil
	case row == nil:
		if order.is(endMust) {
			differs("no row, but the transaction orders it, and table contracts has the account")
		}
		return nil
	case row.digest != order.digest:
		return v.locateTransfer(ctx, row)
	}
	want := record.Delivery_DELIVERED
	switch {
	case order.is(endAborted):
		want = record.Delivery_REFUSED
	case row.kind() == nftTransfer:
	case order.carrier == [16]byte{}:
		want = record.Delivery_NOT_SENT
	default:
		e := *row
		e.key = order.carrier
		raw := e.entry()
		return v.carriers.add(raw[:])
	}
	if row.delivery() != want {
		differs("delivery is %s, but it is %s by its transaction", row.delivery(), want)
	} else if row.receipt != 0 {
		differs("it has a receipt, but the transaction sent nothing")
	}
	return nil
}

// locateTransfer says in what a row differs from its transaction.
func (v *verifier) locateTransfer(ctx context.Context, e *transferEnd) error {
	t := transferTables[e.kind()]
	if v.findings.again(CheckTransfers, t.name) {
		return nil
	}
	row, order, err := v.bothSides(ctx, e)
	if err != nil {
		return err
	}
	what := "it is not what its transaction says"
	if row != nil && order != nil {
		if field := row.unlike(orderOf(order)); field != "" {
			what = field
		}
	}
	v.findings.differs(CheckTransfers, t.name, e.where(), "%s", what)
	return nil
}

// bothSides reads a transfer's row and transaction.
func (v *verifier) bothSides(ctx context.Context, e *transferEnd) (row *transfer, order *record.Transaction, err error) {
	var workchain int32
	var raw []byte
	query := fmt.Sprintf("SELECT workchain, record FROM %s WHERE %s ORDER BY mc_seqno DESC", transferTables[e.kind()].name, e.where())
	err = v.each(ctx, query, nil, []any{&workchain, &raw}, func() error {
		if i := transferItem(e.kind(), raw); row == nil && i != nil && placeKey(e.kind(), i.transfer.account, i.transfer.lt) == e.key {
			row = i.transfer
		}
		return nil
	})
	if err != nil || row == nil {
		return row, nil, err
	}
	workchain = schema.Workchain(row.account)
	err = v.eachTransaction(ctx, &slice{workchain, e.prefix, e.prefix}, v.from, v.to, func(r *transactionRow) error {
		if r.record != nil && r.lt == e.lt && bytes.Equal(r.record.Account, row.account) {
			order = r.record
		}
		return nil
	})
	return row, order, err
}

func (v *verifier) matchCarrier(_ context.Context, ends []transferEnd) error {
	row, arrival := sides(ends)
	if row == nil || row.is(endBeyond) {
		return nil
	}
	want := record.Delivery_IN_PROGRESS
	switch {
	case arrival == nil:
	case arrival.is(endAborted):
		want = record.Delivery_RETURNED
	default:
		want = record.Delivery_DELIVERED
	}
	table := transferTables[row.kind()].name
	switch {
	case row.delivery() != want:
		v.findings.differs(CheckTransfers, table, row.where(), "delivery is %s, but by the transaction that the message led to it is %s", row.delivery(), want)
	case arrival == nil && row.receipt != 0:
		v.findings.differs(CheckTransfers, table, row.where(), "it has a receipt, but the message is in flight")
	case arrival != nil && row.receipt != arrival.receipt:
		v.findings.differs(CheckTransfers, table, row.where(), "its receipt is not the transaction that the message led to, of lt %d", arrival.lt)
	}
	return nil
}

// ownerKey is the key of a row of jetton_transfers_by_owner.
func ownerKey(ownerWorkchain, workchain int32, ownerPrefix, prefix, lt uint64, direction uint8) (key [16]byte) {
	raw := binary.BigEndian.AppendUint32([]byte{direction}, uint32(ownerWorkchain))
	raw = binary.BigEndian.AppendUint32(raw, uint32(workchain))
	for _, word := range []uint64{ownerPrefix, prefix, lt} {
		raw = binary.BigEndian.AppendUint64(raw, word)
	}
	binary.BigEndian.PutUint64(key[:], digest(raw))
	binary.BigEndian.PutUint64(key[8:], digest(append(raw, 1)))
	return key
}

// keepEnds keeps the rows that a transfer makes in jetton_transfers_by_owner.
func (v *verifier) keepEnds(o *transfer, r *transferRow) error {
	for direction, owner := range [][]byte{0: o.to, 1: o.from} {
		if len(owner) != schema.AddressSize {
			continue
		}
		e := transferEnd{lt: r.lt, prefix: r.prefix, digest: copyDigest(r.mcSeqno, o.transactionBundle, o.now, o.aborted, workchainOf(o.parent), prefixOf(o.parent), r.raw)}
		e.key = ownerKey(schema.Workchain(owner), r.workchain, schema.Prefix(schema.AccountID(owner)), r.prefix, r.lt, uint8(direction))
		if r.mcSeqno > v.to {
			e.flags |= endBeyond
		}
		raw := e.entry()
		if err := v.copies.add(raw[:]); err != nil {
			return err
		}
	}
	return nil
}

// copyDigest is that of what a row by owner has beside its key.
func copyDigest(mcSeqno, transactionBundle, now uint32, aborted bool, masterWorkchain, masterPrefix uint64, raw []byte) uint64 {
	return hashOf(uint64(mcSeqno), uint64(transactionBundle), uint64(now), flag(aborted), masterWorkchain, masterPrefix, digest(raw))
}

// spillCopies reads jetton_transfers_by_owner.
func (v *verifier) spillCopies(ctx context.Context) error {
	var ownerWorkchain, workchain, masterWorkchain int32
	var ownerPrefix, prefix, lt, masterPrefix uint64
	var direction uint8
	var mcSeqno, bundle, now uint32
	var aborted bool
	var raw []byte
	var newest transferEnd
	keep := func() error {
		if newest.flags == 0 {
			return nil
		}
		v.findings.checked(CheckTransfers, 1)
		entry := newest.entry()
		return v.copies.add(entry[:])
	}
	err := v.each(ctx, `SELECT owner_workchain, owner_prefix, lt, workchain, account_prefix, direction, mc_seqno, transaction_mc_seqno, now, aborted, master_workchain, master_prefix, record
		FROM jetton_transfers_by_owner WHERE transaction_mc_seqno BETWEEN ? AND ?
		ORDER BY owner_workchain, owner_prefix, lt, workchain, account_prefix, direction, mc_seqno `+streaming, []any{v.from, v.to},
		[]any{&ownerWorkchain, &ownerPrefix, &lt, &workchain, &prefix, &direction, &mcSeqno, &bundle, &now, &aborted, &masterWorkchain, &masterPrefix, &raw}, func() error {
			e := transferEnd{lt: lt, prefix: prefix, flags: endRow, key: ownerKey(ownerWorkchain, workchain, ownerPrefix, prefix, lt, direction),
				digest: copyDigest(mcSeqno, bundle, now, aborted, uint64(int64(masterWorkchain)), masterPrefix, raw)}
			if mcSeqno > v.to {
				e.flags |= endBeyond
			}
			if e.key != newest.key {
				if err := keep(); err != nil {
					return err
				}
			}
			newest = e
			return nil
		})
	if err != nil {
		return err
	}
	return keep()
}

func (v *verifier) matchCopies(_ context.Context, ends []transferEnd) error {
	row, made := sides(ends)
	what := ""
	switch {
	case made == nil:
		what = "a row that table jetton_transfers does not make"
	case row == nil:
		what = "one of its rows, of receiver or sender, is missing, but table jetton_transfers makes it"
	case row.digest != made.digest && !row.is(endBeyond) && !made.is(endBeyond):
		what = "a column differs from what table jetton_transfers makes"
	default:
		return nil
	}
	v.findings.differs(CheckTransfers, "jetton_transfers_by_owner", ends[0].where(), "%s", what)
	return nil
}
