package verify

import (
	"context"
	"encoding/binary"

	"tonscribe/schema"
)

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
