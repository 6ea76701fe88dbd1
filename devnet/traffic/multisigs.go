package traffic

import (
	"math/big"

	"github.com/xssnick/tonutils-go/address"

	"tonscribe/devnet/contracts"
)

// council is a multisig wallet and who may do what with it.
type council struct {
	is        contracts.Multisig
	signers   []*person
	proposers []*person
	address   *address.Address
}

func (t *Traffic) foundCouncils() {
	for i, size := range []struct{ threshold, signers int }{{2, 3}, {1, 2}, {3, 5}, {2, 2}} {
		c := &council{is: contracts.Multisig{Threshold: uint8(size.threshold)}}
		for n := range size.signers {
			c.signers = append(c.signers, t.users[(i*7+n)%len(t.users)])
		}
		c.proposers = []*person{t.users[(i*7+6)%len(t.users)]}
		c.is.Signers, c.is.Proposers = addresses(c.signers), addresses(c.proposers)
		c.address = c.is.Address(0)
		t.councils = append(t.councils, c)
	}
}

func addresses(people []*person) []*address.Address {
	list := make([]*address.Address, len(people))
	for i, p := range people {
		list[i] = p.address
	}
	return list
}

// orderValue pays for opening, keeping and executing an order.
const orderValue = 0.5

// multisigOrder opens an order: a payment, or two.
func (s *step) multisigOrder() int {
	c := oneOf(s.chance, s.councils)
	next := s.nextOrder(c)
	if next == nil {
		return 0
	}
	from, index, isSigner := s.opener(c)
	if from == nil {
		return 0
	}
	actions := make([]contracts.MultisigAction, 1+s.chance.IntN(2))
	for i := range actions {
		message := give(s.other(from).address, coins(s.chance, 0.1, 10), contracts.CommentBody(oneOf(s.chance, remarks)))
		actions[i].Message = &message
	}
	body := contracts.MultisigNewOrderBody(contracts.NewOrder{
		QueryID: s.query(), Seqno: next, FromSigner: isSigner, Index: index, Expiration: uint64(s.now) + 3600, Actions: contracts.MultisigActions(actions...),
	})
	caused := 4
	switch {
	case !isSigner:
		caused = 3
	case c.is.Threshold == 1:
		caused = 5 + len(actions)
	}
	return s.send(caused, from, pay(c.address, ton(orderValue), body))
}

// nextOrder is the number of a council's next order, nil when it is not deployed.
func (s *step) nextOrder(c *council) *big.Int {
	data := s.data(c.address)
	if data == nil {
		return nil
	}
	number := data.Hash()
	s.fail(data.Err())
	return new(big.Int).SetBytes(number[:])
}

// opener is a signer or a proposer who can send.
func (s *step) opener(c *council) (p *person, index uint8, isSigner bool) {
	if s.chance.IntN(4) == 0 {
		if p := c.proposers[0]; s.free(p, 5) {
			return p, 0, false
		}
	}
	at := s.chance.IntN(len(c.signers))
	if !s.free(c.signers[at], 5) {
		return nil, 0, false
	}
	return c.signers[at], uint8(at), true
}

// recentOrders is how far back approvals look.
const recentOrders = 6

func (s *step) multisigApproval() int {
	c := oneOf(s.chance, s.councils)
	next := s.nextOrder(c)
	if next == nil || next.Sign() == 0 {
		return 0
	}
	back := 1 + s.chance.Int64N(min(next.Int64(), recentOrders))
	at := c.is.Order(0, new(big.Int).Sub(next, big.NewInt(back))).Address(0)
	mask, approvals, open := s.openOrder(at)
	if !open {
		return 0
	}
	for index, signer := range c.signers {
		if mask.Bit(index) == 1 || !s.free(signer, 5) {
			continue
		}
		body := contracts.MultisigApproveBody(s.query(), uint8(index))
		if s.chance.IntN(4) == 0 {
			body = contracts.CommentBody("approve")
		}
		caused := 5
		if approvals+1 < c.is.Threshold {
			caused = 3
		}
		return s.send(caused, signer, pay(at, ton(orderValue), body))
	}
	return 0
}

// openOrder reads who has approved an order, and whether it can be approved.
func (s *step) openOrder(at *address.Address) (mask *big.Int, approvals uint8, open bool) {
	data := s.data(at)
	if data == nil {
		return nil, 0, false
	}
	data.Account() // the wallet
	data.Skip(256)
	if data.BitsLeft() == 0 {
		return nil, 0, false
	}
	data.Skip(8) // threshold
	sent := data.Bit()
	data.Ref() // signers
	signed := data.Hash()
	approvals = uint8(data.Uint(8))
	expired := data.Uint(48) < uint64(s.now)
	return new(big.Int).SetBytes(signed[:]), approvals, !s.fail(data.Err()) && !sent && !expired
}
