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
	data := s.data(c.address)
	if data == nil {
		return 0
	}
	next, err := data.LoadBigUInt(256)
	s.fail(err)
	from, index, isSigner := s.opener(c)
	if from == nil || err != nil {
		return 0
	}
	actions := make([]contracts.MultisigAction, 1+s.chance.IntN(2))
	for i := range actions {
		message := give(s.other(from).address, coins(s.chance, 0.1, 10), contracts.CommentBody(oneOf(s.chance, remarks)))
		actions[i].Message = &message
	}
	order, err := contracts.MultisigActions(actions...)
	if err != nil {
		s.fail(err)
		return 0
	}
	body := contracts.MultisigNewOrderBody(contracts.NewOrder{
		QueryID: s.query(), Seqno: next, FromSigner: isSigner, Index: index, Expiration: uint64(s.now) + 3600, Actions: order,
	})
	if !s.send(from, pay(c.address, ton(orderValue), body)) {
		return 0
	}
	switch {
	case !isSigner:
		return 3
	case c.is.Threshold == 1:
		return 5 + len(actions)
	}
	return 4
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
	data := s.data(c.address)
	if data == nil {
		return 0
	}
	next, err := data.LoadBigUInt(256)
	s.fail(err)
	if err != nil || next.Sign() == 0 {
		return 0
	}
	back := 1 + s.chance.Int64N(min(next.Int64(), recentOrders))
	at := c.is.Order(0, new(big.Int).Sub(next, big.NewInt(back))).Address(0)
	pending := s.openOrder(at)
	if pending == nil {
		return 0
	}
	for index, signer := range c.signers {
		if pending.mask.Bit(index) == 1 || !s.free(signer, 5) {
			continue
		}
		body := contracts.MultisigApproveBody(s.query(), uint8(index))
		if s.chance.IntN(4) == 0 {
			body = contracts.CommentBody("approve")
		}
		if !s.send(signer, pay(at, ton(orderValue), body)) {
			return 0
		}
		if pending.approvals+1 < c.is.Threshold {
			return 3
		}
		return 5
	}
	return 0
}

type pendingOrder struct {
	mask      *big.Int
	approvals uint8
}

// openOrder reads an order that can be approved, nil when there is none.
func (s *step) openOrder(at *address.Address) *pendingOrder {
	data := s.data(at)
	if data == nil {
		return nil
	}
	r := &reader{Slice: data}
	r.address()
	r.keep(r.SkipBits(256))
	if r.BitsLeft() == 0 {
		return nil
	}
	r.uint(8) // threshold
	sent := r.uint(1) == 1
	r.ref() // signers
	mask, err := r.LoadBigUInt(256)
	r.keep(err)
	order := &pendingOrder{mask: mask, approvals: uint8(r.uint(8))}
	expired := r.uint(48) < uint64(s.now)
	s.fail(r.err)
	if sent || expired || r.err != nil {
		return nil
	}
	return order
}
