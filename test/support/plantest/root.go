// Package plantest holds what ClickHouse is asked against golden texts.
//
// In: the plans of lists, each with a label. Out: a failed test where a statement is not
// that of testdata/*.golden in the test's folder.
package plantest

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tonscribe/query/list/plan"
	"tonscribe/ton/address"
)

var update = flag.Bool("update", false, "write testdata/*.golden anew")

// Accounts are the first n of some accounts.
func Accounts(n int) (list []address.Address) {
	for i := range n {
		list = append(list, address.Address{35: byte(i + 1), 4: byte(0x10 * (i + 1))})
	}
	return list
}

// Account is an account by its number, none of Accounts; nil for 0.
func Account(n int) *address.Address {
	if n == 0 {
		return nil
	}
	a := address.Address{4: 0xaa, 35: byte(n)}
	return &a
}

// Golden is a text of what plans read.
type Golden struct{ strings.Builder }

// Plan adds what a plan reads, and what it reads behind a row.
func (g *Golden) Plan(label string, p *plan.Plan, from plan.Row) {
	fmt.Fprintf(g, "%s\n", label)
	g.WriteString(p.String())
	if len(p.Ranges) > 0 && !p.Whole {
		fmt.Fprintf(g, "  from: %s\n", p.Statement(&p.Ranges[0], from, 32))
	}
}

// Check compares with testdata. A difference is a change of what ClickHouse is asked:
// look at it, and write it down with -update.
func (g *Golden) Check(t *testing.T, name string) {
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
