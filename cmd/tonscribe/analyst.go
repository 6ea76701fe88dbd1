package main

import (
	"slices"

	"tonscribe/schema/table"
)

// analystTables are the tables of docs/analytics.md, in the order of their names:
// what the user reader of the embedded engine sees.
var analystTables = func() []string {
	names := []string{"metadata", "stats_balances", "stats_days", "stats_jetton_days", "stats_jetton_totals", "stats_jettons", "stats_touched"}
	for _, t := range table.All {
		if !t.Internal {
			names = append(names, t.Name)
		}
	}
	slices.Sort(names)
	return names
}()
