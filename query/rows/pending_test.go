package rows

import (
	"context"
	"encoding/binary"
	"testing"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/decode/action"
	cascade "tonscribe/decode/pending"
	"tonscribe/schema/record"
	"tonscribe/ton/address"
)

func numbered(kind byte, n int) []byte {
	var id [32]byte
	id[0] = kind
	binary.BigEndian.PutUint64(id[24:], uint64(n))
	a := address.New(0, id[:])
	return a[:]
}

// Messages to many sales name none of the items that these sell.
func TestContractsThatActionsLeadToAreReadTogether(t *testing.T) {
	const sales = 50
	const updates = 0x6c6c2080
	root := &record.Transaction{Hash: numbered('t', 0)[:32], Account: numbered('a', 0), Lt: 1, InMsg: &record.Message{Kind: record.Message_EXTERNAL_IN, Hash: numbered('m', 0)[:32], Destination: numbered('a', 0)}}
	foreseen := []*record.Transaction{root}
	for i := 1; i <= sales; i++ {
		body := cell.BeginCell().MustStoreUInt(updates, 32).MustStoreUInt(0, 64).MustStoreCoins(1).MustStoreCoins(1).MustStoreCoins(1).EndCell()
		m := &record.Message{Kind: record.Message_INTERNAL, Hash: numbered('m', i)[4:36], Source: root.Account, Destination: numbered('s', i), Body: body.ToBOC(), BodyHash: body.Hash(), Opcode: new(uint32(updates))}
		root.OutMsgs = append(root.OutMsgs, m)
		foreseen = append(foreseen, &record.Transaction{Hash: numbered('t', i)[4:36], Account: m.Destination, Lt: uint64(1 + i), InMsg: m})
	}
	reads, items := 0, map[address.Address]bool{}
	f := &facts{Context: t.Context(), known: map[address.Address]*record.Contract{}, read: func(_ context.Context, wanted []address.Address) (map[address.Address]*record.Contract, error) {
		reads++
		found := map[address.Address]*record.Contract{}
		for _, a := range wanted {
			switch a.ID()[0] {
			case 's':
				n := int(binary.BigEndian.Uint64(a.ID()[24:]))
				found[a] = &record.Contract{Sale: &record.Sale{Item: numbered('i', n)}}
			case 'i':
				items[a] = true
			}
		}
		return found, nil
	}}
	rows, err := f.rows([]*cascade.Merged{cascade.Merge(foreseen, nil)}, func(*action.Action) bool { return true })
	if err != nil || len(rows) != 1 || len(rows[0].Actions) < sales || len(items) != sales {
		t.Fatalf("%v, %d traces, %d items are read; want actions of one trace with %d", err, len(rows), len(items), sales)
	}
	if reads > 4 {
		t.Errorf("%d reads of contracts, want them together", reads)
	}
}
