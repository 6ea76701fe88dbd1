package detect

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"tonscribe/decode"
	"tonscribe/internal/lite"
	"tonscribe/internal/retry"
	"tonscribe/schema/record"
)

// wantKind is what lite servers are asked for.
type wantKind string

const (
	wantLibrary wantKind = "library" // by its hash
	wantParent  wantKind = "parent"  // by its account
	wantConfig  wantKind = "config"
)

// want is one thing that is to be had.
type want struct {
	kind wantKind
	id   string
}

// fetcher asks lite servers, beside the work on bundles, for what the blocks of
// the log do not show. What it got waits for take. A nil fetcher has nobody to
// ask.
type fetcher struct {
	*Component
	queue *retry.Queue[want, struct{}]

	mutex   sync.Mutex
	decoder decode.Decoder
	head    *record.BlockId    // the newest masterchain block of the log
	settled map[want]time.Time // lately, and when
	arrived []*record.AccountBatch
	coming  map[string]struct{} // accounts in arrived
	passed  map[string]uint64   // lt up to which the log has come, of accounts that are asked for or in arrived
}

// settledFor is how long something is not asked for again.
const settledFor = time.Hour

func newFetcher(c *Component) *fetcher {
	if c.lite == nil {
		return nil
	}
	f := &fetcher{Component: c, settled: map[want]time.Time{}, coming: map[string]struct{}{}, passed: map[string]uint64{}}
	f.queue = retry.New(c.configuration.Fetch, f.ask)
	return f
}

// want puts something into the queue, unless it is there or was lately.
func (f *fetcher) want(kind wantKind, id []byte) {
	if f == nil {
		return
	}
	w := want{kind, string(id)}
	f.mutex.Lock()
	lately := time.Since(f.settled[w]) < settledFor
	f.mutex.Unlock()
	if lately || f.queue.Has(w) {
		return
	}
	if !f.queue.Add(w, struct{}{}) {
		f.metrics.fetches.WithLabelValues(string(kind), "dropped").Inc()
	}
}

// at says which masterchain block the log has come to.
func (f *fetcher) at(head *record.BlockId) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.head = head
}

// passes says which accounts the log tells of: an answer about one of them that is older is
// none any more.
func (f *fetcher) passes(accounts []*record.Account) {
	for _, a := range accounts {
		asked := f.queue.Has(want{wantParent, string(a.Account)})
		f.mutex.Lock()
		if _, coming := f.coming[string(a.Account)]; asked || coming {
			f.passed[string(a.Account)] = a.LastTransLt
		}
		f.mutex.Unlock()
	}
}

// maxTaken is about how much of what has arrived goes into one bundle: it is one
// entry of the store, and a record of the topic of the store's changes.
const maxTaken = 4 << 20

// take returns what has arrived, nil when that is nothing; what is more than a
// bundle takes waits for the next one.
func (f *fetcher) take() (taken *record.AccountBatch) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	for size := 0; len(f.arrived) > 0; f.arrived = f.arrived[1:] {
		next := f.arrived[0]
		if size += next.SizeVT(); taken != nil && size > maxTaken {
			break
		}
		if taken == nil {
			taken = &record.AccountBatch{}
		}
		for _, a := range next.Late {
			if a.LastTransLt >= f.passed[string(a.Account)] {
				taken.Late = append(taken.Late, a)
			}
			delete(f.coming, string(a.Account))
			delete(f.passed, string(a.Account))
		}
		taken.Codes = append(taken.Codes, next.Codes...)
		taken.Libraries = append(taken.Libraries, next.Libraries...)
		if len(next.Config) > 0 {
			taken.Config = next.Config
		}
	}
	return taken
}

// errAbsent is the proven answer that there is no such thing.
var errAbsent = errors.New("there is none")

// errUnfit is an answer that cannot be used.
var errUnfit = errors.New("not fit for use")

// ask is one request; true when it is to be made again.
func (f *fetcher) ask(ctx context.Context, w want, _ struct{}) (again bool) {
	f.mutex.Lock()
	head := f.head
	f.mutex.Unlock()
	var batch *record.AccountBatch
	var err error
	switch w.kind {
	case wantLibrary:
		batch, err = f.askLibrary(ctx, []byte(w.id))
	case wantParent:
		batch, err = f.askParent(ctx, []byte(w.id), head)
	case wantConfig:
		batch, err = f.askConfig(ctx, head)
	}
	outcome := "taken"
	switch {
	case errors.Is(err, errAbsent):
		outcome = "absent"
	case errors.Is(err, errUnfit):
		outcome = "refused"
	case err != nil:
		outcome = "failed"
	}
	f.metrics.fetches.WithLabelValues(string(w.kind), outcome).Inc()
	if err != nil {
		f.report.Log.Debug().Err(err).Str("what", string(w.kind)).Hex("id", []byte(w.id)).Str("outcome", outcome).Msg("asked lite servers")
	}
	if outcome == "failed" {
		return true
	}
	f.keep(w, batch)
	return false
}

// keep holds an answer until it is taken.
func (f *fetcher) keep(w want, batch *record.AccountBatch) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if len(f.settled) >= f.configuration.Fetch.Queue {
		clear(f.settled)
	}
	f.settled[w] = time.Now()
	if batch == nil {
		delete(f.passed, w.id)
		return
	}
	f.arrived = append(f.arrived, batch)
	for _, a := range batch.Late {
		f.coming[string(a.Account)] = struct{}{}
	}
}

func (f *fetcher) askLibrary(ctx context.Context, hash []byte) (*record.AccountBatch, error) {
	found, err := f.lite.Libraries(ctx, hash)
	switch {
	case err != nil:
		return nil, err
	case len(found) != 1 || found[0] == nil:
		return nil, errAbsent
	case string(found[0].Hash()) != string(hash):
		return nil, fmt.Errorf("%w: the library has the hash %x", errUnfit, found[0].Hash())
	}
	return &record.AccountBatch{Libraries: []*record.Library{{Hash: hash, Boc: found[0].ToBOC()}}}, nil
}

// askParent asks for the state after the newest block of the log or a later one.
func (f *fetcher) askParent(ctx context.Context, account []byte, head *record.BlockId) (*record.AccountBatch, error) {
	found, err := f.lite.AccountSince(ctx, head, account)
	switch {
	case err != nil:
		return nil, err
	case found.State == nil:
		return nil, errAbsent
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	r, err := f.decoder.StateAccount(found.State.ToBOC(), account)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errUnfit, err)
	}
	if len(r.State.DataHash) > 0 && r.Data == nil || len(r.State.CodeHash) > 0 && r.Code == nil {
		return nil, fmt.Errorf("%w: code or data is too large", errUnfit)
	}
	batch := &record.AccountBatch{Late: []*record.Account{{Account: account, LastTransLt: found.LastTransactionLT,
		LastTransHash: found.LastTransactionHash, Now: r.LastPaid, Hash: r.Hash, State: r.State, Data: r.Data}}}
	if r.Code != nil {
		batch.Codes = []*record.Code{{Hash: r.State.CodeHash, Boc: r.Code, Methods: r.CodeMethods.IDs, MethodsKnown: r.CodeMethods.Known}}
	}
	return batch, nil
}

func (f *fetcher) askConfig(ctx context.Context, head *record.BlockId) (*record.AccountBatch, error) {
	root, err := f.lite.Config(ctx, lite.BlockOf(head))
	switch {
	case lite.IsMissing(err):
		return nil, fmt.Errorf("%w: %w", errAbsent, err)
	case err != nil:
		return nil, err
	case root == nil:
		return nil, errAbsent
	}
	return &record.AccountBatch{Config: root.ToBOC()}, nil
}
