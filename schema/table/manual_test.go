package table_test

import (
	"fmt"
	"strings"
	"testing"

	"tonscribe/schema/table"
	"tonscribe/test/support/manualtest"
)

// manual is what docs/analytics.md says of the tables.
func manual() string {
	var b strings.Builder
	b.WriteString("\n| Table | A row is | Key |\n|---|---|---|\n")
	for _, t := range table.All {
		if !t.Internal {
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", t.Name, t.Doc, t.KeySQL())
		}
	}
	for _, t := range table.All {
		if t.Internal {
			continue
		}
		fmt.Fprintf(&b, "\n### %s\n\n", t.Name)
		if t.Newest != "" {
			fmt.Fprintf(&b, "Of the rows of one key the one with the greatest %s counts.\n\n", t.Newest)
		}
		b.WriteString("| Column | Type | What it is |\n|---|---|---|\n")
		for _, c := range t.Columns {
			fmt.Fprintf(&b, "| %s | %s | %s |\n", c.Name, c.Type, c.Doc)
		}
	}
	b.WriteString("\n")
	return b.String()
}

func TestManualHasTheTablesAsTheyAreDeclared(t *testing.T) {
	manualtest.Check(t, "../../docs/analytics.md", manual())
	for _, table := range table.All {
		if table.Doc == "" || len(table.Columns) == 0 {
			t.Errorf("table %s: no sentence or no columns", table.Name)
		}
		for _, c := range table.Columns {
			if c.Doc == "" || strings.Contains(c.Doc, "|") {
				t.Errorf("%s.%s: the sentence about it is %q", table.Name, c.Name, c.Doc)
			}
		}
	}
}
