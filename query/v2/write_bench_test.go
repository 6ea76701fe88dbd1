package v2

import (
	"testing"

	"tonscribe/query/api"
	"tonscribe/query/node"
	"tonscribe/test/support/litetest"
)

// BenchmarkWrite writes transactions as getTransactions has them: ns and allocations
// are those of one.
func BenchmarkWrite(b *testing.B) {
	var list []*node.Transaction
	for _, bundle := range litetest.NewDevnet(b, 3, 12).Bundles {
		for _, block := range bundle.Shards {
			for i := range block.Transactions {
				t, err := node.ParseTransaction(block.ID.Workchain, block.Transactions[i].Cell)
				if err != nil {
					b.Fatal(err)
				}
				list = append(list, t)
			}
		}
	}
	b.ReportAllocs()
	w := &api.Writer{Namespace: "ton", Max: maxResultBytes}
	for i := range b.N {
		w.JSON = w.JSON[:0]
		extTransaction.Write(w, list[i%len(list)])
	}
}
