package action

import (
	"bytes"

	"tonscribe/ton/address"
)

// Opcodes of the elector.
const (
	opNewStake            = 0x4e73744b
	opNewStakeConfirmed   = 0xf374484c
	opNewStakeRefused     = 0xee6f454c
	opRecoverStake        = 0x47657424
	opRecoverStakeRespond = 0xf96f7324
	opRecoverStakeRefused = 0xfffffffe
)

var elector = address.MustParse("-1:3333333333333333333333333333333333333333333333333333333333333333")

var (
	electionDeposit = NewType[electionStake]("election_deposit", V1)
	electionRecover = NewType[electionStake]("election_recover", V1)
)

type electionStake struct {
	StakeHolder Address `detail:"stake_holder,account"`
	Amount      *uint64 `detail:"amount,optional"`
}

// elections are stakes of validators at the elector. Its answers are what tells
// whether it took or gave one; with a refused stake they give it back.
var elections = &Protocol{
	Name:  "elections",
	Types: []typed{electionDeposit, electionRecover},
	Rules: []Rule{
		{
			Name:  "stake of a validator",
			Order: orderElectionDeposit,
			Pattern: Call(opNewStake).Where(goesToElector).With(
				Call(opNewStakeConfirmed, opNewStakeRefused).As("answer").Alone().Maybe(),
			),
			Make: func(m *Match) *Made {
				return electionDeposit.Make(&electionStake{StakeHolder: m.Block.Source(), Amount: sum(m.Block.Value())}).Fails(!tookStake(m))
			},
		},
		{
			Name:  "stake of a validator recovered",
			Order: orderElectionRecover,
			Pattern: Call(opRecoverStake).Where(goesToElector).With(
				Call(opRecoverStakeRespond, opRecoverStakeRefused).As("answer").Alone().Maybe(),
			),
			Make: func(m *Match) *Made {
				stake := &electionStake{StakeHolder: m.Block.Source()}
				answer := m.One("answer")
				if !answer.IsCall(opRecoverStakeRespond) {
					return electionRecover.Make(stake).Fails(true)
				}
				stake.Amount = sum(answer.Value())
				return electionRecover.Make(stake).Fails(returned(answer))
			},
		},
	},
}

func goesToElector(b *Block) bool { return bytes.Equal(b.Destination(), elector[:]) }

// tookStake reports whether the elector took a stake. It confirms none whose query id is
// zero, but refuses such, too.
func tookStake(m *Match) bool {
	if answer := m.One("answer"); answer != nil {
		return answer.IsCall(opNewStakeConfirmed)
	}
	r := m.Block.Body()
	unasked := r.Uint(64) == 0 // query_id
	return unasked && !r.Failed() && !m.Block.Aborted()
}
