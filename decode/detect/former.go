package detect

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/xssnick/tonutils-go/tvm/cell"

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

// changeOf is one of an account, or of what an account claimed before, by its waiter.
func changeOf(waiter []byte) *change {
	c := &change{account: waiter[:schema.AddressSize]}
	if until := waiter[schema.AddressSize:]; len(until) > 0 {
		c.until = binary.BigEndian.Uint64(until)
	}
	return c
}

// leave makes what an account claimed until this bundle, and its parent has not answered, a
// former claim, and so what could not be looked into; nil where the account claims the same
// still, or no transfer waits.
func (w *work) leave(c *change) (*change, error) {
	unread := c.old == nil && c.waited != nil && c.waited.state != nil
	left := &entry{facts: &record.Contract{}}
	changed := false
	if c.old != nil {
		left = c.old.claimed(func(kind contract.ClaimKind) bool {
			waits := c.old.claims[kind] == waiting
			changed = changed || waits && !kind.Same(c.old.facts, c.new.facts)
			return waits
		})
	}
	if !unread && !changed {
		return nil, nil
	}
	held, err := w.holds(c.account)
	if err != nil || !held {
		return nil, err
	}
	former := &change{account: c.account, until: c.state.LastTransLt, state: c.state, new: left}
	if unread {
		if former.unread, err = w.leaveUnread(former.waiter(), c); err != nil || !former.unread {
			return nil, err
		}
	}
	c.former = former
	w.formers[string(former.waiter())] = former
	return former, nil
}

// leaveUnread keeps the state in which an account waited for a code or a library; false where
// the account has the same code still, and was looked into.
func (w *work) leaveUnread(waiter []byte, c *change) (kept bool, err error) {
	state := &record.Account{}
	if err := state.UnmarshalVT(c.waited.state); err != nil {
		return false, fmt.Errorf("account %x: %w", c.account, err)
	}
	if bytes.Equal(state.State.GetCodeHash(), c.state.State.GetCodeHash()) {
		return false, nil
	}
	if err := w.store.Set(c.waited.state, keyUnread, c.waited.hash, waiter); err != nil {
		return false, err
	}
	if code, _, err := w.code(state.State.CodeHash); err != nil || code == nil {
		return true, err
	}
	return true, w.store.Set(nil, keyCame, c.waited.hash) // with this bundle
}

// open makes a former state ready to be looked into.
func (w *work) open(c *change) (err error) {
	w.formers[string(c.waiter())] = c
	c.opened = true
	c.new = emptyEntry(c.state)
	var missing lack
	c.code, missing, err = w.code(c.state.State.CodeHash)
	if err != nil || missing.what != "" {
		return errors.Join(err, w.openLater(c, missing))
	}
	if len(c.state.Data) > 0 {
		if c.data, err = cell.FromBOC(c.state.Data); err != nil {
			return nil //nolint:nilerr // a broken BoC is as good as none
		}
	}
	c.fresh = !c.code.Empty()
	return nil
}

// opened takes what was found of a former state.
func (w *work) opened(c *change) error {
	if c.missing != nil && nothing(c.new.facts) {
		return w.openLater(c, lack{"library", c.missing[:]})
	}
	c.new = c.new.claimed(func(contract.ClaimKind) bool { return true })
	return nil
}

// openLater puts a former state off until another library comes.
func (w *work) openLater(c *change, missing lack) error {
	if missing.what != "library" {
		return nil
	}
	c.unread, c.opened, c.fresh = true, false, false
	w.want(wantLibrary, missing.hash)
	state, err := c.state.MarshalVT()
	if err != nil {
		return fmt.Errorf("account %x: %w", c.account, err)
	}
	return w.store.Set(state, keyUnread, missing.hash, c.waiter())
}

// claimed is what an entry says of itself that orders are for, as far as it is wanted.
func (e *entry) claimed(wanted func(contract.ClaimKind) bool) *entry {
	c := &entry{facts: &record.Contract{Account: e.facts.Account}}
	if p := e.facts.JettonWallet; p != nil && wanted(contract.ClaimJettonWallet) {
		c.facts.JettonWallet = &record.JettonWallet{Owner: p.Owner, Master: p.Master}
	}
	if i := e.facts.NftItem; i != nil && wanted(contract.ClaimNFTItem) {
		c.facts.NftItem = &record.NFTItem{Index: i.Index, Collection: i.Collection}
	}
	return c
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
	c := changeOf(waiter)
	if c.unread = len(raw) == 0; c.unread {
		c.new = &entry{facts: &record.Contract{}}
	} else if c.new, err = decodeEntry(raw); err != nil {
		return nil, err
	}
	w.formers[string(waiter)] = c
	return c, nil
}

// untils are the lts up to which an account claimed something else, ascending.
func (w *work) untils(account []byte) (list []uint64, err error) {
	err = w.store.Each(append([]byte{keyFormer}, account...), nil, func(until, _ []byte) bool {
		list = append(list, binary.BigEndian.Uint64(until))
		return true
	})
	if c := w.changes[string(account)]; c != nil && c.former != nil {
		list = append(list, c.former.until)
	}
	return list, err
}

// orderedFormers are those that the bundle has to do with, by account and age.
func (w *work) orderedFormers() []*change {
	return slices.SortedFunc(maps.Values(w.formers), func(a, b *change) int { return bytes.Compare(a.waiter(), b.waiter()) })
}

// finishFormer keeps a former claim until it is decided; nothing is known of a state that
// could not be looked into.
func (w *work) finishFormer(c *change) error {
	if c.unread {
		return w.store.Set(nil, keyFormer, c.waiter())
	}
	if !slices.Contains(c.new.claims[:], waiting) {
		return w.store.Delete(keyFormer, c.waiter())
	}
	raw, err := c.new.encode()
	if err != nil {
		return err
	}
	return w.store.Set(raw, keyFormer, c.waiter())
}
