package verify

import (
	"bytes"
	"context"
	"hash/maphash"
	"math"

	"golang.org/x/sync/errgroup"

	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/schema/table"
)

// digests of records are compared within one run only.
var digestSeed = maphash.MakeSeed()

func digest(raw []byte) uint64 { return maphash.Bytes(digestSeed, raw) }

// slicesOf cuts the transactions into parts of about this many.
const sliceRows = 50_000

// slices gives the parts of accounts that are read by themselves, by the number
// of their transactions or of contracts, whatever is more.
// Account ids are hashes, so that ranges of them are about equally full.
func (v *verifier) slices(ctx context.Context) ([]*slice, error) {
	var list []*slice
	var workchain int32
	var transactions, rows uint64
	ofRoles := ""
	for _, t := range table.Roles {
		ofRoles += " UNION ALL SELECT workchain, toUInt64(0), toUInt64(0) FROM " + t.Name + " GROUP BY workchain"
	}
	err := v.each(ctx, `SELECT workchain, sum(t), max(n) FROM (
			SELECT workchain, count() AS t, count() AS n FROM transactions WHERE mc_seqno BETWEEN ? AND ? GROUP BY workchain
			UNION ALL SELECT workchain, toUInt64(0), toUInt64(0) FROM accounts GROUP BY workchain
			UNION ALL SELECT workchain, toUInt64(0), count() FROM contracts GROUP BY workchain
			UNION ALL SELECT workchain, toUInt64(0), toUInt64(0) FROM contract_links GROUP BY workchain`+ofRoles+`)
		GROUP BY workchain ORDER BY workchain`,
		[]any{v.from, v.to}, []any{&workchain, &transactions, &rows}, func() error {
			v.transactionCount += transactions
			shift := 64 // of the number of a part
			for n := rows / sliceRows; n > 0 && shift > 54; n /= 2 {
				shift--
			}
			for n := range uint64(1) << (64 - shift) {
				list = append(list, &slice{workchain, n << shift, n<<shift | (math.MaxUint64 >> (64 - shift))})
			}
			return nil
		})
	return list, err
}

// walkTransactions does what is done in the order of the accounts.
func (v *verifier) walkTransactions(ctx context.Context) error {
	parts, err := v.slices(ctx)
	if err != nil {
		return err
	}
	if v.findings.wants(CheckProducers) {
		if v.spill, err = newSpill(endSize, v.transactionCount*endsPerTx); err != nil {
			return err
		}
	}
	meter := v.meter("transactions", v.transactionCount)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(v.workers)
	walks := make(chan *transactionWalk, v.workers)
	for range v.workers {
		walks <- newTransactionWalk(v, meter)
	}
	for _, part := range parts {
		group.Go(func() error {
			w := <-walks
			defer func() { walks <- w }()
			return w.walk(ctx, part)
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for range v.workers {
		w := <-walks
		v.rowSide.merge(w.sums)
	}
	return nil
}

// transactionWalk follows the transactions of slices, one after the other.
type transactionWalk struct {
	*verifier
	sums  *tally
	meter *meter

	last    *transactionRow
	account accountWalk
	scratch []byte
	// made takes the rows that a transaction makes in transactions_index, end those of
	// an end of its messages.
	made func(*table.Transaction)
	end  func(*table.MessageEnd)

	// lasts are the last transactions of the slice's accounts, deployed the codes that
	// messages brought them, contracts what they are said to be.
	lasts     map[string]lastTransaction
	deployed  map[string]string
	contracts map[string]*contractRow

	rows, duplicates, messages, ends uint64
	tracedTwins                      recent
}

func newTransactionWalk(v *verifier, meter *meter) *transactionWalk {
	w := &transactionWalk{verifier: v, sums: newTally(v.from, v.to), meter: meter}
	var twins recent
	w.made = func(row *table.Transaction) {
		if h := table.TransactionsIndex.Hash(row); !twins.has(h) {
			w.sums.add(transactionRows, row.McSeqno, 1, h)
		}
	}
	message := func(row *table.MessageEnd) {
		w.sums.add(messageRows, row.Transaction.McSeqno, 1, table.MessagesIndex.Hash(row))
	}
	account := func(row *table.MessageEnd) {
		w.sums.add(accountRows, row.Transaction.McSeqno, 1, table.MessagesByAccount.Hash(row))
	}
	w.end = func(e *table.MessageEnd) {
		w.ends++
		table.MessagesIndex.Each(e, message)
		table.MessagesByAccount.Each(e, account)
	}
	return w
}

func (w *transactionWalk) walk(ctx context.Context, part *slice) error {
	w.last, w.account = nil, accountWalk{verifier: w.verifier}
	w.lasts, w.deployed = map[string]lastTransaction{}, map[string]string{}
	if err := w.readContracts(ctx, part); err != nil {
		return err
	}
	err := w.eachTransaction(ctx, part, w.from, w.to, func(r *transactionRow) error {
		if err := w.take(ctx, r); err != nil {
			return err
		}
		if w.rows++; w.rows%4096 == 0 {
			w.flush()
		}
		return nil
	})
	w.flush()
	if err != nil {
		return err
	}
	if err := w.checkLatest(ctx, part); err != nil {
		return err
	}
	if err := w.checkContracts(ctx, part); err != nil || !w.findings.wants(CheckContracts) {
		return err
	}
	return w.checkPast(ctx, part)
}

// flush hands over what was counted.
func (w *transactionWalk) flush() {
	n := w.rows - w.duplicates
	w.findings.count(func(r *Report) {
		r.Transactions += n
		r.MessageEnds += w.ends
		if w.duplicates > 0 {
			r.Duplicates["transactions"] += w.duplicates
		}
	})
	w.findings.checked(CheckColumns, n)
	w.findings.checked(CheckAccounts, n)
	w.findings.checked(CheckStates, n)
	w.findings.checked(CheckMessages, w.messages)
	w.meter.add(w.rows)
	w.rows, w.duplicates, w.messages, w.ends = 0, 0, 0, 0
}

// take takes the next row.
func (w *transactionWalk) take(ctx context.Context, r *transactionRow) error {
	last := w.last
	w.last = r
	if last != nil && last.same(r) {
		if last.columns == r.columns && bytes.Equal(last.raw, r.raw) {
			w.duplicates++
			return nil
		}
		return w.unlike(ctx, &table.Transactions.Table, r.key(), last.record, r.record)
	}
	if r.record == nil {
		w.findings.differs(CheckColumns, "transactions", r.key(), "record is no complete transaction")
		return nil
	}
	if table.Transactions.Hash(&r.transaction) != r.columns {
		if err := w.column(ctx, CheckColumns, &table.Transactions.Table, r.key(), "", table.Transactions.Words(&r.transaction), "the record"); err != nil {
			return err
		}
	}
	t := r.record
	if t.Block.Workchain != r.transaction.Workchain || !shardHolds(t.Block.Shard, r.transaction.Prefix) {
		w.findings.differs(CheckBlocks, "transactions", r.key(), "its block is of shard (%d,%016x), which does not hold the account", t.Block.Workchain, t.Block.Shard)
	}
	first := w.account.take(r)
	w.keepLast(r)
	if !w.sums.holds(t.McSeqno) {
		return nil // columns differ
	}
	if first {
		partition := schema.PartitionOf(schema.AccountID(t.Account), w.partitions)
		w.sums.add(sealedAccounts, t.McSeqno, 1, table.HashOf(uint64(t.McSeqno), uint64(partition)))
	}
	if err := w.keepOrder(t); err != nil {
		return err
	}
	w.sum(r)
	return w.checkMessages(r)
}

// sum adds the rows that a transaction makes to the sums.
func (w *transactionWalk) sum(r *transactionRow) {
	t := r.record
	place := blockKey{t.McSeqno, t.Block.Workchain, t.Block.Shard, t.Block.Seqno}
	w.sums.add(blockTransactions, t.McSeqno, 1, place.hash())
	partition := schema.PartitionOf(schema.AccountID(t.Account), w.partitions)
	w.sums.add(sealedTransactions, t.McSeqno, 1, table.HashOf(uint64(t.McSeqno), uint64(partition)))
	w.sums.add(transactionRecords, t.McSeqno, 1, digest(withoutStates(r.raw)))
	w.sums.add(transactionStates, t.McSeqno, 1, stateSum(t))
	if h := table.HashOf(tracedWords(&r.transaction)...); !w.tracedTwins.has(h) {
		w.sums.add(tracedRows, t.McSeqno, 1, h)
	}
	table.TransactionsIndex.Each(&r.transaction, w.made)
	r.transaction.Ends(w.end)
}

// checkMessages tests the messages' order and keeps the ends of internal ones,
// to be matched later.
func (w *transactionWalk) checkMessages(r *transactionRow) error {
	t := r.record
	if m := t.InMsg; m != nil {
		w.messages++
		if m.Kind == record.Message_INTERNAL && m.CreatedLt >= t.Lt {
			w.findings.differs(CheckMessages, "transactions", r.key(), "in_msg was created at lt %d, not before the transaction", m.CreatedLt)
		}
		if err := w.keep(m, false); err != nil {
			return err
		}
	}
	created := t.Lt
	for i, m := range t.OutMsgs {
		w.messages++
		if m.CreatedLt <= created {
			w.findings.differs(CheckMessages, "transactions", r.key(), "out_msgs[%d] was created at lt %d, not after %d", i, m.CreatedLt, created)
		}
		created = m.CreatedLt
		if err := w.keep(m, true); err != nil {
			return err
		}
	}
	return nil
}

// keep keeps an end of an internal message.
func (w *transactionWalk) keep(m *record.Message, produced bool) error {
	if m.Kind != record.Message_INTERNAL || w.spill == nil {
		return nil
	}
	body, init := m.Body, m.InitState
	defer func() { m.Body, m.InitState = body, init }()
	m.Body, m.InitState = nil, nil // told by their hashes; a sender's record may lack them
	size := m.SizeVT()
	if cap(w.scratch) < size {
		w.scratch = make([]byte, 2*size)
	}
	message := w.scratch[:size]
	if _, err := m.MarshalToSizedBufferVT(message); err != nil {
		return err
	}
	e := messageEnd{halfOf(m.Hash), digest(message), m.CreatedLt, produced, produced || w.producedInside(m)}
	return w.spill.add(e.entry()...)
}

// producedInside reports whether the transaction that produced a message must be in
// the tables. Messages from the zero account of the masterchain come from no
// transaction: the masterchain pays fees and new coins with them (block.tlb,
// recover_create_msg and mint_msg).
func (w *transactionWalk) producedInside(m *record.Message) bool {
	if len(m.Source) != schema.AddressSize {
		return false
	}
	workchain, id := schema.Workchain(m.Source), schema.AccountID(m.Source)
	if workchain == masterchain && bytes.Equal(id, make([]byte, len(id))) {
		return false
	}
	return w.coverage.has(workchain, schema.Prefix(id), m.CreatedLt)
}
