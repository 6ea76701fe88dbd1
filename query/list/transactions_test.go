package list

import (
	"fmt"
	"testing"

	"tonscribe/query/list/paging"
	"tonscribe/query/list/plan"
	"tonscribe/test/support/plantest"
)

func int32Of(n int) *int32 {
	if n == 0 {
		return nil
	}
	v := int32(n - 1)
	return &v
}

func TestTheStatementsOfEveryListOfTransactions(t *testing.T) {
	var g plantest.Golden
	add := func(label string, p *plan.Plan) {
		g.Plan(label, p, plan.Row{plan.Signed(0), 77, 9000, 0, 150})
		if len(p.Ranges) == 1 {
			fmt.Fprintf(&g, "  seek: %s\n", counting(p, 1000))
		}
	}
	shardOf := func(n int) *uint64 {
		if n == 0 {
			return nil
		}
		v := uint64(n) << 63
		return &v
	}
	v := &View{Watermark: 77, Tables: 77}
	for wc := range 2 {
		for shard := range 2 {
			for seqno := range 2 {
				for mc := range 2 {
					for _, accounts := range []int{0, 1, 9} {
						for _, r := range [][2]int{{0, 0}, {1, 0}, {0, 1}} {
							for _, desc := range []bool{true, false} {
								if !desc && wc+shard+seqno+mc > 0 {
									continue
								}
								f := &TransactionFilter{Workchain: int32Of(wc), Shard: shardOf(shard), Seqno: int32Of(8 * seqno), McSeqno: int32Of(6 * mc), Accounts: plantest.Accounts(accounts), Utime: span(r[0]), Lts: span(r[1])}
								l := newTransactionList(v, f, f.order(desc), paging.Page{Limit: 10, Descending: desc}, nil, f.matches)
								add(fmt.Sprintf("workchain %d shard %d seqno %d mc_seqno %d accounts %d utime %d lts %d descending %t", wc, shard, seqno, mc, accounts, r[0], r[1], desc), l.plan())
							}
						}
					}
				}
			}
		}
	}
	for _, body := range []bool{false, true} {
		for _, d := range []Direction{Either, In, Out} {
			for _, src := range []int{0, 1} {
				f := &MessageFilter{Direction: d, Source: plantest.Account(src), Utime: Everything, Lts: Everything}
				op := uint32(0xf8a7ea5)
				if f.Opcode = &op; body {
					f.Opcode, f.Body = nil, &Hash{1}
				}
				l := newTransactionList(v, &TransactionFilter{Utime: Everything, Lts: Everything}, transactionOrder{byLt, true, false}, paging.Page{Limit: 10, Descending: true}, nil, f.heldBy)
				label := fmt.Sprintf("by message body %t direction %d source %d", body, d, src)
				for i, p := range l.plansByMessage(f) {
					if i > 0 {
						label = "or"
					}
					add(label, p)
				}
			}
		}
	}
	g.Check(t, "transactions")
}

func span(given int) Span {
	switch given {
	case 1:
		return Span{From: 100, To: 200, Given: true}
	case 2:
		return Span{To: 1 << 40, Given: true}
	}
	return Everything
}

func TestTheFirstFilterTellsTheOrderOfTransactions(t *testing.T) {
	lt, mc, time := uint64(7), int32(5), Span{From: 100, To: 200, Given: true}
	for name, c := range map[string]struct {
		filter TransactionFilter
		want   transactionOrder
	}{
		"nothing":           {TransactionFilter{}, transactionOrder{byLt, true, false}},
		"lt and all":        {TransactionFilter{Lt: &lt, Hashes: []Hash{{1}}, McSeqno: &mc, Utime: time}, transactionOrder{byLt, false, true}},
		"hash and time":     {TransactionFilter{Hashes: []Hash{{1}}, Utime: time}, transactionOrder{byHash, true, false}},
		"account and time":  {TransactionFilter{Accounts: plantest.Accounts(1), Utime: time}, transactionOrder{byTime, true, false}},
		"mc_seqno and time": {TransactionFilter{McSeqno: &mc, Utime: time}, transactionOrder{byLt, true, false}},
		"time":              {TransactionFilter{Utime: time}, transactionOrder{byTime, true, false}},
	} {
		if got := c.filter.order(true); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}
