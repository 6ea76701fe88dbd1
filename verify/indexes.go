package verify

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	driver "github.com/ClickHouse/clickhouse-go/v2"

	"tonscribe/internal/lifetime"
	"tonscribe/schema"
	"tonscribe/schema/table"
)

// copied is a table all of whose rows others make. While these are read, the rows
// that they make are summed up by hash, in buckets of the range, and ClickHouse
// does the same with those that are there. Only a bucket that differs is read row
// by row.
type copied struct {
	*table.Table
	check string
	// of is the subject by which it is summed up, bundle its column with the bundle.
	of     subject
	bundle string
	// maker names the tables that make the rows.
	maker string
	made  func(v *verifier, ctx context.Context, low, high uint32, take takeRow) error
}

// takeRow takes a row that should be there, by its bundle.
type takeRow func(mcSeqno uint32, hash uint64, words func() []uint64)

// indexTables point at blocks and transactions.
var indexTables = []copied{
	{&table.BlocksIndex.Table, CheckIndexes, blockRows, "mc_seqno", "table blocks", func(v *verifier, ctx context.Context, low, high uint32, take takeRow) error {
		var last *blockRow
		return v.eachBlock(ctx, low, high, func(r *blockRow) error {
			if r.record != nil && (last == nil || last.key() != r.key()) {
				table.BlocksIndex.Each(r.block, rowTo(table.BlocksIndex, r.mcSeqno, take))
			}
			last = r
			return nil
		})
	}},
	{&table.TransactionsIndex.Table, CheckIndexes, transactionRows, "mc_seqno", "table transactions", func(v *verifier, ctx context.Context, low, high uint32, take takeRow) error {
		return v.eachDistinct(ctx, low, high, func(r *transactionRow) error {
			if r.record != nil {
				table.TransactionsIndex.Each(&r.transaction, rowTo(table.TransactionsIndex, r.bundle(), take))
			}
			return nil
		})
	}},
	{&table.MessagesIndex.Table, CheckIndexes, messageRows, "mc_seqno", "table transactions", endsOf(table.MessagesIndex)},
	{&table.MessagesByAccount.Table, CheckIndexes, accountRows, "mc_seqno", "table transactions", endsOf(table.MessagesByAccount)},
}

// lists are the lists of transfers.
var lists = copied{&table.TransfersByParty.Table, CheckTransfers, listRows, "transaction_mc_seqno", "the record of the transfer", func(v *verifier, ctx context.Context, low, high uint32, take takeRow) error {
	for kind := range table.Transfers {
		err := v.eachTransfer(ctx, schema.TransferKind(kind), low, high, func(_ context.Context, _ schema.TransferKind, r transferRow) error {
			if r.made != nil {
				r.made.Lists(func(l *table.ListEntry) { rowTo(table.TransfersByParty, l.TransactionMCSeqno, take)(l) })
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}}

// endsOf makes the rows of a table of the ends of messages.
func endsOf(t *table.Of[*table.MessageEnd]) func(*verifier, context.Context, uint32, uint32, takeRow) error {
	return func(v *verifier, ctx context.Context, low, high uint32, take takeRow) error {
		return v.eachDistinct(ctx, low, high, func(r *transactionRow) error {
			if r.record != nil {
				r.transaction.Ends(func(e *table.MessageEnd) { t.Each(e, rowTo(t, r.bundle(), take)) })
			}
			return nil
		})
	}
}

// rowTo hands rows of a table on.
func rowTo[R any](t *table.Of[R], mcSeqno uint32, take takeRow) func(R) {
	return func(row R) { take(mcSeqno, t.Hash(row), func() []uint64 { return t.Words(row) }) }
}

// recent tells rows that are made twice: transactions of two accounts whose ids
// begin alike, at one lt, share their rows in the tables whose key is no more than
// that, and so do the lists of somebody who sends to himself. Such rows come close
// together.
type recent struct {
	hashes [16]uint64
	next   int
}

// has reports whether a hash is one of the last, and notes it.
func (r *recent) has(hash uint64) bool {
	if slices.Contains(r.hashes[:], hash) {
		return true
	}
	r.hashes[r.next] = hash
	r.next = (r.next + 1) % len(r.hashes)
	return false
}

// checkIndexes compares the tables that point at blocks and transactions with the
// rows that these make.
func (v *verifier) checkIndexes(ctx context.Context) error {
	var total uint64
	for n := range indexTables {
		total += v.rowSide.rows(indexTables[n].of)
	}
	meter := v.meter("index tables (rows)", total)
	for n := range indexTables {
		if err := v.checkCopied(ctx, &indexTables[n], meter); err != nil {
			return err
		}
	}
	if v.From == 0 {
		return v.strays(ctx)
	}
	return nil
}

// strays looks for rows of bundles before the first one. Accounts may have changed
// last before it.
func (v *verifier) strays(ctx context.Context) error {
	var counts []string
	for _, t := range table.All {
		if t == &table.Accounts.Table || t == &table.Progress.Table || !slices.ContainsFunc(t.Columns, func(c table.Column) bool { return c.Name == "mc_seqno" }) {
			continue
		}
		counts = append(counts, fmt.Sprintf("SELECT '%s' AS name, count() AS n FROM %s WHERE mc_seqno < %d HAVING n > 0", t.Name, t.Name, v.from))
	}
	var name string
	var n uint64
	return v.each(ctx, "SELECT * FROM ("+strings.Join(counts, " UNION ALL ")+") ORDER BY 1", nil, []any{&name, &n}, func() error {
		v.findings.differs(CheckIndexes, name, fmt.Sprintf("mc_seqno < %d", v.from), "%d rows, but the first bundle is %d", n, v.from)
		return nil
	})
}

// checkCopied compares the sums of a table's rows with those of the rows that were
// made.
func (v *verifier) checkCopied(ctx context.Context, t *copied, meter *meter) error {
	want := v.rowSide
	have, err := v.sums(ctx, t, want, "", meter)
	if err != nil {
		return err
	}
	all := rowsOf(have)
	if firstDifferent(have, want.cells[t.of]) >= 0 {
		if have, err = v.sums(ctx, t, want, "FINAL", meter); err != nil {
			return err
		}
		if err := v.repeated(ctx, t, all-rowsOf(have)); err != nil {
			return err
		}
	}
	v.findings.checked(t.check, rowsOf(have))
	for bucket := range have {
		if have[bucket] == want.cells[t.of][bucket] {
			continue
		}
		low, high := want.bucket(bucket)
		rows := max(have[bucket].rows, want.cells[t.of][bucket].rows)
		before := v.findings.all()
		excused, err := v.locateRow(ctx, t, low, high, rows)
		if err == nil && !excused {
			v.unsaid(before, t.check, t.Name, low, high)
		}
		if err != nil || v.findings.all() != before {
			return err
		}
	}
	return nil
}

// mustName runs what names a difference that the sums show. A difference never
// goes unsaid, even when its place cannot be found.
func (v *verifier) mustName(check, table string, low, high uint32, locate func() error) error {
	before := v.findings.all()
	err := locate()
	if err == nil {
		v.unsaid(before, check, table, low, high)
	}
	return err
}

// unsaid says that sums differ when there are no more findings than before.
func (v *verifier) unsaid(before uint64, check, table string, low, high uint32) {
	if v.findings.all() == before {
		v.findings.differs(check, table, fmt.Sprintf("mc_seqno BETWEEN %d AND %d", low, high), "the sums of its rows differ from those they should have")
	}
}

func rowsOf(cells []cell) (n uint64) {
	for _, c := range cells {
		n += c.rows
	}
	return n
}

// sums adds up a table's rows in the buckets of a tally. Rows that became what
// they are after the range are left out, on both sides. FINAL takes a row once
// however often it was inserted, and costs more.
func (v *verifier) sums(ctx context.Context, t *copied, like *tally, final string, meter *meter) ([]cell, error) {
	cells := make([]cell, len(like.cells[0]))
	var bucket uint32
	var c cell
	if meter != nil {
		ctx = driver.Context(ctx, driver.WithProgress(func(p *driver.Progress) { meter.add(p.Rows) }))
	}
	query := fmt.Sprintf(`SELECT toUInt32(intDiv(%s - %d, %d)) AS bucket, countIf(mc_seqno <= %d), sumIf(%s, mc_seqno <= %d) FROM %s %s
		WHERE %s BETWEEN %d AND %d GROUP BY bucket`, t.bundle, like.low, like.width, v.to, t.HashSQL(), v.to, t.Name, final, t.bundle, like.low, like.high)
	err := v.each(ctx, query, nil, []any{&bucket, &c.rows, &c.sum}, func() error {
		cells[bucket] = c
		return nil
	})
	return cells, err
}

// repeated looks at rows that are there more than once. Where none of a key
// counts for being newest, they must be alike: a merge drops all but one.
func (v *verifier) repeated(ctx context.Context, t *copied, n uint64) error {
	if n == 0 || t.Newest != "" {
		return nil
	}
	v.findings.count(func(r *Report) { r.Duplicates[t.Name] += n })
	return v.twoRows(ctx, t.Table, fmt.Sprintf(`WHERE (%s) IN (SELECT %s FROM %s WHERE mc_seqno BETWEEN ? AND ? GROUP BY %s HAVING min(%s) != max(%s)
		ORDER BY %s LIMIT 1 SETTINGS optimize_aggregation_in_order = 1)`,
		t.KeySQL(), t.KeySQL(), t.Name, t.KeySQL(), t.HashSQL(), t.HashSQL(), t.KeySQL()), v.from, v.to)
}

// fewRows need not be narrowed down before they are compared one by one.
const fewRows = 100_000

// locateRow finds the first row that differs in a range. It is excused when there
// is none, but rows that became what they are after the range, or meanwhile.
func (v *verifier) locateRow(ctx context.Context, t *copied, low, high uint32, rows uint64) (excused bool, err error) {
	for rows > v.few && low < high {
		want := newTally(low, high)
		var last recent
		err := t.made(v, ctx, low, high, func(mcSeqno uint32, hash uint64, _ func() []uint64) {
			if want.holds(mcSeqno) && !last.has(hash) {
				want.add(t.of, mcSeqno, 1, hash)
			}
		})
		if err != nil {
			return false, err
		}
		have, err := v.sums(ctx, t, want, "FINAL", nil)
		if err != nil {
			return false, err
		}
		bucket := firstDifferent(have, want.cells[t.of])
		if bucket < 0 {
			if revised, err := v.revised(ctx, t, low, high); err != nil || revised {
				return revised, err
			}
			break
		}
		low, high = want.bucket(bucket)
		rows = max(have[bucket].rows, want.cells[t.of][bucket].rows)
	}
	return v.compareRows(ctx, t, low, high)
}

// compareRows compares a range row by row.
func (v *verifier) compareRows(ctx context.Context, t *copied, low, high uint32) (excused bool, err error) {
	found, excused, err := v.differentRows(ctx, t, low, high)
	if err != nil {
		return false, err
	}
	if revised, err := v.revised(ctx, t, low, high); err != nil {
		return false, err
	} else if revised {
		if err := v.awaitRevision(ctx, t, low, high, found); err != nil {
			return false, err
		}
		excused = excused || len(found) == 0
	}
	keys := slices.SortedFunc(maps.Keys(found), func(a, b string) int { return found[a].compare(found[b]) })
	for _, key := range keys {
		switch d := found[key]; {
		case d.have == nil:
			if err := v.missingRow(ctx, t, d.want); err != nil {
				return false, err
			}
		case d.want == nil:
			v.findings.differs(t.check, t.Name, key, "a row that %s does not make: %s", t.maker, t.Text(d.have))
		default:
			name, a, b := t.Difference(d.have, d.want)
			v.findings.differs(t.check, t.Name, key, "column %s is %s, but %s makes %s", name, a, t.maker, b)
		}
	}
	return excused, nil
}

// rowDifference is a row as it is and as it is made, nil where it is not.
type rowDifference struct{ have, want []uint64 }

// compare orders rows that have both before those that are missing, and these before those
// that are too many.
func (d rowDifference) compare(other rowDifference) int {
	rank := func(d rowDifference) int {
		switch {
		case d.have == nil:
			return 1
		case d.want == nil:
			return 2
		}
		return 0
	}
	return cmp.Or(cmp.Compare(rank(d), rank(other)), slices.Compare(d.want, other.want), slices.Compare(d.have, other.have))
}

// differentRows are the rows of a range that differ, by their keys.
func (v *verifier) differentRows(ctx context.Context, t *copied, low, high uint32) (found map[string]rowDifference, excused bool, err error) {
	want := map[string][]uint64{}
	err = t.made(v, ctx, low, high, func(_ uint32, _ uint64, words func() []uint64) {
		row := words()
		want[t.Where(row)] = row
	})
	if err != nil {
		return nil, false, err
	}
	late := func(row []uint64) bool {
		is := uint32(t.Word(row, "mc_seqno")) > v.to
		excused = excused || is
		return is
	}
	found = map[string]rowDifference{}
	clause := fmt.Sprintf("FINAL WHERE %s BETWEEN ? AND ? ORDER BY %s", t.bundle, t.KeySQL())
	err = v.words(ctx, t.Table, clause, []any{low, high}, func(have []uint64) error {
		key := t.Where(have)
		row, ok := want[key]
		delete(want, key)
		if !late(have) && !(ok && late(row)) && !slices.Equal(have, row) {
			found[key] = rowDifference{slices.Clone(have), row}
		}
		return nil
	})
	if err != nil {
		return nil, false, err
	}
	for key, row := range want {
		if !late(row) {
			found[key] = rowDifference{want: row}
		}
	}
	return found, excused, nil
}

// revised reports whether rows of a range may be about to be replaced: actions were
// recognised again, and lists get what is new before, and lose what is gone after.
func (v *verifier) revised(ctx context.Context, t *copied, low, high uint32) (bool, error) {
	if !t.Revised() {
		return false, nil
	}
	const rows = "(SELECT count() FROM %s WHERE revision > 0 AND mc_seqno BETWEEN %d AND %d)"
	n, err := v.number(ctx, fmt.Sprintf("SELECT "+rows+" + "+rows, table.Actions.Name, low, high, t.Name, low, high))
	return n > 0, err
}

// revisionPause is from one look at rows that are about to be replaced to the next.
const revisionPause = 5 * time.Second

// awaitRevision leaves of different rows those that stay as they are until patience ends.
func (v *verifier) awaitRevision(ctx context.Context, t *copied, low, high uint32, found map[string]rowDifference) error {
	for deadline := time.Now().Add(v.patience); len(found) > 0 && time.Now().Before(deadline); {
		if err := lifetime.Sleep(ctx, min(revisionPause, v.patience)); err != nil {
			return err
		}
		still, _, err := v.differentRows(ctx, t, low, high)
		if err != nil {
			return err
		}
		maps.DeleteFunc(found, func(key string, d rowDifference) bool {
			s, is := still[key]
			return !is || s.compare(d) != 0
		})
	}
	return nil
}

// missingRow says whether a row is not there or only in another bundle.
func (v *verifier) missingRow(ctx context.Context, t *copied, row []uint64) error {
	if v.findings.again(t.check, t.Name) {
		return nil
	}
	named := false
	err := v.words(ctx, t.Table, "FINAL WHERE "+t.Where(row), nil, func(have []uint64) error {
		if name, a, b := t.Difference(have, row); name != "" && !named {
			named = true
			v.findings.differs(t.check, t.Name, t.Where(row), "column %s is %s, but %s makes %s", name, a, t.maker, b)
		}
		return nil
	})
	if err == nil && !named {
		v.findings.differs(t.check, t.Name, t.Where(row), "no row, but %s makes %s", t.maker, t.Text(row))
	}
	return err
}
