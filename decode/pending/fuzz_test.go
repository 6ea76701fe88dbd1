package pending

import (
	"context"
	"testing"
	"time"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/genesis"
	"tonscribe/schema/record"
	"tonscribe/test/support/costtest"
	"tonscribe/ton/tvm"
)

// maxExecution is what one transaction may take of a processor.
const maxExecution = 50 * time.Millisecond

// timed is a town whose transactions must not take longer.
type timed struct {
	town
	t testing.TB
}

func (w *timed) Deliver(_ context.Context, in tvm.Delivery) (out tvm.Outcome, err error) {
	w.executed++
	costtest.Within(w.t, maxExecution, costtest.MaxBytes, func() { out, err = tvm.Deliver(in) })
	return out, err
}

// FuzzCascade lets three contracts of any code send each other messages of any bodies.
// Whatever they do, each transaction ends soon, the cascade stays within its limits,
// and with any part of it in blocks it is one tree.
func FuzzCascade(f *testing.F) {
	for _, code := range []string{
		"\xf8\x00\x88\x71\xfb\x00", "\xf8\x00\x88\x81\x00\xff\x94\x20\x71\xfb\x00\xe4", "\xf8\x00\x30\x90\xea",
		"\xf8\x00\x88\xf8\x61\x9a\x95\xf8\x41\x71\xfb\x00\x91\x5b\xf2\xff\xea", "\xf8\x00\x90\x80\xc8\x96\x20\x90\xed\x60\xed\x61\xe4", "\xf8\x00\x95\xed\x40\x30\x20\xd8\x20\xd8",
		"\xf8\x00\x88\x71\xfb\x00\x88\x71\xfb\x00", "\xf8\x00\x88\x08\x40\xfb\x00", "\xf2\xf0", "\xf8\x00\x88\xfb\x04", "\xf8\x00\x70\x71\x88\xfb\x00",
	} {
		f.Add([]byte(code), []byte(code), []byte("\xf8\x00"), []byte{1, 2, 3, 4, 5, 6}, uint8(3))
	}
	m := moment(f, func(c *genesis.Config) { c.Gas.Basechain.Limit = 1_000_000 })
	m.Shards = []Shard{{0, 1 << 62}, {0, 3 << 62}}
	limits := Limits{Transactions: 40, Depth: 8, Gas: 1_500_000, Cells: 1 << 18, Bytes: 64 << 10, Time: time.Minute}
	f.Fuzz(func(t *testing.T, a, b, c, body []byte, part uint8) {
		const maxCode = 120
		accounts := []byte{1, 0x81, 2}
		letters := make([]*cell.Cell, len(accounts))
		for i, to := range accounts {
			content := body[:min(len(body), 100)]
			x := cell.BeginCell().MustStoreSlice(content, uint(len(content))*8)
			if i < len(content) && content[i] > 100 {
				x.MustStoreRef(deep(int(content[i]) % 20))
			}
			letters[i] = letter(t, account(to), 1e7*uint64(i+1), x.EndCell())
		}
		w := &timed{t: t}
		for i, code := range [][]byte{a, b, c} {
			code = code[:min(len(code), maxCode)]
			x := cell.BeginCell().MustStoreSlice(code, uint(len(code))*8)
			for j := range letters {
				x.MustStoreRef(letters[(i+j+1)%len(letters)])
			}
			w.settle(t, account(accounts[i]), x.EndCell(), cell.BeginCell().EndCell(), 1000e9)
		}
		var made *Cascade
		var err error
		costtest.Within(t, time.Duration(limits.Transactions+1)*maxExecution, uint64(limits.Transactions+1)*costtest.MaxBytes, func() {
			w.executed = 0
			made, err = Run(t.Context(), w, m, knock(t, account(accounts[0])), limits)
		})
		if w.executed > limits.Transactions+1 {
			t.Fatalf("%d executions", w.executed)
		}
		if err != nil {
			return
		}
		checkCut(t, made, limits)
		came := make([]*record.Transaction, 0, len(made.Transactions))
		for _, tx := range made.Transactions[:min(len(made.Transactions), int(part))] {
			tx = tx.CloneVT()
			tx.McSeqno = 9
			came = append(came, tx)
		}
		var merged *Merged
		costtest.Within(t, maxExecution, costtest.MaxBytes, func() { merged = Merge(made.Transactions, came) })
		checkTree(t, merged)
		if len(merged.Tree.Nodes) != len(made.Transactions) || len(merged.Foreseen) != len(made.Transactions)-len(came) {
			t.Fatalf("%d nodes, %d foreseen, of %d transactions %d came", len(merged.Tree.Nodes), len(merged.Foreseen), len(made.Transactions), len(came))
		}
	})
}

// checkCut is checkBounds where code may also fail to be executed at all.
func checkCut(t *testing.T, made *Cascade, l Limits) {
	t.Helper()
	bounded := *made
	bounded.Cut = nil
	checkBounds(t, &bounded, l)
}
