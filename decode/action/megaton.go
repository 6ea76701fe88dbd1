package action

import "tonscribe/ton/address"

// megatonRouters are the routers of Megaton on mainnet.
var megatonRouters = map[address.Address]bool{
	address.MustParse("EQAWcJ0nO3WtNlSmUjKcqv4735YCviRqu7LMNJoPXsdHVLC9"): true,
	address.MustParse("EQAxC3GzQBgjlvW6CJAwgaHvarTfVxo8p7Be_6RMSjsPki6s"): true,
	address.MustParse("EQBtVR30-8FAT73cCxPsMidzhiMnUKmpZy_F7aaDQRYxWurb"): true,
}

// megaton is Megaton: a router, and pools that have their assets. All that moves are
// jettons, toncoins as wrapped ones, to the router, from there to a pool and back, as
// many times as there are pools, and on to the trader.
var megaton = &Protocol{
	Name: "megaton",
	Rules: []Rule{
		{
			Name:    "swap at Megaton",
			Order:   orderMegatonSwap,
			Pattern: Is(jettonTransfer).Where(goesToMegaton).As("in").With(Again(megatonHop)),
			Make:    makeMegatonSwap,
		},
	},
}

// megatonHop is a swap at one pool, and those that follow.
func megatonHop() *Pattern {
	return Is(jettonTransfer).As("to").With(
		Is(jettonTransfer).Where(goesToMegaton).As("back").With(OneOf(Again(megatonHop), Is(jettonTransfer).As("out"))),
	)
}

func goesToMegaton(b *Block) bool {
	t := jettonTransfer.Of(b)
	return t != nil && len(t.Receiver) == address.Size && megatonRouters[address.Address(t.Receiver)]
}

func makeMegatonSwap(m *Match) *Made {
	in, out := jettonTransfer.Of(m.Block), jettonTransfer.Of(m.One("out"))
	router, asset, failed := in.Receiver, in.Asset, m.Aborted("in", "to", "back", "out")
	var peers []peerSwap
	backs := m.All("back")
	for i, b := range m.All("to") {
		to, back := jettonTransfer.Of(b), jettonTransfer.Of(backs[i])
		if !same(to.Sender, router) || !same(to.Asset, asset) || !same(back.Receiver, router) || !same(back.Sender, to.Receiver) {
			return nil
		}
		if same(back.Asset, asset) {
			failed = true
			continue
		}
		peers = append(peers, peerSwap{AssetIn: to.Asset, AmountIn: to.Amount, AssetOut: back.Asset, AmountOut: back.Amount})
		asset = back.Asset
	}
	if !same(out.Sender, router) || !same(out.Asset, asset) {
		return nil
	}
	return jettonSwap.Make(swapOf("megaton", transferOf(in), transferOf(out), peers)).Fails(failed)
}
