package verify

import (
	"context"
	"encoding/binary"
	"fmt"

	"tonscribe/schema"
	"tonscribe/schema/record"
)

// transferSize is that of an entry in the spills of transfers, in words.
const transferSize = 9

// transferEnd is a transfer as a row has it, or a transaction.
type transferEnd struct {
	key     [2]uint64 // on which both sides agree
	carrier [2]uint64 // half of its hash, zeros without one
	lt      uint64
	prefix  uint64 // of the account
	digest  uint64 // of what is to be equal
	receipt uint64 // digest, 0 without one
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

// addTo puts the end into a spill.
func (e *transferEnd) addTo(s *spill) error {
	return s.add(e.key[0], e.key[1], e.carrier[0], e.carrier[1], e.lt, e.prefix, e.digest, e.receipt, e.flags)
}

func transferEndOf(w []uint64) transferEnd {
	return transferEnd{[2]uint64(w), [2]uint64(w[2:]), w[4], w[5], w[6], w[7], w[8]}
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

// transactionEnd is the key of a transaction.
func transactionEnd(kind schema.TransferKind, account []byte, lt uint64) [2]uint64 {
	raw := binary.BigEndian.AppendUint64(append([]byte{byte(kind)}, account...), lt)
	return [2]uint64{digest(raw), digest(append(raw, 1))}
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
	rows, err := v.number(ctx, "SELECT (SELECT count() FROM jetton_transfers) + (SELECT count() FROM jetton_burns) + (SELECT count() FROM nft_transfers)")
	if err != nil {
		return err
	}
	for _, s := range []**spill{&v.orders, &v.carriers} {
		if *s, err = newSpill(transferSize, 2*rows); err != nil {
			return err
		}
	}
	return nil
}
