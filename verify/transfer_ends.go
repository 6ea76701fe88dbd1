package verify

import (
	"context"
	"encoding/binary"
	"fmt"

	"tonscribe/schema"
	"tonscribe/schema/record"
)

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

func (e *transferEnd) kind() schema.TransferKind {
	return schema.TransferKind(e.flags >> endKind & 0xff)
}

func (e *transferEnd) delivery() record.Delivery { return record.Delivery(e.flags >> endState & 0xff) }

func (e *transferEnd) is(flag uint64) bool { return e.flags&flag != 0 }

// where finds the row of the table of its kind.
func (e *transferEnd) where() string {
	return fmt.Sprintf("lt = %d AND account_prefix = 0x%x", e.lt, e.prefix)
}

// placeKey is the key of a transaction.
func placeKey(kind schema.TransferKind, account []byte, lt uint64) (key [16]byte) {
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
	}{{&v.orders, 2 * rows}, {&v.carriers, 2 * rows}} {
		if *s.spill, err = newSpill(v.Folder, transferEntry, s.entries); err != nil {
			return err
		}
	}
	return nil
}
