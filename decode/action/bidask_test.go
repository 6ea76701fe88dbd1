package action_test

import (
	"slices"
	"testing"
)

func TestSwapsAtBidask(t *testing.T) {
	poolX := account(0x4e)
	rangeOne, rangeTwo := account(0x61), account(0x62)
	poolXs, poolYs := account(0x63), account(0x64)
	facts := append(slices.Clone(exchange), jettons(poolXs, poolX, masterX), jettons(poolYs, poolX, masterY))
	in := func(opcode uint64, then ...step) step {
		return step{to: rangeOne, value: 60, body: order(opcode), then: then}
	}
	ends := func(opcode uint64, then ...step) step {
		return step{to: poolX, value: 50, body: order(opcode), then: then}
	}
	x := func(then ...step) step { return sends(10, aliceX, poolXs, poolX, nil, then...) }
	tons := func(opcode uint64, then ...step) step {
		return step{to: poolX, value: 90, body: coins(order(opcode), 10), then: then}
	}
	gaveY := sends(25, poolYs, bobY, bob, nil)
	gaveTON := step{to: bob, value: 30, body: coins(order(0x6edd65f0), 25).MustStoreBoolBit(false)}
	lostTON := gaveTON
	lostTON.aborted, lostTON.bounce = true, true
	backX := sends(10, poolXs, aliceX, alice, nil)
	xIn := transferred("incoming", masterX, alice, poolX, aliceX, poolXs, 10)
	tonIn := transferred("incoming", nil, alice, poolX, nil, nil, 10)
	yOut := transferred("outgoing", masterY, poolX, bob, poolYs, bobY, 25)
	tonOut := transferred("outgoing", nil, poolX, bob, nil, nil, 25)
	for what, c := range map[string]played{
		"jettons for jettons": {[]step{x(in(0x66210c65, ends(0x520e4831, gaveY)))}, []string{"jetton_swap"},
			slices.Concat([]any{"dex", "bidask", "sender", alice, "asset_in", masterX, "asset_out", masterY, "peer_swaps", "[]"}, xIn, yOut)},
		"jettons for toncoins, in two ranges": {[]step{x(in(0x87d36990, step{to: rangeTwo, value: 55, body: order(0x5a6a036f), then: []step{ends(0xd3a25890, gaveTON)}}))},
			[]string{"jetton_swap"}, slices.Concat(xIn, tonOut)},
		"toncoins for jettons":                      {[]step{tons(0xf2ef6c1b, in(0x66210c65, ends(0x520e4831, gaveY)))}, []string{"jetton_swap"}, slices.Concat(tonIn, yOut)},
		"toncoins for jettons, by the newer opcode": {[]step{tons(0x87d36990, in(0x87d36990, ends(0xd3a25890, gaveY)))}, []string{"jetton_swap"}, slices.Concat(tonIn, yOut)},
		"some of it returned":                       {[]step{x(in(0x87d36990, ends(0xd3a25890, backX, gaveY)))}, []string{"jetton_swap"}, slices.Concat(xIn, yOut)},
		"returned": {[]step{x(in(0x87d36990, ends(0x1bba3896, backX)))}, []string{"jetton_swap!"},
			slices.Concat(xIn, transferred("outgoing", masterX, poolX, alice, poolXs, aliceX, 10))},
		"refused by the receiver": {[]step{x(in(0x87d36990, ends(0xd3a25890, lostTON)))}, []string{"jetton_swap!"}, slices.Concat(xIn, tonOut)},
		"refused by the range": {[]step{x(step{to: rangeOne, value: 60, aborted: true, bounce: true, body: order(0x87d36990)})},
			[]string{"jetton_transfer", "call_contract!"}, nil},
		"an order of somebody who just got jettons": {[]step{sends(10, aliceX, bobY, bob, nil, tons(0x87d36990, in(0x87d36990, ends(0xd3a25890, gaveY))))},
			[]string{"jetton_transfer", "jetton_swap"}, nil},
	} {
		t.Run(what, func(t *testing.T) {
			list := recognise(t, facts, play(alice, c.sent...))
			wants(t, list, c.want...)
			if c.details != nil {
				details(t, list, c.want[0], c.details...)
			}
		})
	}
}
