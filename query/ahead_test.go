package query

import (
	"encoding/hex"
	"fmt"
	"testing"
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
