package store

import (
	"cmp"
	"context"
	"fmt"
	"testing"
)

// table is rows of groups: n items, two in a group, every third item twice.
func table(n int) (rows [][2]int) {
	for i := range n {
		rows = append(rows, [2]int{i / 2, i})
		if i%3 == 0 {
			rows = append(rows, [2]int{i / 2, i})
		}
	}
	return rows
}

func TestWalkGivesEveryItemOnceHoweverManyAreSkippedOrWanted(t *testing.T) {
	const n = 260_000
	rows := table(n)
	for _, c := range []struct{ skip, want, rounds int }{
		{0, 10, 5}, {0, mostRows, 3}, {mostRows - 1, 10, 3}, {mostRows, 1, 3}, {2*mostRows + 7, 1000, 3}, {n - 5, 10, 1}, {n + 1, 10, 1},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			read := 0
			w := &walk[[2]int]{
				skip: c.skip,
				read: func(_ context.Context, from *[2]int, limit int) ([][2]int, error) {
					begin := 0
					if from != nil {
						for begin < len(rows) && rows[begin][0] < from[0] {
							begin++
						}
					}
					page := rows[begin:min(begin+limit, len(rows))]
					read += len(page)
					return append([][2]int{}, page...), nil
				},
				group:   func(a, b *[2]int) bool { return a[0] == b[0] },
				compare: func(a, b *[2]int) int { return cmp.Compare(a[1], b[1]) },
			}
			next := c.skip
			for range c.rounds {
				items, err := w.next(t.Context(), c.want, 1)
				if err != nil {
					t.Fatal(err)
				}
				if want := max(0, min(c.want, n-next)); len(items) != want {
					t.Fatalf("got %d items from %d on, want %d", len(items), next, want)
				}
				for _, item := range items {
					if item[0][1] != next {
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
