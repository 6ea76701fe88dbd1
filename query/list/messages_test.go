package list

import (
	"fmt"
	"testing"

	"tonscribe/query/list/paging"
	"tonscribe/query/list/plan"
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
