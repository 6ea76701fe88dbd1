package streams

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"tonscribe/query/live/events"
)

// Index has the events of some bundles by account, as they follow from the transactions
// and actions of the v3 layer.
type Index struct {
	ask  func(ctx context.Context, path string, into any) error
	of   map[string][]Event
	from uint32 // the bundles after this one
	to   uint32
}

type transaction struct {
	Account string `json:"account"`
	LT      string `json:"lt"`
	Trace   string `json:"trace_id"`
	Hash    string `json:"hash"`

	lt      uint64
	account []byte
}

type traceAction struct {
	Trace    string   `json:"trace_id"`
	Accounts []string `json:"accounts"`
}

// ReadIndex asks a server for the bundles after one, up to another.
func ReadIndex(ctx context.Context, server, key string, from, to uint32) (*Index, error) {
	x := &Index{ask: asking(server, key), of: map[string][]Event{}, from: from, to: to}
	for seqno := from + 1; seqno <= to; seqno++ {
		if err := x.addBundle(ctx, seqno); err != nil {
			return nil, fmt.Errorf("bundle %d: %w", seqno, err)
		}
	}
	return x, nil
}

// attempts is how often an answer is asked for: a server that has much to do gives up
// after some seconds.
const attempts = 10

// asking asks the v3 layer of a server.
func asking(server, key string) func(context.Context, string, any) error {
	return func(ctx context.Context, path string, into any) (err error) {
		for n := range attempts {
			if err = ask(ctx, server, key, path, into); err == nil || ctx.Err() != nil {
				return err
			}
			select {
			case <-time.After(time.Duration(n) * 100 * time.Millisecond):
			case <-ctx.Done():
			}
		}
		return err
	}
}

func ask(ctx context.Context, server, key, path string, into any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+server+"/api/v3"+path, nil)
	if err != nil {
		return err
	}
	r.Header.Set("X-API-Key", key)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s: %.300s", path, answer.Status, body)
	}
	return json.Unmarshal(body, into)
}

const pageSize = 1000

func (x *Index) transactions(ctx context.Context, seqno uint32) (all []*transaction, err error) {
	for {
		var page struct{ Transactions []*transaction }
		path := fmt.Sprintf("/transactions?mc_seqno=%d&sort=asc&limit=%d&offset=%d", seqno, pageSize, len(all))
		if err := x.ask(ctx, path, &page); err != nil {
			return nil, err
		}
		if all = append(all, page.Transactions...); len(page.Transactions) < pageSize {
			break
		}
	}
	for _, tx := range all {
		if tx.lt, err = strconv.ParseUint(tx.LT, 10, 64); err != nil {
			return nil, err
		}
		if tx.account, err = accountBytes(tx.Account); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(all, func(a, b *transaction) int {
		return cmp.Or(cmp.Compare(a.lt, b.lt), bytes.Compare(a.account, b.account))
	})
	return all, nil
}

// accountBytes are in the order of accounts: the workchain, as a number without a sign,
// comes first.
func accountBytes(text string) ([]byte, error) {
	workchain, id, _ := strings.Cut(text, ":")
	n, err := strconv.ParseInt(workchain, 10, 32)
	if err != nil {
		return nil, err
	}
	raw, err := hex.DecodeString(id)
	return append([]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}, raw...), err
}

func (x *Index) actions(ctx context.Context, seqno uint32) (all []traceAction, err error) {
	for {
		var page struct{ Actions []traceAction }
		path := fmt.Sprintf("/actions?mc_seqno=%d&include_accounts=true&sort=asc&limit=%d&offset=%d", seqno, pageSize, len(all))
		if err := x.ask(ctx, path, &page); err != nil {
			return nil, err
		}
		if all = append(all, page.Actions...); len(page.Actions) < pageSize {
			return all, nil
		}
	}
}

// addBundle adds the events of a bundle. Those of a trace have the number of its first
// transaction in the bundle, three for each, those of an account that of its last one, two
// for each behind all of traces.
func (x *Index) addBundle(ctx context.Context, seqno uint32) error {
	transactions, err := x.transactions(ctx, seqno)
	if err != nil {
		return err
	}
	actions, err := x.actions(ctx, seqno)
	if err != nil {
		return err
	}
	begins, last := map[string]int{}, map[string]int{}
	for i, tx := range transactions {
		trace := cmp.Or(tx.Trace, tx.Hash)
		if _, known := begins[trace]; !known {
			begins[trace] = i
		}
		last[tx.Account] = i
		x.add(tx.Account, Event{Position: events.Position{MCSeqno: seqno, Event: 3 * uint32(begins[trace])}, Type: 0})
	}
	for _, a := range actions {
		i, known := begins[a.Trace]
		if !known {
			return fmt.Errorf("trace %s ends in a bundle without a transaction of it", a.Trace)
		}
		for _, account := range a.Accounts {
			x.add(account, Event{Position: events.Position{MCSeqno: seqno, Event: 3*uint32(i) + 1}, Type: 1})
		}
	}
	for account, i := range last {
		x.add(account, Event{Position: events.Position{MCSeqno: seqno, Event: 3*uint32(len(transactions)) + 2*uint32(i)}, Type: 2})
	}
	return nil
}

func (x *Index) add(account string, e Event) { x.of[account] = append(x.of[account], e) }

// Busy are the accounts of the basechain that have had transactions, in order.
func (x *Index) Busy() []string {
	var list []string
	for account := range x.of {
		if strings.HasPrefix(account, "0:") {
			list = append(list, account)
		}
	}
	slices.Sort(list)
	return list
}

// Wanted are the events of a stream that names some accounts and began behind a position.
func (x *Index) Wanted(accounts []string, begun events.Position) []Event {
	var list []Event
	for _, account := range accounts {
		for _, e := range x.of[account] {
			if e.Position.Compare(begun) > 0 {
				list = append(list, e)
			}
		}
	}
	slices.SortFunc(list, Event.compare)
	return slices.Compact(list)
}

// Difference is what is wrong with what some streams received.
type Difference struct{ Lost, Doubled, Foreign, Disordered int }

// Compare compares what was received with what was wanted, up to the last bundle of the
// index.
func (d *Difference) Compare(received, wanted []Event, to events.Position) (compared int) {
	seen := map[Event]int{}
	var before *Event
	for _, e := range received {
		if e.Position.Compare(to) > 0 {
			continue
		}
		e.At = 0
		if seen[e]++; seen[e] > 1 {
			d.Doubled++
		} else if before != nil && e.compare(*before) < 0 {
			d.Disordered++
		}
		before = &e
	}
	for _, e := range wanted {
		if e.Position.Compare(to) > 0 {
			continue
		}
		if compared++; seen[e] == 0 {
			d.Lost++
		}
		delete(seen, e)
	}
	d.Foreign += len(seen)
	return compared
}

// End is the position behind all that the index has.
func (x *Index) End() events.Position { return events.Position{MCSeqno: x.to, Event: 1<<32 - 1} }

// Accounts are all that have had transactions or actions, in order.
func (x *Index) Accounts() []string { return slices.Sorted(maps.Keys(x.of)) }
