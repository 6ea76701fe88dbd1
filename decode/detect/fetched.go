package detect

import (
	"bytes"
	"context"
	"fmt"

	"tonscribe/schema"
	"tonscribe/schema/record"
)

// want asks for something that the log does not show, if there is somebody to
// be asked.
func (w *work) want(kind wantKind, id []byte) { w.fetcher.want(kind, id) }

// takeFetched adds to the bundle what lite servers gave meanwhile, as if the log had
// brought it. The answers of a bundle are stored before anything is published
// that comes of them, and a bundle of which something may be published already
// gets no others than those: done again, it gives the same records.
func (w *work) takeFetched(context.Context) error {
	if w.fetcher != nil {
		w.fetcher.at(w.now.seal.Master)
		w.fetcher.passes(w.now.accounts)
	}
	place := number(w.now.mcSeqno)
	kept, err := w.store.Get(keyArrived, place)
	if err != nil {
		return err
	}
	batch := &record.AccountBatch{}
	switch {
	case kept != nil:
		if err := batch.UnmarshalVT(kept); err != nil {
			return fmt.Errorf("what was fetched for the bundle: %w", err)
		}
	case w.fetcher != nil && w.now.prev > w.horizon:
		w.wantAgain()
		w.metrics.wanted.Set(float64(w.fetcher.queue.Len()))
		if batch = w.fetcher.take(); batch == nil {
			return nil
		}
		raw, err := batch.MarshalVT()
		if err != nil {
			return fmt.Errorf("what was fetched for the bundle: %w", err)
		}
		if err := w.store.SetNow(raw, keyArrived, place); err != nil {
			return err
		}
	default:
		return nil
	}
	if w.configured || w.now.config != nil {
		batch.Config = nil
	}
	w.now.bring(batch)
	return w.store.Delete(keyArrived, place)
}

// seeker goes through what waits in the store, a part with every bundle, to ask
// for what it waits for: after a start, and when the queue had no room.
type seeker struct {
	list  byte // keyWaiting, keyUnread, keyAsked, or 0 when it has come to the end
	after []byte
}

// stepsPerBundle bounds what the seeker does.
const stepsPerBundle = 500

func (w *work) wantAgain() {
	if !w.configured {
		w.want(wantConfig, nil)
	}
	if w.seeker.list == 0 && w.fetcher.queue.Starved() {
		w.seeker = seeker{list: keyWaiting}
	}
	for range stepsPerBundle {
		if w.seeker.list == 0 || !w.seek() {
			return
		}
	}
}

// seek takes the next name in the list and everything that waits for it; false
// when the store cannot be read, of which others will tell.
func (w *work) seek() bool {
	list := w.seeker.list
	size := 32
	if list == keyWaiting {
		size = schema.AddressSize
	}
	var name, value []byte
	if w.store.Each([]byte{list}, w.seeker.after, func(rest, v []byte) bool {
		name, value = rest[:size], v
		return false
	}) != nil {
		return false
	}
	if name == nil {
		w.seeker = seeker{list: map[byte]byte{keyWaiting: keyUnread, keyUnread: keyAsked}[list]}
		return true
	}
	w.seeker.after = append(bytes.Clone(name), bytes.Repeat([]byte{0xff}, schema.AddressSize)...)
	switch list {
	case keyWaiting:
		if known, err := w.store.Get(keyParent, name); err == nil && known == nil {
			w.want(wantParent, name)
		}
	case keyUnread:
		a := &record.Account{}
		if a.UnmarshalVT(value) == nil && !bytes.Equal(a.State.GetCodeHash(), name) {
			w.want(wantLibrary, name)
		}
	case keyAsked:
		w.want(wantLibrary, name)
	}
	return true
}
