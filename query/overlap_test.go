package query

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"slices"
	"testing"

	"tonscribe/bench/synthetic"
	"tonscribe/query/list/paging"
	"tonscribe/schema/record"
	"tonscribe/ton/address"
)

// reach is by how much lts of some accounts are above those of the others in a bundle
// here: beyond those of the bundle after it, as those of the masterchain are.
const reach = 1_500_000

// Bundles bring transactions of lower lts than earlier ones have: lists are in the order
// of lts all the same, however many of the newest bundles the head holds.
func TestTransactionsAreInOrderWhereBundlesOverlap(t *testing.T) {
	t.Parallel()
	rows := synthetic.NewRows(synthetic.RowOptions{Transactions: 1500, Seed: 5})
	var bundles []*synthetic.Bundle
	var all []*record.Transaction
	for b := rows.Next(); b != nil; b = rows.Next() {
		bundles = append(bundles, b)
		for _, tx := range b.Transactions {
			if tx.Account[4]%2 == 0 {
				tx.Lt += reach
			}
		}
		all = append(all, b.Transactions...)
	}
	slices.SortFunc(all, func(a, b *record.Transaction) int {
		return cmp.Or(cmp.Compare(b.Lt, a.Lt), paging.CompareAddresses(address.Address(a.Account), address.Address(b.Account)))
	})
	want := make([]string, len(all))
	for i, tx := range all {
		want[i] = base64.StdEncoding.EncodeToString(tx.Hash)
	}
	const behind = 2
	w := newWorldWith(t, bundles[:len(bundles)-behind], synthetic.NewTokens(rows))
	w.log = inMemory(t, bundles, synthetic.NewTokens(rows), len(bundles)-behind)
	// With the first of these the head has room for what memory has only.
	for _, bytes := range []int{30_000, 1 << 20} {
		s := w.serve(t, func(c *Configuration) { c.Store.Head.TransactionBytes = bytes })
		s.await(bundles[len(bundles)-1].Seqno)
		for _, limit := range []int{1, 15, 90} {
			path := fmt.Sprintf("/api/v3/transactions?limit=%d&offset=3", limit)
			if got := s.get(path).rows(); !slices.Equal(got, want[3:3+limit]) {
				t.Errorf("%d bytes of the head: %s\ngot  %v\nwant %v", bytes, path, got, want[3:3+limit])
			}
		}
	}
}
