package query

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"testing"

	"tonscribe/schema/record"
	"tonscribe/test/support/enginetest"
)

// A few actions of a trace of very many are found without going through all of them.
func TestAFewActionsOfALargeTraceAreFoundByTheirKeys(t *testing.T) {
	t.Parallel()
	const many = 8000
	isLarge := func(s *record.TraceStep) bool {
		return s.Trace.PendingEdges == 0 && len(s.Trace.Replaces) == 0 && len(s.Actions) > 0 && s.Trace.Id[0] < 8
	}
	x := fillTraced(t, enginetest.UnmergedTables(t), func(s *record.TraceStep) {
		if !isLarge(s) {
			return
		}
		like := s.Actions[0]
		for i := range many {
			a := like.CloneVT()
			id := sha256.Sum256(fmt.Appendf(like.Id, "%d", i))
			a.Id = id[:]
			s.Actions = append(s.Actions, a)
		}
	})
	x.server = x.serve(t, nil)
	asked := 0
	for _, s := range x.inOrder() {
		if !isLarge(s) || len(s.Actions[0].Accounts) == 0 {
			continue
		}
		asked++
		account := s.Actions[0].Accounts[0]
		want := x.actions(func(_ *record.TraceStep, a *record.Action) bool {
			return has(a.Accounts, account) && len(a.Ancestors) == 0
		}, false, true)
		cursor := ""
		for n := range 3 {
			path := fmt.Sprintf("/api/v3/actions?account=%s&limit=2%s", url.QueryEscape(rawOf(account)), cursor)
			answer := x.ask(path)
			var got struct{ Actions []map[string]any }
			if err := json.Unmarshal(answer.Body.Bytes(), &got); err != nil || answer.Code != http.StatusOK {
				t.Fatal(path, answer.Code, answer.Body, err)
			}
			if len(got.Actions) != 2 || got.Actions[0]["action_id"] != want[2*n] || got.Actions[1]["action_id"] != want[2*n+1] {
				t.Errorf("%s: %v, want %v", path, got.Actions, want[2*n:2*n+2])
			}
			cursor = "&cursor=" + url.QueryEscape(nextOf(answer))
		}
	}
	if asked == 0 {
		t.Fatal("there is no large trace")
	}
	if n := x.counter(t, "tonscribe_query_statements_too_heavy_total"); n < float64(asked) {
		t.Errorf("%v statements did not go through all actions of %d large traces", n, asked)
	}
}
