package ingest

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/rs/zerolog"

	"tonscribe/schema/record"
)

// reader asks the source for blocks and verifies them, several at a time.
type reader struct {
	source   Source
	verifier *verifier
	slots    chan struct{}
	budget   *budget
	metrics  *metrics
	log      zerolog.Logger

	mu     sync.Mutex
	logged map[string]bool
}

func newReader(source Source, c Configuration, m *metrics, log zerolog.Logger, head uint32) *reader {
	slots := c.Readers // questions at a time
	if _, ok := source.(*liteserver); ok {
		slots *= 16
	}
	return &reader{
		source:   source,
		verifier: &verifier{maxBytes: c.MaxBlockBytes},
		slots:    make(chan struct{}, slots),
		budget:   newBudget(c.WindowBytes, head),
		metrics:  m,
		log:      log,
		logged:   map[string]bool{},
	}
}

// masters reads every different masterchain block that the source has for a
// seqno: there is one, unless the source mixes networks or holds a bad copy.
func (r *reader) masters(ctx context.Context, seqno uint32) (good []*block, bad []*Refusal, err error) {
	ask := func(attempt int) (Blob, error) { return r.source.Master(ctx, seqno, attempt) }
	check := func(blob Blob) (*block, *Refusal) { return r.verifier.verifyMaster(seqno, blob) }
	for attempt := 0; ; attempt++ {
		b, refusal, err := r.one(ctx, masterID(seqno), seqno, attempt, ask, check)
		switch {
		case errors.Is(err, ErrNotFound):
			return good, bad, nil
		case err != nil:
			return nil, nil, err
		case refusal != nil:
			bad = append(bad, refusal)
			if refusal.hopeless() {
				return good, bad, nil // asking on would ask the same again
			}
		case !slices.ContainsFunc(good, func(known *block) bool { return sameID(known.ID, b.ID) }):
			good = append(good, b)
		}
	}
}

// shard reads the shard block with a complete id. When no copy is good, the
// error is the last *Refusal; when there is none, ErrNotFound.
func (r *reader) shard(ctx context.Context, id *record.BlockId, bundle uint32) (*block, error) {
	ask := func(attempt int) (Blob, error) { return r.source.Block(ctx, id, bundle, attempt) }
	check := func(blob Blob) (*block, *Refusal) { return r.verifier.verifyNamed(id, blob) }
	var last error = ErrNotFound
	for attempt := 0; ; attempt++ {
		b, refusal, err := r.one(ctx, blockIDOf(id), bundle, attempt, ask, check)
		switch {
		case errors.Is(err, ErrNotFound):
			return nil, last
		case err != nil:
			return nil, err
		case refusal == nil:
			return b, nil
		}
		if last = refusal; refusal.hopeless() {
			return nil, last
		}
	}
}

// one reads and checks one answer of the source, as soon as memory and a free
// slot allow it.
func (r *reader) one(ctx context.Context, at blockID, bundle uint32, attempt int,
	ask func(int) (Blob, error), check func(Blob) (*block, *Refusal)) (*block, *Refusal, error) {
	if err := r.budget.wait(ctx, bundle); err != nil {
		return nil, nil, err
	}
	select {
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	case r.slots <- struct{}{}:
	}
	defer func() { <-r.slots }()
	blob, err := ask(attempt)
	if errors.Is(err, ErrNotFound) || ctx.Err() != nil {
		return nil, nil, errors.Join(err, ctx.Err())
	}
	if errors.Is(err, ErrUnavailable) {
		return nil, &Refusal{ID: at.String(), Reason: ReasonUnavailable, Detail: err.Error(), Origin: blob.Origin}, nil
	}
	if err != nil {
		refusal := unreadable(err, at.String(), blob.Origin)
		r.refused(refusal)
		return nil, refusal, nil
	}
	b, refusal := check(blob)
	if refusal != nil {
		r.refused(refusal)
		return nil, refusal, nil
	}
	r.budget.add(bundle, at, len(b.boc))
	return b, nil, nil
}

// refused counts a bad block and logs it the first time.
func (r *reader) refused(refusal *Refusal) {
	r.metrics.bad.WithLabelValues(string(refusal.Reason)).Inc()
	key := refusal.Error()
	r.mu.Lock()
	again := r.logged[key]
	if len(r.logged) > 10000 {
		clear(r.logged)
	}
	r.logged[key] = true
	r.mu.Unlock()
	if again {
		return
	}
	r.log.Warn().Str("block", refusal.ID).Str("reason", string(refusal.Reason)).Str("origin", refusal.Origin).
		Msg("block refused: " + refusal.Detail)
}
