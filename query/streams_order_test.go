package query

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestAStreamGoesOnBehindAnyPositionOnAnyReplica(t *testing.T) {
	t.Parallel()
	x := newStreamWorld(t)
	first, last := x.bundles[x.from-1], x.bundles[len(x.bundles)-1]
	growing := x.growing.serve(t, manyStreams)
	growing.await(first.Seqno)
	whole := x.whole.serve(t, manyStreams)
	here, there := growing.listening(), whole.listening()
	now, _ := growing.open(here, map[string]any{"types": chainTypes})
	if ack := now.next(); ack.Status != "subscribed" || ack.Position != fmt.Sprint(first.Seqno) {
		t.Fatalf("the first is %s, want it to be subscribed behind %d", ack.raw, first.Seqno)
	}
	go x.grow()
	events := now.until(lastState(last))
	want := raws(events)
	seen := map[string]int{}
	for i, e := range events {
		seen[e.Type]++
		if i > 0 && e.at(t).Compare(events[i-1].at(t)) <= 0 {
			t.Fatalf("%s comes behind %s", e.Position, events[i-1].Position)
		}
	}
	for _, name := range chainTypes {
		if seen[name] == 0 {
			t.Errorf("no event %s comes: the test proves nothing", name)
		}
	}
	accounts := 0
	for _, b := range x.bundles[x.from:] {
		distinct := map[string]bool{}
		for _, tx := range b.Transactions {
			distinct[string(tx.Account)] = true
		}
		accounts += len(distinct)
	}
	if seen["account_state_change"] != accounts {
		t.Errorf("%d states come, %d accounts had transactions in bundles", seen["account_state_change"], accounts)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 12 {
		n, at := random.IntN(len(events)-1), map[string]string{"memory": here, "tables": there}
		for what, base := range at {
			again, _ := growing.open(base, map[string]any{"types": chainTypes}, "Last-Event-ID", events[n].Position)
			if i%2 == 0 {
				again, _ = growing.open(base, map[string]any{"types": chainTypes, "from": events[n].Position})
			}
			sameEvents(t, fmt.Sprintf("behind %s out of %s", events[n].Position, what), raws(again.until(lastState(last))), want[n+1:])
			again.cancel()
		}
	}
}

func TestAStreamOfAddressesHasWhatConcernsThem(t *testing.T) {
	t.Parallel()
	x := newStreamWorld(t)
	s := x.whole.serve(t, manyStreams)
	at := s.listening()
	before, last := x.bundles[x.from-1], x.bundles[len(x.bundles)-1]
	everything := func(types ...string) []*streamEvent {
		all, _ := s.open(at, map[string]any{"types": types, "from": fmt.Sprint(before.Seqno)})
		return all.until(lastState(last))
	}
	all := everything(chainTypes...)
	of := map[string]int{}
	for _, b := range x.bundles[x.from:] {
		for _, tx := range b.Transactions {
			of[rawOf(tx.Account)]++
		}
	}
	var accounts []string
	for a := range of {
		accounts = append(accounts, a)
	}
	slices.Sort(accounts)
	busy := rawOf(last.Transactions[len(last.Transactions)-1].Account)
	for n := range 6 {
		some := []string{busy}
		for i := range 10 {
			some = append(some, accounts[(n*10+i)%len(accounts)])
		}
		named, _ := s.open(at, map[string]any{"types": []string{"actions", "account_state_change"}, "from": fmt.Sprint(before.Seqno), "addresses": some})
		var want, got []string
		for _, e := range all {
			switch e.Type {
			case "account_state_change":
				if slices.Contains(some, e.Account) {
					want = append(want, e.raw)
				}
			case "actions":
				for _, a := range e.Actions {
					if slices.ContainsFunc(a.Accounts, func(b string) bool { return slices.Contains(some, b) }) {
						want = append(want, e.Position+" actions")
						break
					}
				}
			}
		}
		for _, e := range named.until(lastState(last)) {
			if e.Type == "actions" {
				got = append(got, e.Position+" actions")
				continue
			}
			got = append(got, e.raw)
		}
		sameEvents(t, fmt.Sprint(some), got, want)
		named.cancel()
		transactions, _ := s.open(at, map[string]any{"types": []string{"transactions", "account_state_change"}, "from": fmt.Sprint(before.Seqno), "addresses": some})
		received := map[string]bool{}
		for _, e := range transactions.until(lastState(last)) {
			if e.Type != "transactions" {
				continue
			}
			var list []struct{ Hash, Account, Finality string }
			if err := json.Unmarshal(e.Transactions, &list); err != nil {
				t.Fatal(err)
			}
			for _, tx := range list {
				received[tx.Hash] = true
				if !slices.Contains(some, tx.Account) || tx.Finality != "finalized" {
					t.Errorf("transaction %+v comes to a stream of %v", tx, some)
				}
			}
		}
		for _, b := range x.bundles[x.from:] {
			for _, tx := range b.Transactions {
				if slices.Contains(some, rawOf(tx.Account)) && !received[b64(tx.Hash)] {
					t.Errorf("transaction %s of bundle %d does not come", b64(tx.Hash), b.Seqno)
				}
			}
		}
		transactions.cancel()
	}
}

func TestStreamsOfTokensAndOpcodes(t *testing.T) {
	t.Parallel()
	x := newStreamWorld(t)
	s := x.whole.serve(t, manyStreams)
	at, from, last := s.listening(), fmt.Sprint(x.bundles[x.from-1].Seqno), lastState(x.bundles[len(x.bundles)-1])
	all, _ := s.open(at, map[string]any{"types": []string{"jettons_change", "account_state_change"}, "from": from})
	want := map[string][]string{}
	for _, e := range all.until(last) {
		if e.Type == "jettons_change" {
			want[e.Jetton.Jetton] = append(want[e.Jetton.Jetton], e.raw)
			want[e.Jetton.Owner] = append(want[e.Jetton.Owner], e.raw)
		}
	}
	if len(want) < 4 {
		t.Fatalf("wallets of %d jettons and owners change", len(want))
	}
	busy := rawOf(x.bundles[len(x.bundles)-1].Transactions[len(x.bundles[len(x.bundles)-1].Transactions)-1].Account)
	tested := 0
	for _, account := range slices.Sorted(maps.Keys(want)) {
		events := want[account]
		if account == busy || tested == 6 {
			continue
		}
		tested++
		for _, field := range []string{"jettons", "addresses"} {
			named := map[string]any{"types": []string{"jettons_change", "account_state_change"}, "from": from, field: []string{account}, "addresses": []string{busy}}
			if field == "addresses" {
				named["addresses"] = []string{account, busy}
			}
			stream, _ := s.open(at, named)
			got := slices.DeleteFunc(stream.until(last), func(e *streamEvent) bool {
				return e.Type != "jettons_change" || e.Jetton.Jetton != account && (field == "jettons" || e.Jetton.Owner != account)
			})
			stream.cancel()
			matching := slices.DeleteFunc(slices.Clone(events), func(raw string) bool {
				return !strings.Contains(raw, `"jetton":"`+account) && field == "jettons" || !strings.Contains(raw, `"owner":"`+account) && field == "addresses"
			})
			sameEvents(t, field+" "+account, raws(got), matching)
		}
	}
	opcodes := map[uint32]int{}
	for _, b := range x.bundles[x.from:] {
		for _, tx := range b.Transactions {
			if tx.InMsg != nil && tx.InMsg.Opcode != nil {
				opcodes[*tx.InMsg.Opcode]++
			}
		}
	}
	for _, opcode := range slices.Sorted(maps.Keys(opcodes))[:3] {
		n := opcodes[opcode]
		text := fmt.Sprintf("0x%08x", opcode)
		stream, _ := s.open(at, map[string]any{"types": []string{"transactions", "account_state_change"}, "from": from, "opcodes": []string{text}})
		received := map[string]bool{}
		for _, e := range stream.until(last) {
			var list []struct {
				Hash  string
				Seqno uint32                  `json:"mc_block_seqno"`
				In    struct{ Opcode string } `json:"in_msg"`
			}
			if e.Type == "transactions" {
				if err := json.Unmarshal(e.Transactions, &list); err != nil {
					t.Fatal(err)
				}
			}
			for _, tx := range list {
				if tx.In.Opcode != text {
					t.Errorf("a stream of %s has a message %s", text, tx.In.Opcode)
				}
				if tx.Seqno >= x.bundles[x.from].Seqno {
					received[tx.Hash] = true
				}
			}
		}
		stream.cancel()
		if len(received) != n {
			t.Errorf("%d transactions of %s come, want %d", len(received), text, n)
		}
	}
}

// keyOf names what an event tells something of that the next one of its type replaces.
func keyOf(e *streamEvent) string { return e.Type + e.Trace + e.Account + e.Jetton.Address }

// What a minute has brought comes once: of each trace, account and wallet the last event.
func TestWhatIsNewComesOnce(t *testing.T) {
	t.Parallel()
	x := newStreamWorld(t)
	s := x.whole.serve(t, manyStreams)
	at, last := s.listening(), lastState(x.bundles[len(x.bundles)-1])
	fresh, _ := s.open(at, map[string]any{"types": chainTypes, "replay_existing": true})
	behind := fresh.next().Position
	got := raws(fresh.until(last))
	all, _ := s.open(at, map[string]any{"types": chainTypes, "from": behind})
	events := all.until(last)
	newest := map[string]*streamEvent{}
	for _, e := range events {
		newest[keyOf(e)] = e
	}
	var want []string
	for _, e := range events {
		if newest[keyOf(e)] == e {
			want = append(want, e.raw)
		}
	}
	sameEvents(t, "what is new behind "+behind, got, want)
	if len(want) == len(events) {
		t.Error("nothing is told twice: the test proves nothing")
	}
}

// Behind a position each change of a wallet comes again as it came, or it is said that it
// cannot be made any more.
func TestAChangeOfAWalletComesAgainOrItIsSaidThatItIsMissing(t *testing.T) {
	t.Parallel()
	x := newStreamWorld(t)
	first, end := x.bundles[x.from-1].Seqno, x.bundles[len(x.bundles)-1]
	growing := x.growing.serve(t, manyStreams)
	growing.await(first)
	whole := x.whole.serve(t, manyStreams)
	wanted := map[string]any{"types": []string{"jettons_change", "gap", "account_state_change"}}
	live, _ := growing.open(growing.listening(), wanted)
	live.next()
	go x.grow()
	came := map[string]*streamEvent{}
	for _, e := range live.until(lastState(end)) {
		if e.Type == "gap" {
			t.Errorf("%s comes of what is in memory", e.raw)
		}
		if e.Type == "jettons_change" {
			came[e.Position] = e
		}
	}
	wanted["from"] = fmt.Sprint(first)
	again, _ := whole.open(whole.listening(), wanted)
	same, gaps := 0, 0
	for _, e := range again.until(lastState(end)) {
		before := came[e.Position]
		switch {
		case e.Type == "account_state_change":
			continue
		case before == nil:
			t.Errorf("%s did not come before", e.raw)
		case e.Type == "gap" && before.Jetton.Address == e.Account:
			gaps++
		case e.raw == before.raw:
			same++
		default:
			t.Errorf("%s comes in place of %s", e.raw, before.raw)
		}
		delete(came, e.Position)
	}
	of := map[uint32]uint32{} // transactions of bundles
	for _, b := range x.bundles {
		of[b.Seqno] = uint32(len(b.Transactions))
	}
	for _, e := range came {
		if p := e.at(t); p.Event < 5*of[p.MCSeqno] { // others were found out later
			t.Errorf("neither %s comes again, nor a gap", e.raw)
		}
	}
	if same == 0 || gaps == 0 {
		t.Errorf("%d changes come again, %d are missing: the test proves nothing", same, gaps)
	}
}
