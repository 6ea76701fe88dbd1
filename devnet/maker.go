package devnet

import (
	"fmt"
	"time"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/chain"
	"tonscribe/devnet/genesis"
	"tonscribe/devnet/traffic"
)

// maker makes one bundle after the other: what was sent, then traffic. It has
// no clock and no disk of its own, so `generate` makes the same chain with it.
type maker struct {
	chain   *chain.Chain
	traffic *traffic.Traffic
	owners  *owners

	reshard   uint32
	maxShards int
}

// newMaker begins a chain or, given a head that is not empty, goes on with it.
func newMaker(o origin, c Configuration, head chain.Head) (*maker, error) {
	m := &maker{traffic: traffic.New(o.Seed, traffic.Options{NetworkID: GlobalID()}), owners: newOwners(o.Seed), reshard: c.Reshard, maxShards: c.MaxShards}
	options := chain.Options{
		Seed: o.Seed, GenUtime: o.GenesisTime, Consensus: o.Consensus,
		Accounts: withSystem(append(m.traffic.Accounts(), m.owners.accounts()...), o),
		Params:   m.traffic.Params(),
	}
	if o.Burning {
		options.Params[genesis.BurningParam] = genesis.Burning()
	}
	var err error
	m.chain, err = chain.Resume(options, head)
	return m, err
}

// next makes the masterchain block seqno with the shard blocks before it, with
// the time now. About that many of its transactions come from traffic.
func (m *maker) next(seqno, now uint32, sent []*cell.Cell, transactions int) (*chain.Bundle, error) {
	m.reshape(seqno)
	externals := sent
	first, err := m.owners.setUp(m.chain, seqno, now)
	if err != nil {
		return nil, err
	}
	if first != nil {
		externals = append(externals, first)
	}
	if transactions > 0 {
		more, err := m.traffic.Next(m.chain, seqno, now, transactions)
		if err != nil {
			return nil, err
		}
		externals = append(externals, more...)
	}
	bundle, err := m.chain.Step(now, externals)
	if err != nil {
		return nil, fmt.Errorf("masterchain block %d: %w", seqno, err)
	}
	return bundle, nil
}

// perBlock is how many transactions of a rate belong to a block.
func perBlock(tps float64, interval time.Duration, seqno uint32) int {
	each := tps * interval.Seconds()
	return int(each*float64(seqno)) - int(each*float64(seqno-1))
}
