// Package imports holds the graph of imports against the plan of the tree.
package imports

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tonscribe/test/support/harness"
)

// below is what a folder, or the folder above it that is named, may import beside
// its own. A name stands for all that lies in it; one that ends with a dot, for
// the package itself. Only what is written here may point so: the way of the data
// goes downwards, and stages know nothing of each other.
var below = map[string][]string{
	"ton":              {},
	"schema":           {"ton"},
	"internal":         {"ton", "schema"},
	"decode.":          {"ton", "schema"},
	"decode/contract":  {"ton", "schema", "decode."},
	"decode/trace":     {"ton", "schema"},
	"decode/action":    {"ton", "schema", "decode/trace"},
	"decode/pending":   {"ton", "schema", "decode.", "decode/trace"},
	"decode/cellstore": {"ton", "schema", "internal", "decode."},
	"decode/worker":    {"ton", "schema", "internal", "decode.", "decode/cellstore"},
	"decode/traces":    {"ton", "schema", "internal", "decode/trace", "decode/action"},
	"decode/detect":    {"ton", "schema", "internal", "decode.", "decode/contract"},
	"devnet":           {"ton", "schema", "internal"},
	"ingest":           {"ton", "schema", "internal", "decode."},
	"sink":             {"ton", "schema", "internal"},
	"metadata":         {"ton", "schema", "internal"},
	"reclassify":       {"ton", "schema", "internal", "decode"},
	"query":            {"ton", "schema", "internal", "decode.", "decode/contract", "decode/trace", "decode/action", "decode/pending", "docs"},
	"query/node":       {"ton", "internal"},
	"docs":             {},
	"web":              {"query/compress"},

	"webhooks/event":     {},
	"webhooks/signature": {},
	"webhooks/receiver":  {"webhooks/event", "webhooks/signature"},
	"webhooks/send":      {"schema", "internal", "webhooks/event", "webhooks/signature"},
	"webhooks/payment":   {"ton", "schema"},
	"webhooks/match":     {"ton", "schema", "internal", "webhooks/event", "webhooks/payment", "webhooks/store"},
	"webhooks/store":     {"ton", "internal", "webhooks/signature"},
	"webhooks/api":       {"ton", "internal", "query/api", "query/openapi", "query/params", "webhooks/event", "webhooks/payment", "webhooks/signature", "webhooks/store"},

	"verify": {"ton", "schema", "internal", "decode", "ingest", "sink", "metadata", "reclassify"},
	"bench":  {"ton", "schema", "internal", "decode", "devnet", "ingest", "sink", "metadata", "query"},
	"cmd":    {"ton", "schema", "internal", "decode", "devnet", "ingest", "sink", "metadata", "query", "docs", "web", "reclassify", "webhooks", "verify", "bench"},
	"test":   {"ton", "schema", "internal", "decode", "devnet", "ingest", "sink", "metadata", "query", "docs", "reclassify", "webhooks", "verify", "bench"},
}

// without is what a package must do without, of the standard library: node access is
// Go values, whoever writes them and for whichever protocol.
var without = map[string][]string{"query/node": {"net/http", "encoding/json"}}

// has reports whether a package lies in what a name stands for.
func has(name, path string) bool {
	if exact, ok := strings.CutSuffix(name, "."); ok {
		return path == exact
	}
	return path == name || strings.HasPrefix(path, name+"/")
}

// roomOf is the longest name in below that a package lies in, "" for none.
func roomOf(path string) (room string) {
	for name := range below {
		if has(name, path) && len(name) > len(room) {
			room = name
		}
	}
	return room
}

// listed is a package as the go command lists it.
type listed struct {
	ImportPath, Dir  string
	Imports, GoFiles []string
}

func packages(t *testing.T) (all []listed) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Dir,Imports,GoFiles", "./...")
	command.Dir = harness.Root()
	out, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	for list := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := list.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		p.ImportPath = strings.TrimPrefix(p.ImportPath, "tonscribe/")
		all = append(all, p)
	}
}

func TestImportsPointDownwards(t *testing.T) {
	all := packages(t)
	for _, p := range all {
		room := roomOf(p.ImportPath)
		if room == "" {
			t.Errorf("%s: the plan has no room for it", p.ImportPath)
			continue
		}
		for _, imported := range p.Imports {
			if slices.Contains(without[p.ImportPath], imported) {
				t.Errorf("%s imports %s, which it must do without", p.ImportPath, imported)
			}
			imported, ours := strings.CutPrefix(imported, "tonscribe/")
			if !ours || has(room, imported) || slices.ContainsFunc(below[room], func(name string) bool { return has(name, imported) }) {
				continue
			}
			t.Errorf("%s imports %s, which does not lie below %s", p.ImportPath, imported, strings.TrimSuffix(room, "."))
		}
	}
	if len(all) < len(below) {
		t.Errorf("%d packages were seen, want %d at least", len(all), len(below))
	}
}

// floors are the packages of query from the ground up: each stands on those before it, so
// that the way of a request through them goes one way.
var floors = []string{
	"query/sql", "query/compress", "query/openapi", "query/params", "query/api", "query/examples",
	"query/reader", "query/memory", "query/head",
	"query/list/plan", "query/list/paging", "query/list", "query/list/contract", "query/list/traced",
	"query/cache", "query/store", "query/tail", "query/auth",
	"query/node", "query/stack", "query/multisig", "query/pending", "query/render", "query/rows",
	"query/v2", "query/v3", "query/v3/endpoints", "query/live/events", "query/live", "query",
}

// maxLines is how long a package of query may be, tests not counted.
const maxLines = 3500

func TestPackagesOfQueryStandOnThoseBelowAndAreNotTooLong(t *testing.T) {
	floor := func(path string) int { return slices.Index(floors, path) }
	for _, p := range packages(t) {
		if !has("query", p.ImportPath) {
			continue
		}
		if floor(p.ImportPath) < 0 {
			t.Errorf("%s: the plan has no floor for it", p.ImportPath)
		}
		for _, imported := range p.Imports {
			if imported = strings.TrimPrefix(imported, "tonscribe/"); has("query", imported) && floor(imported) >= floor(p.ImportPath) {
				t.Errorf("%s imports %s, which does not lie below it", p.ImportPath, imported)
			}
		}
		lines := 0
		for _, name := range p.GoFiles {
			text, err := os.ReadFile(filepath.Join(p.Dir, name))
			if err != nil {
				t.Fatal(err)
			}
			lines += strings.Count(string(text), "\n")
		}
		if lines > maxLines {
			t.Errorf("%s has %d lines, at most %d are wanted", p.ImportPath, lines, maxLines)
		}
	}
}
