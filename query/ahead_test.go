package query

import (
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"testing"

	"tonscribe/schema"
	"tonscribe/schema/record"
)

// What is read beside a trace's transactions is all that its address book and its metadata
// need of the tables, and the answer is that of a server that holds nothing.
func TestWhatTheAccountsOfATraceAreIsReadOnceBesideItsTransactions(t *testing.T) {
	t.Parallel()
	x := sharedTraced(t)
	bare := x.serve(t, func(c *Configuration) { holdNothing(c) })
	asked := 0
	for hash, s := range x.of {
		if s.Trace.Nodes < 3 || len(s.Trace.Replaces) > 0 || s.Trace.PendingEdges > 0 {
			continue
		}
		if asked++; asked > 12 {
			break
		}
		path := "/api/v3/traces?tx_hash=" + hex.EncodeToString([]byte(hash))
		if asked%2 == 0 {
			path = fmt.Sprintf("/api/v3/traces?trace_id=%x", s.Trace.Id)
		}
		held := x.serve(t, nil) // which holds nothing of it yet
		got, want := held.ask(path).Body.String(), bare.ask(path).Body.String()
		if got != want {
			t.Errorf("%s\nread ahead %s\nread after %s", path, got, want)
		}
		if n := held.lookUps(t, "directory"); n != 1 {
			t.Errorf("%s: %d statements asked for the codes of its accounts, want 1", path, n)
		}
	}
	if asked < 5 {
		t.Fatalf("%d traces", asked)
	}
}

// What was read beside a page of an account tells the traces of all of it.
func TestTheTracesOfAnAccountsPageAreReadOnceBesideIt(t *testing.T) {
	t.Parallel()
	x := sharedTraced(t)
	byAccount := map[string][]*record.Transaction{}
	for _, tx := range x.txs {
		account := fmt.Sprintf("%d:%X", schema.Workchain(tx.Account), schema.AccountID(tx.Account))
		byAccount[account] = append(byAccount[account], tx)
	}
	asked := 0
	for _, account := range slices.Sorted(maps.Keys(byAccount)) {
		transactions, want := byAccount[account], map[string]string{}
		for _, tx := range transactions {
			if s := x.of[string(tx.Hash)]; s != nil && s.Trace.State == record.TraceState_TRACE_COMPLETE && len(s.Trace.Replaces) == 0 {
				want[b64(tx.Hash)] = b64(s.Trace.Id)
			}
		}
		if len(transactions) < 3 || len(want) < len(transactions) { // others may become parts of others
			continue
		}
		if asked++; asked > 12 {
			break
		}
		s := x.serve(t, holdNothing)
		var answer struct {
			Transactions []struct {
				Hash  string
				Trace string `json:"trace_id"`
			}
		}
		// Rows lie in the tables twice here, and count.
		path := fmt.Sprintf("/api/v3/transactions?limit=%d&sort=%s&account=%s", 2*len(transactions), []string{"asc", "desc"}[asked%2], account)
		s.read(path, &answer)
		if len(answer.Transactions) != len(transactions) {
			t.Errorf("%s: %d transactions of %d", path, len(answer.Transactions), len(transactions))
		}
		for _, tx := range answer.Transactions {
			if tx.Trace != want[tx.Hash] {
				t.Errorf("%s: transaction %s is of trace %s, want %s", path, tx.Hash, tx.Trace, want[tx.Hash])
			}
		}
		if n := s.lookUps(t, "transaction traces"); n != 1 {
			t.Errorf("%s: %d statements looked for the traces of %d transactions, want 1", path, n, len(answer.Transactions))
		}
	}
	if asked < 5 {
		t.Errorf("%d accounts", asked)
	}
}
