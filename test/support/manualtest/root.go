// Package manualtest holds parts of the manual against what they are made of.
package manualtest

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the part of the manual")

// Check fails the test when a page does not have the text between its marks; with
// -update it writes it there. The page is a path from the test's folder.
func Check(t *testing.T, page, text string) {
	t.Helper()
	const begin, end = "-update -->\n", "<!-- end -->"
	all, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(all), begin)
	said, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("%s has no marks for the text", page)
	}
	if *update {
		if err := os.WriteFile(page, []byte(before+begin+text+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if said != text {
		t.Errorf("%s does not say what it is made of: go test -run %s -update in this folder", page, t.Name())
	}
}
