package traffic

import (
	"math/big"

	"github.com/xssnick/tonutils-go/address"

	"tonscribe/devnet/contracts"
)

// relays is how many forwarders there are.
const relays = 8

func (t *Traffic) foundRelays() {
	for i := range relays {
		t.relays = append(t.relays, contracts.Forwarder{ID: uint64(i)}.Address(0))
	}
}

func (s *step) relay() *address.Address {
	at := oneOf(s.chance, s.relays)
	if s.data(at) == nil {
		return nil
	}
	return at
}

// fanOut is a wide trace: one message that becomes many.
func (s *step) fanOut(p *person, at *address.Address) int {
	most := s.crowd(1)
	if most < 2 {
		return 0
	}
	sum := ton(0.1)
	targets := make([]contracts.Target, 2+s.chance.IntN(most-1))
	for i := range targets {
		targets[i] = contracts.Target{To: s.recipient(p), Value: coins(s.chance, 0.01, 0.1)}
		sum.Add(sum, targets[i].Value).Add(sum, ton(0.006))
	}
	return s.send(3+len(targets), p, pay(at, sum, contracts.ForwardBody(s.query(), true, targets...)))
}

// deepTrace goes through several forwarders, one after the other.
func (s *step) deepTrace(p *person, at *address.Address) int {
	value := ton(0.02)
	target := contracts.Target{To: s.other(p).address, Value: value}
	depth := 2 + s.chance.IntN(6)
	for range depth - 1 {
		value = new(big.Int).Add(value, ton(0.03))
		target = contracts.Target{
			To: oneOf(s.chance, s.relays), Value: value, Body: contracts.ForwardBody(s.query(), false, target),
		}
	}
	value = new(big.Int).Add(value, ton(0.05))
	return s.send(2+depth, p, pay(at, value, contracts.ForwardBody(s.query(), false, target)))
}

// failing is a contract that fails: in its code, in its actions, or for want of
// gas.
func (s *step) failing(p *person, at *address.Address) int {
	phase, caused := contracts.FailPhase(s.chance.IntN(3)), 3
	if phase == contracts.FailOutOfGas {
		caused = 2
	}
	return s.send(caused, p, pay(at, ton(0.05), contracts.FailBody(s.query(), phase, uint16(100+s.chance.IntN(900)))))
}

// shortLife deploys a contract and deletes it at once.
func (s *step) shortLife(p *person) int {
	one := contracts.Forwarder{ID: relays + s.chance.Uint64()>>1}
	deploy := pay(one.Address(0), ton(0.05), nil)
	deploy.StateInit = one.StateInit()
	return s.send(4, p, deploy, pay(one.Address(0), ton(0.05), contracts.DeleteBody(s.query())))
}
