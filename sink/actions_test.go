package sink

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"testing"

	"tonscribe/internal/clickhouse"
	"tonscribe/schema"
	"tonscribe/schema/record"
)

func accountNumber(n int) []byte {
	id := sha256.Sum256(fmt.Append(nil, n))
	return append(make([]byte, 4), id[:]...)
}

func detail(name string, value any) *record.ActionDetail {
	d := &record.ActionDetail{Name: name}
	switch v := value.(type) {
	case []byte:
		d.Value = &record.ActionDetail_Bytes{Bytes: v}
	case uint64:
		d.Value = &record.ActionDetail_Unsigned{Unsigned: v}
	case string:
		d.Value = &record.ActionDetail_Text{Text: v}
	case []*record.ActionDetail:
		d.Value = &record.ActionDetail_Object{Object: &record.ActionObject{Details: v}}
	}
	return d
}

// markets are traces with actions of exchanges, sales, stakes and payments, as the
// topic traces has them: n of each kind, over some days.
func markets(n, days int) (steps []*record.TraceStep) {
	hash := func(a, b int) []byte {
		h := sha256.Sum256(fmt.Append(nil, "trace", a, b))
		return h[:]
	}
	kinds := []func(i int) *record.Action{
		func(i int) *record.Action {
			return &record.Action{Type: "jetton_swap", Success: i%4 != 0, Details: []*record.ActionDetail{
				detail("dex", []string{"stonfi_v2", "dedust"}[i%2]), detail("sender", accountNumber(i%5)), detail("asset_in", accountNumber(100)),
				detail("dex_incoming_transfer", []*record.ActionDetail{detail("amount", uint64(1000+i))}),
				detail("dex_outgoing_transfer", []*record.ActionDetail{detail("amount", bytes.Repeat([]byte{1}, 12))}),
			}}
		},
		func(i int) *record.Action {
			return &record.Action{Type: "nft_purchase", Success: true, Details: []*record.ActionDetail{
				detail("nft_collection", accountNumber(200+i%2)), detail("nft_item", accountNumber(300+i)), detail("price", uint64(5_000_000_000+i)),
				detail("marketplace", "getgems"), detail("new_owner", accountNumber(i%5)), detail("old_owner", accountNumber(7)),
			}}
		},
		func(i int) *record.Action {
			return &record.Action{Type: "ton_transfer", Success: true, Details: []*record.ActionDetail{
				detail("source", accountNumber(i%5)), detail("destination", accountNumber(9)), detail("value", uint64(1_000_000_000)), detail("comment", fmt.Sprint("order ", i)),
			}}
		},
		func(i int) *record.Action {
			return &record.Action{Type: []string{"stake_deposit", "stake_withdrawal"}[i%2], Success: true, Details: []*record.ActionDetail{
				detail("provider", "tonstakers"), detail("stake_holder", accountNumber(i%5)), detail("amount", uint64(2_000_000_000)), detail("pool", accountNumber(400)),
			}}
		},
		func(i int) *record.Action {
			return &record.Action{Type: "jetton_transfer", Success: true, Ancestors: []string{"jetton_swap"}, Details: []*record.ActionDetail{
				detail("sender", accountNumber(i%5)), detail("receiver", accountNumber(8)), detail("asset", accountNumber(100)), detail("amount", uint64(77)),
			}}
		},
		func(i int) *record.Action {
			return &record.Action{Type: "jetton_transfer", Success: true, Details: []*record.ActionDetail{
				detail("sender", accountNumber(i%5)), detail("receiver", accountNumber(8)), detail("asset", accountNumber(100)), detail("amount", uint64(78)), detail("comment", "thanks"),
			}}
		},
		func(i int) *record.Action {
			return &record.Action{Type: "dex_deposit_liquidity", Success: true, Details: []*record.ActionDetail{
				detail("dex", "dedust"), detail("source", accountNumber(i%5)), detail("pool", accountNumber(500)), detail("asset_1", accountNumber(100)),
				detail("amount_1", uint64(50)), detail("amount_2", uint64(60)), detail("lp_tokens_minted", uint64(55)),
			}}
		},
	}
	for k, kind := range kinds {
		for i := range n {
			utime := uint32(1_700_000_000 + i%days*day + i)
			lt := uint64(90_000_000_000_000 + 1000*(len(kinds)*i+k))
			a := kind(i)
			a.Id, a.StartLt, a.EndLt, a.StartUtime, a.EndUtime, a.Until = hash(k, -1-i), lt, lt+5, utime, utime, 255
			a.Accounts, a.Transactions = [][]byte{accountNumber(i % 5)}, [][]byte{hash(k, i)}
			steps = append(steps, &record.TraceStep{Actions: []*record.Action{a}, Accounts: a.Accounts, Trace: &record.Trace{
				Id: hash(k, i), ExternalHash: hash(k, 1000+i), McSeqnoStart: 5, McSeqnoEnd: 5, StartLt: lt, EndLt: lt + 5, StartUtime: utime, EndUtime: utime, Nodes: 2, Edges: 2,
			}})
		}
	}
	return steps
}

func insertTraces(t testing.TB, tables *clickhouse.Client, token string, steps []*record.TraceStep) {
	t.Helper()
	f := newFeed(t, DefaultConfiguration(), schema.Traces)
	addAll(t, f, []*record.Record{{McSeqno: 5, Content: &record.Record_Traces{Traces: &record.TraceBatch{Traces: steps}}}})
	insertFeed(t, tables, f, token)
}

// Ready figures of actions are those of their newest rows, whatever came twice, and
// whatever was recognised again.
func TestFiguresOfActionsFollowWhatTheyAre(t *testing.T) {
	tables := newTables(t)
	steps := markets(40, 3)
	compare := func(when string) {
		t.Helper()
		refreshStats(t, tables)
		types, pools := map[string][2]int{}, map[string][2]int{}
		for _, s := range steps {
			a := s.Actions[0]
			if len(a.Ancestors) > 0 {
				continue
			}
			failed := 0
			if !a.Success {
				failed = 1
			}
			protocol := ""
			for _, d := range a.Details {
				if d.Name == "dex" || d.Name == "provider" || d.Name == "marketplace" {
					protocol = d.GetText()
				}
			}
			key := fmt.Sprintf("%d %s %s", a.EndUtime/day, a.Type, protocol)
			types[key] = [2]int{types[key][0] + 1, types[key][1] + failed}
			if a.Type == "jetton_swap" && a.Success {
				key := fmt.Sprintf("%d %s", a.EndUtime/day, protocol)
				given := a.Details[3].GetObject().Details[0].GetUnsigned()
				pools[key] = [2]int{pools[key][0] + 1, pools[key][1] + int(given)}
			}
		}
		for statement, want := range map[string]map[string][2]int{
			"SELECT concat(toString(toUInt16(day)), ' ', type, ' ', protocol, ' ', toString(actions), ' ', toString(failed)) FROM stats_action_days FINAL WHERE actions > 0": types,
			"SELECT concat(toString(toUInt16(day)), ' ', protocol, ' ', toString(swaps), ' ', toString(amount)) FROM stats_pool_days FINAL WHERE swaps > 0":                  pools,
		} {
			var expected []string
			for key, n := range want {
				expected = append(expected, fmt.Sprintf("%s %d %d", key, n[0], n[1]))
			}
			slices.Sort(expected)
			if have := slices.Sorted(maps.Keys(lines(t, tables, statement))); !slices.Equal(have, expected) {
				t.Errorf("%s: figures are\n%q, want\n%q", when, have, expected)
			}
		}
	}
	insertTraces(t, tables, "once", steps)
	insertTraces(t, tables, "twice", steps)
	compare("inserted")
	// All stakes turn out to be no actions, and failed exchanges to be done.
	for _, statement := range []string{
		"INSERT INTO actions SELECT * REPLACE (2 AS revision, 1 AS gone) FROM actions FINAL WHERE startsWith(type, 'stake_')",
		"INSERT INTO actions SELECT * REPLACE (2 AS revision, true AS success) FROM (SELECT * FROM actions FINAL WHERE type = 'jetton_swap' AND NOT success)",
	} {
		if err := tables.Conn().Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range steps {
		s.Actions[0].Success = true
	}
	steps = slices.DeleteFunc(steps, func(s *record.TraceStep) bool { return s.Actions[0].Type[:6] == "stake_" })
	compare("recognised again")
}
