package events

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"tonscribe/decode/trace"
	"tonscribe/query/render"
	"tonscribe/schema/record"
)

// membersOf are the JSON names of a struct's fields.
func membersOf(value any) (names []string) {
	for i := range reflect.TypeOf(value).NumField() {
		if name := reflect.TypeOf(value).Field(i).Tag.Get("json"); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// chain is a trace of transactions of accounts 1 to n, of which each calls the next one
// with its number as opcode.
func chain(n int, foreseen ...int) *Trace {
	row := render.TraceRow{Trace: &record.Trace{Id: make([]byte, 32), ExternalHashNorm: slices.Repeat([]byte{7}, 32)}, Tree: &trace.Tree{}, Foreseen: map[*record.Transaction]bool{}}
	for i := 1; i <= n; i++ {
		a, opcode := account(byte(i)), uint32(i)
		tx := &record.Transaction{Account: a[:], Lt: uint64(i), Hash: slices.Repeat([]byte{byte(i)}, 32), InMsg: &record.Message{Opcode: &opcode, BodyHash: slices.Repeat([]byte{byte(i)}, 32)}}
		if i < n {
			tx.OutMsgs = []*record.Message{{}}
		}
		row.Tree.Transactions = append(row.Tree.Transactions, tx)
		row.Foreseen[tx] = slices.Contains(foreseen, i)
	}
	return NewTrace(row, row.Tree.Transactions)
}

func TestTransactionsAreChosenByAccountOpcodeAndBody(t *testing.T) {
	t5 := chain(5)
	for _, c := range []struct {
		order string
		want  []int // accounts, the newest first
	}{
		{`"addresses":["` + rawAddress(2) + `","` + rawAddress(4) + `","` + rawAddress(9) + `"]`, []int{4, 2}},
		{`"addresses":["` + rawAddress(2) + `","` + rawAddress(4) + `"],"opcodes":["0x00000004","5"]`, []int{4}},
		{`"addresses":["` + rawAddress(2) + `","` + rawAddress(4) + `"],"msg_body_hash":"` + strings.Repeat("02", 32) + `"`, []int{2}},
		{`"addresses":["` + rawAddress(9) + `"]`, nil},
	} {
		s := subscriptionOf(t, `{"types":["transactions"],`+c.order+`}`)
		e := &Event{Kind: TransactionsKind, Of: t5}
		chosen, ok := e.Chosen(s, false)
		var got []int
		chosen.rows(func(i int) { got = append(got, int(t5.All[i].Account[35])) })
		if !slices.Equal(got, c.want) || ok != (len(c.want) > 0) {
			t.Errorf("%s chooses %v (%v), want %v", c.order, got, ok, c.want)
		}
	}
}

// Without news of its accounts a client gets a trace only again when it was told of what
// was not final.
func TestATraceComesAgainWithNewsOnly(t *testing.T) {
	t3 := chain(3)
	for tx := range t3.Fresh {
		t3.Fresh[tx] = tx.Account[35] == 3
	}
	e := &Event{Kind: TransactionsKind, Of: t3}
	for _, c := range []struct {
		account   byte
		unsettled bool
		want      bool
	}{{3, false, true}, {1, false, false}, {1, true, true}, {9, true, false}} {
		s := subscriptionOf(t, `{"types":["transactions"],"addresses":["`+rawAddress(c.account)+`"]}`)
		if _, got := e.Chosen(s, c.unsettled); got != c.want {
			t.Errorf("account %d, unsettled %v: %v, want %v", c.account, c.unsettled, got, c.want)
		}
	}
}

// Of actions and traces a leaf does not count that only tells of what was done; of
// transactions it does.
func TestFinalityIsThatOfTheLeastCertainTransaction(t *testing.T) {
	notice := chain(3, 3)
	opcode := uint32(0x7362d09c)
	notice.All[0].InMsg.Opcode = &opcode
	for _, c := range []struct {
		what                 string
		of                   *Trace
		transactions, others bool // pending
	}{{"nothing", chain(3), false, false}, {"the last one", chain(3, 3), true, true}, {"one in the middle", chain(3, 2), true, true}, {"a notification", notice, true, false}} {
		if got := c.of.foreseen(TransactionsKind); got != c.transactions {
			t.Errorf("%s is foreseen: transactions are pending: %v, want %v", c.what, got, c.transactions)
		}
		for _, k := range []Kind{ActionsKind, TraceKind} {
			if got := c.of.foreseen(k); got != c.others {
				t.Errorf("%s is foreseen: %s are pending: %v, want %v", c.what, KindNames[k], got, c.others)
			}
		}
	}
}

func TestWalletsAreChosenByAddressOwnerAndJetton(t *testing.T) {
	wallet, owner, master := account(1), account(2), account(3)
	c := &record.Contract{Account: wallet[:], JettonWallet: &record.JettonWallet{Owner: owner[:], Master: master[:]}}
	for _, test := range []struct {
		order    string
		jettons  bool
		withGaps bool
	}{
		{`"types":["jettons_change","gap"],"addresses":["` + rawAddress(1) + `"]`, true, true},
		{`"types":["jettons_change"],"addresses":["` + rawAddress(2) + `"]`, true, false},
		{`"types":["jettons_change","gap"],"jettons":["` + rawAddress(3) + `"]`, true, true},
		{`"types":["jettons_change","gap"],"addresses":["` + rawAddress(3) + `"]`, false, false},
		{`"types":["account_state_change"],"addresses":["` + rawAddress(1) + `"]`, false, false},
	} {
		s := subscriptionOf(t, "{"+test.order+"}")
		for k, want := range map[Kind]bool{JettonsKind: test.jettons, GapKind: test.withGaps} {
			if _, got := (&Event{Kind: k, Wallet: c}).Chosen(s, false); got != want {
				t.Errorf("%s: %s comes: %v, want %v", test.order, KindNames[k], got, want)
			}
		}
	}
}

func TestAGapNamesTheWalletAndWhatIsMissing(t *testing.T) {
	wallet := account(1)
	e := &Event{Kind: GapKind, Position: Position{7, 9}, Wallet: &record.Contract{Account: wallet[:]}}
	want := fmt.Sprintf(`{"type":"gap","position":"7-9","missed":"jettons_change","account":"%s"}`, rawAddress(1))
	if got := e.Render(t.Context(), Books{}, &Subscription{}, Choice{}); string(got) != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestAChoiceIsOfAnyNumberOfRows(t *testing.T) {
	for _, n := range []int{0, 1, 63, 64, 65, 200, 4000} {
		wanted := func(i int) bool { return i%3 == 0 || i == n-1 }
		var want, got []int
		for i := range n {
			if wanted(i) {
				want = append(want, i)
			}
		}
		c := choose(n, wanted)
		c.rows(func(i int) { got = append(got, i) })
		if !slices.Equal(got, want) || c.empty() != (n == 0) || c != choose(n, wanted) {
			t.Errorf("of %d, %v are chosen (empty: %v), want %v", n, got, c.empty(), want)
		}
	}
}

func TestWhatAnEventHoldsIsBoundedHoweverClientsChoose(t *testing.T) {
	const rows, rowBytes = 40, 1 << 20
	var held atomic.Int64
	e := &Event{Kind: TransactionsKind, Of: &Trace{}, size: &held}
	e.Of.rendering.Do(func() {
		for range rows {
			e.Of.transactions = append(e.Of.transactions, fragment{json: bytes.Repeat([]byte{'1'}, rowBytes)})
		}
	})
	for range 2 {
		for i := range rows {
			if got := len(e.Render(t.Context(), Books{}, &Subscription{}, choose(rows, func(k int) bool { return k == i }))); got < rowBytes || got > rowBytes+1<<10 {
				t.Fatalf("row %d is rendered to %d bytes, want a little more than %d", i, got, rowBytes)
			}
		}
	}
	if got := held.Load(); got < maxHeld/2 || got > maxHeld {
		t.Errorf("%d bytes are held, want at most %d, and more than half of that", got, maxHeld)
	}
}
