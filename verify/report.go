package verify

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Report says what was checked and what was found.
type Report struct {
	From, To uint32
	// Bundles that the range holds, and Gaps that it is known not to.
	Bundles      uint64
	Gaps         []Gap
	Blocks       uint64
	Transactions uint64
	// MessageEnds are the rows that messages make in messages_index by lt.
	MessageEnds uint64
	// InFlight internal messages were produced and are not consumed yet. Unproduced
	// ones were consumed and rightly have no producer in the tables: they come from
	// before the range or out of a gap, or the masterchain made them itself.
	InFlight, Unproduced uint64
	// Unsettled are ready figures that are not right yet: rows came after them, and
	// their view has not run since.
	Unsettled uint64
	// Duplicates counts rows that a table still has more than once, all alike, and
	// that a merge will drop.
	Duplicates map[string]uint64
	Checks     []Check
}

// Gap is a run of bundles that the ingest stage skipped.
type Gap struct{ From, To uint32 }

// Check is the outcome of one check.
type Check struct {
	Name string
	// Skipped: left out by the options, or there was no source.
	Skipped bool
	// Checked counts what Unit says.
	Checked uint64
	Unit    string
	// Found counts differences; one lost row may be found in many places. Zero is
	// good.
	Found uint64
	// Differences are the first one of each table.
	Differences []Difference
}

// Difference is one thing that is not as it should be.
type Difference struct {
	Check string
	Table string
	// Key finds the row: conditions on columns of the table.
	Key string
	// What is wrong, with both values.
	What string
}

func (d Difference) String() string {
	return fmt.Sprintf("DIFFERENT %s: table %s, where %s: %s", d.Check, d.Table, d.Key, d.What)
}

// findings collects the report. It is used by many goroutines.
type findings struct {
	out io.Writer

	mu     sync.Mutex
	report Report
}

func newFindings(from, to uint32, options Options) *findings {
	f := &findings{out: options.Out, report: Report{From: from, To: to, Duplicates: map[string]uint64{}}}
	if f.out == nil {
		f.out = io.Discard
	}
	for _, name := range Checks {
		skipped := slices.Contains(options.Without, name) || name == CheckSource && options.Source == nil
		f.report.Checks = append(f.report.Checks, Check{Name: name, Skipped: skipped, Unit: cmp.Or(units[name], "rows")})
	}
	fmt.Fprintf(f.out, "checking masterchain blocks %d to %d\n", from, to)
	return f
}

// units of what checks count, where these are not rows.
var units = map[string]string{
	CheckProgress: "partitions", CheckSeals: "seals", CheckBlocks: "blocks", CheckAccounts: "transactions", CheckStates: "transactions",
	CheckLatest: "accounts and codes", CheckMessages: "messages", CheckProducers: "messages", CheckContracts: "rows and states", CheckStats: "figures",
}

func (f *findings) check(name string) *Check {
	i := slices.IndexFunc(f.report.Checks, func(c Check) bool { return c.Name == name })
	return &f.report.Checks[i]
}

// wants reports whether a check is to be done.
func (f *findings) wants(name string) bool { return !f.check(name).Skipped }

// checked counts what a check has looked at.
func (f *findings) checked(name string, n uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.check(name).Checked += n
}

// count changes the report's other figures.
func (f *findings) count(change func(*Report)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change(&f.report)
}

// differs notes a difference. The first one of each check and table is printed
// at once.
func (f *findings) differs(check, table, key, format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.check(check)
	if c.Skipped {
		return
	}
	c.Found++
	if !c.names(table) {
		d := Difference{check, table, key, fmt.Sprintf(format, args...)}
		c.Differences = append(c.Differences, d)
		fmt.Fprintln(f.out, d)
	}
}

// of is differs for a row of a table.
func (f *findings) of(check, table string, key func() string) func(format string, args ...any) {
	return func(format string, args ...any) { f.differs(check, table, key(), format, args...) }
}

func (c *Check) names(table string) bool {
	return slices.ContainsFunc(c.Differences, func(d Difference) bool { return d.Table == table })
}

// again counts a difference without describing it, when the check has the first
// one of the table already.
func (f *findings) again(check, table string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.check(check)
	if c.Skipped {
		return true
	}
	if !c.names(table) {
		return false
	}
	c.Found++
	return true
}

// all says how many differences there are so far.
func (f *findings) all() (n uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.report.Checks {
		n += c.Found
	}
	return n
}

func (f *findings) gap(from, to uint32) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.report.Gaps = append(f.report.Gaps, Gap{from, to})
	fmt.Fprintf(f.out, "gap: bundles %d to %d were skipped\n", from, to)
}

// close prints the table of checks.
func (f *findings) close() *Report {
	r := &f.report
	fmt.Fprintf(f.out, "%d bundles, %d blocks, %d transactions, %d message ends; %d gaps; %d internal messages begin outside of the range, %d are in flight at its end\n",
		r.Bundles, r.Blocks, r.Transactions, r.MessageEnds, len(r.Gaps), r.Unproduced, r.InFlight)
	if r.Unsettled > 0 {
		fmt.Fprintf(f.out, "%d ready figures are of before the last rows: the next runs of their views make them anew\n", r.Unsettled)
	}
	for _, table := range slices.Sorted(maps.Keys(r.Duplicates)) {
		fmt.Fprintf(f.out, "%s: %d rows are there more than once, all alike, until a merge drops them\n", table, r.Duplicates[table])
	}
	for _, c := range r.Checks {
		fmt.Fprintln(f.out, c)
	}
	return r
}

// verdict is the first difference.
func (f *findings) verdict() error {
	for _, c := range f.report.Checks {
		if len(c.Differences) > 0 {
			return fmt.Errorf("%w: %s", ErrDifferent, strings.TrimPrefix(c.Differences[0].String(), "DIFFERENT "))
		}
	}
	return nil
}

func (c Check) String() string {
	switch {
	case c.Skipped:
		return fmt.Sprintf("%-10s left out", c.Name)
	case c.Found == 0:
		return fmt.Sprintf("%-10s ok   %d %s", c.Name, c.Checked, c.Unit)
	}
	return fmt.Sprintf("%-10s BAD  %d %s, %d differences", c.Name, c.Checked, c.Unit, c.Found)
}
