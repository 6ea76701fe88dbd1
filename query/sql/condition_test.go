package sql

import "testing"

func TestOfTuplesWhatAllHaveIsComparedOnce(t *testing.T) {
	among := func(tuples ...[]any) Among { return Among{[]string{"workchain", "account_prefix", "lt"}, tuples} }
	of := func(workchain int32, prefix, lt uint64) []any { return []any{workchain, prefix, lt} }
	for _, c := range []struct {
		condition Condition
		want      string
	}{
		{among(of(0, 1, 5), of(-1, 2, 6)), "(workchain, account_prefix, lt) IN ((0,1,5),(-1,2,6))"},
		{among(of(0, 1, 5), of(0, 2, 6)), "workchain = 0 AND (account_prefix, lt) IN ((1,5),(2,6))"},
		{among(of(0, 1, 5), of(0, 1, 6)), "workchain = 0 AND account_prefix = 1 AND lt IN (5,6)"},
		{among(of(0, 1, 5), of(-1, 2, 6), of(0, 3, 7)), "(workchain, account_prefix, lt) IN ((0,1,5),(-1,2,6),(0,3,7))"},
		{among(of(-1, 1, 5)), "workchain = -1 AND account_prefix = 1 AND lt = 5"},
		{among(), "(workchain, account_prefix, lt) IN ()"},
		{Any("lt", []uint64{5, 6}), "lt IN (5,6)"},
		{Except(among(of(0, 1, 5), of(0, 2, 6))), "(workchain, account_prefix, lt) NOT IN ((0,1,5),(0,2,6))"},
	} {
		if got := c.condition.String(); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}
