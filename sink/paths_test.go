package sink

import (
	"strconv"
	"testing"

	driver "github.com/ClickHouse/clickhouse-go/v2"

	"tonscribe/internal/clickhouse"
	"tonscribe/internal/synthetic"
	"tonscribe/schema"
	"tonscribe/schema/record"
)

// fill inserts the rows of a synthetic chain in several parts, without a log.
func fill(t testing.TB, tables *clickhouse.Client, transactions int) (sample []*record.Transaction, blocks []*record.Block) {
	t.Helper()
	rows := synthetic.NewRows(synthetic.RowOptions{Transactions: transactions, Seed: 11})
	for part := range 4 {
		headers, _ := feedOf(schema.Headers.Name)
		contents, _ := feedOf(schema.Transactions.Name)
		states, _ := feedOf(schema.Accounts.Name)
		for rows.Made() < transactions*(part+1)/4 {
			b := rows.Next()
			h, c, a := b.Records(0, 1)
			addAll(t, states, a)
			addAll(t, headers, h)
			addAll(t, contents, c)
			sample, blocks = append(sample, b.Transactions[len(b.Transactions)/2]), append(blocks, b.Blocks[0])
		}
		for _, f := range []feed{headers, contents, states} {
			for _, p := range f.pages() {
				if err := tables.Insert(t.Context(), p.insert(strconv.Itoa(part))); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	return sample, blocks
}

func addAll(t testing.TB, f feed, records []*record.Record) {
	t.Helper()
	for _, r := range records {
		if r.GetSeal() != nil {
			continue
		}
		raw, err := r.MarshalVT()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.add(r, raw); err != nil {
			t.Fatal(err)
		}
	}
}

// Every way in which the API asks is a range of a primary key: what is read does
// not grow with the tables. A part costs up to two granules of 1024 rows, there
// are at most four parts.
func TestEveryPathIsARangeOfAPrimaryKey(t *testing.T) {
	tables := newTables(t)
	sample, blocks := fill(t, tables, 60_000)
	var tx *record.Transaction
	for _, tx = range sample[len(sample)/2:] {
		if len(tx.OutMsgs) > 0 && tx.OutMsgs[0].Opcode != nil && tx.InMsg != nil && len(tx.InMsg.Source) > 0 {
			break
		}
	}
	out, b := tx.OutMsgs[0], blocks[len(blocks)/2]
	workchain, prefix := address(tx.Account)
	toWorkchain, toPrefix := address(out.Destination)
	const page, index = "LIMIT 20", 4 * 2 * 1024
	const records = 4 * 2 * 256
	for name, path := range map[string]struct {
		most  uint64
		query string
		args  []any
	}{
		"account, newest":    {records, `lt FROM transactions WHERE workchain = ? AND account_prefix = ? ORDER BY workchain DESC, account_prefix DESC, lt DESC ` + page, []any{workchain, prefix}},
		"account, one lt":    {records, `lt FROM transactions WHERE (workchain, account_prefix, lt) IN (SELECT ?, ?, ?)`, []any{workchain, prefix, tx.Lt}},
		"hash":               {index, `lt FROM transactions_by_hash WHERE hash_prefix = ?`, []any{schema.Prefix(tx.Hash)}},
		"bundle":             {index, `lt FROM transactions_by_mc_seqno WHERE mc_seqno = ? ORDER BY mc_seqno, lt ` + page, []any{tx.McSeqno}},
		"block":              {index, `lt FROM transactions_by_mc_seqno WHERE mc_seqno = ? AND workchain = ? AND shard = ? AND block_seqno = ?`, []any{tx.McSeqno, workchain, tx.Block.Shard, tx.Block.Seqno}},
		"lt":                 {index, `lt FROM transactions_by_lt WHERE lt = ?`, []any{tx.Lt}},
		"newest":             {index, `lt FROM transactions_by_lt ORDER BY lt DESC ` + page, nil},
		"lt range":           {index, `lt FROM transactions_by_lt WHERE lt BETWEEN ? AND ? ORDER BY lt ` + page, []any{tx.Lt, tx.Lt + 1_000_000}},
		"time range":         {index, `lt FROM transactions_by_utime WHERE now BETWEEN ? AND ? ORDER BY now DESC, lt DESC ` + page, []any{tx.Now - 60, tx.Now}},
		"message hash":       {index, `lt FROM messages_by_hash WHERE hash_prefix = ?`, []any{schema.Prefix(out.Hash)}},
		"body":               {index, `lt FROM messages_by_body WHERE body_prefix = ? ORDER BY body_prefix, created_lt DESC ` + page, []any{schema.Prefix(out.BodyHash)}},
		"source":             {index, `lt FROM messages_by_source WHERE source_workchain = ? AND source_prefix = ? ORDER BY source_workchain DESC, source_prefix DESC, created_lt DESC ` + page, []any{workchain, prefix}},
		"destination":        {index, `lt FROM messages_by_destination WHERE destination_workchain = ? AND destination_prefix = ? ORDER BY destination_workchain DESC, destination_prefix DESC, created_lt DESC ` + page, []any{toWorkchain, toPrefix}},
		"opcode":             {index, `lt FROM messages_by_opcode WHERE opcode = ? ORDER BY opcode DESC, created_lt DESC ` + page, []any{*out.Opcode}},
		"message lt":         {index, `lt FROM messages_by_lt WHERE created_lt = ?`, []any{out.CreatedLt}},
		"messages, newest":   {index, `lt FROM messages_by_lt ORDER BY created_lt DESC, hash_prefix DESC ` + page, nil},
		"external messages":  {index, `lt FROM messages_by_lt WHERE created_lt = 0 ORDER BY created_lt DESC, hash_prefix DESC ` + page, nil},
		"message time":       {index, `lt FROM messages_by_utime WHERE created_at BETWEEN ? AND ? ORDER BY created_at DESC, hash_prefix DESC ` + page, []any{out.CreatedAt - 60, out.CreatedAt}},
		"blocks of a bundle": {records, `seqno FROM blocks WHERE mc_seqno = ?`, []any{b.McSeqno}},
		"block by id":        {index, `mc_seqno FROM blocks_by_id WHERE workchain = ? AND shard = ? AND seqno = ?`, []any{b.Id.Workchain, b.Id.Shard, b.Id.Seqno}},
		"newest of a shard":  {index, `mc_seqno FROM blocks_by_id WHERE workchain = ? AND shard = ? ORDER BY workchain DESC, shard DESC, seqno DESC LIMIT 1`, []any{b.Id.Workchain, b.Id.Shard}},
		"block by file hash": {index, `mc_seqno FROM blocks_by_hash WHERE hash_prefix = ?`, []any{schema.Prefix(b.Id.FileHash)}},
		"blocks by time":     {index, `mc_seqno FROM blocks_by_utime WHERE gen_utime <= ? ORDER BY gen_utime DESC ` + page, []any{b.GenUtime}},
		"blocks by lt":       {index, `mc_seqno FROM blocks_by_lt WHERE start_lt <= ? ORDER BY start_lt DESC ` + page, []any{b.StartLt}},
	} {
		var read, found uint64
		ctx := driver.Context(t.Context(), driver.WithProgress(func(p *driver.Progress) { read += p.Rows }), driver.WithSettings(driver.Settings{"max_threads": 1}))
		rows, err := tables.Conn().Query(ctx, "SELECT "+path.query, path.args...)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for rows.Next() {
			found++
		}
		if err := rows.Err(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if read > path.most || found == 0 {
			t.Errorf("%s: read %d rows for %d", name, read, found)
		}
		t.Logf("%-22s read %5d rows for %d", name, read, found)
	}
}
