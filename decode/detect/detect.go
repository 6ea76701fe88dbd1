package detect

import (
	"bytes"
	"context"
	"encoding/binary"
	"slices"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/decode/contract"
	"tonscribe/schema/record"
)

// detectChanged finds out what the changed accounts say of themselves, and then those whose code or
// library has come: so many in a bundle, and no more when they have taken the gas of so
// many runs.
func (w *work) detectChanged(ctx context.Context) error {
	if _, err := w.detectEach(ctx, slices.Concat(w.now.accounts, w.now.late), nil); err != nil {
		return err
	}
	for left, gas := w.configuration.Retries, retryRuns*w.configuration.RunGas; left > 0 && gas > 0; {
		again, formers, err := w.unread(min(left, retriedAtOnce))
		if err != nil || len(again)+len(formers) == 0 {
			return err
		}
		took, err := w.detectEach(ctx, again, formers)
		if err != nil {
			return err
		}
		left, gas = left-len(again)-len(formers), gas-took
	}
	return nil
}

// lookedAtOnce is after how many accounts it is looked at what they took.
const retriedAtOnce = 32

// detectEach looks into accounts, and into what accounts were before, and returns the gas
// that it took.
func (w *work) detectEach(ctx context.Context, list []*record.Account, formers []*change) (gas int64, err error) {
	var fresh []*change
	for _, a := range list {
		c, err := w.changed(a)
		if err != nil {
			return 0, err
		}
		if c != nil && c.fresh {
			fresh = append(fresh, c)
		}
	}
	for _, c := range formers {
		if err := w.open(c); err != nil {
			return 0, err
		}
		if c.fresh {
			fresh = append(fresh, c)
		}
	}
	w.metrics.looks.Add(float64(len(fresh)))
	if err := parallel(len(fresh), func(i int) error { return w.detect(ctx, fresh[i]) }); err != nil {
		return 0, err
	}
	for _, c := range fresh {
		if err := w.retryWithLibrary(c); err != nil {
			return 0, err
		}
		gas += c.gas
	}
	return gas, nil
}

// retryWithLibrary sees to it that an account is looked into once more when the library
// has come for want of which a get-method ended. What was found without it stands;
// where that is nothing, the account is put off and stays what it was.
func (w *work) retryWithLibrary(c *change) error {
	switch {
	case c.until != 0:
		return w.opened(c)
	case c.missing == nil:
		return nil
	case nothing(c.new.facts):
		return w.putOff(c, lack{"library", c.missing[:]})
	}
	w.metrics.unread.WithLabelValues("library in part").Inc()
	w.want(wantLibrary, c.missing[:])
	return w.await(c.state, c.missing[:])
}

// changed takes the state of an account; nil when a later one is known.
func (w *work) changed(a *record.Account) (*change, error) {
	if bytes.Equal(a.Account, configAccount) || bytes.Equal(a.Account, electorAccount) || w.changes[string(a.Account)] != nil {
		return nil, nil
	}
	old, err := w.stored(a.Account)
	if err != nil || old != nil && old.facts.LastTransLt > a.LastTransLt {
		return nil, err
	}
	w.metrics.accounts.Inc()
	c := &change{account: a.Account, old: old, state: a}
	w.changes[string(a.Account)] = c
	if c.waited, err = w.awaitNoMore(a.Account); err != nil {
		return nil, err
	}
	if !isActive(a) {
		c.new = emptyEntry(a)
		return c, nil
	}
	var missing lack
	if c.code, missing, err = w.code(a.State.CodeHash); err != nil {
		return nil, err
	}
	if c.code != nil && c.code.Empty() && !isParent(c) {
		c.new = emptyEntry(a)
		return c, nil
	}
	if len(a.Data) > 0 {
		c.data, err = cell.FromBOC(a.Data) // a broken BoC is as good as none
	}
	if len(a.State.DataHash) > 0 && (err != nil || c.data == nil || !bytes.Equal(c.data.Hash(), a.State.DataHash)) {
		missing.what = "data"
	}
	if missing.what != "" && c.waited == nil && old != nil && bytes.Equal(old.facts.CodeHash, a.State.CodeHash) && bytes.Equal(old.facts.DataHash, a.State.DataHash) {
		c.new = old.clone()
		c.new.facts.LastTransLt, c.new.facts.Now = a.LastTransLt, a.Now
		return c, nil
	}
	if missing.what != "" {
		return c, w.putOff(c, missing)
	}
	c.fresh = true
	return c, nil
}

// putOff keeps an account that cannot be looked into for when it can: what it
// lacks may come by, lite servers may have it, and a late state may bring it.
func (w *work) putOff(c *change, missing lack) error {
	a := c.state
	w.metrics.unread.WithLabelValues(missing.what).Inc()
	w.report.Log.Debug().Uint32("bundle", w.now.mcSeqno).Hex("account", a.Account).Hex("code", a.State.CodeHash).
		Hex("data", a.State.DataHash).Str("missing", missing.what).Msg("an account could not be looked into")
	c.unread, c.new = true, c.old.clone()
	if missing.what == "data" {
		return nil
	}
	if missing.what == "library" {
		w.want(wantLibrary, missing.hash)
	}
	return w.await(a, missing.hash)
}

func isActive(a *record.Account) bool {
	return a.State.GetStatus() == record.AccountStatus_ACCOUNT_ACTIVE
}

func emptyEntry(a *record.Account) *entry {
	return &entry{facts: &record.Contract{Account: a.Account, LastTransLt: a.LastTransLt, Now: a.Now,
		CodeHash: a.State.GetCodeHash(), DataHash: a.State.GetDataHash()}}
}

// detect runs on several goroutines at once.
func (w *work) detect(ctx context.Context, c *change) error {
	a := c.state
	found, err := w.detector.Detect(ctx, contract.Account{Address: a.Account, Code: c.code, Data: c.data,
		Balance: balanceOf(a.State.Balance)}, w.moment(a.Now))
	if err != nil {
		return err
	}
	w.metrics.exhausted.Add(float64(found.Exhausted))
	w.metrics.broken.Add(float64(found.Broken))
	w.metrics.cut.Add(float64(found.Cut))
	c.new, c.missing, c.gas = &entry{facts: found.Facts, content: found.Content}, found.Missing, found.Gas
	f := c.new.facts
	f.Account, f.LastTransLt, f.Now, f.CodeHash, f.DataHash = a.Account, a.LastTransLt, a.Now, a.State.CodeHash, a.State.DataHash
	f.Interfaces = c.code.Names
	return nil
}

// isParent reports whether others can be checked against a contract.
func isParent(c *change) bool {
	return slices.ContainsFunc(contract.ConfirmMethods(), c.code.Has) || int8(c.account[0]) == -1 && c.code.Has("dnsresolve")
}

// keepParents stores the new states of parents, and lets the claims be checked
// that waited for them.
func (w *work) keepParents(ctx context.Context) error {
	renamed := false
	for _, c := range w.ordered() {
		if c.state == nil || c.unread || c.code == nil && isActive(c.state) {
			continue
		}
		before, err := w.store.Get(keyParent, c.account)
		if err != nil {
			return err
		}
		if c.code == nil || !isParent(c) {
			if before != nil {
				delete(w.parents, string(c.account))
				if err := w.store.Delete(keyParent, c.account); err != nil {
					return err
				}
			}
			continue
		}
		renamed = renamed || bytes.Equal(c.account, w.root)
		if err := w.keepParent(c, before); err != nil {
			return err
		}
	}
	if renamed || w.renamed {
		w.renamed = false
		return w.findZone(ctx)
	}
	return nil
}

// A stored parent is code hash, lt, time, balance, and the BoC of its data.
const parentHead = 32 + 8 + 4 + 8

func (w *work) keepParent(c *change, before []byte) error {
	a := c.state
	boc := a.Data
	if !c.fresh && len(before) >= parentHead {
		boc = before[parentHead:] // the data is as it was
	}
	if len(boc) == 0 && len(a.State.DataHash) > 0 {
		return nil
	}
	out := append([]byte{}, a.State.CodeHash...)
	out = binary.BigEndian.AppendUint64(out, a.LastTransLt)
	out = binary.BigEndian.AppendUint32(out, a.Now)
	out = binary.BigEndian.AppendUint64(out, a.State.Balance)
	out = append(out, boc...)
	delete(w.parents, string(c.account))
	if err := w.store.Set(out, keyParent, c.account); err != nil {
		return err
	}
	if before != nil && bytes.Equal(before[:32], a.State.CodeHash) {
		return nil
	}
	// It has appeared, or become another contract: what waits for it is checked.
	return w.store.Set(nil, keyRetry, c.account)
}

// parent gives a contract that is a parent, nil when it is none or not known.
func (w *work) parent(account []byte) (*contract.Account, error) {
	if known := w.parents[string(account)]; known != nil {
		return known, nil
	}
	raw, err := w.store.Get(keyParent, account)
	if err != nil || len(raw) < parentHead {
		return nil, err
	}
	code, _, err := w.code(raw[:32])
	if err != nil || code == nil {
		return nil, err
	}
	p := &contract.Account{Address: account, Code: code, Balance: balanceOf(binary.BigEndian.Uint64(raw[44:]))}
	if len(raw) > parentHead {
		if p.Data, err = cell.FromBOC(raw[parentHead:]); err != nil {
			return nil, nil //nolint:nilerr // it was whole when it was stored; a broken one is as good as none
		}
	}
	if len(w.parents) >= maxParents {
		clear(w.parents)
	}
	w.parents[string(account)] = p
	return p, nil
}
