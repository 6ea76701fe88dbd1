package list

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tonscribe/query/list/plan"
)

var update = flag.Bool("update", false, "write testdata/*.golden anew")

// addrs are some accounts.
func addrs(n int) (list []Address) {
	for i := range n {
		list = append(list, Address{35: byte(i + 1), 4: byte(0x10 * (i + 1))})
	}
	return list
}

func one(n int) *Address {
	if n == 0 {
		return nil
	}
	a := Address{4: 0xaa, 35: byte(n)}
	return &a
}

func span(given int) Span {
	switch given {
	case 1:
		return Span{From: 100, To: 200, Given: true}
	case 2:
		return Span{To: 1 << 40, Given: true}
	}
	return Everything
}

type golden struct{ strings.Builder }

// plan adds what a plan reads, and what it reads behind a row.
func (g *golden) plan(label string, p *plan.Plan, from plan.Row) {
	fmt.Fprintf(g, "%s\n", label)
	g.WriteString(p.String())
	if len(p.Ranges) > 0 && !p.Whole {
		fmt.Fprintf(g, "  from: %s\n", p.Statement(&p.Ranges[0], from, 32))
	}
}

// check compares with testdata. A difference is a change of what ClickHouse is asked:
// look at it, and write it down with -update.
func (g *golden) check(t *testing.T, name string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, []byte(g.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got, wanted := strings.Split(g.String(), "\n"), strings.Split(string(want), "\n")
	for i := range max(len(got), len(wanted)) {
		if i >= len(got) || i >= len(wanted) || got[i] != wanted[i] {
			t.Fatalf("%s:%d\ngot  %s\nwant %s", path, i+1, strings.Join(got[min(i, len(got)):min(i+1, len(got))], ""), strings.Join(wanted[min(i, len(wanted)):min(i+1, len(wanted))], ""))
		}
	}
}
