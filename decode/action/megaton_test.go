package action_test

import (
	"slices"
	"testing"

	"tonscribe/ton/address"
)

func TestSwapsAtMegaton(t *testing.T) {
	a := address.MustParse("EQAWcJ0nO3WtNlSmUjKcqv4735YCviRqu7LMNJoPXsdHVLC9")
	router := a[:]
	routerXs, routerYs, routerZs := account(0x6a), account(0x6b), account(0x6c)
	oneX, oneY, twoY, twoZ := account(0x6d), account(0x6e), account(0x6f), account(0x70)
	masterZ, bobZ := account(0x71), account(0x72)
	facts := append(slices.Clone(exchange), jettons(routerXs, router, masterX), jettons(routerYs, router, masterY), jettons(routerZs, router, masterZ),
		jettons(oneX, poolOne, masterX), jettons(oneY, poolOne, masterY), jettons(twoY, poolTwo, masterY), jettons(twoZ, poolTwo, masterZ), jettons(bobZ, bob, masterZ))
	x := func(then ...step) step { return sends(10, aliceX, routerXs, router, nil, then...) }
	toOne := func(then ...step) step { return sends(10, routerXs, oneX, poolOne, nil, then...) }
	backY := func(then ...step) step { return sends(25, oneY, routerYs, router, nil, then...) }
	toTwo := func(then ...step) step { return sends(25, routerYs, twoY, poolTwo, nil, then...) }
	backZ := func(then ...step) step { return sends(40, twoZ, routerZs, router, nil, then...) }
	gaveY := sends(25, routerYs, bobY, bob, nil)
	xIn := transferred("incoming", masterX, alice, router, aliceX, routerXs, 10)
	for what, c := range map[string]played{
		"at one pool": {[]step{x(toOne(backY(gaveY)))}, []string{"jetton_swap"},
			slices.Concat([]any{"dex", "megaton", "sender", alice, "asset_in", masterX, "asset_out", masterY, "peer_swaps", "[]"}, xIn, transferred("outgoing", masterY, router, bob, routerYs, bobY, 25))},
		"at two pools": {[]step{x(toOne(backY(toTwo(backZ(sends(40, routerZs, bobZ, bob, nil))))))}, []string{"jetton_swap"},
			slices.Concat([]any{"asset_out", masterZ, "peer_swaps[0].amount_out", 25, "peer_swaps[1].asset_in", masterY, "peer_swaps[1].amount_out", 40}, xIn)},
		"returned": {[]step{x(toOne(sends(10, oneX, routerXs, router, nil, sends(10, routerXs, aliceX, alice, nil))))}, []string{"jetton_swap!"}, xIn},
		"returned by the second pool": {[]step{x(toOne(backY(toTwo(sends(25, twoY, routerYs, router, nil, gaveY)))))}, []string{"jetton_swap!"},
			slices.Concat([]any{"asset_in", masterX, "asset_out", masterY, "peer_swaps", "[]"}, xIn, transferred("outgoing", masterY, router, bob, routerYs, bobY, 25))},
		"refused by the receiver": {[]step{x(toOne(backY(refused(25, routerYs, bobY, bob))))}, []string{"jetton_swap!"}, nil},
		"kept by the pool":        {[]step{x(toOne())}, []string{"jetton_transfer", "jetton_transfer"}, nil},
		"of another asset than came in": {[]step{x(sends(10, routerYs, twoY, poolTwo, nil, backZ(sends(40, routerZs, bobZ, bob, nil))))},
			[]string{"jetton_transfer", "jetton_transfer", "jetton_transfer", "jetton_transfer"}, nil},
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
