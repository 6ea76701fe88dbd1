package action_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"

	"tonscribe/decode/action"
	"tonscribe/decode/trace"
	"tonscribe/test/support/realdata"
	"tonscribe/ton/address"
)

// expectation is a case of traces_expected.json: some actions of a trace and some
// of their fields, in the columns of the table of another index.
type expectation struct {
	Suite   string           `json:"suite"`
	Case    string           `json:"case"`
	TraceID string           `json:"trace-id"`
	Actions []expectedAction `json:"expected-actions"`
}

type expectedAction struct {
	Type   string                     `json:"type"`
	Values map[string]json.RawMessage `json:"values"`

	untrue []string // columns that are not compared
}

// columns say under which name of a type's details a column is found. What is not
// here has the name behind the last "_data.".
var columns = map[string]map[string]string{}

func addColumns(typ string, pairs ...string) {
	m := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	columns[typ] = m
}

// without are columns that no member of v3's details has.
var without = map[string][]string{}

// untrue are columns of cases that v3, or the messages of their traces, contradict.
var untrue = map[string][]string{}

func TestRecordedTracesHaveTheActionsThatAreNamedForThem(t *testing.T) {
	dir := realdata.Path(t)
	var cases []expectation
	readJSON(t, filepath.Join(dir, "traces_expected.json"), &cases)
	type score struct{ passed, all int }
	suites := map[string]*score{}
	for _, c := range cases {
		s := suites[c.Suite]
		if s == nil {
			s = &score{}
			suites[c.Suite] = s
		}
		s.all++
		t.Run(c.Suite+"/"+c.Case, func(t *testing.T) {
			if lacking := lacks(c); lacking != "" {
				t.Skipf("no type %s yet", lacking)
			}
			for _, complaint := range c.check(t, dir) {
				t.Error(complaint)
			}
			if !t.Failed() {
				s.passed++
			}
		})
	}
	var table bytes.Buffer
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	names := make([]string, 0, len(suites))
	total := score{}
	for name := range suites {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(w, "%s\t%d of %d\n", name, suites[name].passed, suites[name].all)
		total.passed, total.all = total.passed+suites[name].passed, total.all+suites[name].all
	}
	fmt.Fprintf(w, "all\t%d of %d\n", total.passed, total.all)
	w.Flush()
	t.Logf("passes by suite:\n%s", table.String())
}

func lacks(c expectation) string {
	for _, a := range c.Actions {
		if action.TypeNamed(a.Type) == nil {
			return a.Type
		}
	}
	return ""
}

func readJSON(t testing.TB, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}

// readTrace reads a trace of the test data and makes its tree.
func readTrace(t testing.TB, dir, id string) (*trace.Recorded, *trace.Tree) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "traces", id+".json"))
	if err != nil { // in the other alphabet of base64
		text, err = os.ReadFile(filepath.Join(dir, "traces", strings.ReplaceAll(id, "-", "+")+".json"))
	}
	if err != nil {
		t.Fatal(err)
	}
	recorded, err := trace.Read(text)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := trace.NewTree(recorded.Transactions)
	if err != nil {
		t.Fatal(err)
	}
	return recorded, tree
}

// check returns what is not as the case says.
func (c expectation) check(t *testing.T, dir string) (complaints []string) {
	recorded, tree := readTrace(t, dir, c.TraceID)
	list, err := action.Classify(tree, recorded)
	if err != nil {
		t.Error(err)
	}
	used := make([]bool, len(list))
	for _, want := range c.Actions {
		want.untrue = untrue[c.Case]
		best, fewest := -1, []string(nil)
		for i, a := range list {
			if used[i] || a.Type.Name != want.Type {
				continue
			}
			wrong := want.compare(a)
			if best < 0 || len(wrong) < len(fewest) {
				best, fewest = i, wrong
			}
		}
		if best < 0 {
			complaints = append(complaints, fmt.Sprintf("no %s among %s", want.Type, namesOf(list)))
			continue
		}
		used[best] = true
		for _, w := range fewest {
			complaints = append(complaints, want.Type+": "+w)
		}
	}
	return complaints
}

func namesOf(list []*action.Action) []string {
	names := make([]string, len(list))
	for i, a := range list {
		names[i] = a.Type.Name
	}
	return names
}

// compare returns the columns that are not as they should be.
func (want expectedAction) compare(a *action.Action) (wrong []string) {
	details := object(a.Type.Details, a.Details)
	keys := make([]string, 0, len(want.Values))
	for k := range want.Values {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, column := range keys {
		var value any
		d := json.NewDecoder(bytes.NewReader(want.Values[column]))
		d.UseNumber()
		if err := d.Decode(&value); err != nil {
			return []string{err.Error()}
		}
		wrong = append(wrong, want.column(column, value, a, details)...)
	}
	return wrong
}

func (want expectedAction) column(column string, value any, a *action.Action, details map[string]any) []string {
	if slices.Contains(without[want.Type], column) || slices.Contains(want.untrue, column) {
		return nil
	}
	var got any
	switch column {
	case "success":
		got = a.Success
	case "action_id":
		got = base64.StdEncoding.EncodeToString(a.ID[:])
	case "start_lt":
		got = fmt.Sprint(a.StartLt)
	case "end_lt":
		got = fmt.Sprint(a.EndLt)
	case "type":
		got = a.Type.Name
	case "tx_hashes":
		return sameSet(column, value, a.Transactions, base64.StdEncoding.EncodeToString, true)
	case "accounts":
		return sameSet(column, value, a.Accounts, func(b action.Address) string { return string(address.AppendRaw(nil, b)) }, false)
	default:
		if member, ok := value.(map[string]any); ok && strings.HasSuffix(column, "_data") && details[want.name(column)] == nil {
			var wrong []string
			for name, v := range member {
				wrong = append(wrong, want.column(column+"."+name, v, a, details)...)
			}
			return wrong
		}
		name := want.name(column)
		var ok bool
		if got, ok = find(details, name); !ok && value != nil {
			return []string{fmt.Sprintf("%s: no detail %q", column, name)}
		}
	}
	if !equal(value, got) {
		return []string{fmt.Sprintf("%s is %v, want %v", column, got, value)}
	}
	return nil
}

func (want expectedAction) name(column string) string {
	if name, ok := columns[want.Type][column]; ok {
		return name
	}
	if i := strings.LastIndex(column, "_data."); i >= 0 {
		return column[i+len("_data."):]
	}
	return column
}

// find follows a path such as "a.b" or "list[1]".
func find(details map[string]any, path string) (any, bool) {
	name, rest, deeper := strings.Cut(path, ".")
	index := -1
	if i := strings.IndexByte(name, '['); i >= 0 {
		fmt.Sscanf(name[i:], "[%d]", &index)
		name = name[:i]
	}
	v, ok := details[name]
	if list, is := v.([]any); is && index >= 0 && index < len(list) {
		v = list[index]
	}
	if m, is := v.(map[string]any); is && deeper {
		return find(m, rest)
	}
	return v, ok
}

// sameSet compares a list of texts whose order says nothing; whole asks for no more
// than those.
func sameSet[T any](column string, value any, got []T, text func(T) string, whole bool) (wrong []string) {
	list, _ := value.([]any)
	have := map[string]bool{}
	for _, g := range got {
		have[text(g)] = true
	}
	for _, v := range list {
		if s, _ := v.(string); !have[s] {
			wrong = append(wrong, fmt.Sprintf("%s lack %s", column, s))
		}
		delete(have, v.(string))
	}
	for s := range have {
		if whole {
			wrong = append(wrong, fmt.Sprintf("%s have %s", column, s))
		}
	}
	return wrong
}

// equal compares by what is written, numbers and texts of numbers being the same.
func equal(want, got any) bool {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return false
		}
		for k, v := range w {
			if !equal(v, g[k]) {
				return false
			}
		}
		return true
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return false
		}
		for i := range w {
			if !equal(w[i], g[i]) {
				return false
			}
		}
		return true
	case json.Number: // 49.0 is 49
		exact, _ := new(big.Rat).SetString(w.String())
		g, ok := new(big.Rat).SetString(fmt.Sprint(got))
		return ok && exact.Cmp(g) == 0
	}
	return fmt.Sprint(want) == fmt.Sprint(got)
}

// object is the details of an action as JSON has them.
func object(details []action.Detail, values []action.Value) map[string]any {
	m := map[string]any{}
	for i, d := range details {
		m[d.Name] = plain(d, values[i])
	}
	return m
}

func plain(d action.Detail, value action.Value) any {
	switch v := value.(type) {
	case action.Address:
		return string(address.AppendRaw(nil, v))
	case *big.Int:
		return v.String()
	case action.BoC:
		return base64.StdEncoding.EncodeToString(v)
	case []action.Address:
		list := []any{}
		for _, a := range v {
			list = append(list, string(address.AppendRaw(nil, a)))
		}
		return list
	case []action.Value:
		return object(d.Details, v)
	case [][]action.Value:
		list := []any{}
		for _, row := range v {
			list = append(list, object(d.Details, row))
		}
		return list
	case action.Currencies:
		m := map[string]any{}
		for _, c := range v {
			m[fmt.Sprint(c.Id)] = new(big.Int).SetBytes(c.Amount).String()
		}
		return m
	}
	return value
}
