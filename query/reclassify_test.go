package query

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"tonscribe/bench/synthetic"
	"tonscribe/reclassify"
	"tonscribe/schema/record"
)

// seen are the ids of a trace's actions that a client of the latest version sees, of an
// account or, for nil, all of them.
func seen(s *record.TraceStep, account []byte) (ids []string) {
	for _, a := range s.Actions {
		if a.Since <= 4 && a.Until >= 4 && (account == nil || has(a.Accounts, account)) {
			ids = append(ids, b64(a.Id))
		}
	}
	slices.Sort(ids)
	return ids
}

// While actions are recognised again, whoever reads sees those of a trace as they were or
// as they will be: never both, never none, and in the end as the recognisers make them.
func TestReadersSeeActionsOnceWhileTheyAreRecognisedAgain(t *testing.T) {
	t.Parallel()
	x := newTraced(t)
	will, plain := map[string]*record.TraceStep{}, synthetic.NewTraces()
	for _, b := range x.bundles[:len(x.bundles)-hiddenBundles] {
		for _, r := range plain.Records(b, 1)[0] {
			for _, s := range r.GetTraces().GetTraces() {
				will[b64(s.Trace.Id)] = s
			}
		}
	}
	was, changed := map[string]*record.TraceStep{}, map[string]bool{}
	accounts := map[string]int{}
	for _, s := range x.inOrder() {
		id := b64(s.Trace.Id)
		if was[id] = s; s.Trace.PendingEdges == 0 && !slices.Equal(seen(s, nil), seen(will[id], nil)) {
			changed[id] = true
			for _, a := range s.Accounts {
				accounts[string(a)]++
			}
		}
	}
	var account []byte
	for _, a := range slices.Sorted(maps.Keys(accounts)) {
		if n := accounts[a]; n > accounts[string(account)] && n < 150 {
			account = []byte(a)
		}
	}
	if len(changed) < 20 || accounts[string(account)] < 5 {
		t.Fatalf("%d traces change, %d of an account: too little is seen", len(changed), accounts[string(account)])
	}
	var stop atomic.Bool
	done, reads, old, fresh := make(chan struct{}), 0, 0, 0
	go func() {
		defer close(done)
		for last := false; !last; reads++ {
			time.Sleep(50 * time.Millisecond)
			last = stop.Load()
			for path, of := range map[string][]byte{
				"/actions?limit=1000&account=" + url.QueryEscape(rawOf(account)): account, "/actions?limit=1000&start_utime=1&account=" + url.QueryEscape(rawOf(account)): account,
				"/events?limit=1000&account=" + url.QueryEscape(rawOf(account)): nil,
			} {
				found := x.actionsOf(path)
				for id, s := range was {
					if s.Trace.PendingEdges > 0 || !has(s.Accounts, account) {
						continue
					}
					switch ids, before, after := found[id], seen(s, of), seen(will[id], of); {
					case slices.Equal(before, after) && slices.Equal(ids, after):
					case slices.Equal(ids, after):
						fresh++
					case slices.Equal(ids, before) && !last:
						old++
					default:
						t.Errorf("%s: trace %s has the actions %v, it had %v and will have %v", path, id, ids, before, after)
					}
				}
			}
		}
	}()
	progress, err := reclassify.Run(t.Context(), reclassify.Options{Tables: x.tables, Out: t.Output(), Pause: 3 * time.Second})
	stop.Store(true)
	<-done
	if err != nil || progress.Changed < uint64(len(changed)) {
		t.Errorf("%d traces have changed, want %d: %v", progress.Changed, len(changed), err)
	}
	if reads < 3 || old == 0 || fresh == 0 {
		t.Errorf("after %d rounds of reading, %d traces were seen as they were, and %d as they are", reads, old, fresh)
	}
}

// actionsOf are the ids of the actions of an answer, by their traces; those that an
// account does not take part in belong to others.
func (x *traced) actionsOf(path string) map[string][]string {
	var answer struct {
		Actions []struct {
			ID    string `json:"action_id"`
			Trace string `json:"trace_id"`
		}
		Events []struct {
			Trace   string `json:"trace_id"`
			Actions []struct {
				ID string `json:"action_id"`
			}
		}
	}
	if err := json.Unmarshal(x.ask("/api/v3"+path).Body.Bytes(), &answer); err != nil {
		x.Error(err)
	}
	found := map[string][]string{}
	for _, a := range answer.Actions {
		found[a.Trace] = append(found[a.Trace], a.ID)
	}
	for _, e := range answer.Events {
		for _, a := range e.Actions {
			found[e.Trace] = append(found[e.Trace], a.ID)
		}
	}
	for _, ids := range found {
		slices.Sort(ids)
		if len(slices.Compact(slices.Clone(ids))) != len(ids) {
			x.Errorf("%s: an action is there twice: %v", path, ids)
		}
	}
	return found
}
