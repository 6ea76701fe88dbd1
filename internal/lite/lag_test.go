package lite

import (
	"context"
	"testing"
	"time"

	"github.com/xssnick/tonutils-go/ton"

	"tonscribe/test/support/litetest"
)

// The head is that of whoever has it first: most servers get it a moment later.
func TestWhatIsOfTheHeadIsWaitedForWhereTheHeadIsNotYet(t *testing.T) {
	const head = 20
	d := litetest.NewDevnet(t, 1, head)
	prunes := func(ctx context.Context, r litetest.Request) any {
		if q, ok := r.Query.(ton.LookupBlock); ok && q.ID.Seqno == oldSeqno {
			return ton.LSError{Code: 651, Text: "block is not in db"}
		}
		return d.Handle(ctx, r)
	}
	lags := func(ctx context.Context, r litetest.Request) any {
		switch r.Query.(type) {
		case ton.GetMasterchainInf:
			if r.Wait != nil {
				<-ctx.Done()
				return nil
			}
			info := d.Handle(ctx, r).(ton.MasterchainInfo)
			info.Last = d.Master(head - 1).ID
			return info
		case ton.GetBlockHeader, ton.GetTransactions:
			if r.Wait == nil {
				return ton.LSError{Code: 651, Text: "block is not in db"}
			}
		}
		return prunes(ctx, litetest.Request{Query: r.Query}) // by now it has it
	}
	servers := []*litetest.Server{litetest.Listen(t, prunes)}
	for range quick().Attempts {
		servers = append(servers, litetest.Listen(t, lags))
	}
	p := onDevnet(t, d, servers...)
	id, err := p.WaitHead(t.Context(), head)
	if err != nil {
		t.Fatal(err)
	}
	await(t, p, "all have said what they have", func() bool {
		for _, s := range p.servers {
			if s.stands(Query{}, 0, p.configuration).seqno == 0 {
				return false
			}
		}
		return true
	})
	p.servers[0].latency.answered(time.Minute) // so that the others go first
	if header, err := p.Header(t.Context(), id); err != nil || header.SeqNo != head {
		t.Errorf("the header of the head is %+v, %v", header, err)
	}
	accounts, last, _ := someAccounts(t, d)
	newest := last[accounts[0].StringRaw()]
	list, err := p.Transactions(t.Context(), accounts[0], newest.LT, newest.Hash[:], 1, head, false)
	if err != nil || len(list) != 1 {
		t.Errorf("an account's newest transaction: %d of them, %v", len(list), err)
	}
}
