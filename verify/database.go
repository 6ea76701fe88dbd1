package verify

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"tonscribe/internal/clickhouse"
	"tonscribe/internal/report"
	"tonscribe/schema/record"
	"tonscribe/schema/stored"
	"tonscribe/schema/table"
)

// database reads the tables.
type database struct {
	client *clickhouse.Client
}

func connect(dsn string, workers int) (*database, error) {
	c := clickhouse.DefaultConfiguration()
	c.DSN, c.MaxConnections = dsn, workers+4
	c.Settings = map[string]string{"max_execution_time": "0"} // a scan of everything takes its time
	client, err := clickhouse.New(c, clickhouse.Dependencies{Report: report.Silent()})
	if err != nil {
		return nil, err
	}
	return &database{client}, nil
}

func (d *database) close() { d.client.Close() }

// each runs a query and calls take for every row, after scanning it into dest.
func (d *database) each(ctx context.Context, query string, args []any, dest []any, take func() error) error {
	rows, err := d.client.Conn().Query(ctx, query, args...)
	if err != nil {
		return describe(err, query)
	}
	defer rows.Close()
	for rows.Next() {
		if err := rows.Scan(dest...); err != nil {
			return describe(err, query)
		}
		if err := take(); err != nil {
			return err
		}
	}
	return describe(rows.Err(), query)
}

func describe(err error, query string) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w (query %.200s)", err, strings.Join(strings.Fields(query), " "))
}

// list runs a query and appends its rows to a slice of structs.
func (d *database) list(ctx context.Context, to any, query string, args ...any) error {
	return describe(d.client.Conn().Select(ctx, to, query, args...), query)
}

// one runs a query of one row.
func (d *database) one(ctx context.Context, query string, args []any, dest ...any) error {
	return describe(d.client.Conn().QueryRow(ctx, query, args...).Scan(dest...), query)
}

// number runs a query for one UInt64.
func (d *database) number(ctx context.Context, query string, args ...any) (n uint64, err error) {
	err = d.one(ctx, query, args, &n)
	return n, err
}

// words reads rows of a table as words.
func (d *database) words(ctx context.Context, t *table.Table, clause string, args []any, take func(row []uint64) error) error {
	expressions := t.WordsSQL()
	row := make([]uint64, len(expressions))
	dest := make([]any, len(row))
	for i := range row {
		dest[i] = &row[i]
	}
	query := fmt.Sprintf("SELECT toUInt64(%s) FROM %s %s", strings.Join(expressions, "), toUInt64("), t.Name, clause)
	return d.each(ctx, query, args, dest, func() error { return take(row) })
}

// firstBundle is the lowest bundle that the tables know, 0 without any.
func (d *database) firstBundle(ctx context.Context) (uint32, error) {
	n, err := d.number(ctx, `SELECT toUInt64(min(least)) FROM (
		SELECT min(mc_seqno) AS least, count() AS found FROM seals WHERE mc_seqno > 0
		UNION ALL SELECT min(mc_seqno), count() FROM blocks WHERE mc_seqno > 0) WHERE found > 0`)
	return uint32(n), err
}

// streaming makes a query hand out rows in the order of the table, in small
// blocks, instead of sorting all of them.
const streaming = "SETTINGS optimize_read_in_order = 1, max_threads = 1, max_block_size = 2048"

// blockRow is a row of blocks.
type blockRow struct {
	blockKey
	columns uint64 // hash of all but the record
	raw     []byte
	record  *record.Block // nil when raw is no such record
	block   *table.Block  // that the record makes
}

// eachBlock hands out the blocks of a range of bundles in the order of the key.
func (d *database) eachBlock(ctx context.Context, low, high uint32, take func(*blockRow) error) error {
	var r blockRow
	query := fmt.Sprintf(`SELECT mc_seqno, workchain, shard, seqno, %s, record FROM blocks
		WHERE mc_seqno BETWEEN ? AND ? ORDER BY mc_seqno, workchain, shard, seqno %s`, table.Blocks.HashSQL(), streaming)
	return d.each(ctx, query, []any{low, high}, []any{&r.mcSeqno, &r.workchain, &r.shard, &r.seqno, &r.columns, &r.raw}, func() error {
		row := r
		row.record = &record.Block{}
		err := row.record.UnmarshalVT(row.raw)
		if err == nil {
			row.block, err = table.NewBlock(row.record, nil)
		}
		if err != nil {
			row.record = nil
		}
		return take(&row)
	})
}

// transactionRow is a row of transactions.
type transactionRow struct {
	storedRow
	record *record.Transaction // nil when raw is no such record
	// transaction is the row that the record makes.
	transaction table.Transaction
}

func (r *transactionRow) key() string { return transactionKey(r.workchain, r.account, r.lt) }

func transactionKey(workchain int32, account string, lt uint64) string {
	var prefix [8]byte
	copy(prefix[:], account)
	return fmt.Sprintf("workchain = %d AND account_prefix = 0x%x AND lt = %d AND account = unhex('%x')", workchain, prefix, lt, account)
}

func (r *transactionRow) same(other *transactionRow) bool {
	return r.lt == other.lt && r.prefix == other.prefix && r.workchain == other.workchain && r.account == other.account
}

// slice is a part of the transactions, by account.
type slice struct {
	workchain int32
	low, high uint64 // account_prefix
}

// eachTransaction hands out the transactions of a slice in a range of bundles,
// in the order of the key.
func (d *database) eachTransaction(ctx context.Context, s *slice, low, high uint32, take func(*transactionRow) error) error {
	where, args := "mc_seqno BETWEEN ? AND ?", []any{low, high}
	if s != nil {
		where += " AND workchain = ? AND account_prefix BETWEEN ? AND ?"
		args = append(args, s.workchain, s.low, s.high)
	}
	return d.eachStored(ctx, &table.Transactions.Table, "mc_seqno", where, args, func(r storedRow) error {
		row := &transactionRow{storedRow: r, record: &record.Transaction{}}
		if stored.Unpack(row.record, row.raw) != nil || row.transaction.Set(row.record) != nil {
			row.record = nil
		}
		return take(row)
	})
}

// eachDistinct is eachTransaction without rows that repeat the one before.
func (d *database) eachDistinct(ctx context.Context, low, high uint32, take func(*transactionRow) error) error {
	var last *transactionRow
	return d.eachTransaction(ctx, nil, low, high, func(r *transactionRow) error {
		if last != nil && r.same(last) && bytes.Equal(r.raw, last.raw) {
			return nil
		}
		last = r
		return take(r)
	})
}
