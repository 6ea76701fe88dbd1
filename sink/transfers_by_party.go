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
	list uint64
	// whole rows have the record, too: those of the lists that are asked for most.
	whole bool
}

// lists hands out the transfer's row in every list that it belongs to.
func (t *told) lists(add func(*listed)) {
	put := func(owner, parent []byte, direction uint8) {
		add(&listed{t, schema.ListOf(t.kind, owner, parent, direction), owner != nil && direction == schema.TakesPart})
	}
	put(nil, nil, schema.TakesPart)
	put(t.account, nil, schema.IsTold)
	if len(t.parent) == schema.AddressSize {
		put(nil, t.parent, schema.TakesPart)
	}
	for direction, owner := range [][]byte{schema.Receives: t.to, schema.Sends: t.from} {
		if len(owner) != schema.AddressSize {
			continue
		}
		put(owner, nil, uint8(direction))
		put(owner, nil, schema.TakesPart)
		if len(t.parent) == schema.AddressSize {
			put(owner, t.parent, uint8(direction))
		}
	}
}

func (l *listed) record() string {
	if l.whole {
		return l.raw
	}
	return ""
}

// transfersByParty has the lists of transfers and burns.
var transfersByParty = table[*listed]{
	name: "transfers_by_party",
	columns: []column[*listed]{
		col("list", func(l *listed) uint64 { return l.list }),
		col("lt", func(l *listed) uint64 { return l.lt }),
		col("workchain", func(l *listed) int32 { return l.workchain }),
		col("account_prefix", func(l *listed) uint64 { return l.prefix }),
		col("mc_seqno", func(l *listed) uint32 { return l.mcSeqno }),
		col("transaction_mc_seqno", func(l *listed) uint32 { return l.transactionMCSeqno }),
		col("now", func(l *listed) uint32 { return l.now }),
		col("record", (*listed).record),
	},
}
