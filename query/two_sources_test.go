package query

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"tonscribe/bench/synthetic"
	"tonscribe/query/memory"
	"tonscribe/query/store"
	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/schema/table"
)

// heldLog is a log whose bundles are all there.
type heldLog struct{ bundles memory.Bundles }

var _ store.Log = heldLog{}

func (heldLog) Near(context.Context, uint32, uint32) (bool, error) { return true, nil }
func (heldLog) Start(uint32)                                       {}
func (heldLog) Stop()                                              {}
func (heldLog) Changed() <-chan struct{}                           { return nil }
func (heldLog) Trim(uint32)                                        {}
func (heldLog) State() error                                       { return nil }
func (heldLog) Err() error                                         { return nil }
func (heldLog) CaughtUp() bool                                     { return true }
func (l heldLog) Bundles() memory.Bundles                          { return l.bundles }

// inMemory makes rows of the records of bundles. Tokens are told all of them in order,
// and those from a number on are wanted.
func inMemory(t *testing.T, bundles []*synthetic.Bundle, tokens *synthetic.Tokens, from int) (l heldLog) {
	t.Helper()
	traces := synthetic.NewTraces()
	for i, b := range bundles {
		contracts, assembled := tokens.Records(b, 1)[0], traces.Records(b, 1)[0]
		if i < from {
			continue
		}
		held := memory.NewBundle(b.Seqno)
		held.GenUtime = b.Utime
		headers, transactions, accounts := b.Records(0, 1)
		for topic, list := range map[string][]*record.Record{
			schema.Headers.Name: headers, schema.Transactions.Name: transactions, schema.Accounts.Name: accounts, schema.Contracts.Name: contracts, schema.Traces.Name: assembled,
		} {
			f, err := table.NewFeed(topic, table.Options{Take: held.Add})
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range list {
				if r.GetSeal() != nil {
					continue
				}
				raw, err := r.MarshalVT()
				if err != nil {
					t.Fatal(err)
				}
				if _, err := f.Add(r, raw); err != nil {
					t.Fatal(err)
				}
			}
		}
		held.Sort()
		l.bundles = append(l.bundles, held)
	}
	return l
}

// manyBytes is an answer of which, but for the long run, the first page and the one behind
// its cursor are compared, and no third one.
const manyBytes = 1 << 20

// Whatever part of the chain is not in the tables yet, every request gets the answer
// that a server gives that has all of it there and holds nothing.
func TestAnswersAreTheSameHoweverMuchOfTheChainIsInMemory(t *testing.T) {
	t.Parallel()
	whole := wholeWorld(t)
	bundles, rows := whole.bundles, whole.rows
	full := whole.serve(t, func(c *Configuration) { holdNothing(c) })
	requests := combinations(t, full.documentedParameters(), whole.keys, bundles)
	if !long() {
		covered, _ := covering(requests)
		single := slices.DeleteFunc(slices.Clone(requests), func(c *combination) bool { return len(c.query) > 1 }) // those that find more
		requests = nil
		for _, list := range [][]*combination{covered, single} {
			for n := 0; n < len(list); n += 9 {
				requests = append(requests, list[n])
			}
		}
	}
	last := bundles[len(bundles)-1].Seqno
	answers := map[string]*httptest.ResponseRecorder{} // of the server that holds nothing
	fully := func(path string) *httptest.ResponseRecorder {
		if answers[path] == nil {
			answers[path] = full.ask(path)
		}
		return answers[path]
	}
	for _, behind := range []int{3, len(bundles) / 2} {
		cut := newWorldWith(t, bundles[:len(bundles)-behind], synthetic.NewTokens(rows))
		cut.log = inMemory(t, bundles, synthetic.NewTokens(rows), len(bundles)-behind)
		for name, change := range map[string]func(*Configuration){"holding nothing else": holdNothing, "holding what it can": nil} {
			if behind == 3 && change != nil && !long() {
				continue
			}
			s := cut.serve(t, change)
			s.await(last)
			compared, differ := 0, 0
			for _, c := range requests {
				if strings.Contains(c.path, "/stats") || c.query.Get("use_v2") != "" {
					continue // figures of the tables; no lite servers here
				}
				path := c.path + "?" + c.query.Encode()
				for page := range 3 {
					got, want := s.ask(path), fully(path)
					compared++
					if got.Code != want.Code || got.Body.String() != want.Body.String() {
						if differ++; differ < 12 {
							t.Errorf("%d bundles in memory, %s: %s\nmemory and tables: %d %.700s\ntables alone:      %d %.700s", behind, name, path, got.Code, difference(got.Body.String(), want.Body.String()), want.Code, difference(want.Body.String(), got.Body.String()))
						}
						break
					}
					if want.Code != http.StatusOK || page > 0 && want.Body.Len() > manyBytes && !long() {
						break
					}
					next := nextOf(want)
					if next == "" {
						break
					}
					more := url.Values{"cursor": {next}}
					for name, values := range c.query {
						if name != "offset" {
							more[name] = values
						}
					}
					path = c.path + "?" + more.Encode()
				}
			}
			if compared < 120 {
				t.Errorf("%d answers were compared, want more", compared)
			}
			t.Logf("%d bundles in memory, %s: %d answers compared, %d differ", behind, name, compared, differ)
		}
	}
}

// difference is a text from shortly before where it differs from another one.
func difference(a, b string) string {
	at := 0
	for at < len(a) && at < len(b) && a[at] == b[at] {
		at++
	}
	return a[max(0, min(at, len(a))-150):]
}
