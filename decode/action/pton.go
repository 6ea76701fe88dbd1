package action

import "math/big"

// opPTonTransfer brings toncoins to a wallet of wrapped ones, which tells its owner
// of them as of jettons, or brings them from such a wallet to their receiver.
const opPTonTransfer = 0x01f3835d

// routerGot is how assets come to a router: as a transfer of jettons, or as toncoins
// by way of a wallet of wrapped ones.
func routerGot() *Pattern {
	return OneOf(
		given().As("in"),
		Call(opJettonNotify).As("told").Below(OneOf(Call(opPTonTransfer), Is(jettonSwap).Kept()).As("in")),
	)
}

// routerGave is how assets leave a router, and what begins there where the receiver
// is another router.
func routerGave(next func() *Pattern) *Pattern {
	wrapped, told := Call(opPTonTransfer).Where(unwrapped).As("toncoins"), notified()
	p := deliveredTo(told)
	if next != nil {
		told.With(Again(next).Maybe())
		p.With(Again(next).Maybe())
		wrapped.With(Call(opJettonNotify).With(Again(next)).Maybe())
	}
	return OneOf(p.With(wrapped.Maybe()), passedOn()).As("out")
}

// unwrapped reports whether a message brings toncoins that a wallet of wrapped ones was
// told to pay.
func unwrapped(b *Block) bool { return b.IsCall(opPTonTransfer) && b.sender.IsCall(opJettonTransfer) }

// pTonTransfer is what such a message says.
type pTonTransfer struct {
	Amount  *big.Int
	Forward Payload
}

func readPTonTransfer(b *Block) (t pTonTransfer, ok bool) {
	r := b.Body()
	r.Skip(64) // query_id
	t.Amount = r.Coins()
	r.Address() // refund_address
	if r.Failed() {
		return t, false
	}
	t.Forward = r.Payload()
	return t, true
}

// got is what came to a router, with what it carried.
func (m *Match) got() (in *dexTransfer, carried Payload, failed bool) {
	b := m.One("in")
	if t := jettonTransfer.Of(b); t != nil {
		in, failed = m.transferred(b)
		if t.PTon {
			in.Asset, in.DestinationJettonWallet = nil, walletOf(b)
		}
		return in, t.Forward, failed
	}
	if b.kind == kindMade {
		if in, failed = m.came(b); in != nil && m.One("told") != nil {
			in.DestinationJettonWallet = m.One("told").Source()
		}
		return in, Payload{}, failed
	}
	t, ok := readPTonTransfer(b)
	if !ok {
		return nil, Payload{}, true
	}
	in = &dexTransfer{Source: b.Source(), Destination: wrappedFor(b), DestinationJettonWallet: b.Destination(), Amount: t.Amount}
	return in, t.Forward, b.Aborted() || b.lacks(t.Amount)
}

// wrappedFor is the owner of a wallet of wrapped toncoins, who was told of those that came
// to it; nil where they came to somebody else.
func wrappedFor(b *Block) Address {
	for _, c := range b.Children {
		if c.IsCall(opJettonNotify) && isForOwner(c) {
			return c.Destination()
		}
	}
	return nil
}

// gave is what left a router by a transfer: nil where the asset is not known, failed
// where its receiver did not get it.
func (m *Match) gave(b *Block) (out *dexTransfer, failed bool) {
	for _, c := range b.Children {
		if s := jettonSwap.Of(c); s != nil && jettonTransfer.Of(b) != nil && jettonTransfer.Of(b).PTon {
			in := s.Incoming // toncoins that another exchange got
			in.Source, in.DestinationJettonWallet = b.First().Source(), nil
			return &in, false
		}
		if !unwrapped(c) {
			continue
		}
		t, ok := readPTonTransfer(c)
		if !ok {
			return nil, true
		}
		out = &dexTransfer{Source: b.First().Source(), Destination: wrappedFor(c), Amount: t.Amount}
		if out.Destination == nil {
			out.Destination = c.Destination()
		}
		return out, returned(c) || c.lacks(t.Amount)
	}
	if out, failed = m.transferred(b); out != nil && isPTon(out.Asset) {
		// The wallet did not send the toncoins.
		out.Asset, out.SourceJettonWallet, out.DestinationJettonWallet, failed = nil, nil, nil, true
	}
	return out, failed
}
