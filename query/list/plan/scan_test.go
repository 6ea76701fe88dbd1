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
