package sink

import (
	"strconv"
	"testing"

	driver "github.com/ClickHouse/clickhouse-go/v2"

	"tonscribe/bench/synthetic"
	"tonscribe/internal/clickhouse"
	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/schema/table"
)

// fill inserts the rows of a synthetic chain in several parts, without a log.
func fill(t testing.TB, tables *clickhouse.Client, transactions int) (sample []*record.Transaction, blocks []*record.Block) {
	t.Helper()
	rows := synthetic.NewRows(synthetic.RowOptions{Transactions: transactions, Seed: 11})
	for part := range 4 {
		headers, contents, states := newFeed(t, DefaultConfiguration(), schema.Headers), newFeed(t, DefaultConfiguration(), schema.Transactions), newFeed(t, DefaultConfiguration(), schema.Accounts)
		for rows.Made() < transactions*(part+1)/4 {
			b := rows.Next()
			h, c, a := b.Records(0, 1)
			addAll(t, states, a)
			addAll(t, headers, h)
			addAll(t, contents, c)
			sample, blocks = append(sample, b.Transactions[len(b.Transactions)/2]), append(blocks, b.Blocks[0])
		}
		for _, f := range []*table.Feed{headers, contents, states} {
			insertFeed(t, tables, f, strconv.Itoa(part))
		}
	}
	return sample, blocks
}

// newFeed makes rows of a topic's records.
func newFeed(t testing.TB, configuration Configuration, topic schema.Topic) *table.Feed {
	t.Helper()
	f, err := configuration.feedOf(topic.Name)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// insertFeed inserts the rows that were made.
func insertFeed(t testing.TB, tables *clickhouse.Client, f *table.Feed, token string) {
	t.Helper()
	for _, rows := range f.Buffers() {
		if rows.Rows() > 0 {
			if err := tables.Insert(t.Context(), insertOf(rows, token)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// pairs reads a statement of two texts, of which the first ones differ.
func pairs(t testing.TB, tables *clickhouse.Client, statement string) map[string]string {
	t.Helper()
	found := map[string]string{}
	var key, value string
	if err := clickhouse.Each(t.Context(), tables.Conn(), statement, nil, func() { found[key] = value }, &key, &value); err != nil {
		t.Fatal(statement, err)
	}
	return found
}

func addAll(t testing.TB, f *table.Feed, records []*record.Record) {
	t.Helper()
	for _, r := range records {
		if r.GetSeal() != nil {
			continue
		}
		raw, err := r.MarshalVT()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Add(r, raw); err != nil {
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
	workchain, prefix := schema.Workchain(tx.Account), schema.Prefix(schema.AccountID(tx.Account))
	toWorkchain, toPrefix := schema.Workchain(out.Destination), schema.Prefix(schema.AccountID(out.Destination))
	const page, index = "LIMIT 20", 4 * 2 * 1024
	const records = 4 * 2 * 256
	for name, path := range map[string]struct {
		most  uint64
		query string
		args  []any
	}{
		"account, newest":    {records, `lt FROM transactions WHERE workchain = ? AND account_prefix = ? ORDER BY workchain DESC, account_prefix DESC, lt DESC ` + page, []any{workchain, prefix}},
		"account, one lt":    {records, `lt FROM transactions WHERE (workchain, account_prefix, lt) IN (SELECT ?, ?, ?)`, []any{workchain, prefix, tx.Lt}},
		"hash":               {index, `lt FROM transactions_index WHERE path = 'hash' AND key = ?`, []any{schema.Prefix(tx.Hash)}},
		"bundle":             {index, `lt FROM transactions_index WHERE path = 'mc_seqno' AND key = ? ORDER BY path, key, lt ` + page, []any{tx.McSeqno}},
		"block":              {index, `lt FROM transactions_index WHERE path = 'mc_seqno' AND key = ? AND workchain = ? AND shard = ? AND block_seqno = ?`, []any{tx.McSeqno, workchain, tx.Block.Shard, tx.Block.Seqno}},
		"lt":                 {index, `lt FROM transactions_index WHERE path = 'lt' AND key = 0 AND lt = ?`, []any{tx.Lt}},
		"newest":             {index, `lt FROM transactions_index WHERE path = 'lt' ORDER BY path DESC, key DESC, lt DESC ` + page, nil},
		"lt range":           {index, `lt FROM transactions_index WHERE path = 'lt' AND key = 0 AND lt BETWEEN ? AND ? ORDER BY path, key, lt ` + page, []any{tx.Lt, tx.Lt + 1_000_000}},
		"time range":         {index, `lt FROM transactions_index WHERE path = 'utime' AND key BETWEEN ? AND ? ORDER BY path DESC, key DESC, lt DESC ` + page, []any{tx.Now - 60, tx.Now}},
		"message hash":       {index, `lt FROM messages_index WHERE path = 'hash' AND key = ?`, []any{schema.Prefix(out.Hash)}},
		"body":               {index, `lt FROM messages_index WHERE path = 'body' AND key = ? ORDER BY path DESC, key DESC, created_lt DESC ` + page, []any{schema.Prefix(out.BodyHash)}},
		"source":             {index, `lt FROM messages_by_account WHERE side = 'source' AND near_workchain = ? AND near_prefix = ? ORDER BY side DESC, near_workchain DESC, near_prefix DESC, created_lt DESC ` + page, []any{workchain, prefix}},
		"destination":        {index, `lt FROM messages_by_account WHERE side = 'destination' AND near_workchain = ? AND near_prefix = ? ORDER BY side DESC, near_workchain DESC, near_prefix DESC, created_lt DESC ` + page, []any{toWorkchain, toPrefix}},
		"opcode":             {index, `lt FROM messages_index WHERE path = 'opcode' AND key = ? ORDER BY path DESC, key DESC, created_lt DESC ` + page, []any{*out.Opcode}},
		"message lt":         {index, `lt FROM messages_index WHERE path = 'lt' AND key = 0 AND created_lt = ?`, []any{out.CreatedLt}},
		"messages, newest":   {index, `lt FROM messages_index WHERE path = 'lt' AND key = 0 ORDER BY path DESC, key DESC, created_lt DESC, hash_prefix DESC ` + page, nil},
		"external messages":  {index, `lt FROM messages_index WHERE path = 'lt' AND key = 0 AND created_lt = 0 ORDER BY path DESC, key DESC, created_lt DESC, hash_prefix DESC ` + page, nil},
		"message time":       {index, `lt FROM messages_index WHERE path = 'utime' AND key BETWEEN ? AND ? ORDER BY path DESC, key DESC ` + page, []any{uint64(out.CreatedAt-60) << 32, uint64(out.CreatedAt+1) << 32}},
		"blocks of a bundle": {records, `seqno FROM blocks WHERE mc_seqno = ?`, []any{b.McSeqno}},
		"block by id":        {index, `mc_seqno FROM blocks_index WHERE path = 'id' AND key = 0 AND workchain = ? AND shard = ? AND seqno = ?`, []any{b.Id.Workchain, b.Id.Shard, b.Id.Seqno}},
		"newest of a shard":  {index, `mc_seqno FROM blocks_index WHERE path = 'id' AND key = 0 AND workchain = ? AND shard = ? ORDER BY path DESC, key DESC, workchain DESC, shard DESC, seqno DESC LIMIT 1`, []any{b.Id.Workchain, b.Id.Shard}},
		"block by file hash": {index, `mc_seqno FROM blocks_index WHERE path = 'hash' AND key = ?`, []any{schema.Prefix(b.Id.FileHash)}},
		"blocks by time":     {index, `mc_seqno FROM blocks_index WHERE path = 'utime' AND key <= ? ORDER BY path DESC, key DESC ` + page, []any{b.GenUtime}},
		"blocks by lt":       {index, `mc_seqno FROM blocks_index WHERE path = 'lt' AND key <= ? ORDER BY path DESC, key DESC ` + page, []any{b.StartLt}},
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
