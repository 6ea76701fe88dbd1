package liteserver

import (
	"testing"

	"github.com/xssnick/tonutils-go/tl"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/ton"

	"tonscribe/devnet/chain"
)

// BenchmarkAnswer is the work of a query without the network: parsing, proofs,
// serialization.
func BenchmarkAnswer(b *testing.B) {
	people := make([]person, 200)
	for i := range people {
		people[i] = newPerson(byte(i))
	}
	d := newDevnet(b, chain.Options{}, people...)
	head, err := d.head()
	if err != nil {
		b.Fatal(err)
	}
	who := ton.AccountID{ID: people[0].address.Data()}
	var empty tlb.Stack
	params, err := empty.ToCell()
	if err != nil {
		b.Fatal(err)
	}
	for name, query := range map[string]tl.Serializable{
		"getMasterchainInfo": ton.GetMasterchainInf{},
		"getBlock":           ton.GetBlockData{ID: head.ID},
		"lookupBlock":        ton.LookupBlock{Mode: bySeqno, ID: &ton.BlockInfoShort{Workchain: masterchain, Shard: wholeShard, Seqno: 2}},
		"getAllShardsInfo":   ton.GetAllShardsInfo{ID: head.ID},
		"getAccountState":    ton.GetAccountState{ID: head.ID, Account: who},
		"runSmcMethod":       ton.RunSmcMethod{Mode: 7, ID: head.ID, Account: who, MethodID: tlb.MethodNameHash("seqno"), Params: params.ToBOC()},
		"getConfigAll":       ton.GetConfigAll{BlockID: head.ID},
		"getBlockProof":      ton.GetBlockProof{Mode: 1, KnownBlock: d.first(b), TargetBlock: head.ID},
	} {
		body := bodyOf(b, query)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				answer := d.answer(b.Context(), body)
				if failure, ok := answer.(ton.LSError); ok {
					b.Fatal(failure)
				}
				if _, err := encode(make([]byte, 32), answer); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func (d *devnet) first(t testing.TB) *ton.BlockIDExt {
	t.Helper()
	meta, err := d.store.BySeqno(masterchain, 1<<63, 1)
	if err != nil {
		t.Fatal(err)
	}
	return meta.ID
}
