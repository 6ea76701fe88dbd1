package verify

import (
	"context"
	"fmt"
	"slices"

	"tonscribe/schema"
	"tonscribe/schema/table"
)

// sealRow is a row of seals.
type sealRow struct {
	topic     string
	partition uint16
	mcSeqno   uint32
	prev      uint32
	rows      uint64
}

func (s sealRow) key() string {
	return fmt.Sprintf("topic = '%s' AND partition = %d AND mc_seqno = %d", s.topic, s.partition, s.mcSeqno)
}

// progressRow is the newest row of progress of a partition.
type progressRow struct {
	Topic      string `ch:"topic"`
	Partition  uint16 `ch:"partition"`
	Partitions uint16 `ch:"partitions"`
	McSeqno    uint32 `ch:"mc_seqno"`
	GenUtime   uint32 `ch:"gen_utime"`
}

func (p progressRow) key() string {
	return fmt.Sprintf("topic = '%s' AND partition = %d", p.Topic, p.Partition)
}

func (d *database) readProgress(ctx context.Context) (rows []progressRow, err error) {
	err = d.list(ctx, &rows, `SELECT topic, partition, max(p.partitions) AS partitions, max((p.mc_seqno, p.gen_utime)).1 AS mc_seqno,
		max((p.mc_seqno, p.gen_utime)).2 AS gen_utime FROM progress AS p GROUP BY topic, partition ORDER BY topic, partition`)
	return rows, err
}

// tableTopics are the topics that have tables.
func tableTopics() (names []string) {
	for _, t := range schema.TableTopics {
		names = append(names, t.Name)
	}
	return names
}

// checkProgress tests that every partition has come as far as the range.
func (v *verifier) checkProgress(ctx context.Context) error {
	type partitionKey struct {
		topic     string
		partition uint16
	}
	known, utimes := map[partitionKey]bool{}, map[uint32]uint64{}
	for _, p := range v.progressOf {
		known[partitionKey{p.Topic, p.Partition}] = true
		if err := v.checkProgressRow(ctx, p, utimes); err != nil {
			return err
		}
	}
	for _, topic := range tableTopics() {
		for partition := range v.partitions {
			if p := (progressRow{Topic: topic, Partition: uint16(partition)}); !known[partitionKey{topic, p.Partition}] {
				v.findings.differs(CheckProgress, "progress", p.key(), "no row, but there are %d partitions", v.partitions)
			}
		}
	}
	v.findings.checked(CheckProgress, uint64(len(v.progressOf)))
	return nil
}

// checkProgressRow checks one row. utimes are those of masterchain blocks that were read
// for others.
func (v *verifier) checkProgressRow(ctx context.Context, p progressRow, utimes map[uint32]uint64) error {
	differs := v.findings.of(CheckProgress, "progress", p.key)
	switch {
	case !slices.Contains(tableTopics(), p.Topic):
		differs("no topic with tables has this name")
	case int(p.Partitions) != v.partitions:
		differs("partitions is %d, elsewhere %d", p.Partitions, v.partitions)
	case int(p.Partition) >= v.partitions:
		differs("there are only %d partitions", v.partitions)
	case p.McSeqno < v.to:
		differs("mc_seqno is %d, but the range ends at %d", p.McSeqno, v.to)
	}
	// A partition may be ahead of the one that brings the block.
	atLeast := uint64(1)
	ahead := slices.ContainsFunc(v.progressOf, func(b progressRow) bool { return b.Topic == schema.Headers.Name && b.McSeqno < p.McSeqno })
	if ahead {
		atLeast = 0
	}
	utime, read := utimes[p.McSeqno]
	if !read {
		var err error
		if utime, err = v.await(ctx, atLeast, "SELECT toUInt64(max(gen_utime)) FROM blocks WHERE mc_seqno = ? AND workchain = -1", p.McSeqno); err != nil {
			return err
		}
		utimes[p.McSeqno] = utime
	}
	if utime != uint64(p.GenUtime) && !(ahead && utime == 0) {
		differs("gen_utime is %d, that of masterchain block %d is %d", p.GenUtime, p.McSeqno, utime)
	}
	return nil
}

// readSeals reads the seals of a range, by bundle.
func (v *verifier) readSeals(ctx context.Context, low, high uint32) ([]sealRow, error) {
	var list []sealRow
	var s sealRow
	err := v.each(ctx, `SELECT topic, partition, mc_seqno, prev_mc_seqno, rows FROM seals WHERE mc_seqno BETWEEN ? AND ?
		ORDER BY mc_seqno, topic, partition, prev_mc_seqno, rows`, []any{low, high},
		[]any{&s.topic, &s.partition, &s.mcSeqno, &s.prev, &s.rows},
		func() error {
			if n := len(list); n > 0 && list[n-1].key() == s.key() {
				v.repeatedSeal(list[n-1], s)
				return nil
			}
			list = append(list, s)
			return nil
		})
	return list, err
}

func (v *verifier) repeatedSeal(a, b sealRow) {
	if a == b {
		v.findings.count(func(r *Report) { r.Duplicates["seals"]++ })
		return
	}
	v.findings.differs(CheckColumns, "seals", a.key(), "two different rows: prev_mc_seqno %d, rows %d and prev_mc_seqno %d, rows %d",
		a.prev, a.rows, b.prev, b.rows)
}

// sealWalk follows the seals through the range.
type sealWalk struct {
	*verifier
	topics []string
	last   uint32 // the last sealed bundle, 0 before the first
}

// bundleSeals is what the seals of a bundle promise.
type bundleSeals struct {
	blocks       []uint64 // by partition
	transactions uint64
}

// bundle takes all seals of one bundle.
func (w *sealWalk) bundle(seals []sealRow) *bundleSeals {
	promise := &bundleSeals{blocks: make([]uint64, w.partitions)}
	mcSeqno, present := seals[0].mcSeqno, 0
	for _, s := range seals {
		if !slices.Contains(w.topics, s.topic) || int(s.partition) >= w.partitions {
			w.findings.differs(CheckSeals, "seals", s.key(), "there is no such topic or partition: topics %v, %d partitions", w.topics, w.partitions)
			continue
		}
		present++
		w.follows(s)
		switch s.topic {
		case schema.Headers.Name:
			promise.blocks[s.partition] += s.rows
		case schema.Transactions.Name:
			promise.transactions += s.rows
			w.chainSide.add(sealedTransactions, s.mcSeqno, s.rows, table.HashOf(uint64(s.mcSeqno), uint64(s.partition)))
		case schema.Accounts.Name:
			w.chainSide.add(sealedAccounts, s.mcSeqno, s.rows, table.HashOf(uint64(s.mcSeqno), uint64(s.partition)))
		}
	}
	if present < len(w.topics)*w.partitions {
		w.missing(seals)
	}
	w.skipped(mcSeqno)
	w.last = mcSeqno
	w.findings.checked(CheckSeals, uint64(len(seals)))
	return promise
}

// follows tests the link to the bundle before. The first link of the range may
// lead out of it.
func (w *sealWalk) follows(s sealRow) {
	differs := w.findings.of(CheckSeals, "seals", s.key)
	switch {
	case s.prev >= s.mcSeqno:
		differs("prev_mc_seqno is %d", s.prev)
	case w.last != 0 && s.prev != w.last:
		differs("prev_mc_seqno is %d, but the bundle sealed before is %d", s.prev, w.last)
	case w.last == 0 && s.prev >= w.from:
		w.findings.differs(CheckSeals, "seals", fmt.Sprintf("topic = '%s' AND partition = %d AND mc_seqno = %d", s.topic, s.partition, s.prev),
			"no row, but bundle %d names it in prev_mc_seqno", s.mcSeqno)
	case w.last == 0 && s.prev == 0 && s.mcSeqno > w.from:
		differs("it is the first bundle of all, but the range begins at %d", w.from)
	}
}

// missing names the first seal that a bundle lacks.
func (w *sealWalk) missing(seals []sealRow) {
	for _, topic := range w.topics {
		for partition := range w.partitions {
			s := sealRow{topic: topic, partition: uint16(partition), mcSeqno: seals[0].mcSeqno}
			if !slices.ContainsFunc(seals, func(x sealRow) bool { return x.topic == s.topic && x.partition == s.partition }) {
				w.findings.differs(CheckSeals, "seals", s.key(), "no row, but topic '%s', partition %d has sealed the bundle%s", seals[0].topic, seals[0].partition, w.cutOff(s.mcSeqno))
				return
			}
		}
	}
}

// skipped lists the gap before a bundle.
func (w *sealWalk) skipped(mcSeqno uint32) {
	begin := w.from
	if w.last != 0 {
		begin = w.last + 1
	}
	if mcSeqno > begin {
		w.findings.gap(begin, mcSeqno-1)
	}
}

// finish tests that the range is sealed to its end, or that the next seal says
// that its end was skipped.
func (w *sealWalk) finish(ctx context.Context) error {
	if w.last == w.to {
		return nil
	}
	var next sealRow
	err := w.one(ctx, `SELECT count() = 0, any(prev_mc_seqno) FROM (SELECT prev_mc_seqno FROM seals WHERE mc_seqno > ? ORDER BY mc_seqno LIMIT 1)`,
		[]any{w.to}, new(uint8), &next.prev)
	if err != nil {
		return err
	}
	if w.last != 0 && next.prev == w.last {
		w.findings.gap(w.last+1, w.to)
		return nil
	}
	s := sealRow{topic: w.topics[0], mcSeqno: w.last + 1}
	w.findings.differs(CheckSeals, "seals", s.key(), "no row, and no later seal says that the bundle was skipped; the range ends at %d%s", w.to, w.cutOff(s.mcSeqno))
	return nil
}

// cutOff is what may have become of a seal that is missing behind the last one of a
// partition.
func (v *verifier) cutOff(mcSeqno uint32) string {
	if mcSeqno <= v.sealedTo {
		return ""
	}
	return ": a sink that was killed writes it when it starts again"
}
