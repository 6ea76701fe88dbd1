package detect

import (
	"bytes"
	"encoding/binary"
	"maps"
	"slices"

	"tonscribe/decode/contract"
	"tonscribe/schema"
	"tonscribe/schema/record"
)

// What an account claimed is kept when it claims that no more, or is gone, as long as
// transfers wait for the answer: they were sent by what it was then.

// waiter is the name under which a change waits for a parent.
func (c *change) waiter() []byte {
	if c.until == 0 {
		return c.account
	}
	return transferKey(c.account, c.until)
}

// leave makes what an account claimed until this bundle, and its parent has not answered, a
// former claim; nil where it claims the same still, or no transfer waits.
func (w *work) leave(c *change) (*change, error) {
	if c.old == nil {
		return nil, nil
	}
	left := &entry{facts: &record.Contract{Account: c.account}}
	waits := func(kind contract.ClaimKind) bool {
		return c.old.claims[kind] == waiting && !kind.Same(c.old.facts, c.new.facts)
	}
	if p := c.old.facts.JettonWallet; waits(contract.ClaimJettonWallet) {
		left.facts.JettonWallet = &record.JettonWallet{Owner: p.Owner, Master: p.Master}
	}
	if i := c.old.facts.NftItem; waits(contract.ClaimNFTItem) {
		left.facts.NftItem = &record.NFTItem{Index: i.Index, Collection: i.Collection}
	}
	if nothing(left.facts) {
		return nil, nil
	}
	held, err := w.holds(c.account)
	if err != nil || !held {
		return nil, err
	}
	c.former = &change{account: c.account, until: c.state.LastTransLt, state: c.state, new: left}
	w.formers[string(c.former.waiter())] = c.former
	return c.former, nil
}

// holds reports whether transfers of an account wait for something, or may with this bundle.
func (w *work) holds(account []byte) (held bool, err error) {
	if w.senders == nil {
		w.senders = map[string]bool{}
		for _, t := range w.now.transactions {
			if _, row := orderOf(t); row != nil {
				w.senders[string(t.Account)] = true
			}
		}
	}
	if w.senders[string(account)] {
		return true, nil
	}
	err = w.store.Each(append([]byte{keyTransfer}, account...), nil, func(_, raw []byte) bool {
		held = isHeld(raw)
		return !held
	})
	return held, err
}

// former gives what an account claimed before, nil when that is decided.
func (w *work) former(waiter []byte) (*change, error) {
	if c := w.formers[string(waiter)]; c != nil {
		return c, nil
	}
	raw, err := w.store.Get(keyFormer, waiter)
	if err != nil || raw == nil {
		return nil, err
	}
	e, err := decodeEntry(raw)
	if err != nil {
		return nil, err
	}
	c := &change{account: waiter[:schema.AddressSize], until: binary.BigEndian.Uint64(waiter[schema.AddressSize:]), new: e}
	w.formers[string(waiter)] = c
	return c, nil
}

// formersOf are what an account claimed before, the oldest first.
func (w *work) formersOf(account []byte) (list []*change, err error) {
	var waiters [][]byte
	if err := w.store.Each(append([]byte{keyFormer}, account...), nil, func(until, _ []byte) bool {
		waiters = append(waiters, slices.Concat(account, until))
		return true
	}); err != nil {
		return nil, err
	}
	for _, waiter := range waiters {
		c, err := w.former(waiter)
		if err != nil {
			return nil, err
		}
		list = append(list, c)
	}
	if c := w.changes[string(account)]; c != nil && c.former != nil {
		list = append(list, c.former)
	}
	return list, nil
}

// orderedFormers are those that the bundle has to do with, by account and age.
func (w *work) orderedFormers() []*change {
	return slices.SortedFunc(maps.Values(w.formers), func(a, b *change) int { return bytes.Compare(a.waiter(), b.waiter()) })
}

// finishFormer keeps a former claim until it is decided.
func (w *work) finishFormer(c *change) error {
	if !slices.Contains(c.new.claims[:], waiting) {
		return w.store.Delete(keyFormer, c.waiter())
	}
	raw, err := c.new.encode()
	if err != nil {
		return err
	}
	return w.store.Set(raw, keyFormer, c.waiter())
}
