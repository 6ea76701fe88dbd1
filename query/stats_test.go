package query

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"tonscribe/bench/synthetic"
)

// statsWorld has a small chain, and figures of its own beside it.
func statsWorld(t *testing.T) *world {
	t.Helper()
	rows := synthetic.NewRows(synthetic.RowOptions{Transactions: 200, Seed: 3})
	var bundles []*synthetic.Bundle
	for rows.Made() < 200 {
		bundles = append(bundles, rows.Next())
	}
	w := newWorld(t, bundles)
	for _, view := range []string{"stats_days_view", "stats_jetton_days_view", "stats_jetton_totals_view", "stats_balances_view", "stats_jettons_view"} {
		w.exec(t, "SYSTEM STOP VIEW "+view)
	}
	for _, table := range []string{"stats_days", "stats_jetton_days", "stats_jetton_totals", "stats_balances", "stats_jettons"} {
		w.exec(t, "TRUNCATE TABLE "+table)
	}
	const made = "toDateTime64(1700000000, 3, 'UTC')"
	// Two versions of every day: the newer one counts.
	for version := range 2 {
		w.exec(t, fmt.Sprintf(`INSERT INTO stats_days SELECT toDate(toUInt16(19000 + number)), 100 + number, 10, 20 + %d, 18446744073709551615, 5, 6, 7, 9, %s + %d FROM numbers(30)`, version, made, version))
		last := bundles[len(bundles)-1].Utime / 86400
		w.exec(t, fmt.Sprintf(`INSERT INTO stats_jetton_days SELECT toDate(toUInt16(%d - number %% 4)), 0, unhex(repeat(leftPad(hex(toUInt8(number)), 2, '0'), 32)), number + %d,
			toUInt256('100000000000000000000000000000000000000000'), %s + %d FROM numbers(20)`, last, version, made, version))
	}
	w.exec(t, `INSERT INTO stats_balances VALUES (0, 3, 0, `+made+`), (1, 2, 11, `+made+`), (4, 1, 5000, `+made+`), (20, 2, 36893488147419103230, `+made+`)`)
	w.exec(t, `INSERT INTO stats_jettons SELECT 0, unhex(repeat(leftPad(hex(toUInt8(number)), 2, '0'), 32)), intDiv(number, 3), number, number * 7, `+made+` FROM numbers(20)`)
	w.exec(t, "SYSTEM START VIEW stats_jetton_totals_view")
	w.exec(t, "SYSTEM REFRESH VIEW stats_jetton_totals_view")
	w.exec(t, "SYSTEM WAIT VIEW stats_jetton_totals_view")
	return w
}

func (s *server) read(path string, into any) {
	s.Helper()
	w := s.ask(path)
	if w.Code != http.StatusOK {
		s.Fatalf("%s: %d %s", path, w.Code, w.Body)
	}
	if err := json.Unmarshal(w.Body.Bytes(), into); err != nil {
		s.Fatal(path, err)
	}
}

type figures struct {
	Days []struct {
		Day      string
		Accounts string `json:"active_accounts"`
		Total    string `json:"total_fees"`
		Other    string `json:"other_fees"`
	}
	Jettons []struct {
		Jetton, Holders, Transfers, Held, Transferred string
	}
	Balances []struct {
		Least    string `json:"min_balance"`
		Most     string `json:"max_balance"`
		Accounts string
	}
	Accounts, Balance string
	Next              string `json:"next_cursor"`
}

// walk reads all pages.
func (s *server) figures(path string) (pages []figures) {
	s.Helper()
	for cursor := ""; ; {
		var page figures
		s.read(path+cursor, &page)
		pages = append(pages, page)
		if page.Next == "" {
			return pages
		}
		cursor = "&cursor=" + page.Next
	}
}

func TestFigures(t *testing.T) {
	t.Parallel()
	s := statsWorld(t).serve(t, nil)
	for name, check := range map[string]func(*testing.T, *server){
		"of days are paged and exact":                    figuresOfDays,
		"of accounts by balance have no gaps":            accountsByBalance,
		"of jettons are ranked by holders and transfers": jettonsRanked,
		"that are asked for with bad values are refused": badValuesOfStats,
	} {
		t.Run(name, func(t *testing.T) {
			s.TB = t
			check(t, s)
		})
	}
}

func figuresOfDays(t *testing.T, s *server) {
	for _, sort := range []string{"asc", "desc"} {
		for _, path := range []string{"transactions", "fees"} {
			var days []string
			for _, page := range s.figures("/api/v3/stats/" + path + "?limit=7&sort=" + sort) {
				for _, d := range page.Days {
					days = append(days, d.Day)
					if path == "fees" && (d.Total != "18446744073709551615" || d.Other != "18446744073709551597") || path == "transactions" && d.Accounts != "21" {
						t.Errorf("%s: %+v", path, d)
					}
				}
			}
			if sort == "desc" {
				slices.Reverse(days)
			}
			if len(days) != 30 || days[0] != "2022-01-08" || days[29] != "2022-02-06" || !slices.IsSorted(days) {
				t.Errorf("%s %s: %d days, %v", path, sort, len(days), days)
			}
		}
	}
	var page figures
	s.read(fmt.Sprintf("/api/v3/stats/transactions?start_utime=%d&end_utime=%d", 19003*86400+86399, 19005*86400), &page)
	if len(page.Days) != 3 || page.Days[2].Day != "2022-01-11" {
		t.Errorf("a range of times: %+v", page.Days)
	}
}

func accountsByBalance(t *testing.T, s *server) {
	var page figures
	s.read("/api/v3/stats/accountsByBalance", &page)
	if len(page.Balances) != 21 || page.Accounts != "8" || page.Balance != "36893488147419108241" {
		t.Fatalf("%d rows, %s accounts have %s", len(page.Balances), page.Accounts, page.Balance)
	}
	for digits, row := range page.Balances {
		least, most := "0", "0"
		if digits > 0 {
			least, most = "1"+strings.Repeat("0", digits-1), strings.Repeat("9", digits)
		}
		want := map[int]string{0: "3", 1: "2", 4: "1", 20: "2"}[digits]
		if want == "" {
			want = "0"
		}
		if row.Least != least || row.Most != most || row.Accounts != want {
			t.Errorf("%d digits: %+v instead of %s accounts from %s to %s", digits, row, want, least, most)
		}
	}
}

func jettonsRanked(t *testing.T, s *server) {
	for _, c := range []struct {
		query string
		count int
		top   string // number of the first jetton, its holders and transfers
	}{
		{"by=holders&days=365", 20, "13 6 20"}, {"days=1", 20, "13 6 0"},
		{"by=transfers&days=4", 20, "13 6 20"}, {"by=transfers&days=1", 5, "10 5 17"},
		{"by=transfers&days=2", 10, "11 5 18"}, {"by=transfers&days=3", 15, "12 6 19"}, {"by=transfers&days=7", 20, "13 6 20"}, {"by=holders&days=2", 20, "13 6 0"},
	} {
		var seen []string
		first := ""
		for _, page := range s.figures("/api/v3/stats/jettons?limit=3&" + c.query) {
			for _, j := range page.Jettons {
				if first == "" {
					first = fmt.Sprintf("%s %s %s", j.Jetton[2:4], j.Holders, j.Transfers)
				}
				if j.Transfers != "0" && j.Transferred != "100000000000000000000000000000000000000000" {
					t.Errorf("%s: %+v", c.query, j)
				}
				seen = append(seen, j.Jetton)
			}
		}
		if first != c.top || len(seen) != c.count || !slices.IsSortedFunc(seen, func(a, b string) int { return strings.Compare(b, a) }) {
			t.Errorf("%s: %d jettons beginning with %s instead of %d with %s: %v", c.query, len(seen), first, c.count, c.top, seen)
		}
	}
}

// Totals are added up after the figures of days are made, and may be of fewer transfers
// than these. A day that they do not have yet, as after midnight, is told by taking those
// before it away.
func TestTransfersOfJettonsAreNoneWhereTotalsAreBehindTheirDays(t *testing.T) {
	t.Parallel()
	w := statsWorld(t)
	w.exec(t, "SYSTEM STOP VIEW stats_jetton_totals_view")
	w.exec(t, "TRUNCATE TABLE stats_jetton_days")
	w.exec(t, "TRUNCATE TABLE stats_jetton_totals")
	before := w.bundles[len(w.bundles)-1].Utime/86400 - 1
	const jetton = "0, unhex(repeat('07', 32))"
	w.exec(t, fmt.Sprintf("INSERT INTO stats_jetton_totals VALUES (toDate(toUInt16(%d)), 5, %s, 50, now64(3))", before, jetton))
	w.exec(t, fmt.Sprintf("INSERT INTO stats_jetton_days VALUES (toDate(toUInt16(%d)), %s, 8, 80, now64(3))", before, jetton))
	s := w.serve(t, nil)
	for by, count := range map[string]int{"transfers": 0, "holders": 20} {
		all := 0
		for _, page := range s.figures("/api/v3/stats/jettons?days=1&by=" + by) {
			all += len(page.Jettons)
			for _, j := range page.Jettons {
				if j.Transfers != "0" || j.Transferred != "0" {
					t.Errorf("by %s: %+v", by, j)
				}
			}
		}
		if all != count {
			t.Errorf("by %s: %d jettons", by, all)
		}
	}
}

func badValuesOfStats(t *testing.T, s *server) {
	for path, want := range map[string]string{
		"jettons?by=price":           "by should be one of: holders, transfers",
		"jettons?days=0":             "days should be from 1 to 365",
		"jettons?days=366":           "days should be from 1 to 365",
		"jettons?days=x":             `failed to decode: schema: error converting value for "days"`,
		"jettons?limit=1001":         "limit is not allowed: 1001 > 1000",
		"jettons?cursor=AQ":          "wrong value for cursor parameter: send next_cursor of the page before with the same other parameters",
		"transactions?limit=1001":    "limit is not allowed: 1001 > 1000",
		"transactions?sort=up":       "wrong value for sort parameter",
		"fees?start_utime=yesterday": `failed to decode: schema: error converting value for "start_utime"`,
		"fees?cursor=AQ":             "wrong value for cursor parameter: send next_cursor of the page before with the same other parameters",
	} {
		w := s.ask("/api/v3/stats/" + path)
		var got struct{ Error string }
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != http.StatusUnprocessableEntity || got.Error != want {
			t.Errorf("%s: %d %s, %v instead of %q", path, w.Code, w.Body, err, want)
		}
	}
}
