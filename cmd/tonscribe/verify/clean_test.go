package verify

import (
	"slices"
	"testing"

	"tonscribe/test/realdata"
)

func TestTablesFilledByTheStagesAreClean(t *testing.T) {
	for _, c := range []struct {
		name       string
		source     func(testing.TB) string
		to         uint32
		partitions int
	}{
		{"mainnet from its first block", genesis, 60, 1},
		{"mylocalton from its first block", mylocalton, 199, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := emptyTables(t)
			l.source.Source, l.to, l.states = c.source(t), c.to, realdata.Path(t, "states")
			l.fill(c.partitions)
			r, err := l.verify(func(o *Options) { o.Source = FromIngest(l.source) })
			if err != nil {
				t.Fatal(err)
			}
			for _, check := range r.Checks {
				if check.Checked == 0 && !check.Skipped && !slices.Contains([]string{CheckProducers, CheckContracts, CheckTransfers, CheckDocuments, CheckStats}, check.Name) {
					t.Errorf("check %s looked at nothing", check.Name)
				}
			}
			if r.Bundles != uint64(c.to) {
				t.Errorf("%d bundles instead of %d", r.Bundles, c.to)
			}
		})
	}
}
