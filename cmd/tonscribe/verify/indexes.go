package verify

import (
	"context"
	"fmt"

	driver "github.com/ClickHouse/clickhouse-go/v2"
)

// checkIndexes compares the tables that point at blocks and transactions with
// the rows that these make.
func (v *verifier) checkIndexes(ctx context.Context) error {
	if !v.findings.wants(CheckIndexes) {
		return nil
	}
	var total uint64
	for n := range indexTables {
		total += v.expectedSide(n).rows(subject(n))
	}
	meter := v.meter("index tables (rows)", total)
	for n := range indexTables {
		if err := v.checkIndex(ctx, n, meter); err != nil {
			return err
		}
	}
	if v.From == 0 {
		return v.strays(ctx)
	}
	return nil
}

// strays looks for rows of bundles before the first one.
func (v *verifier) strays(ctx context.Context) error {
	names := append(indexNames(), blocks.name, transactions.name, "seals", contractTable.name, "contract_links", "transfers_by_party")
	for n := range roleTables {
		names = append(names, roleTables[n].name)
	}
	for _, t := range transferTables {
		names = append(names, t.name)
	}
	for _, name := range names {
		n, err := v.number(ctx, fmt.Sprintf("SELECT count() FROM %s WHERE mc_seqno < ?", name), v.from)
		if err != nil {
			return err
		}
		if n > 0 {
			v.findings.differs(CheckIndexes, name, fmt.Sprintf("mc_seqno < %d", v.from), "%d rows, but the first bundle is %d", n, v.from)
		}
	}
	return nil
}

// expectedSide has the sums of the rows that an index table should have.
func (v *verifier) expectedSide(n int) *tally {
	if n < blockIndexes {
		return v.chainSide
	}
	return v.rowSide
}

func (v *verifier) checkIndex(ctx context.Context, n int, meter *meter) error {
	t, want := &indexTables[n], v.expectedSide(n)
	have, err := v.sums(ctx, t, want, "", meter)
	if err != nil {
		return err
	}
	all := rowsOf(have)
	if firstDifferent(have, want.cells[n]) >= 0 {
		if have, err = v.sums(ctx, t, want, "FINAL", meter); err != nil {
			return err
		}
		if err := v.repeated(ctx, t, all-rowsOf(have)); err != nil {
			return err
		}
	}
	v.findings.checked(CheckIndexes, rowsOf(have))
	bucket := firstDifferent(have, want.cells[n])
	if bucket < 0 {
		return nil
	}
	low, high := want.bucket(bucket)
	return v.mustName(CheckIndexes, t.name, low, high, func() error {
		return v.locateIndex(ctx, n, low, high, max(have[bucket].rows, want.cells[n][bucket].rows))
	})
}

// mustName runs what names a difference that the sums show. A difference never
// goes unsaid, even when its place cannot be found.
func (v *verifier) mustName(check, table string, low, high uint32, locate func() error) error {
	before := v.findings.all()
	err := locate()
	if err == nil && v.findings.all() == before {
		v.findings.differs(check, table, fmt.Sprintf("mc_seqno BETWEEN %d AND %d", low, high), "the sums of its rows differ from those they should have")
	}
	return err
}

func rowsOf(cells []cell) (n uint64) {
	for _, c := range cells {
		n += c.rows
	}
	return n
}

// sums adds up a table's rows in the buckets of a tally. FINAL takes a row once
// however often it was inserted, and costs more.
func (v *verifier) sums(ctx context.Context, t *table, like *tally, final string, meter *meter) ([]cell, error) {
	cells := make([]cell, len(like.cells[0]))
	var bucket uint32
	var c cell
	if meter != nil {
		ctx = driver.Context(ctx, driver.WithProgress(func(p *driver.Progress) { meter.add(p.Rows) }))
	}
	query := fmt.Sprintf(`SELECT toUInt32(intDiv(mc_seqno - %d, %d)) AS bucket, count(), sum(%s) FROM %s %s
		WHERE %s GROUP BY bucket`, like.low, like.width, t.hashSQL(), t.name, final,
		t.rowsOf(fmt.Sprintf("mc_seqno BETWEEN %d AND %d", like.low, like.high)))
	err := v.each(ctx, query, nil, []any{&bucket, &c.rows, &c.sum}, func() error {
		cells[bucket] = c
		return nil
	})
	return cells, err
}

// repeated looks at rows that are there more than once: a merge drops all but
// one, so they must be alike.
func (v *verifier) repeated(ctx context.Context, t *table, n uint64) error {
	if n == 0 {
		return nil
	}
	v.findings.count(func(r *Report) { r.Duplicates[t.name] += n })
	if t.key == len(t.columns) {
		return nil
	}
	clause := fmt.Sprintf(`WHERE %s IN (SELECT %s FROM %s WHERE %s GROUP BY %s HAVING min(%s) != max(%s)
		ORDER BY %s LIMIT 1 SETTINGS optimize_aggregation_in_order = 1)`,
		t.rowsOf("("+t.keyNames()+")"), t.keyNames(), t.name, t.rowsOf("mc_seqno BETWEEN ? AND ?"), t.keyNames(), t.hashSQL(), t.hashSQL(), t.keyNames())
	var first []uint64
	return v.words(ctx, t, clause, []any{v.from, v.to}, func(row []uint64) error {
		if first == nil {
			first = append(first, row...)
			return nil
		}
		if name, a, b := t.firstColumn(first, row); name != "" {
			v.findings.differs(CheckColumns, t.name, t.where(row), "two different rows: column %s is %s and %s", name, a, b)
		}
		return nil
	})
}

// made hands out the rows that an index table should have for a range.
func (v *verifier) made(ctx context.Context, n int, low, high uint32, take func(mcSeqno uint32, row *item)) error {
	if n < blockIndexes {
		var last *blockRow
		return v.eachBlock(ctx, low, high, func(r *blockRow) error {
			if r.record != nil && (last == nil || last.key() != r.key()) {
				indexTables[n].each(blockItem(r.record), func(row *item) { take(r.mcSeqno, row) })
			}
			last = r
			return nil
		})
	}
	var i item
	return v.eachDistinct(ctx, low, high, func(r *transactionRow) error {
		if r.record == nil {
			return nil
		}
		i.set(r.record)
		if n < firstMessageIndex {
			take(r.mcSeqno, &i)
			return nil
		}
		i.ends(func(end *item) {
			indexTables[n].each(end, func(row *item) { take(r.mcSeqno, row) })
		})
		return nil
	})
}

// fewRows need not be narrowed down before they are compared one by one.
const fewRows = 100_000

// locateIndex finds the first row that differs in a range.
func (v *verifier) locateIndex(ctx context.Context, n int, low, high uint32, rows uint64) error {
	t := &indexTables[n]
	for rows > v.few && low < high {
		want := newTally(low, high)
		var last uint64
		err := v.made(ctx, n, low, high, func(mcSeqno uint32, row *item) {
			h := t.hash(row)
			if h != last && want.holds(mcSeqno) { // twins follow each other
				want.add(subject(n), mcSeqno, 1, h)
			}
			last = h
		})
		if err != nil {
			return err
		}
		have, err := v.sums(ctx, t, want, "FINAL", nil)
		if err != nil {
			return err
		}
		bucket := firstDifferent(have, want.cells[n])
		if bucket < 0 {
			break
		}
		low, high = want.bucket(bucket)
		rows = max(have[bucket].rows, want.cells[n][bucket].rows)
	}
	return v.compareRows(ctx, n, low, high)
}

// compareRows compares a range row by row.
func (v *verifier) compareRows(ctx context.Context, n int, low, high uint32) error {
	t := &indexTables[n]
	width := t.keyWords()
	want := map[string][]uint64{}
	err := v.made(ctx, n, low, high, func(_ uint32, i *item) {
		row := t.row(i)
		want[fmt.Sprint(row[:width])] = row
	})
	if err != nil {
		return err
	}
	var extra [][]uint64
	err = v.words(ctx, t, "FINAL WHERE "+t.rowsOf("mc_seqno BETWEEN ? AND ?")+" ORDER BY "+t.keyNames(), []any{low, high}, func(have []uint64) error {
		key := fmt.Sprint(have[:width])
		row, ok := want[key]
		delete(want, key)
		if !ok {
			extra = append(extra, append([]uint64(nil), have...))
			return nil
		}
		if name, a, b := t.firstColumn(have, row); name != "" {
			v.findings.differs(CheckIndexes, t.name, t.where(have), "column %s is %s, but %s makes %s", name, a, t.maker(), b)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, row := range sortedRows(want) {
		if err := v.missingRow(ctx, t, row); err != nil {
			return err
		}
	}
	for _, row := range extra {
		v.findings.differs(CheckIndexes, t.name, t.where(row), "a row that %s does not make: %s", t.maker(), t.values(row))
	}
	return nil
}

// missingRow says whether a row is not there or only in another bundle.
func (v *verifier) missingRow(ctx context.Context, t *table, row []uint64) error {
	if v.findings.again(CheckIndexes, t.name) {
		return nil
	}
	named := false
	err := v.words(ctx, t, "FINAL WHERE "+t.where(row), nil, func(have []uint64) error {
		if name, a, b := t.firstColumn(have, row); name != "" && !named {
			named = true
			v.findings.differs(CheckIndexes, t.name, t.where(row), "column %s is %s, but %s makes %s", name, a, t.maker(), b)
		}
		return nil
	})
	if err == nil && !named {
		v.findings.differs(CheckIndexes, t.name, t.where(row), "no row, but %s makes %s", t.maker(), t.values(row))
	}
	return err
}
