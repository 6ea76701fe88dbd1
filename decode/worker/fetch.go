package worker

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"tonscribe/decode"
	"tonscribe/decode/cellstore"
	"tonscribe/internal/retry"
	"tonscribe/schema"
	"tonscribe/schema/record"
)

// fetcher asks lite servers for the states of accounts of one partition, of which
// neither block nor store has everything, beside the work on bundles. The store
// remembers what is wanted. A nil fetcher has nobody to ask.
type fetcher struct {
	*Component
	partition int
	batch     *cellstore.Batch
	queue     *retry.Queue[string, *record.Wanted]
	wanted    map[string]*record.Wanted // by account; of the goroutine of accountStates

	mutex   sync.Mutex
	decoder decode.Decoder
	answers []*answer
}

// answer is what became of a request.
type answer struct {
	wanted *record.Wanted
	state  *decode.StateAccount // nil when there is nothing to be had
}

func newFetcher(c *Component, partition int, batch *cellstore.Batch) *fetcher {
	if c.lite == nil {
		return nil
	}
	f := &fetcher{Component: c, partition: partition, batch: batch, wanted: map[string]*record.Wanted{}}
	f.queue = retry.New(c.configuration.Fetch, f.ask)
	return f
}

// load takes up what was wanted in an earlier life.
func (f *fetcher) load() error {
	if f == nil || f.cells == nil {
		return nil
	}
	return noted(f.Component, cellstore.Wanted, f.partition, func(account string, w *record.Wanted) bool {
		f.wanted[account] = w
		return f.queue.Add(account, w)
	})
}

// noted reads the accounts of a partition that are on a list of the cell store,
// until each returns false.
func noted[T any, M interface {
	*T
	UnmarshalVT([]byte) error
}](c *Component, list cellstore.List, partition int, each func(account string, what M) bool) error {
	var problem error
	err := c.cells.Noted(list, func(account, what []byte) bool {
		if schema.PartitionOf(schema.AccountID(account), c.kafka.Partitions()) != partition {
			return true
		}
		m := M(new(T))
		if problem = m.UnmarshalVT(what); problem != nil {
			problem = fmt.Errorf("cell store: account %x: %w", account, problem)
			return false
		}
		return each(string(account), m)
	})
	return errors.Join(problem, err)
}

// run asks until ctx ends.
func (f *fetcher) run(ctx context.Context) {
	if f != nil {
		f.queue.Run(ctx)
	}
}

// want asks for an account, which is so after the masterchain block.
func (f *fetcher) want(r *accountChange, master *record.BlockId) error {
	if f == nil {
		return nil
	}
	key := string(r.Account.Account)
	w := &record.Wanted{Account: r.Account.CloneVT(), Master: master}
	if hash := r.change.Extra; hash != nil && r.State.ExtraUnknown {
		w.Extra = hash[:]
	}
	if hash := r.change.Libraries; hash != nil {
		w.Libraries = hash[:]
	}
	if !f.queue.Add(key, w) {
		f.metrics.fetches.WithLabelValues("dropped").Inc()
		return nil
	}
	what, err := w.MarshalVT()
	if err != nil {
		return fmt.Errorf("account %x: %w", key, err)
	}
	f.wanted[key] = w
	f.batch.Note(cellstore.Wanted, r.Account.Account, what)
	return nil
}

// wantNoMore forgets an account: its state is known, or another one.
func (f *fetcher) wantNoMore(account []byte) {
	if f == nil || f.wanted[string(account)] == nil {
		return
	}
	delete(f.wanted, string(account))
	f.queue.Drop(string(account))
	f.batch.Strike(cellstore.Wanted, account)
}

// take gives the answer that came first, nil when there is none left.
func (f *fetcher) take() *answer {
	f.metrics.fetchQueue.WithLabelValues(fmt.Sprint(f.partition)).Set(float64(f.queue.Len()))
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if len(f.answers) == 0 {
		return nil
	}
	first := f.answers[0]
	f.answers = f.answers[1:]
	return first
}

// ask is one request; true when it is to be made again.
func (f *fetcher) ask(ctx context.Context, _ string, w *record.Wanted) (again bool) {
	state, outcome, err := f.state(ctx, w)
	f.metrics.fetches.WithLabelValues(outcome).Inc()
	if err != nil {
		f.report.Log.Debug().Err(err).Hex("account", w.Account.Account).Uint32("bundle", w.Account.McSeqno).Str("outcome", outcome).
			Msg("asked lite servers for the state of an account")
	}
	if outcome == "failed" {
		return true
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.answers = append(f.answers, &answer{w, state})
	return false
}

// state asks for the state after the block or after a later one, which may be the
// same.
func (f *fetcher) state(ctx context.Context, w *record.Wanted) (*decode.StateAccount, string, error) {
	account := w.Account.Account
	found, err := f.lite.AccountSince(ctx, w.Master, account)
	switch {
	case err != nil:
		return nil, "failed", err
	case found.State == nil:
		return nil, "refused", errors.New("the account is no more")
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	r, err := f.decoder.StateAccount(found.State.ToBOC(), account)
	switch {
	case err != nil:
		return nil, "refused", err
	case string(r.Hash) != string(w.Account.Hash):
		// Its cells are what their hashes say nevertheless.
		return r, "refused", errors.New("the state is of another moment")
	}
	return r, "taken", nil
}

// arrived puts what came into the store, and tells again of the accounts that
// are whole now: those that bring more codes than a record has room for wait. Of a
// bundle that may be published already nothing must change.
func (k *accountStates) arrived(b *bundle) error {
	if k.fetcher == nil || b.prev <= k.horizon {
		return nil
	}
	for size, told := 0, 0; size < maxLateBytes; {
		a := k.fetcher.take()
		if a == nil {
			return nil
		}
		if a.state != nil {
			k.put(a.state.Cells)
		}
		account := a.wanted.Account.Account
		w := k.fetcher.wanted[string(account)]
		if w == nil {
			continue
		}
		whole, err := k.whole(w, b)
		if err != nil {
			return fmt.Errorf("account %x: %w", account, err)
		}
		for ; told < len(b.codes); told++ {
			size += len(b.codes[told].Boc)
		}
		if !whole && w != a.wanted {
			continue // it is asked for as it is now
		}
		k.fetcher.wantNoMore(account)
		if !whole {
			continue
		}
		if err := k.incomplete.add(w.Account); err != nil {
			return err
		}
	}
	return nil
}

// whole completes an account with what the store has; false when something is
// missing still.
func (k *accountStates) whole(w *record.Wanted, b *bundle) (bool, error) {
	r := &accountChange{Account: w.Account, change: new(decode.Change)}
	codes := map[string]*record.Code{}
	k.lacks = false
	if len(w.Extra) == 32 {
		if err := k.currencies(w); err != nil {
			return false, err
		}
	}
	if err := k.content(r, codes); err != nil {
		return false, err
	}
	if len(w.Libraries) == 32 {
		if err := k.libraries((*[32]byte)(w.Libraries), b); err != nil {
			return false, err
		}
	}
	for _, code := range codes {
		b.codes = append(b.codes, code)
	}
	return !k.lacks, nil
}

// currencies completes the balance.
func (k *accountStates) currencies(w *record.Wanted) error {
	dict, err := k.assembler.Assemble((*[32]byte)(w.Extra), maxCells, k.load)
	if err != nil {
		return k.missed("extra", w.Extra, err)
	}
	list, err := k.decoder.Currencies(dict)
	if err != nil {
		return k.missed("extra", w.Extra, err)
	}
	w.Account.State.ExtraCurrencies, w.Account.State.ExtraUnknown = list, false
	return nil
}
