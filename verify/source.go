package verify

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"

	"tonscribe/decode"
	"tonscribe/schema/record"
	"tonscribe/schema/stored"
	"tonscribe/schema/table"
)

// BundleSource gives the blocks of bundles once more.
type BundleSource interface {
	// Bundles calls each for every bundle of a range that the source has, in
	// order, with the bags of cells of all its blocks. They may be kept.
	Bundles(ctx context.Context, from, to uint32, each func(mcSeqno uint32, blocks [][]byte) error) error
}

// checkSource decodes the blocks again and compares.
func (v *verifier) checkSource(ctx context.Context) error {
	sums, err := v.decodedSums(ctx, v.from, v.to, v.meter("decoding again (bundles)", uint64(v.to)-uint64(v.from)+1))
	if err != nil {
		return err
	}
	v.findings.checked(CheckSource, sums.rows(blockRecords)+sums.rows(transactionRecords))
	first := sums.unlike(v.chainSide, v.rowSide)
	if first < 0 {
		return nil
	}
	low, high := sums.bucket(first)
	return v.mustName(CheckSource, table.Transactions.Name, low, high, func() error { return v.locateSource(ctx, low, high) })
}

// unlike is the first bucket in which what was decoded differs from the tables'
// blocks or transactions, -1 when all are equal.
func (t *tally) unlike(blocks, transactions *tally) int {
	first := -1
	for s, side := range map[subject]*tally{blockRecords: blocks, transactionRecords: transactions, transactionStates: transactions} {
		if n := firstDifferent(t.cells[s], side.cells[s]); n >= 0 && (first < 0 || n < first) {
			first = n
		}
	}
	return first
}

// decodedSums sums up what the source's blocks decode to.
func (v *verifier) decodedSums(ctx context.Context, low, high uint32, meter *meter) (*tally, error) {
	sums := make(chan *tally, v.workers)
	decoders := make(chan *decode.Decoder, v.workers)
	for range v.workers {
		sums <- newTally(low, high)
		decoders <- new(decode.Decoder)
	}
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(v.workers)
	err := v.Source.Bundles(groupCtx, low, high, func(mcSeqno uint32, bocs [][]byte) error {
		if mcSeqno < low || mcSeqno > high || v.inGap(mcSeqno) {
			return nil
		}
		group.Go(func() error {
			d, t := <-decoders, <-sums
			defer func() { decoders <- d; sums <- t }()
			meter.add(1)
			return v.sumBundle(d, t, mcSeqno, bocs)
		})
		return groupCtx.Err()
	})
	if e := group.Wait(); e != nil {
		return nil, e
	}
	if err != nil {
		return nil, fmt.Errorf("source: %w", err)
	}
	total := <-sums
	for range v.workers - 1 {
		total.merge(<-sums)
	}
	return total, nil
}

func (v *verifier) inGap(mcSeqno uint32) bool {
	return slices.ContainsFunc(v.findings.report.Gaps, func(g Gap) bool { return g.From <= mcSeqno && mcSeqno <= g.To })
}

func (v *verifier) sumBundle(d *decode.Decoder, sums *tally, mcSeqno uint32, bocs [][]byte) error {
	for _, boc := range bocs {
		r, err := d.Block(boc, mcSeqno)
		if err != nil {
			return fmt.Errorf("source: bundle %d: %w", mcSeqno, err)
		}
		raw, err := r.Block.MarshalVT()
		if err != nil {
			return err
		}
		sums.add(blockRecords, mcSeqno, 1, digest(raw))
		for _, t := range r.Transactions {
			sums.add(transactionStates, mcSeqno, 1, stateSum(t))
			if raw, err = encoded(stateless(t)); err != nil {
				return err
			}
			sums.add(transactionRecords, mcSeqno, 1, digest(raw))
		}
	}
	return nil
}

// locateSource finds the first bundle of a range that differs.
func (v *verifier) locateSource(ctx context.Context, low, high uint32) error {
	for low < high {
		decoded, err := v.decodedSums(ctx, low, high, v.meter("looking for the difference (bundles)", uint64(high-low)+1))
		if err != nil {
			return err
		}
		have, err := v.recordSums(ctx, low, high)
		if err != nil {
			return err
		}
		n := decoded.unlike(have, have)
		if n < 0 {
			return nil
		}
		low, high = have.bucket(n)
	}
	return v.compareBundle(ctx, low)
}

// recordSums sums up the records of the tables.
func (v *verifier) recordSums(ctx context.Context, low, high uint32) (*tally, error) {
	sums := newTally(low, high)
	err := v.eachBlock(ctx, low, high, func(r *blockRow) error {
		sums.add(blockRecords, r.mcSeqno, 1, digest(r.raw))
		return nil
	})
	if err != nil {
		return nil, err
	}
	return sums, v.eachDistinct(ctx, low, high, func(r *transactionRow) error {
		sums.add(transactionRecords, r.bundle(), 1, digest(withoutStates(r.raw)))
		if r.record != nil {
			sums.add(transactionStates, r.bundle(), 1, stateSum(r.record))
		}
		return nil
	})
}

// vtMessage is a record.
type vtMessage interface {
	proto.Message
	MarshalVT() ([]byte, error)
}

// compareBundle compares a bundle record by record.
func (v *verifier) compareBundle(ctx context.Context, mcSeqno uint32) error {
	want := map[string]vtMessage{}
	present := false
	err := v.Source.Bundles(ctx, mcSeqno, mcSeqno, func(n uint32, bocs [][]byte) error {
		present = present || n == mcSeqno
		for _, boc := range bocs {
			r, err := decode.Block(boc, mcSeqno)
			if err != nil {
				return err
			}
			id := r.Block.Id
			want[blockKey{r.Block.McSeqno, id.Workchain, id.Shard, id.Seqno}.key()] = r.Block
			for _, t := range r.Transactions {
				want[transactionKey(t.Block.Workchain, string(t.Account[4:]), t.Lt)] = t
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("source: %w", err)
	}
	if !present {
		v.findings.differs(CheckSource, "blocks", fmt.Sprintf("mc_seqno = %d", mcSeqno), "the source does not have the bundle")
		return nil
	}
	err = v.eachBlock(ctx, mcSeqno, mcSeqno, func(r *blockRow) error {
		v.compareRecord("blocks", r.key(), r.raw, r.record, r.record == nil, want)
		return nil
	})
	if err != nil {
		return err
	}
	err = v.eachDistinct(ctx, mcSeqno, mcSeqno, func(r *transactionRow) error {
		if r.record == nil {
			v.compareRecord("transactions", r.key(), r.raw, nil, true, want)
			return nil
		}
		before, after := r.record.StateBefore, r.record.StateAfter
		if t, ok := want[r.key()].(*record.Transaction); ok && stateSum(t) != stateSum(r.record) {
			v.findings.differs(CheckSource, "transactions", r.key(), "balances and statuses around it: %v and %v, decoding again gives %v and %v",
				before, after, t.StateBefore, t.StateAfter)
			stateless(t)
		} else if ok {
			stateless(t)
		}
		v.compareRecord("transactions", r.key(), withoutStates(r.raw), stateless(r.record), false, want)
		return nil
	})
	for _, key := range slices.Sorted(maps.Keys(want)) {
		name := table.Transactions.Name
		if _, ok := want[key].(*record.Block); ok {
			name = table.Blocks.Name
		}
		v.findings.differs(CheckSource, name, key, "no row, but the source has it")
	}
	return err
}

// encoded is a record as the tables keep it.
func encoded(m vtMessage) ([]byte, error) {
	raw, err := m.MarshalVT()
	if t, ok := m.(*record.Transaction); ok && err == nil {
		return stored.Pack(nil, raw, t)
	}
	return raw, err
}

// compareRecord compares a row's record with what was decoded, and takes it off
// the list.
func (v *verifier) compareRecord(table, key string, raw []byte, have proto.Message, bad bool, want map[string]vtMessage) {
	differs := v.findings.of(CheckSource, table, func() string { return key })
	m, ok := want[key]
	delete(want, key)
	if !ok {
		differs("a row that no block of the source makes")
	} else if bad {
		differs("record cannot be read")
	} else if path, a, b := firstField(have, m); path != "" {
		differs("field %s of the record is %s, decoding again gives %s", path, a, b)
	} else if again, err := encoded(m); err == nil && !bytes.Equal(raw, again) {
		differs("the record's bytes are not those that decoding again gives, though all known fields are equal")
	}
}
