package action

// ordered is a transfer of jettons that a contract ordered, whether the receiving wallet
// is known or not: failed reports that the jettons did not get there. It is nil where
// the order cannot be read.
func ordered(b *Block) (t *jettonMove, failed bool) {
	if t = jettonTransfer.Of(b); t != nil {
		return t, b.Failed
	}
	t, ok := readTransfer(b)
	if !ok {
		return nil, true
	}
	failed = true
	for _, c := range b.Children {
		if c.IsCall(opJettonInternalTransfer) {
			t.ReceiverJettonWallet, failed = c.Destination(), b.Aborted() || c.Aborted()
		}
	}
	return t, failed
}

// mintThere reports whether a mint brought its receiver the jettons, whether the receiving
// wallet is known or not.
func mintThere(mint *Block) (there bool) {
	mint.Each(func(b *Block) bool {
		there = there || b.IsCall(opJettonInternalTransfer) && !b.Aborted()
		return true
	})
	return there
}

// sentBack is a message that came back.
func sentBack() *Pattern { return Any().Where(func(b *Block) bool { return b.Message.GetBounced() }) }
