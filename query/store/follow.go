package store

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/ClickHouse/ch-go/proto"
	"golang.org/x/sync/errgroup"

	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/schema/stored"
)

const (
	// followLimit bounds each statement of the follower.
	followLimit = 10 * time.Second
	// duty is the part of the time that reading newest bundles may take, so that
	// a catch-up of the sink is not slowed down for the sake of the head.
	duty = 10
	// restLimit bounds the pause for the sake of duty.
	restLimit = time.Second
	// headRestLimit bounds it when at most headBundles came at once: that is the
	// chain going on, and the next bundle should not have to wait.
	headRestLimit = 50 * time.Millisecond
	headBundles   = 4
	// stepTransactions is the most transactions read for the head in one step;
	// what is read one by one costs about 0.1 ms each.
	stepTransactions = 1000
	// firstAge is how often the oldest block is looked up: it changes when an
	// older range is indexed afterwards.
	firstAge = 30 * time.Second
	// stepBundles is the most bundles whose blocks are read in one step.
	stepBundles = 20000
)

// follow keeps the view at the watermark until ctx ends.
func (s *Store) follow(ctx context.Context) {
	for ctx.Err() == nil {
		began := time.Now()
		before := s.view.Load()
		s.tell(ctx, s.countParts(ctx))
		changed, err := s.step(ctx)
		s.tell(ctx, err)
		rest := time.Duration(0)
		if changed {
			rest = min(duty*time.Since(began), s.restLimit(before))
		}
		s.remember(ctx)
		s.pause(ctx, rest)
	}
}

// remember reads for the first time what is held, beside everything else.
func (s *Store) remember(ctx context.Context) {
	v := s.view.Load()
	if v == nil {
		return
	}
	book := s.configuration.DirectoryAccounts > 0
	missing := !s.held.Load() || book && s.directory.holdsUpTo() == 0
	if missing && s.holding.CompareAndSwap(false, true) {
		s.running.Go(func() {
			defer s.holding.Store(false)
			if err := s.hold(ctx, v); err != nil {
				s.tell(ctx, err)
				s.rest(ctx, restLimit)
			}
		})
	}
}

// learn brings what is held to a view before anybody sees it, so that requests
// need not. What fails here is for them to try.
func (s *Store) learn(ctx context.Context, v *View) error {
	var group errgroup.Group
	if s.directory.holdsUpTo() > 0 {
		group.Go(func() error {
			_, err := s.directory.learn(ctx, s, v)
			return err
		})
		group.Go(func() error { return s.names.learn(ctx, s, v) })
	}
	group.Go(func() error { return s.contracts.learn(ctx, s, v) })
	group.Go(func() error { return s.accounts.learn(ctx, s, v) })
	return group.Wait()
}

// hold reads for the first time what is held.
func (s *Store) hold(ctx context.Context, v *View) error {
	book := s.configuration.DirectoryAccounts > 0
	if book && s.directory.holdsUpTo() == 0 {
		if err := s.names.learn(ctx, s, v); err != nil {
			return err
		}
		if err := s.readDirectory(ctx, v); err != nil {
			return err
		}
	}
	if !s.held.Load() {
		if err := s.contracts.fill(ctx, s, v); err != nil {
			return err
		}
		if err := s.accounts.fill(ctx, s, v); err != nil {
			return err
		}
		s.held.Store(true)
	}
	for more := book; more; {
		began := time.Now()
		var err error
		if more, err = s.findNames(ctx); err != nil {
			return err
		}
		s.rest(ctx, time.Since(began))
	}
	return nil
}

// tell counts a failure, and logs one now and then.
func (s *Store) tell(ctx context.Context, err error) {
	if err == nil || ctx.Err() != nil {
		return
	}
	s.metrics.followFailure.Inc()
	now, told := time.Now().UnixNano(), s.told.Load()
	if now-told > int64(10*time.Second) && s.told.CompareAndSwap(told, now) {
		s.report.Log.Warn().Err(err).Msg("what is new could not be read; trying again")
	}
}

// restLimit is the longest rest after a step that changed the view.
func (s *Store) restLimit(before *View) time.Duration {
	after := s.view.Load()
	if before != nil && after.Watermark > before.Watermark && after.Watermark-before.Watermark <= headBundles {
		return headRestLimit
	}
	return restLimit
}

// pause lets the rest pass, and then what is left of the time between two looks,
// unless something new is told before.
func (s *Store) pause(ctx context.Context, rest time.Duration) {
	s.rest(ctx, rest)
	poll := s.configuration.Poll - rest
	if poll <= 0 {
		return
	}
	select {
	case <-time.After(poll):
	case <-s.configuration.Wake:
	case <-ctx.Done():
	}
}

func (s *Store) rest(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// step reads the watermark and, when it moved or the head is not full yet, makes
// a new view.
func (s *Store) step(ctx context.Context) (read bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, followLimit)
	defer cancel()
	watermark, utime, err := s.watermark(ctx)
	if err != nil {
		return false, err
	}
	old := s.view.Load()
	if watermark == 0 || old != nil && old.Watermark > watermark {
		return false, nil // nothing complete yet, or a replica that is behind
	}
	v := &View{Watermark: watermark, GenUtime: utime}
	if old != nil {
		v.First, v.head = old.First, old.head
	}
	moved := old == nil || old.Watermark != watermark
	if moved {
		if err := s.ends(ctx, v); err != nil {
			return true, err
		}
	} else {
		v.Last = old.Last
	}
	var learning sync.WaitGroup
	if moved {
		learning.Go(func() { s.tell(ctx, s.learn(ctx, v)) })
	}
	grown, err := s.grow(ctx, v)
	learning.Wait()
	if moved || grown {
		s.view.Store(v)
		s.metrics.watermark.Set(float64(watermark))
	}
	return moved || grown, err
}

// watermark is the smallest progress over all partitions of all topics that have
// tables, 0 until each has some.
func (s *Store) watermark(ctx context.Context) (seqno, utime uint32, err error) {
	lanes := map[string]map[uint16]lane{}
	topic := new(proto.ColStr).LowCardinality()
	var partition, partitions proto.ColUInt16
	var mcSeqno, genUtime proto.ColUInt32
	result := proto.Results{
		{Name: "topic", Data: topic}, {Name: "partition", Data: &partition}, {Name: "partitions", Data: &partitions},
		{Name: "mc_seqno", Data: &mcSeqno}, {Name: "gen_utime", Data: &genUtime},
	}
	const statement = "SELECT topic, partition, partitions, mc_seqno, gen_utime FROM progress"
	err = s.run(ctx, "progress", statement, result, func(rows int) error {
		for i := range rows {
			name := topic.Row(i)
			if lanes[name] == nil {
				lanes[name] = map[uint16]lane{}
			}
			// Before a merge a partition has several rows: the newest counts.
			if l := lanes[name][partition[i]]; mcSeqno[i] >= l.mcSeqno {
				lanes[name][partition[i]] = lane{mcSeqno[i], genUtime[i], partitions[i]}
			}
		}
		return nil
	})
	if err != nil {
		return 0, 0, err
	}
	lowest, complete := lane{mcSeqno: ^uint32(0)}, true
	for _, t := range schema.Topics {
		if t.Table {
			complete = lowestOf(lanes[t.Name], &lowest) && complete
		}
	}
	if !complete {
		return 0, 0, nil
	}
	return lowest.mcSeqno, lowest.genUtime, nil
}

// lane is the progress of one partition of a topic.
type lane struct {
	mcSeqno, genUtime uint32
	partitions        uint16
}

// lowestOf lowers lowest to the topic's; it is false when a partition has none.
func lowestOf(lanes map[uint16]lane, lowest *lane) bool {
	partitions := uint16(1)
	for _, l := range lanes {
		partitions = max(partitions, l.partitions)
		if l.mcSeqno < lowest.mcSeqno {
			*lowest = l
		}
	}
	return len(lanes) >= int(partitions)
}

// ends reads the first and the last visible masterchain block.
func (s *Store) ends(ctx context.Context, v *View) error {
	const last = "SELECT record FROM blocks WHERE mc_seqno = %d AND workchain = -1 LIMIT 1"
	list, err := s.blocks(ctx, fmt.Sprintf(last, v.Watermark))
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return fmt.Errorf("masterchain block %d is complete but not in the table blocks", v.Watermark)
	}
	v.Last = list[0]
	if v.First != nil && time.Since(s.firstRead) < firstAge {
		return nil
	}
	const first = "SELECT record FROM blocks WHERE workchain = -1 ORDER BY mc_seqno LIMIT 1"
	if list, err = s.blocks(ctx, first); err == nil && len(list) > 0 {
		v.First, s.firstRead = list[0], time.Now()
	}
	return err
}

// grow brings the head to the watermark, and then deeper until its budget is
// used. It says whether it changed anything.
func (s *Store) grow(ctx context.Context, v *View) (bool, error) {
	h := v.head
	if s.configuration.HeadBlockBytes == 0 {
		return false, nil
	}
	low, high := h.missing(v)
	if low >= high {
		return s.deepen(ctx, v)
	}
	if high-low > stepBundles {
		// Too far away: begin anew at the watermark.
		h, low = head{}, high-stepBundles/10
	}
	bundles, err := s.bundles(ctx, low, high)
	if err != nil {
		return false, err
	}
	if len(h.bundles) == 0 {
		if h.outsideBlocks, err = s.utimeBefore(ctx, low); err != nil {
			return false, err
		}
	}
	count := 0
	for _, b := range bundles {
		count += b.count
	}
	held := h.withTransactions < len(h.bundles)
	h.bundles = append(slices.Clip(h.bundles), bundles...)
	if !held || count > stepTransactions {
		// Transactions come afterwards, newest first.
		h.withTransactions = len(h.bundles)
		s.show(v, h)
		_, err := s.deepen(ctx, v)
		return true, err
	}
	if err := s.fill(ctx, bundles); err != nil {
		return false, err
	}
	s.show(v, h)
	return true, nil
}

// missing is the range (low, high] of bundles between the head and the watermark.
func (h *head) missing(v *View) (low, high uint32) {
	if n := len(h.bundles); n > 0 {
		return h.bundles[n-1].mcSeqno, v.Watermark
	}
	return v.Watermark - min(v.Watermark, stepBundles/10), v.Watermark
}

// deepen adds older bundles, or the transactions of older bundles, while there
// is room for them: first some transactions, then all blocks, which are cheap to
// read, then the rest.
func (s *Store) deepen(ctx context.Context, v *View) (bool, error) {
	h := &v.head
	blocks, transactions := h.size()
	if first, ok := s.nextTransactions(h, transactions); ok && h.held() < stepTransactions {
		return s.deepenTransactions(ctx, v, first)
	}
	oldest := h.bundles[0].mcSeqno
	if blocks < s.configuration.HeadBlockBytes*9/10 && v.First != nil && oldest > v.First.Id.Seqno {
		return s.deepenBlocks(ctx, v, oldest-1)
	}
	if first, ok := s.nextTransactions(h, transactions); ok {
		return s.deepenTransactions(ctx, v, first)
	}
	return false, nil
}

// held is the number of transactions.
func (h *head) held() (n int) {
	for _, b := range h.bundles[h.withTransactions:] {
		n += len(b.transactions)
	}
	return n
}

// nextTransactions is the first of the bundles whose transactions are to be read
// next; it is not ok when there is no room for them, or none are left.
func (s *Store) nextTransactions(h *head, held int) (first int, ok bool) {
	const recordBytes = 700 // about
	if first = h.withTransactions - 1; first < 0 {
		return 0, false
	}
	count := h.bundles[first].count
	for first > 0 && count+h.bundles[first-1].count <= stepTransactions {
		first--
		count += h.bundles[first].count
	}
	return first, held+count*(heldOverhead+recordBytes) <= s.configuration.HeadTransactionBytes
}

// deepenBlocks reads the blocks of the bundles up to high.
func (s *Store) deepenBlocks(ctx context.Context, v *View, high uint32) (bool, error) {
	h := v.head
	low := high - min(high, stepBundles)
	bundles, err := s.bundles(ctx, low, high)
	if err != nil || len(bundles) == 0 {
		return false, err
	}
	if h.outsideBlocks, err = s.utimeBefore(ctx, low); err != nil {
		return false, err
	}
	h.bundles = append(bundles, h.bundles...)
	h.withTransactions += len(bundles)
	s.show(v, h)
	return true, nil
}

// deepenTransactions reads those of the bundles from first on that lack them.
func (s *Store) deepenTransactions(ctx context.Context, v *View, first int) (bool, error) {
	h := v.head
	fresh := slices.Clone(h.bundles[first:h.withTransactions])
	for i, b := range fresh {
		clone := *b
		fresh[i] = &clone
	}
	if err := s.fill(ctx, fresh); err != nil {
		return false, err
	}
	var err error
	if h.outsideTransactions, err = s.reachBefore(ctx, fresh[0].mcSeqno); err != nil {
		return false, err
	}
	h.bundles = slices.Concat(h.bundles[:first], fresh, h.bundles[h.withTransactions:])
	h.withTransactions = first
	s.show(v, h)
	return true, nil
}

// size is the memory of blocks and of transactions.
func (h *head) size() (blocks, transactions int) {
	for i, b := range h.bundles {
		blocks += bundleOverhead + len(b.blocks)
		if i >= h.withTransactions {
			transactions += b.bytes
		}
	}
	return blocks, transactions
}

// show drops what the budget has no room for, oldest first, and puts the head
// into the view.
func (s *Store) show(v *View, h head) {
	blocks, transactions := h.size()
	drop := 0
	for blocks > s.configuration.HeadBlockBytes && drop < len(h.bundles)-1 {
		blocks -= bundleOverhead + len(h.bundles[drop].blocks)
		h.outsideBlocks = max(h.outsideBlocks, h.bundles[drop].blocksUtime)
		drop++
	}
	h.bundles = slices.Clone(h.bundles)
	for (transactions > s.configuration.HeadTransactionBytes || h.withTransactions < drop) && h.withTransactions < len(h.bundles) {
		b := h.bundles[h.withTransactions]
		transactions -= b.bytes
		h.outsideTransactions = h.outsideTransactions.and(b.reach)
		light := *b
		light.transactions, light.bytes = nil, 0
		h.bundles[h.withTransactions] = &light
		h.withTransactions++
	}
	h.bundles = slices.Clone(h.bundles[drop:])
	h.withTransactions -= drop
	h.measure()
	v.head = h
	s.metrics.heldBundles.WithLabelValues("blocks").Set(float64(len(h.bundles)))
	s.metrics.heldBundles.WithLabelValues("transactions").Set(float64(len(h.bundles) - h.withTransactions))
	s.metrics.heldBytes.WithLabelValues("blocks").Set(float64(blocks))
	s.metrics.heldBytes.WithLabelValues("transactions").Set(float64(transactions))
}

// bundles reads the blocks of the bundles in (low, high].
func (s *Store) bundles(ctx context.Context, low, high uint32) ([]*bundle, error) {
	list, err := s.blocks(ctx, fmt.Sprintf("SELECT record FROM blocks WHERE mc_seqno > %d AND mc_seqno <= %d ORDER BY mc_seqno, workchain, shard, seqno", low, high))
	if err != nil {
		return nil, err
	}
	list = slices.CompactFunc(list, func(a, b *record.Block) bool { return blockKey(a) == blockKey(b) })
	var bundles []*bundle
	for len(list) > 0 {
		n := slices.IndexFunc(list, func(b *record.Block) bool { return b.McSeqno != list[0].McSeqno })
		if n < 0 {
			n = len(list)
		}
		b, err := newBundle(list[0].McSeqno, list[:n])
		if err != nil {
			return nil, err
		}
		bundles = append(bundles, b)
		list = list[n:]
	}
	return bundles, nil
}

// fill reads the transactions of some bundles.
func (s *Store) fill(ctx context.Context, bundles []*bundle) error {
	low, high := bundles[0].mcSeqno, bundles[len(bundles)-1].mcSeqno
	type held struct {
		list    []*record.Transaction
		records [][]byte
	}
	byBundle := map[uint32]*held{}
	for _, b := range bundles {
		byBundle[b.mcSeqno] = &held{}
	}
	seen := map[Hash]bool{}
	var column proto.ColStr
	var c conditions
	c.add("path = 'mc_seqno' AND key >= %d AND key <= %d", low, high)
	statement := recordsAt("transactions_index", c)
	err := s.run(ctx, "head", statement, proto.Results{{Name: "record", Data: &column}}, func(rows int) error {
		for i := range rows {
			tx := new(record.Transaction)
			if err := stored.Unpack(tx, column.RowBytes(i)); err != nil {
				return fmt.Errorf("record of a transaction: %w", err)
			}
			if b := byBundle[tx.McSeqno]; b != nil && !seen[Hash(tx.Hash)] {
				seen[Hash(tx.Hash)] = true
				b.list, b.records = append(b.list, tx), append(b.records, slices.Clone(column.RowBytes(i)))
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, b := range bundles {
		b.hold(byBundle[b.mcSeqno].list, byBundle[b.mcSeqno].records)
	}
	return nil
}

// utimeBefore is the greatest time of the blocks up to a bundle.
func (s *Store) utimeBefore(ctx context.Context, mcSeqno uint32) (utime uint32, err error) {
	var column proto.ColUInt32
	err = s.run(ctx, "head", fmt.Sprintf("SELECT toUInt32(key) AS gen_utime FROM blocks_index WHERE path = 'utime' AND mc_seqno <= %d ORDER BY path DESC, key DESC LIMIT 1", mcSeqno),
		proto.Results{{Name: "gen_utime", Data: &column}}, func(rows int) error {
			for i := range rows {
				utime = column[i]
			}
			return nil
		})
	return utime, err
}

// reachBefore is the reach of the transactions before a bundle.
func (s *Store) reachBefore(ctx context.Context, mcSeqno uint32) (r reach, err error) {
	var now proto.ColUInt32
	err = s.run(ctx, "head", fmt.Sprintf("SELECT toUInt32(key) AS now FROM transactions_index WHERE path = 'utime' AND mc_seqno < %d ORDER BY path DESC, key DESC LIMIT 1", mcSeqno),
		proto.Results{{Name: "now", Data: &now}}, func(rows int) error {
			for i := range rows {
				r.now = now[i]
			}
			return nil
		})
	if err != nil {
		return r, err
	}
	var lt proto.ColUInt64
	err = s.run(ctx, "head", fmt.Sprintf("SELECT lt FROM transactions_index WHERE path = 'lt' AND key = 0 AND mc_seqno < %d ORDER BY path DESC, key DESC, lt DESC LIMIT 1", mcSeqno),
		proto.Results{{Name: "lt", Data: &lt}}, func(rows int) error {
			for i := range rows {
				r.lt = lt[i]
			}
			return nil
		})
	return r, err
}
