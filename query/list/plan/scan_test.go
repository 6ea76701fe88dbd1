package plan

import (
	"cmp"
	"context"
	"fmt"
	"testing"
)

// grouped is rows of groups: n items, two in a group, every third item twice.
func grouped(n int) (rows []Row) {
	for i := range n {
		rows = append(rows, Row{uint64(i / 2), uint64(i)})
		if i%3 == 0 {
			rows = append(rows, Row{uint64(i / 2), uint64(i)})
		}
	}
	return rows
}

// Rows of items that change often are there many times before a merge.
func TestAScanReadsAsManyRowsAsTheItemsBeforeHad(t *testing.T) {
	const versions, want = 13, 100
	var rows []Row
	for i := range uint64(1000) {
		for range versions {
			rows = append(rows, Row{i})
		}
	}
	var limits []int
	w := &Scan{
		read: func(_ context.Context, from Row, limit int) ([]Row, error) {
			begin := 0
			if from != nil {
				begin = int(from[0]) * versions
			}
			limits = append(limits, limit)
			return append([]Row{}, rows[begin:min(begin+limit, len(rows))]...), nil
		},
		sameGroup: func(a, b Row) bool { return a[0] == b[0] },
		compare:   func(a, b Row) int { return cmp.Compare(a[0], b[0]) },
	}
	for n := range uint64(2) {
		items, err := w.Next(t.Context(), want, 1)
		if err != nil || len(items) != want || items[0][0][0] != n*want || items[want-1][0][0] != n*want+want-1 {
			t.Fatalf("%d items, %v", len(items), err)
		}
	}
	all := 0
	for _, limit := range limits {
		all += limit
	}
	if len(limits) > 4 || all > 2*want*versions*5/4 {
		t.Errorf("statements read up to %v rows for %d items of %d rows", limits, 2*want, versions)
	}
}

func TestAScanGivesEveryItemOnceHoweverManyAreSkippedOrWanted(t *testing.T) {
	const n = 260_000
	rows := grouped(n)
	for _, c := range []struct{ skip, want, rounds int }{
		{0, 10, 5}, {0, maxRows, 3}, {maxRows - 1, 10, 3}, {maxRows, 1, 3}, {2*maxRows + 7, 1000, 3}, {n - 5, 10, 1}, {n + 1, 10, 1},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			read := 0
			w := &Scan{
				Skip: c.skip,
				read: func(_ context.Context, from Row, limit int) ([]Row, error) {
					begin := 0
					if from != nil {
						for begin < len(rows) && rows[begin][0] < from[0] {
							begin++
						}
					}
					page := rows[begin:min(begin+limit, len(rows))]
					read += len(page)
					return append([]Row{}, page...), nil
				},
				sameGroup: func(a, b Row) bool { return a[0] == b[0] },
				compare:   func(a, b Row) int { return cmp.Compare(a[1], b[1]) },
			}
			next := c.skip
			for range c.rounds {
				items, err := w.Next(t.Context(), c.want, 1)
				if err != nil {
					t.Fatal(err)
				}
				if want := max(0, min(c.want, n-next)); len(items) != want {
					t.Fatalf("got %d items from %d on, want %d", len(items), next, want)
				}
				for _, item := range items {
					if item[0][1] != uint64(next) {
						t.Fatalf("got item %d, want %d", item[0][1], next)
					}
					next++
				}
			}
			if most := 2*(next+16) + 100*c.rounds; read > most && next < n {
				t.Errorf("read %d rows for %d items, want at most %d", read, next, most)
			}
		})
	}
}
