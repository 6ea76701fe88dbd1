package action_test

import (
	"testing"

	"tonscribe/decode/action"
)

func TestTheElectorsAnswerDecidesAboutAStake(t *testing.T) {
	elector := addressOf("-1:3333333333333333333333333333333333333333333333333333333333333333")
	query := func(op uint64) step { return step{to: elector, value: 500, body: word(op).MustStoreUInt(4, 64)} }
	unasked := step{to: elector, value: 500, body: word(0x4e73744b).MustStoreUInt(0, 64)} // for an answer
	thrown := unasked
	thrown.aborted, thrown.then = true, []step{bounceOf(alice, word(0x4e73744b))}
	answered := func(s step, answers ...step) step { s.then = answers; return s }
	answer := func(op, value uint64) step { return step{to: alice, value: value, body: word(op).MustStoreUInt(4, 64)} }
	const stake, recovery = 0x4e73744b, 0x47657424
	for what, c := range map[string]struct {
		step   step
		want   []string
		amount any
	}{
		"taken":            {answered(query(stake), answer(0xf374484c, 1)), []string{"election_deposit"}, 500},
		"returned":         {answered(query(stake), answer(0xee6f454c, 499)), []string{"election_deposit!"}, 500},
		"not answered":     {query(stake), []string{"election_deposit!"}, 500},
		"without a query":  {unasked, []string{"election_deposit"}, 500},
		"without, thrown":  {thrown, []string{"election_deposit!"}, 500},
		"without, back":    {answered(unasked, answer(0xee6f454c, 499)), []string{"election_deposit!"}, 500},
		"recovered":        {answered(query(recovery), answer(0xf96f7324, 700)), []string{"election_recover"}, 700},
		"nothing there":    {answered(query(recovery), answer(0xfffffffe, 1)), []string{"election_recover!"}, nil},
		"nothing answered": {query(recovery), []string{"election_recover!"}, nil},
	} {
		t.Run(what, func(t *testing.T) {
			list := recognise(t, action.NoFacts{}, play(alice, c.step))
			wants(t, list, c.want...)
			details(t, list, c.want[0], "stake_holder", alice, "amount", c.amount)
			c.step.to = bob
			for _, a := range recognise(t, action.NoFacts{}, play(alice, c.step)) {
				if a.Type.Name != "call_contract" {
					t.Errorf("%s at another account", a.Type.Name)
				}
			}
		})
	}
}
