package list

import (
	"fmt"
	"testing"

	"tonscribe/query/list/paging"
	"tonscribe/query/list/plan"
	"tonscribe/test/support/plantest"
)

func TestTheStatementsOfEveryListOfBlocks(t *testing.T) {
	var g plantest.Golden
	for wc := range 2 {
		for shard := range 2 {
			for _, r := range [][2]int{{0, 0}, {1, 0}, {2, 0}, {0, 1}, {1, 1}} {
				for _, desc := range []bool{true, false} {
					for _, anyOrder := range []bool{false, true} {
						f := &BlockFilter{Utime: span(r[0]), Lts: span(r[1]), AnyOrder: anyOrder}
						if wc > 0 {
							f.Workchain = new(int32)
						}
						if shard > 0 {
							s := uint64(1) << 63
							f.Shard = &s
						}
						p, _ := newBlockList(&View{Watermark: 77, Tables: 77}, f, paging.Page{Limit: 10, Descending: desc}, nil).plan()
						g.Plan(fmt.Sprintf("workchain %d shard %d utime %d lts %d descending %t any order %t", wc, shard, r[0], r[1], desc, anyOrder), p, plan.Row{9000, 0, plan.Signed(-1), 1 << 63, 55})
					}
				}
			}
		}
	}
	g.Check(t, "blocks")
}
