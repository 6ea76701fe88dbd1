package query

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// Lists of what accounts did last are the same out of memory and from ClickHouse,
// and those of busy accounts come out of memory.
func TestNewestOfAccountsAreTheSameOutOfMemory(t *testing.T) {
	t.Parallel()
	bundles, sent := syntheticBundles(3000, 9), map[string]int{}
	for _, b := range bundles {
		for _, tx := range b.Transactions {
			sent[rawOf(tx.Account)] += len(tx.OutMsgs)
		}
	}
	accounts := slices.SortedFunc(maps.Keys(sent), func(a, b string) int { return sent[b] - sent[a] })
	if len(accounts) < 40 || sent[accounts[0]] < 50 {
		t.Fatalf("%d accounts, the busiest sent %d messages", len(accounts), sent[accounts[0]])
	}
	some := slices.Clone(accounts[:4])
	for i := 4; i < 40; i += 3 {
		some = append(some, accounts[i])
	}
	w := newWorld(t, bundles)
	w.setWatermark(t, bundles[len(bundles)-3])
	held := w.serve(t, nil)
	bare := w.serve(t, func(c *Configuration) {
		holdNothing(c)
	})
	held.await(bundles[len(bundles)-3].Seqno)
	bare.await(bundles[len(bundles)-3].Seqno)
	const answers = "tonscribe_query_head_answers_total"
	for _, list := range []struct {
		path     string
		inMemory bool
	}{
		{"transactions?limit=3&account=%s", true},
		{"transactions?limit=2&offset=5&account=%s", true},
		{"transactions?limit=4&start_utime=1&account=%s", true},
		{"transactions?limit=3&sort=asc&account=%s", false},
		{"messages?limit=3&source=%s", true},
		{"messages?limit=2&offset=4&source=%s", true},
		{"messages?limit=3&direction=out&source=%s", true},
		{"messages?limit=3&end_lt=9000000000000000000&source=%s", true},
		{"messages?limit=3&direction=in&source=%s", false},
		{"messages?limit=3&sort=asc&source=%s", false},
	} {
		before := held.counter(t, answers)
		for i, account := range some {
			first := "/api/v3/" + fmt.Sprintf(list.path, url.QueryEscape(account))
			path := first
			for range 3 {
				got, answer := held.ask(path).Body.String(), bare.ask(path)
				if want := answer.Body.String(); got != want {
					t.Errorf("%s\nout of memory %s\nClickHouse    %s", path, got, want)
				}
				next := nextOf(answer)
				if next == "" || i > 3 {
					break
				}
				path = first + "&cursor=" + url.QueryEscape(next)
			}
		}
		if n := held.counter(t, answers) - before; n > 0 != list.inMemory {
			t.Errorf("%s: %v answers came out of memory, some should: %v", list.path, n, list.inMemory)
		}
	}
}

// lookUps counts the statements that read something.
func (s *server) lookUps(t *testing.T, reads string) (n uint64) {
	t.Helper()
	families, err := s.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.Metric {
			if f.GetName() == "tonscribe_query_statement_seconds" && m.Label[0].GetValue() == reads {
				n += m.GetHistogram().GetSampleCount()
			}
		}
	}
	return n
}

// The newest transactions are held with their traces, but for those that may become
// others.
func TestTheTracesOfTheNewestTransactionsAreOutOfMemoryToo(t *testing.T) {
	t.Parallel()
	bundles := syntheticBundles(2000, 11)
	w := newWorld(t, bundles)
	newest := bundles[len(bundles)-1]
	w.setWatermark(t, newest)
	held, bare := w.serve(t, nil), w.serve(t, func(c *Configuration) { holdNothing(c) })
	held.await(newest.Seqno)
	bare.await(newest.Seqno)
	held.ask("/api/v3/transactions?limit=1") // when this is answered, the newest are held
	before := held.lookUps(t, "transaction traces")
	for _, path := range []string{"transactions?limit=20", "transactions?limit=100&offset=7", fmt.Sprintf("transactionsByMasterchainBlock?seqno=%d", newest.Seqno)} {
		got, want := held.ask("/api/v3/"+path).Body.String(), bare.ask("/api/v3/"+path).Body.String()
		if n := strings.Count(got, `"trace_id"`); got != want || n == 0 || n != strings.Count(got, `"prev_trans_hash"`) {
			t.Errorf("%s: %d traces\nout of memory %s\nClickHouse    %s", path, n, got, want)
		}
	}
	if n, without := held.lookUps(t, "transaction traces")-before, bare.lookUps(t, "transaction traces"); n > 0 || without == 0 {
		t.Errorf("%d statements looked for traces, %d where nothing is held; want none and some", n, without)
	}
}
