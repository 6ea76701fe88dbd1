package list

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"tonscribe/query/list/paging"
	"tonscribe/query/list/plan"
	"tonscribe/query/memory"
	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/schema/table"
	"tonscribe/test/support/plantest"
)

func TestTheStatementsOfEveryListOfMessages(t *testing.T) {
	var g plantest.Golden
	op := uint32(0xf8a7ea5)
	for src := range 2 {
		for dst := range 3 {
			for body := range 2 {
				for opcode := range 2 {
					for _, d := range []Direction{Either, In, Out} {
						for _, r := range [][2]int{{0, 0}, {1, 0}, {0, 1}} {
							for _, desc := range []bool{true, false} {
								for _, part := range []messagePart{externalMessages, otherMessages} {
									external := part == externalMessages
									f := &MessageFilter{Source: plantest.Account(src), Destination: plantest.Account(2 * (dst % 2)), NoDestination: dst == 2, Direction: d, Utime: span(r[0]), Lts: span(r[1])}
									if body > 0 {
										f.Body = &Hash{1}
									}
									if opcode > 0 {
										f.Opcode = &op
									}
									if (d != Either || src+dst+body+opcode > 1) && !desc || external && (r[0]+r[1] > 0 || src > 0) {
										continue
									}
									l := newMessageList(&View{Watermark: 77, Tables: 77}, f, paging.Page{Limit: 10, Descending: desc}, nil)
									label := fmt.Sprintf("source %d destination %d body %d opcode %d direction %d utime %d lts %d descending %t external %t", src, dst, body, opcode, d, r[0], r[1], desc, external)
									for i, p := range l.plans(part) {
										if i > 0 {
											label = "or"
										}
										g.Plan(label, &p.Plan, plan.Row{9000, 55})
									}
								}
							}
						}
					}
				}
			}
		}
	}
	g.Check(t, "messages")
}

// The key of no account is that of the least workchain, which a client may name as well:
// all messages from or to nobody would be read, to find none that fits.
func TestMessagesOfTheWorkchainThatStandsForNoneAreNotLookedFor(t *testing.T) {
	read := func(f *MessageFilter) (read bool) {
		defer func() { read = recover() != nil }() // there is nothing to read from
		f.Utime, f.Lts, f.Direction = Everything, Everything, Either
		l, opcode := new(Lists), uint32(5)
		if _, _, err := l.Messages(t.Context(), new(View), f, paging.Page{Limit: 1, Descending: true}, nil); err != nil {
			t.Error(err)
		}
		f.Opcode = &opcode
		if _, _, err := l.TransactionsByMessage(t.Context(), new(View), f, paging.Page{Limit: 1}, nil); err != nil {
			t.Error(err)
		}
		return false
	}
	nobody, somebody := paging.NoAddress, Address{0xff, 0xff, 0xff, 0xff, 1}
	for name, c := range map[string]struct {
		f    *MessageFilter
		want bool
	}{
		"to nobody": {&MessageFilter{Destination: &nobody}, false}, "from nobody": {&MessageFilter{Source: &nobody}, false},
		"to somebody": {&MessageFilter{Destination: &somebody}, true}, "from somebody": {&MessageFilter{Source: &somebody}, true},
	} {
		if got := read(c.f); got != c.want {
			t.Errorf("messages %s are read: %t, want %t", name, got, c.want)
		}
	}
}

// Rows have 32 bits of a message's hash, and anybody can make two messages that share them.
func TestMessagesWhoseHashesBeginAlikeHaveTheirOwnTransactions(t *testing.T) {
	accounts := [...]Address{{4: 1}, {4: 2}, {4: 3}, {4: 4}}
	time := Span{To: 1 << 32, Given: true}
	for name, c := range map[string]struct {
		from, to [2]int // accounts
		f        MessageFilter
	}{
		"of the chain":                {[2]int{0, 1}, [2]int{2, 3}, MessageFilter{Utime: Everything}},
		"of the chain, by time":       {[2]int{0, 1}, [2]int{2, 3}, MessageFilter{Utime: time}},
		"of one transaction, by time": {[2]int{0, 0}, [2]int{2, 3}, MessageFilter{Utime: time}},
		"from an account":             {[2]int{0, 0}, [2]int{2, 3}, MessageFilter{Utime: Everything, Source: &accounts[0]}},
		"from an account, by time":    {[2]int{0, 0}, [2]int{2, 3}, MessageFilter{Utime: time, Source: &accounts[0]}},
		"to an account":               {[2]int{0, 1}, [2]int{2, 2}, MessageFilter{Utime: Everything, Destination: &accounts[2]}},
		"to an account, by time":      {[2]int{0, 1}, [2]int{2, 2}, MessageFilter{Utime: time, Destination: &accounts[2]}},
	} {
		for _, descending := range []bool{false, true} {
			var want []string
			sent := map[int]*record.Transaction{}
			var all []*record.Transaction
			transaction := func(account int, lt uint64) *record.Transaction {
				tx := &record.Transaction{Account: accounts[account][:], Lt: lt, Now: 1000, McSeqno: 5, Block: &record.BlockRef{Seqno: 1}, Hash: make([]byte, 32)}
				tx.Hash[0], tx.Hash[1] = byte(account), byte(lt)
				all = append(all, tx)
				return tx
			}
			for i, begins := range []byte{7, 7, 8} {
				from, to := c.from[i%2], c.to[i%2]
				m := &record.Message{
					Source: accounts[from][:], Destination: accounts[to][:], CreatedLt: uint64(11 + i), CreatedAt: 1000,
					Hash: slices.Concat(bytes.Repeat([]byte{begins}, 4), []byte{byte(i)}, make([]byte, 27)), BodyHash: make([]byte, 32),
				}
				out := sent[from]
				if out == nil {
					out = transaction(from, 10)
					sent[from] = out
				}
				out.OutMsgs = append(out.OutMsgs, m)
				in := transaction(to, uint64(20+i))
				in.InMsg = m
				want = append(want, fmt.Sprintf("%d: %x to %x", i, out.Hash[:2], in.Hash[:2]))
			}
			if descending {
				slices.Reverse(want)
			}
			c.f.Lts, c.f.Direction = Everything, Either
			v := &View{Watermark: 5, Tables: 4, Memory: memory.Bundles{bundleOf(t, all)}}
			m, l := newMessageList(v, &c.f, paging.Page{Limit: 10, Descending: descending}, nil), new(Lists)
			for i, p := range m.plans(otherMessages) {
				rows, err := p.Held(t.Context(), l.source(v), &p.Ranges[0])
				if err != nil {
					t.Fatal(err)
				}
				slices.SortStableFunc(rows, p.Compare)
				var items [][]plan.Row
				for i, r := range rows {
					if i == 0 || p.Compare(rows[i-1], r) != 0 {
						items = append(items, nil)
					}
					items[len(items)-1] = append(items[len(items)-1], r)
				}
				q := l.queryMessages(t.Context(), m, otherMessages, p, 0)
				found, err := q.Read(t.Context(), items)
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				for _, m := range m.Take(found) {
					got = append(got, fmt.Sprintf("%d: %.2x to %.2x", m.Hash[4], m.OutTransaction, m.InTransaction))
				}
				if !slices.Equal(got, want) {
					t.Errorf("%s, plan %d, descending %t:\ngot  %q\nwant %q", name, i, descending, got, want)
				}
			}
		}
	}
}

// bundleOf are the rows of transactions in memory.
func bundleOf(t *testing.T, list []*record.Transaction) *memory.Bundle {
	t.Helper()
	b := memory.NewBundle(list[0].McSeqno)
	r := &record.Record{McSeqno: b.MCSeqno, Content: &record.Record_Transactions{Transactions: &record.TransactionBatch{Transactions: list}}}
	raw, err := r.MarshalVT()
	if err != nil {
		t.Fatal(err)
	}
	f, err := table.NewFeed(schema.Transactions.Name, table.Options{Take: b.Add})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Add(r, raw); err != nil {
		t.Fatal(err)
	}
	b.Sort()
	return b
}
