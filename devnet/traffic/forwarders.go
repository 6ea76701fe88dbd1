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
func (s *step) fanOut() int {
	p, at, most := s.anyone(50), s.relay(), s.crowd(1)
	if p == nil || at == nil || most < 2 {
		return 0
	}
	sum := ton(0.1)
	targets := make([]contracts.Target, 2+s.chance.IntN(most-1))
	for i := range targets {
		targets[i] = contracts.Target{To: s.recipient(p), Value: coins(s.chance, 0.01, 0.1)}
		sum.Add(sum, targets[i].Value).Add(sum, ton(0.006))
	}
	if !s.send(p, pay(at, sum, contracts.ForwardBody(s.query(), true, targets...))) {
		return 0
	}
	return 3 + len(targets)
}

// deepTrace goes through several forwarders, one after the other.
func (s *step) deepTrace() int {
	p, at := s.anyone(50), s.relay()
	if p == nil || at == nil {
		return 0
	}
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
	if !s.send(p, pay(at, value, contracts.ForwardBody(s.query(), false, target))) {
		return 0
	}
	return 2 + depth
}

// failing is a contract that fails: in its code, in its actions, or for want of
// gas.
func (s *step) failing() int {
	p, at := s.anyone(5), s.relay()
	if p == nil || at == nil {
		return 0
	}
	phase := contracts.FailPhase(s.chance.IntN(3))
	if !s.send(p, pay(at, ton(0.05), contracts.FailBody(s.query(), phase, uint16(100+s.chance.IntN(900))))) {
		return 0
	}
	if phase == contracts.FailOutOfGas {
		return 2
	}
	return 3
}

// shortLife deploys a contract and deletes it at once.
func (s *step) shortLife() int {
	p := s.anyone(5)
	if p == nil {
		return 0
	}
	one := contracts.Forwarder{ID: relays + s.chance.Uint64()>>1}
	deploy := pay(one.Address(0), ton(0.05), nil)
	deploy.StateInit = one.StateInit()
	if !s.send(p, deploy, pay(one.Address(0), ton(0.05), contracts.DeleteBody(s.query()))) {
		return 0
	}
	return 4
}
