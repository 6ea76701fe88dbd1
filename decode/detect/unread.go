package detect

import (
	"errors"
	"fmt"

	"tonscribe/schema/record"
)

// await keeps the state of an account that cannot be looked into before a code
// or a library has come.
func (w *work) await(a *record.Account, hash []byte) error {
	state, err := a.MarshalVT()
	if err != nil {
		return fmt.Errorf("account %x: %w", a.Account, err)
	}
	if err := w.store.Set(state, keyUnread, hash, a.Account); err != nil {
		return err
	}
	return w.store.Set(hash, keyLacks, a.Account)
}

// unreadState is the state of an account that waits for a code or a library.
type unreadState struct {
	hash  []byte // of the code or library
	state []byte // nil when it is looked into now
}

// awaitNoMore forgets what an account waits for, and returns it, nil for nothing: it is
// looked into now.
func (w *work) awaitNoMore(account []byte) (*unreadState, error) {
	hash, err := w.store.Get(keyLacks, account)
	if err != nil || hash == nil {
		return nil, err
	}
	state, err := w.store.Get(keyUnread, hash, account)
	if err != nil {
		return nil, err
	}
	if err := w.store.Delete(keyLacks, account); err != nil {
		return nil, err
	}
	return &unreadState{hash, state}, w.store.Delete(keyUnread, hash, account)
}

// askAgain sees to it that a parent's children are checked once more when the
// library has come for want of which the parent did not answer, or not all.
func (w *work) askAgain(parent []byte, library *[32]byte) error {
	w.metrics.unread.WithLabelValues("library of a parent").Inc()
	w.want(wantLibrary, library[:])
	return w.store.Set(nil, keyAsked, library[:], parent)
}

// came lets the accounts be looked into that wait for a code or a library, and
// the parents be asked.
func (w *work) came(hash []byte) error {
	var parents [][]byte
	if err := w.store.Each(append([]byte{keyAsked}, hash...), nil, func(parent, _ []byte) bool {
		parents = append(parents, parent)
		return true
	}); err != nil {
		return err
	}
	for _, parent := range parents {
		if err := w.store.Delete(keyAsked, hash, parent); err != nil {
			return err
		}
		if err := w.store.Set(nil, keyRetry, parent); err != nil {
			return err
		}
	}
	waits := false
	if err := w.store.Each(append([]byte{keyUnread}, hash...), nil, func(_, _ []byte) bool {
		waits = true
		return false
	}); err != nil || !waits {
		return err
	}
	return w.store.Set(nil, keyCame, hash)
}

// unread are accounts whose code or library has come, up to a limit, in the state
// that was the newest when they were put off, and former ones.
func (w *work) unread(limit int) (list []*record.Account, formers []*change, err error) {
	var hashes [][]byte
	if err := w.store.Each([]byte{keyCame}, nil, func(hash, _ []byte) bool {
		hashes = append(hashes, hash)
		return len(hashes) < limit
	}); err != nil {
		return nil, nil, err
	}
	for _, hash := range hashes {
		more := false
		var broken error
		var waiters [][]byte
		err := w.store.Each(append([]byte{keyUnread}, hash...), nil, func(waiter, state []byte) bool {
			if more = len(list)+len(formers) == limit; more {
				return false
			}
			a := &record.Account{}
			if broken = a.UnmarshalVT(state); broken != nil {
				return false
			}
			waiters = append(waiters, waiter)
			if c := changeOf(waiter); c.until == 0 {
				list = append(list, a)
			} else {
				c.state = a
				formers = append(formers, c)
			}
			return true
		})
		if err != nil || broken != nil {
			return nil, nil, fmt.Errorf("accounts that wait for code %x: %w", hash, errors.Join(err, broken))
		}
		for _, waiter := range waiters {
			if err := w.store.Delete(keyUnread, hash, waiter); err != nil {
				return nil, nil, err
			}
		}
		if more {
			break
		}
		if err := w.store.Delete(keyCame, hash); err != nil {
			return nil, nil, err
		}
	}
	w.metrics.reread.Add(float64(len(list) + len(formers)))
	return list, formers, nil
}
