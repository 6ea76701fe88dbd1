package verify

import (
	"context"
	"encoding/binary"

	"tonscribe/schema"
)

// listRow is a row of transfers_by_party.
type listRow struct {
	list, lt                          uint64
	workchain                         int32
	prefix                            uint64
	mcSeqno, transactionMCSeqno, when uint32
	raw                               []byte
}

// end is the row as it lies in a spill.
func (r *listRow) end(to uint32, flags uint64) transferEnd {
	e := transferEnd{lt: r.lt, prefix: r.prefix, flags: flags, digest: hashOf(uint64(r.mcSeqno), uint64(r.transactionMCSeqno), uint64(r.when), digest(r.raw))}
	raw := binary.BigEndian.AppendUint32(nil, uint32(r.workchain))
	for _, word := range []uint64{r.list, r.prefix, r.lt} {
		raw = binary.BigEndian.AppendUint64(raw, word)
	}
	binary.BigEndian.PutUint64(e.key[:], digest(raw))
	binary.BigEndian.PutUint64(e.key[8:], digest(append(raw, 1)))
	if r.mcSeqno > to {
		e.flags |= endBeyond
	}
	return e
}

// listsOf says which lists a transfer is in.
func listsOf(kind transferKind, o *transfer, put func(owner, parent []byte, direction uint8)) {
	if kind == jettonTransfer && o.aborted {
		return
	}
	put(nil, nil, schema.TakesPart)
	put(o.account, nil, schema.IsTold)
	if len(o.parent) > 0 {
		put(nil, o.parent, schema.TakesPart)
	}
	for direction, owner := range [][]byte{schema.Receives: o.to, schema.Sends: o.from} {
		if len(owner) != schema.AddressSize {
			continue
		}
		put(owner, nil, uint8(direction))
		put(owner, nil, schema.TakesPart)
		if len(o.parent) > 0 {
			put(owner, o.parent, uint8(direction))
		}
	}
}

// keepLists keeps the rows that a transfer makes in transfers_by_party.
func (v *verifier) keepLists(kind transferKind, o *transfer, r *transferRow) (err error) {
	listsOf(kind, o, func(owner, parent []byte, direction uint8) {
		row := listRow{
			list: schema.ListOf(schema.TransferKind(kind), owner, parent, direction), lt: r.lt, workchain: r.workchain, prefix: r.prefix,
			mcSeqno: r.mcSeqno, transactionMCSeqno: o.transactionBundle, when: o.now,
		}
		if len(owner) > 0 && direction == schema.TakesPart {
			row.raw = r.raw
		}
		if err == nil {
			e := row.end(v.to, 0)
			raw := e.entry()
			err = v.copies.add(raw[:])
		}
	})
	return err
}

// spillLists reads transfers_by_party.
func (v *verifier) spillLists(ctx context.Context) error {
	var r listRow
	var newest transferEnd
	keep := func() error {
		if newest.flags == 0 {
			return nil
		}
		v.findings.checked(CheckTransfers, 1)
		entry := newest.entry()
		return v.copies.add(entry[:])
	}
	err := v.each(ctx, `SELECT list, lt, workchain, account_prefix, mc_seqno, transaction_mc_seqno, now, record
		FROM transfers_by_party WHERE transaction_mc_seqno BETWEEN ? AND ?
		ORDER BY list, lt, workchain, account_prefix, mc_seqno `+streaming, []any{v.from, v.to},
		[]any{&r.list, &r.lt, &r.workchain, &r.prefix, &r.mcSeqno, &r.transactionMCSeqno, &r.when, &r.raw}, func() error {
			e := r.end(v.to, endRow)
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
	var what string
	switch {
	case made == nil:
		what = "a row that the tables of transfers do not make"
	case row == nil:
		what = "the row of a list that it belongs to is missing, but the tables of transfers make it"
	case row.digest != made.digest && !row.is(endBeyond) && !made.is(endBeyond):
		what = "a column differs from what the tables of transfers make"
	default:
		return nil
	}
	v.findings.differs(CheckTransfers, "transfers_by_party", ends[0].where(), "%s", what)
	return nil
}
