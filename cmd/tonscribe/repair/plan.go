package repair

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"tonscribe/internal/clickhouse"
	"tonscribe/internal/kafka"
	"tonscribe/internal/parts"
	"tonscribe/schema"
	"tonscribe/schema/table"
	"tonscribe/sink"
)

// plan is what is to be done.
type plan struct {
	// tables get the rows of bundles from from to to again, which come from records
	// of the topics.
	tables   []string
	topics   []schema.Topic
	from, to uint32
	whole    uint32 // bundle up to which all tables had all rows
	first    uint32 // bundle of the index
	log      *kafka.Client
	told     map[partitionOf]uint32 // bundles that progress has, not of a damaged one
	source   *Source                // nil when the log suffices
	// begin is the bundle that decoding begins with, and gaps what the index lacks
	// on purpose from there on.
	begin  uint32
	gaps   []gap
	others []string // tables whose rows do not come from records
	// revision is that of the rows of tables that have one, and unreadable are damaged
	// parts that these still have.
	revision   uint32
	unreadable []string
	leftover   int
}

// gap is the bundles after, and before, two that follow each other in the index.
type gap struct {
	After  uint32 `ch:"prev_mc_seqno"`
	Before uint32 `ch:"mc_seqno"`
}

func (r *run) plan(ctx context.Context, damages []parts.Damage) (*plan, error) {
	p := &plan{from: ^uint32(0)}
	for name, from := range together(unpromised(damages)) {
		topics := sink.Sources(name)
		if len(topics) == 0 {
			p.others = append(p.others, name)
			continue
		}
		p.tables = append(p.tables, name)
		p.from = min(p.from, from)
		for _, t := range topics {
			if !slices.Contains(p.topics, t) {
				p.topics = append(p.topics, t)
			}
		}
	}
	slices.Sort(p.tables)
	slices.Sort(p.others)
	for _, d := range damages {
		if d.Covered {
			p.leftover++
		}
		if d.Active {
			p.unreadable = append(p.unreadable, d.Part)
		}
	}
	if len(p.tables) == 0 {
		return p, nil
	}
	if err := r.findRange(ctx, p); err != nil {
		return nil, err
	}
	missing, err := r.logHolds(ctx, p)
	if err != nil || missing == "" {
		return p, err
	}
	if p.source, err = r.Source(ctx); err != nil {
		return nil, fmt.Errorf("%s, so the blocks are needed once more: %w", missing, err)
	}
	fmt.Fprintln(r.Out, missing)
	return p, r.findBegin(ctx, p)
}

// unpromised is where rows are missing. Of a bundle without seals nobody knows what rows
// there should be, unless these were lost with a part: all tables may lack some.
func unpromised(damages []parts.Damage) map[string]uint32 {
	from := parts.Sum(damages)
	for _, d := range damages {
		if d.Table != table.Seals.Name || d.Part != "" {
			continue
		}
		for _, t := range table.All {
			if at, has := from[t.Name]; t != &table.Progress.Table && (!has || d.From < at) {
				from[t.Name] = d.From
			}
		}
	}
	return from
}

// together adds the tables of actions and of their lists to each other: numbers of the
// ones lead to the others.
func together(from map[string]uint32) map[string]uint32 {
	first, lost := ^uint32(0), false
	for _, t := range revisedTables {
		if at, has := from[t]; has {
			first, lost = min(first, at), true
		}
	}
	for _, t := range revisedTables {
		if lost {
			from[t] = first
		}
	}
	return from
}

// findRange finds out what bundles the tables have.
func (r *run) findRange(ctx context.Context, p *plan) error {
	var first, last uint32
	for _, table := range []string{"blocks", "seals"} {
		var lowest, highest uint32
		if err := r.Tables.Conn().QueryRow(ctx, "SELECT min(mc_seqno), max(mc_seqno) FROM "+table+" WHERE mc_seqno > 0").Scan(&lowest, &highest); err != nil {
			continue // damaged itself; the other one tells
		}
		if lowest > 0 && (first == 0 || lowest < first) {
			first = lowest
		}
		last = max(last, highest)
	}
	w, err := clickhouse.ReadWatermark(ctx, r.Tables.Conn())
	if err == nil {
		last = max(last, w.MCSeqno)
	}
	if first == 0 || last == 0 {
		return errors.New("neither blocks nor seals tell what bundles the tables had: index them anew, in a new data folder or database")
	}
	p.first, p.to, p.from, p.whole = first, last, max(p.from, first), last
	if err == nil {
		p.whole = w.MCSeqno
	}
	return nil
}

// logHolds opens the log and says what it lacks of the bundles, nothing when it
// has all of them.
func (r *run) logHolds(ctx context.Context, p *plan) (missing string, err error) {
	if r.Log == nil {
		return "there is no log", nil
	}
	if p.log, err = r.Log(ctx); err != nil {
		return "", err
	}
	if there, err := p.log.HasTopics(ctx, p.topics); err != nil || !there {
		return "the log lacks topics", err
	}
	if p.told, err = r.reached(ctx, p); err != nil {
		return "", err
	}
	for _, topic := range p.topics {
		for partition := range r.Partitions {
			oldest, beginning, err := p.log.First(ctx, topic.Name, partition)
			switch {
			case err != nil:
				return "", err
			case oldest == nil:
				return fmt.Sprintf("the log has no record of %s any more", topic.Name), nil
			case oldest.McSeqno < p.from, oldest.McSeqno == p.from && oldest.Index == 0, beginning && oldest.McSeqno <= p.first:
			default:
				return fmt.Sprintf("the log has %s from bundle %d on, and rows may be missing from bundle %d on", topic.Name, oldest.McSeqno, p.from), nil
			}
			seal, err := p.log.LastSeal(ctx, topic.Name, partition)
			if err != nil {
				return "", err
			}
			last, has := p.told[partitionOf{topic.Name, uint16(partition)}]
			if !has {
				last = p.to
			}
			if seal == nil || seal.McSeqno < last {
				return fmt.Sprintf("the log ends before bundle %d", last), nil
			}
		}
	}
	return "", nil
}

// partitionOf is a partition of a topic.
type partitionOf struct {
	topic     string
	partition uint16
}

// reached is up to which bundle the tables have partitions: beside stages that run, or in
// the midst of a long run, some are far ahead of others. A damaged progress tells nothing.
func (r *run) reached(ctx context.Context, p *plan) (map[partitionOf]uint32, error) {
	told := map[partitionOf]uint32{}
	if slices.Contains(p.tables, table.Progress.Name) {
		return told, nil
	}
	var at partitionOf
	var last uint32
	err := clickhouse.Each(ctx, r.Tables.Conn(), "SELECT topic, partition, max(mc_seqno) FROM progress GROUP BY topic, partition", nil, func() { told[at] = min(last, p.to) }, &at.topic, &at.partition, &last)
	return told, err
}

// findBegin finds out where decoding may begin, and what it is to leave out:
// seals name the bundle before theirs. Damaged ones tell nothing, and then the
// settings say what becomes of bundles that are missing.
func (r *run) findBegin(ctx context.Context, p *plan) error {
	p.begin = p.first
	if !slices.ContainsFunc(p.tables, func(t string) bool { return !sink.Standalone(t) }) {
		var next uint32 // from itself may lie in a gap
		err := r.Tables.Conn().QueryRow(ctx, "SELECT min(mc_seqno) FROM seals WHERE mc_seqno >= ?", p.from).Scan(&next)
		if err == nil && next > 0 {
			p.begin = next
		}
	}
	err := r.Tables.Conn().Select(ctx, &p.gaps, "SELECT DISTINCT prev_mc_seqno, mc_seqno FROM seals WHERE mc_seqno > ? AND prev_mc_seqno > 0 AND mc_seqno > prev_mc_seqno + 1 ORDER BY mc_seqno", p.begin)
	if slices.Contains(p.tables, "seals") {
		return nil // its damage is known
	}
	return err
}

// leaveOut reports whether a bundle lies in a gap.
func (p *plan) leaveOut(mcSeqno uint32) bool {
	n, _ := slices.BinarySearchFunc(p.gaps, mcSeqno, func(g gap, at uint32) int { return int(int64(g.Before) - int64(at) - 1) })
	return n < len(p.gaps) && p.gaps[n].After < mcSeqno
}

func (p *plan) print(out io.Writer) {
	switch tables := strings.Join(p.tables, ", "); {
	case len(p.tables) == 0:
	case p.source == nil:
		fmt.Fprintf(out, "from the log: bundles %d to %d of %s\n", p.from, p.to, tables)
	default:
		why := "since states come from what was before"
		if p.begin > p.first {
			why = "since these tables need nothing of what was before"
		}
		fmt.Fprintf(out, "from the source %s: bundles %d to %d of %s; decoded from bundle %d on, %s\n", p.source.Name, p.from, p.to, tables, p.begin, why)
	}
	for _, table := range p.others {
		fmt.Fprintf(out, "%s: %s\n", table, otherTables[table].says)
	}
	if p.leftover > 0 {
		fmt.Fprintf(out, "%d parts lie aside whose rows other parts have: they are dropped\n", p.leftover)
	}
}
