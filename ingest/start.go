package ingest

import (
	"context"
	"fmt"

	"tonscribe/schema"
	"tonscribe/schema/record"
)

// start is where publishing begins.
type start struct {
	next   uint32 // first bundle to publish
	prev   uint32 // the bundle before it in the log, 0 for none
	sealed uint32 // highest bundle that some partition holds: none up to here may be skipped
	before *tips  // tips of masterchain block next-1, nil when they are to be read
	last   *record.BlockId
}

// whereToStart asks the log what it holds.
func (c *Component) whereToStart(ctx context.Context) (start, error) {
	lowest, seals, err := c.seals(ctx)
	if err != nil {
		return start{}, err
	}
	if err := c.checkFirst(ctx); err != nil {
		return start{}, err
	}
	s := start{prev: lowest.GetMcSeqno(), next: lowest.GetMcSeqno() + 1}
	from := c.configuration.From
	switch {
	case lowest == nil:
		if s.next, err = c.startAnew(ctx); err != nil {
			return start{}, err
		}
	case from > s.next:
		return start{}, fmt.Errorf("--from %d: the log ends with masterchain block %d, so blocks %d to %d would be left out: leave --from away to go on from there, or start over with an empty --data folder",
			from, s.prev, s.next, from-1)
	default:
		s.before, s.last = tipsFromSeal(lowest.GetSeal().GetShards()), lowest.GetSeal().GetMaster()
	}
	for _, seal := range seals {
		s.sealed = max(s.sealed, seal.McSeqno)
		// What lies between was skipped, or it is the log's first bundle, cut off before
		// it was in all partitions.
		if seal.McSeqno > s.prev && seal.PrevMcSeqno == s.prev && seal.McSeqno != s.next {
			s.next, s.before, s.last = seal.McSeqno, nil, nil
		}
	}
	if lowest != nil {
		c.report.Log.Info().Uint32("last", s.prev).Uint32("next", s.next).Msg("going on after the log's last bundle")
	}
	return s, nil
}

// seals gives the last seals of all partitions, and the lowest of them; that is
// nil as long as one partition has none.
func (c *Component) seals(ctx context.Context) (lowest *record.Record, seals []*record.Record, err error) {
	empty := false
	for partition := range c.dependencies.Log.Partitions() {
		seal, err := c.dependencies.Log.LastSeal(ctx, schema.Blocks.Name, partition)
		if err != nil {
			return nil, nil, fmt.Errorf("last bundle of topic %s, partition %d: %w", schema.Blocks.Name, partition, err)
		}
		if seal == nil {
			empty = true
			continue
		}
		seals = append(seals, seal)
		if lowest == nil || seal.McSeqno < lowest.McSeqno {
			lowest = seal
		}
	}
	if empty {
		lowest = nil
	}
	return lowest, seals, nil
}

// checkFirst refuses to put bundles in front of what there is, and a range that ends
// before that. The first bundles may be missing although they were asked for: where
// bundles may be skipped, and where some are left out.
func (c *Component) checkFirst(ctx context.Context) error {
	from, to := c.configuration.From, c.configuration.To
	if from == 0 && to == 0 {
		return nil
	}
	what, first, err := c.first(ctx)
	if err != nil || first == 0 {
		return err
	}
	switch {
	case to != 0 && to < first:
		return fmt.Errorf("--to %d: %s begins at masterchain block %d, and nothing can be put in front of it: use --to %d or higher, or start over with an empty --data folder",
			to, what, first, first)
	case from == 0 || from >= first || c.dependencies.LeaveOut != nil:
	case c.configuration.OnBad == Skip || c.configuration.OnGap == Skip:
		c.report.Log.Warn().Uint32("from", from).Uint32("first", first).Msg(what + " begins later: what is missing there was skipped, or cannot be put in front of it any more")
	default:
		return fmt.Errorf("--from %d: %s begins at masterchain block %d, and nothing can be put in front of it: use --from %d or higher, or start over with an empty --data folder",
			from, what, first, first)
	}
	return nil
}

// first is the first bundle of the store, or else of a log that still has it; 0 when
// neither tells.
func (c *Component) first(ctx context.Context) (what string, mcSeqno uint32, err error) {
	if c.dependencies.First != nil {
		first, ok, err := c.dependencies.First(ctx)
		if err != nil {
			return "", 0, fmt.Errorf("first bundle of the store: %w", err)
		}
		if ok {
			return "the store", first, nil
		}
	}
	oldest, beginning, err := c.dependencies.Log.First(ctx, schema.Blocks.Name, 0)
	if err != nil || !beginning {
		return "", 0, err
	}
	return "the log", oldest.GetMcSeqno(), nil
}

// startAnew is the first bundle of an empty log. One that was made anew leaves out none
// that the store lacks.
func (c *Component) startAnew(ctx context.Context) (uint32, error) {
	if from := c.configuration.From; from > 0 {
		return from, nil
	}
	first, _ := c.source.Range()
	if c.dependencies.Newest != nil {
		newest, err := c.dependencies.Newest(ctx)
		if err != nil {
			return 0, fmt.Errorf("newest bundle of the store: %w", err)
		}
		if newest > 0 && newest < first {
			c.report.Log.Info().Uint32("last", newest).Msg("the log is empty: going on after the store's last bundle")
			return newest + 1, nil
		}
	}
	if first > 1 {
		c.report.Log.Info().Uint32("block", first).
			Msg("the source's first masterchain block only tells which shard blocks came before: its own bundle is not published")
		first++
	}
	if to := c.configuration.To; to != 0 && first > to {
		return 0, fmt.Errorf("--to %d: the source begins with bundle %d: use --to %d or higher, or --from if it has older blocks", to, first, first)
	}
	return first, nil
}

// otherStart says where a run can begin instead of a bundle.
func (c *Component) otherStart(next uint32) string {
	first, last := c.source.Range()
	switch {
	case first <= 1:
		return "start with --from 1"
	case first+1 > next && first < last:
		return fmt.Sprintf("start with --from %d or higher: the source's first block, %d, only tells what came before", first+1, first)
	}
	return "start at a block whose predecessor the source has"
}

// checkBeginning refuses to wait for a bundle that lies before all that a folder has.
func (c *Component) checkBeginning(next uint32, otherwise string) error {
	first, _ := c.source.Range()
	if first <= next || c.configuration.OnGap == Skip || c.configuration.proves() {
		return nil
	}
	return fmt.Errorf("bundle %d comes next, and the source begins with masterchain block %d: add the blocks from %d on to the source, or %s", next, first, next, otherwise)
}

// readBefore completes a start with the masterchain block before it, which
// tells the shard blocks committed so far. The zerostate has none.
func (c *Component) readBefore(ctx context.Context, chain *chain, s *start) error {
	switch {
	case s.before != nil:
		chain.last = s.last
		chain.remember(s.last)
		return c.checkBeginning(s.next, "start over with an empty --data folder")
	case s.next == 1:
		s.before = tipsOf(nil)
		return c.checkBeginning(s.next, c.otherStart(s.next))
	}
	b, why, err := c.masterBefore(ctx, chain, s.next)
	if err != nil {
		return err
	}
	if b == nil {
		return fmt.Errorf("bundle %d needs masterchain block %d, which tells which shard blocks came before: %s. Add that block to the source, or %s",
			s.next, s.next-1, why.text, c.otherStart(s.next))
	}
	chain.append(b)
	s.before = tipsOf(b.Shards)
	return nil
}

// masterBefore is the masterchain block before a bundle, or why it cannot be had. It
// waits for lite servers that have not come to it yet, or cannot be asked.
func (c *Component) masterBefore(ctx context.Context, chain *chain, next uint32) (*block, *problem, error) {
	if c.configuration.proves() {
		if err := chain.reached(ctx, next-1); err != nil {
			return nil, nil, err
		}
	}
	var pause backoff
	for {
		b, why, err := chain.choose(ctx, next-1)
		if err != nil || b != nil || !why.away {
			c.status.reachable(next)
			return b, why, err
		}
		if err := chain.waits.retry(ctx, next, why, &pause); err != nil {
			return nil, nil, err
		}
		chain.readAgain(next - 1)
	}
}
