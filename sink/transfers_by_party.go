package sink

import (
	"tonscribe/schema"
)

// told is a transfer or a burn as far as lists of all kinds tell it: the
// transaction of the jetton wallet or of the item, and who takes part.
type told struct {
	kind      schema.TransferKind
	account   []byte
	workchain int32
	prefix    uint64
	lt        uint64

	mcSeqno, transactionMCSeqno, now uint32

	from, to, parent []byte
	raw              string
}

// listed is a row of a list.
type listed struct {
	*told
	owner, parent party
	direction     uint8
}

// lists hands out the transfer's row in every list that it belongs to.
func (t *told) lists(add func(*listed)) {
	parent, nobody := partyOf(t.parent), partyOf(nil)
	put := func(owner, parent party, direction uint8) { add(&listed{t, owner, parent, direction}) }
	put(nobody, nobody, schema.TakesPart)
	put(partyOf(t.account), nobody, schema.IsTold)
	if len(t.parent) == schema.AddressSize {
		put(nobody, parent, schema.TakesPart)
	}
	for direction, a := range [][]byte{schema.Receives: t.to, schema.Sends: t.from} {
		if len(a) != schema.AddressSize {
			continue
		}
		owner := partyOf(a)
		put(owner, nobody, uint8(direction))
		put(owner, nobody, schema.TakesPart)
		if len(t.parent) == schema.AddressSize {
			put(owner, parent, uint8(direction))
		}
	}
}

// record is there in the lists that are asked for most.
func (l *listed) record() string {
	if l.direction == schema.TakesPart && l.owner.workchain != noWorkchain {
		return l.raw
	}
	return ""
}

// transfersByParty has the lists of transfers and burns.
var transfersByParty = table[*listed]{
	name: "transfers_by_party",
	columns: []column[*listed]{
		col("kind", func(l *listed) int8 { return int8(l.kind) }),
		col("owner_workchain", func(l *listed) int32 { return l.owner.workchain }),
		col("owner_prefix", func(l *listed) uint64 { return l.owner.prefix }),
		col("parent_workchain", func(l *listed) int32 { return l.parent.workchain }),
		col("parent_prefix", func(l *listed) uint64 { return l.parent.prefix }),
		col("direction", func(l *listed) uint8 { return l.direction }),
		col("lt", func(l *listed) uint64 { return l.lt }),
		col("workchain", func(l *listed) int32 { return l.workchain }),
		col("account_prefix", func(l *listed) uint64 { return l.prefix }),
		col("mc_seqno", func(l *listed) uint32 { return l.mcSeqno }),
		col("transaction_mc_seqno", func(l *listed) uint32 { return l.transactionMCSeqno }),
		col("now", func(l *listed) uint32 { return l.now }),
		col("record", (*listed).record),
	},
}
