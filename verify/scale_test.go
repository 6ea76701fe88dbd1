package verify

import (
	"errors"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	"tonscribe/bench/synthetic"
	"tonscribe/schema"
	"tonscribe/schema/record"
)

// TestScale is a measurement: TONSCRIBE_VERIFY_ROWS=1000000 go test -v -run
// TestScale -timeout 1h prints how long so many synthetic transactions take.
func TestScale(t *testing.T) {
	total, _ := strconv.Atoi(os.Getenv("TONSCRIBE_VERIFY_ROWS"))
	if total == 0 {
		t.Skip("TONSCRIBE_VERIFY_ROWS is not set")
	}
	l := emptyTables(t)
	began := time.Now()
	l.to = l.fillRows(synthetic.NewRows(synthetic.RowOptions{Transactions: total, Seed: 1}))
	t.Logf("filled in %v", time.Since(began))

	began = time.Now()
	peak := uint64(0)
	r, err := l.verify(func(o *Options) {
		o.Progress = func(p Progress) {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			peak = max(peak, m.HeapInuse)
			t.Log(p)
		}
	})
	took := time.Since(began)
	t.Logf("%d transactions in %v: %.0f a second; heap at most %d MiB", r.Transactions, took, float64(r.Transactions)/took.Seconds(), peak>>20)
	if err != nil {
		t.Error(err)
	}

	l.exec("DELETE FROM messages_by_account WHERE side = 'source' AND hash_prefix IN (SELECT hash_prefix FROM messages_by_account WHERE side = 'source' LIMIT 1 OFFSET 1000)")
	began = time.Now()
	if _, err := l.verify(nil); !errors.Is(err, ErrDifferent) {
		t.Error(err)
	}
	t.Logf("with a lost row: %v", time.Since(began))
}

// fillRows puts synthetic rows through the sink and gives the last bundle.
func (l *tables) fillRows(rows *synthetic.Rows) (last uint32) {
	l.Helper()
	client, stop := l.startSink(1)
	defer stop()
	traces := synthetic.NewTraces()
	for b := rows.Next(); b != nil; {
		var headers, transactions, accounts, contracts, assembled []*record.Record
		for n := 0; b != nil && n < 100_000; b = rows.Next() {
			h, t, a := b.Records(0, 1)
			headers, transactions, accounts = append(headers, h...), append(transactions, t...), append(accounts, a...)
			contracts = append(contracts, b.Nothing()...)
			assembled = append(assembled, traces.Records(b, 1)[0]...)
			n += len(b.Transactions)
			l.to = b.Seqno
		}
		if err := client.Publish(l.Context(), schema.Headers.Name, 0, headers); err != nil {
			l.Fatal(err)
		}
		if err := client.Publish(l.Context(), schema.Transactions.Name, 0, transactions); err != nil {
			l.Fatal(err)
		}
		if err := client.Publish(l.Context(), schema.Accounts.Name, 0, accounts); err != nil {
			l.Fatal(err)
		}
		if err := client.Publish(l.Context(), schema.Contracts.Name, 0, contracts); err != nil {
			l.Fatal(err)
		}
		if err := client.Publish(l.Context(), schema.Traces.Name, 0, assembled); err != nil {
			l.Fatal(err)
		}
		l.await() // the log keeps only so much
	}
	return l.to
}
