package ingest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"tonscribe/schema/record"
)

// rememberedMasters is how many masterchain ids are kept for checking the
// references of shard blocks; these reach back a few blocks.
const rememberedMasters = 4096

// chain follows the masterchain: for each seqno it settles which block stands
// there. The block must name the one before as its parent, and the ones after
// it, as far as the source has them, must follow from it; for a block's own
// hashes are known only to its successor.
type chain struct {
	*reader
	configuration Configuration
	tasks         *sync.WaitGroup
	waits         *waiting

	// last is the masterchain block before the one to be settled; nil at a
	// start without a resume and after a gap.
	last     *record.BlockId
	lastEnd  uint64 // its end_lt, 0 when unknown
	globalID int32
	// strangers are those of the seqno before, when it was skipped.
	strangers []*block

	loads map[uint32]*masterLoad

	mu  sync.Mutex
	ids map[uint32]*record.BlockId
}

// masterLoad is the reading of all copies of one masterchain block.
type masterLoad struct {
	done chan struct{}
	good []*block
	bad  []*Refusal
	err  error
}

func newChain(r *reader, c Configuration, tasks *sync.WaitGroup, w *waiting) *chain {
	return &chain{
		reader: r, configuration: c, tasks: tasks, waits: w, globalID: c.GlobalID,
		loads: map[uint32]*masterLoad{}, ids: map[uint32]*record.BlockId{},
	}
}

// advance gives the masterchain block with a seqno, or why its bundle is
// skipped. It waits for blocks that the source has not reached yet, and by
// configuration for those that are missing or bad. mayNotSkip overrides that
// configuration for bundles which a partition already holds.
func (c *chain) advance(ctx context.Context, seqno uint32, mayNotSkip bool) (*block, *problem, error) {
	var pause backoff
	for {
		if err := c.reached(ctx, seqno); err != nil {
			return nil, nil, err
		}
		b, why, err := c.choose(ctx, seqno)
		if err != nil {
			return nil, nil, err
		}
		if b != nil {
			if err := c.unproven(ctx, b); err != nil {
				return nil, nil, err
			}
			c.append(b)
			return b, nil, nil
		}
		if !mayNotSkip && c.waits.skips(seqno, why, &pause) {
			c.skip(seqno)
			c.strangers = why.strangers
			return nil, why, nil
		}
		if err := c.waits.retry(ctx, seqno, why, &pause); err != nil {
			return nil, nil, err
		}
		c.readAgain(seqno)
	}
}

// readAgain forgets what the source had for a seqno, and for the two after it.
func (c *chain) readAgain(seqno uint32) {
	for n := seqno; n <= seqno+2; n++ {
		delete(c.loads, n)
	}
}

// skip goes on without a masterchain block.
func (c *chain) skip(seqno uint32) {
	c.last, c.lastEnd, c.strangers = nil, 0, nil
	delete(c.loads, seqno)
}

// unproven says of the last block of the range when it is believed because the
// source has it.
func (c *chain) unproven(ctx context.Context, b *block) error {
	if b.ID.Seqno != c.configuration.To || c.configuration.ToHash != "" || c.configuration.proves() {
		return nil
	}
	next, err := c.ahead(ctx, b.ID.Seqno+1)
	if err != nil || len(next) > 0 {
		return err
	}
	c.log.Warn().Str("block", FormatID(b.ID)).
		Msgf("the source has no block after the last masterchain block, so nothing proves it: --to %d:ROOTHASH names the one that is meant", b.ID.Seqno)
	return nil
}

// reached waits until the source is known to reach to a seqno.
func (c *chain) reached(ctx context.Context, seqno uint32) error {
	said := false
	for {
		_, last := c.source.Range()
		c.metrics.source.Set(float64(last))
		if seqno <= last {
			return ctx.Err()
		}
		if !said {
			c.waits.atHead(seqno, last)
			said = true
		}
		if err := c.source.Refresh(ctx, seqno); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err := c.waits.unreachable(ctx, seqno, err); err != nil {
				return err
			}
			continue
		}
		c.waits.status.reachable(seqno)
	}
}

// append makes a block the end of the chain.
func (c *chain) append(b *block) {
	c.last, c.lastEnd, c.strangers = b.ID, b.EndLT, nil
	if c.globalID == 0 {
		c.globalID = b.GlobalID
	}
	delete(c.loads, b.ID.Seqno)
	c.remember(b.ID)
}

func (c *chain) remember(id *record.BlockId) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ids[id.Seqno] = id
	delete(c.ids, id.Seqno-rememberedMasters)
}

// masterAt is the settled masterchain block with a seqno, nil when it is not
// known (any more).
func (c *chain) masterAt(seqno uint32) *record.BlockId {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ids[seqno]
}

// choose looks for the one block that continues the chain at a seqno.
func (c *chain) choose(ctx context.Context, seqno uint32) (*block, *problem, error) {
	load, err := c.loaded(ctx, seqno)
	if err != nil {
		return nil, nil, err
	}
	bad := load.bad
	var fit, strangers []*block
	for _, b := range load.good {
		refusal, err := c.continues(ctx, b)
		if err != nil {
			return nil, nil, err
		}
		if refusal != nil {
			c.refused(refusal)
			bad = append(bad, refusal)
			if refusal.Reason == ReasonParent {
				strangers = append(strangers, b)
			}
			continue
		}
		fit = append(fit, b)
	}
	switch {
	case len(fit) == 1:
		return fit[0], nil, nil
	case len(fit) > 1:
		return nil, &problem{bad: true, text: fmt.Sprintf(
			"the source has several masterchain blocks %d, and nothing tells which one is meant: %s (set ingest.global_id when it mixes networks)",
			seqno, describe(fit))}, nil
	case len(bad) > 0:
		return c.stray(ctx, problemOf(bad[len(bad)-1]), seqno, strangers)
	}
	first, last := c.source.Range()
	return nil, &problem{text: fmt.Sprintf("masterchain block %s is missing (the source reaches from %d to %d)%s",
		masterID(seqno), first, last, c.knownID(ctx, seqno))}, nil
}

// stray completes what is said of blocks that do not continue the chain: a bad one
// stands alone, what goes on with others is another chain.
func (c *chain) stray(ctx context.Context, why *problem, seqno uint32, strangers []*block) (*block, *problem, error) {
	if why.strangers = strangers; len(strangers) == 0 {
		return nil, why, nil
	}
	next, err := c.ahead(ctx, seqno+1)
	if err != nil {
		return nil, nil, err
	}
	if len(next) > 0 && !slices.ContainsFunc(next, func(n *block) bool { return !follows(n, strangers) }) {
		why.other = true
		why.text += fmt.Sprintf("; masterchain block %d follows it, so the source has another chain: give that of the chain that is indexed, or start over with an empty --data folder", seqno+1)
	}
	return nil, why, nil
}

// follows reports whether a masterchain block names one of others as its parent.
func follows(b *block, others []*block) bool {
	return slices.ContainsFunc(others, func(o *block) bool { return sameID(b.Prev[0], o.ID) })
}

// knownID completes the id of a missing masterchain block where its successor
// names it.
func (c *chain) knownID(ctx context.Context, seqno uint32) string {
	next, err := c.ahead(ctx, seqno+1)
	if err != nil || len(next) == 0 {
		return ""
	}
	return fmt.Sprintf("; masterchain block %d names it as its parent: %s", seqno+1, FormatID(next[0].Prev[0]))
}

func describe(blocks []*block) string {
	var parts []string
	for _, b := range blocks {
		parts = append(parts, fmt.Sprintf("%s in %s (global_id %d)", FormatID(b.ID), b.origin, b.GlobalID))
	}
	return strings.Join(parts, ", ")
}

// continues checks a block against its neighbours in the masterchain.
func (c *chain) continues(ctx context.Context, b *block) (*Refusal, error) {
	if b.ID.Seqno == c.configuration.To && c.configuration.ToHash != "" {
		hash, err := parseHash(c.configuration.ToHash)
		if err != nil {
			return nil, err
		}
		if !bytes.Equal(hash, b.ID.RootHash) {
			return b.refuse(ReasonRootHash, "--to names root hash %X", hash), nil
		}
	}
	if c.globalID != 0 && b.GlobalID != c.globalID {
		return b.refuse(ReasonNetwork, "its global_id is %d, not %d", b.GlobalID, c.globalID), nil
	}
	if c.last != nil && !sameID(b.Prev[0], c.last) {
		return b.refuse(ReasonParent, "it follows %s, but the chain ends with %s", FormatID(b.Prev[0]), FormatID(c.last)), nil
	}
	if follows(b, c.strangers) {
		return b.refuse(ReasonParent, "it follows %s, which does not continue the chain", FormatID(b.Prev[0])), nil
	}
	if c.lastEnd != 0 && b.StartLT <= c.lastEnd {
		return b.refuse(ReasonTime, "it starts at lt %d, its parent ends at %d", b.StartLT, c.lastEnd), nil
	}
	return c.contradicted(ctx, b)
}

// contradicted asks the blocks after b. Where the next one names another
// parent, one of the two is bad: the next one if the block after it does not
// name it either, otherwise b.
func (c *chain) contradicted(ctx context.Context, b *block) (*Refusal, error) {
	next, err := c.ahead(ctx, b.ID.Seqno+1)
	if err != nil {
		return nil, err
	}
	other := contradiction(b, next)
	if other == nil {
		return nil, nil
	}
	later, err := c.ahead(ctx, b.ID.Seqno+2)
	if err != nil {
		return nil, err
	}
	if contradiction(other, later) != nil {
		return nil, nil
	}
	return b.refuse(ReasonSuccessor, "masterchain block %d (%s) names %s as its parent",
		other.ID.Seqno, other.origin, FormatID(other.Prev[0])), nil
}

// contradiction gives a successor of the same network that names another
// parent than b, unless there is one that names b.
func contradiction(b *block, next []*block) *block {
	var other *block
	for _, n := range next {
		if sameID(n.Prev[0], b.ID) {
			return nil
		}
		if n.GlobalID == b.GlobalID {
			other = n
		}
	}
	return other
}

// ahead gives the masterchain blocks with a later seqno, if the source has them.
func (c *chain) ahead(ctx context.Context, seqno uint32) ([]*block, error) {
	if _, last := c.source.Range(); seqno > last {
		return nil, nil
	}
	load, err := c.loaded(ctx, seqno)
	if err != nil {
		return nil, err
	}
	return load.good, nil
}

// loaded waits for the reading of a masterchain block and starts that of the
// ones after it.
func (c *chain) loaded(ctx context.Context, seqno uint32) (*masterLoad, error) {
	_, last := c.source.Range()
	end := min(last, seqno+uint32(c.configuration.Window))
	if to := c.configuration.To; to != 0 {
		end = min(end, to+2)
	}
	for n := seqno; n <= max(end, seqno); n++ {
		c.load(ctx, n)
	}
	load := c.loads[seqno]
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-load.done:
	}
	if load.err != nil && !errors.Is(load.err, ErrNotFound) {
		return nil, load.err
	}
	return load, nil
}

func (c *chain) load(ctx context.Context, seqno uint32) {
	if c.loads[seqno] != nil {
		return
	}
	load := &masterLoad{done: make(chan struct{})}
	c.loads[seqno] = load
	c.tasks.Go(func() {
		defer close(load.done)
		load.good, load.bad, load.err = c.masters(ctx, seqno)
	})
}
