package list

import (
	"fmt"
	"testing"

	"tonscribe/query/list/paging"
	"tonscribe/query/list/plan"
	"tonscribe/test/support/plantest"
)

func TestTheStatementsOfEveryListOfTransfers(t *testing.T) {
	var g plantest.Golden
	add := func(label string, f *TransferFilter, planOf func(*View, *TransferFilter, bool) *plan.Plan, descending bool) {
		g.Plan(label, planOf(&View{Watermark: 77, Tables: 77}, f, descending), plan.Row{150, 9000, plan.Signed(0), 77})
	}
	for _, owners := range []int{0, 1, 9} {
		for _, contracts := range []int{0, 1, 9} {
			for parent := range 2 {
				for _, d := range []Direction{Either, In, Out} {
					for _, r := range [][2]int{{0, 0}, {1, 0}, {0, 1}} {
						for _, desc := range []bool{true, false} {
							if d != Either && owners == 0 || !desc && (contracts > 0 || d != Either) {
								continue
							}
							f := &TransferFilter{Owners: plantest.Accounts(owners), Contracts: plantest.Accounts(contracts), Parent: plantest.Account(parent), Direction: d, Utime: span(r[0]), Lts: span(r[1])}
							label := fmt.Sprintf("owners %d contracts %d parent %d direction %d utime %d lts %d descending %t", owners, contracts, parent, d, r[0], r[1], desc)
							add("jetton_transfers "+label, f, jettonTransferKind.plan, desc)
							if owners == 1 && contracts == 0 || owners+contracts+parent == 0 {
								add("jetton_burns "+label, f, jettonBurnKind.plan, desc)
								add("nft_transfers "+label, f, nftTransferKind.plan, desc)
							}
						}
					}
				}
			}
		}
	}
	g.Check(t, "transfers")
}

// A client may name the address that stands for none in keys: the list of all would be
// read, to find none that fits.
func TestTransfersOfWhatStandsForNoneAreNotLookedFor(t *testing.T) {
	nobody, somebody := paging.NoAddress, Address{1}
	for name, c := range map[string]struct {
		f    TransferFilter
		want int
	}{
		"owner":              {TransferFilter{Owners: []Address{nobody}}, 0},
		"one of the owners":  {TransferFilter{Owners: []Address{nobody, somebody}}, 1},
		"contract":           {TransferFilter{Contracts: []Address{nobody}}, 0},
		"parent":             {TransferFilter{Parent: &nobody}, 0},
		"parent of an owner": {TransferFilter{Owners: []Address{somebody}, Parent: &nobody}, 0},
		"nothing":            {TransferFilter{}, 1},
	} {
		c.f.Direction, c.f.Utime, c.f.Lts = Either, Everything, Everything
		if got := len(nftTransferKind.plan(new(View), &c.f, true).Ranges); got != c.want {
			t.Errorf("none as %s: %d ranges are read, want %d", name, got, c.want)
		}
	}
}
