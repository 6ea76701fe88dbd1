package contracts

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/ton"

	"tonscribe/decode"
	"tonscribe/internal/lite"
	"tonscribe/schema"
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

// errand is a want that is not settled.
type errand struct {
	want
	asking bool
	due    time.Time
	pause  time.Duration // after the next failure
}

// fetcher asks lite servers, beside the work on bundles, for what the blocks of
// the log do not show. What it got waits for take. A nil fetcher has nobody to
// ask.
type fetcher struct {
	*Component
	decoder decode.Decoder // of who holds mutex

	mutex   sync.Mutex
	head    *record.BlockId // the newest masterchain block of the log
	open    map[want]*errand
	order   []*errand          // of open, the oldest first
	settled map[want]time.Time // lately, and when
	dropped bool               // there was no room for something
	arrived *record.AccountBatch
	wake    chan struct{}
}

const (
	firstPause = time.Second
	mostPause  = time.Minute
	// settledFor is how long something is not asked for again.
	settledFor = time.Hour
)

func newFetcher(c *Component) *fetcher {
	if c.lite == nil {
		return nil
	}
	return &fetcher{Component: c, open: map[want]*errand{}, settled: map[want]time.Time{}, wake: make(chan struct{}, 1)}
}

// want puts something into the queue, unless it is there or was lately.
func (f *fetcher) want(kind wantKind, id []byte) {
	if f == nil {
		return
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	w := want{kind, string(id)}
	if f.open[w] != nil || time.Since(f.settled[w]) < settledFor {
		return
	}
	if len(f.order) >= f.configuration.Fetch.Queue {
		f.dropped = true
		f.metrics.fetches.WithLabelValues(string(kind), "dropped").Inc()
		return
	}
	e := &errand{want: w, pause: firstPause}
	f.open[w], f.order = e, append(f.order, e)
	f.metrics.wanted.WithLabelValues(string(kind)).Inc()
	f.stir()
}

func (f *fetcher) stir() {
	select {
	case f.wake <- struct{}{}:
	default: // told already
	}
}

// starved says, once, that the queue is empty after something was dropped.
func (f *fetcher) starved() bool {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	starved := f.dropped && len(f.order) == 0
	if starved {
		f.dropped = false
	}
	return starved
}

// take gives what has arrived, nil when that is nothing; head is the masterchain
// block of the bundle that is being worked out.
func (f *fetcher) take(head *record.BlockId) *record.AccountBatch {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.head = head
	f.stir()
	arrived := f.arrived
	f.arrived = nil
	return arrived
}

// run asks until ctx ends.
func (f *fetcher) run(ctx context.Context) {
	var group sync.WaitGroup
	for range f.configuration.Fetch.Parallel {
		group.Go(func() {
			for {
				e, head := f.next(ctx)
				if e == nil {
					return
				}
				f.ask(ctx, e, head)
			}
		})
	}
	group.Wait()
}

// next waits for an errand that is due; nil when ctx ends.
func (f *fetcher) next(ctx context.Context) (*errand, *record.BlockId) {
	for {
		e, head, pause := f.due()
		if e != nil {
			return e, head
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil, nil
		case <-f.wake:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// due is the first errand that is due, or how long none will be.
func (f *fetcher) due() (*errand, *record.BlockId, time.Duration) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	pause := mostPause
	if f.head == nil {
		return nil, nil, pause
	}
	for _, e := range f.order {
		if e.asking {
			continue
		}
		if left := time.Until(e.due); left > 0 {
			pause = min(pause, left)
			continue
		}
		e.asking = true
		f.stir() // for another goroutine: there may be more
		return e, f.head, 0
	}
	return nil, nil, pause
}

// errAbsent is the proven answer that there is no such thing.
var errAbsent = errors.New("there is none")

// errUnfit is an answer that cannot be used.
var errUnfit = errors.New("not fit for use")

func (f *fetcher) ask(ctx context.Context, e *errand, head *record.BlockId) {
	asking, cancel := context.WithTimeout(ctx, f.configuration.Fetch.Timeout)
	defer cancel()
	var batch *record.AccountBatch
	var err error
	switch e.kind {
	case wantLibrary:
		batch, err = f.askLibrary(asking, []byte(e.id))
	case wantParent:
		batch, err = f.askParent(asking, []byte(e.id), head)
	case wantConfig:
		batch, err = f.askConfig(asking, head)
	}
	if ctx.Err() != nil {
		return
	}
	f.settle(e, batch, err)
}

// settle notes what became of an errand.
func (f *fetcher) settle(e *errand, batch *record.AccountBatch, err error) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	e.asking = false
	outcome := "taken"
	switch {
	case errors.Is(err, errAbsent):
		outcome = "absent"
	case errors.Is(err, errUnfit):
		outcome = "refused"
	case err != nil:
		outcome = "failed"
	}
	f.metrics.fetches.WithLabelValues(string(e.kind), outcome).Inc()
	if err != nil {
		f.report.Log.Debug().Err(err).Str("what", string(e.kind)).Hex("id", []byte(e.id)).Str("outcome", outcome).Msg("asked lite servers")
	}
	if outcome == "failed" {
		e.due, e.pause = time.Now().Add(e.pause), min(2*e.pause, mostPause)
		return
	}
	delete(f.open, e.want)
	f.order = slices.DeleteFunc(f.order, func(other *errand) bool { return other == e })
	f.metrics.wanted.WithLabelValues(string(e.kind)).Dec()
	if len(f.settled) >= f.configuration.Fetch.Queue {
		clear(f.settled)
	}
	f.settled[e.want] = time.Now()
	if batch == nil {
		return
	}
	if f.arrived == nil {
		f.arrived = &record.AccountBatch{}
	}
	f.arrived.Late = append(f.arrived.Late, batch.Late...)
	f.arrived.Codes = append(f.arrived.Codes, batch.Codes...)
	f.arrived.Libraries = append(f.arrived.Libraries, batch.Libraries...)
	if len(batch.Config) > 0 {
		f.arrived.Config = batch.Config
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

// askParent asks for the state after the newest block of the log, and where
// nobody has that any more, for the newest of all.
func (f *fetcher) askParent(ctx context.Context, account []byte, head *record.BlockId) (*record.AccountBatch, error) {
	at := address.NewAddress(0, byte(schema.Workchain(account)), schema.AccountID(account))
	found, err := f.lite.Account(ctx, blockOf(head), at)
	if lite.IsMissing(err) {
		newest, headErr := f.lite.Head(ctx)
		if headErr != nil {
			return nil, headErr
		}
		found, err = f.lite.Account(ctx, newest, at)
	}
	switch {
	case err != nil:
		return nil, err
	case found.State == nil:
		return nil, errAbsent
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	r, err := f.decoder.Resident(found.State.ToBOC(), account)
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
	root, err := f.lite.Config(ctx, blockOf(head))
	if lite.IsMissing(err) {
		return nil, fmt.Errorf("%w: %w", errAbsent, err)
	}
	if err != nil {
		return nil, err
	}
	if root == nil {
		return nil, errAbsent
	}
	return &record.AccountBatch{Config: root.ToBOC()}, nil
}

func blockOf(id *record.BlockId) *ton.BlockIDExt {
	return &ton.BlockIDExt{Workchain: id.Workchain, Shard: int64(id.Shard), SeqNo: id.Seqno, RootHash: id.RootHash, FileHash: id.FileHash}
}
