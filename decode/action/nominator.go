package action

import (
	"bytes"
	"slices"
)

// Opcodes that ask a nominator pool to pay those who have asked for it, and one of them.
const (
	opPoolProcess    = 2
	opPoolProcessOne = 3
)

// nominators are stakes in a nominator pool: deposits and withdrawals by the word of
// a comment.
var nominators = &Protocol{
	Name: "nominator pools",
	Rules: []Rule{
		{
			Name:    "deposit in a nominator pool",
			Order:   orderNominatorDeposit,
			Block:   "nominator_pool_deposit",
			Pattern: Plain().Where(func(b *Block) bool { return says(b, "d") }).Where(goesToNominatorPool),
			Make:    makeNominatorDeposit,
		},
		{
			Name:    "withdrawal from a nominator pool",
			Order:   orderNominatorWithdrawal,
			Block:   "nominator_pool_withdraw_request",
			Pattern: Plain().Where(func(b *Block) bool { return says(b, "w") }).Where(goesToNominatorPool),
			Make:    makeNominatorWithdrawal,
		},
		{
			Name:    "payout of a nominator pool",
			Order:   orderNominatorPayout,
			Block:   "nominator_pool_withdraw_request",
			Pattern: Plain().Where(paysStake).Below(Call(opPoolProcess, opPoolProcessOne).Where(goesToNominatorPool).Kept()),
			Make:    makeNominatorPayout,
		},
	},
}

func goesToNominatorPool(b *Block) bool { return b.Contract(b.Destination()).GetNominatorPool() != nil }

func makeNominatorDeposit(m *Match) *Made {
	b := m.Block
	return stakeDeposit.Make(&stakeStart{
		Provider: nominatorStaking, StakeHolder: b.Source(), Pool: b.Destination(), Amount: nanotons(b.Value()),
	}).Fails(b.Aborted())
}

// makeNominatorWithdrawal finds out whether the pool paid at once. It sends the stake
// first and then what was left of the request's toncoins; one transfer that is not
// more than the request is only that.
func makeNominatorWithdrawal(m *Match) *Made {
	b := m.Block
	var sent []*Block
	for _, c := range b.Children {
		if c.IsTransfer() && bytes.Equal(c.Destination(), b.Source()) {
			sent = append(sent, c)
		}
	}
	if len(sent) > 2 {
		sent = nil // nothing that a pool does
	}
	if len(sent) == 2 || len(sent) == 1 && sent[0].Value() > b.Value() {
		return stakeWithdrawal.Make(&stakeEnd{
			Provider: nominatorStaking, StakeHolder: b.Source(), Pool: b.Destination(), Amount: nanotons(sent[0].Value()),
		}).Consumes(sent...).Fails(b.Aborted() || returned(sent[0]))
	}
	return stakeRequest.Make(&stakeEndRequest{Provider: nominatorStaking, StakeHolder: b.Source(), Pool: b.Destination()}).
		Consumes(sent...).Fails(b.Aborted())
}

// paysStake reports whether a transfer of a pool is not what was left of a request's
// toncoins, which the pool gives back behind all that it pays.
func paysStake(b *Block) bool {
	request := b.Parent
	if request == nil || !bytes.Equal(b.Destination(), request.Source()) || b.Value() >= request.Value() {
		return true
	}
	return slices.ContainsFunc(request.Children, func(c *Block) bool { return c.IsTransfer() && c.sent() > b.sent() })
}

func makeNominatorPayout(m *Match) *Made {
	b := m.Block
	return stakeWithdrawal.Make(&stakeEnd{
		Provider: nominatorStaking, StakeHolder: b.Destination(), Pool: b.Source(), Amount: nanotons(b.Value()),
	}).Fails(returned(b))
}
