package parts

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	driver "github.com/ClickHouse/clickhouse-go/v2"

	"tonscribe/internal/clickhouse"
	"tonscribe/schema"
)

// startBundles is of how many of the newest bundles rows are counted at a start.
const startBundles = 20_000

// promised are the tables of which seals promise rows. A path of an index has one
// for each.
func promised() []clickhouse.Sealed {
	list := []clickhouse.Sealed{
		{Topic: schema.Headers.Name, Table: "blocks", Rows: "count()"},
		{Topic: schema.Transactions.Name, Table: "transactions", Rows: "count()"},
	}
	for _, path := range []string{"hash", "mc_seqno", "lt", "utime"} {
		list = append(list, clickhouse.Sealed{Topic: schema.Transactions.Name, Table: "transactions_index", Rows: "count()", Where: "path = '" + path + "'"})
	}
	for _, path := range []string{"id", "hash", "utime", "lt"} {
		list = append(list, clickhouse.Sealed{Topic: schema.Headers.Name, Table: "blocks_index", Rows: "count()", Where: "path = '" + path + "'"})
	}
	return list
}

// sealedQuery finds bundles that have fewer rows than their seals promise: the
// first one, and how many.
func sealedQuery(s clickhouse.Sealed, low, high uint32) string {
	return "SELECT toUInt32(min(mc_seqno)), count() FROM (SELECT mc_seqno FROM (" + s.Query(low, high) + ") GROUP BY mc_seqno HAVING sum(sealed) > sum(present))"
}

// unsealedQuery finds bundles that have fewer seals than another one.
const unsealedQuery = `SELECT toUInt32(minIf(mc_seqno, n < most)), countIf(n < most) FROM
	(SELECT mc_seqno, n, max(n) OVER () AS most FROM (SELECT mc_seqno, uniqExact(topic, partition) AS n FROM seals WHERE mc_seqno BETWEEN %[1]d AND %[2]d GROUP BY mc_seqno))`

// chainQuery finds bundles of which no seal is there, but one that follows them: the first
// one, and how many follow.
const chainQuery = `SELECT toUInt32(minIf(before + 1, prev > before)), countIf(prev > before) FROM
	(SELECT mc_seqno, prev, lagInFrame(mc_seqno, 1, mc_seqno) OVER (ORDER BY mc_seqno) AS before FROM
		(SELECT mc_seqno, max(prev_mc_seqno) AS prev FROM seals WHERE mc_seqno BETWEEN %[1]d AND %[2]d GROUP BY mc_seqno))`

// messagesQuery finds bundles that have not the same number of messages by lt and
// by time, of which each has one row.
const messagesQuery = `SELECT toUInt32(minIf(mc_seqno, by_lt != by_time)), countIf(by_lt != by_time) FROM
	(SELECT mc_seqno, countIf(path = 'lt') AS by_lt, countIf(path = 'utime') AS by_time FROM messages_index
		WHERE path IN ('lt', 'utime') AND mc_seqno BETWEEN %[1]d AND %[2]d GROUP BY mc_seqno)`

// accountsQuery finds accounts whose newest row is older than their last
// transaction, or missing: the first bundle of those transactions.
const accountsQuery = `SELECT toUInt32(min(a.newest)), count() FROM
	(SELECT workchain, account_prefix, max(mc_seqno) AS newest FROM transactions_index WHERE path = 'mc_seqno' AND key BETWEEN %[1]d AND %[2]d GROUP BY workchain, account_prefix) AS a
	LEFT JOIN (SELECT workchain, account_prefix, max(mc_seqno) AS kept FROM accounts WHERE mc_seqno >= %[1]d GROUP BY workchain, account_prefix) AS b
	ON a.workchain = b.workchain AND a.account_prefix = b.account_prefix
	WHERE b.kept < a.newest`

// rankedQuery finds accounts of accounts that accounts_by_balance does not have
// as their newest row says, of those that have none of a bundle that is still coming.
const rankedQuery = `SELECT toUInt32(min(a.bundle)), count() FROM
	(SELECT workchain, account_prefix, max(mc_seqno) AS bundle, max(version) AS newest FROM accounts GROUP BY workchain, account_prefix HAVING bundle <= %[2]d) AS a
	LEFT JOIN (SELECT workchain, account_prefix, max(version) AS kept FROM accounts_by_balance GROUP BY workchain, account_prefix) AS b
	ON a.workchain = b.workchain AND a.account_prefix = b.account_prefix
	WHERE b.kept < a.newest`

// Count compares what bundles promise with what tables have, of the newest
// bundles up to the watermark, or of all with 0. It finds rows that are missing,
// not those that are wrong or too many.
func (w *Watch) Count(ctx context.Context, newest uint32) ([]Damage, error) {
	watermark, err := clickhouse.ReadWatermark(ctx, w.options.ClickHouse.Conn())
	if errors.Is(err, clickhouse.ErrNoWatermark) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	// A batch's seals are written after its progress, which a batch cut off in between has
	// alone until it is repeated; a part of seals that is lost is seen by its cover.
	sealed, err := clickhouse.ReadSealed(ctx, w.options.ClickHouse.Conn())
	if err != nil {
		return nil, err
	}
	low, high := uint32(1), min(watermark.MCSeqno, sealed)
	if newest > 0 && high > newest {
		low = high - newest
	}
	var list []Damage
	const fewer = "bundles have fewer rows than they promise"
	for _, s := range promised() {
		if list, err = w.missing(ctx, list, s.Table, fewer, sealedQuery(s, low, high)); err != nil {
			return nil, err
		}
	}
	for table, query := range map[string]string{"seals": unsealedQuery, "messages_index": messagesQuery} {
		if list, err = w.missing(ctx, list, table, fewer, fmt.Sprintf(query, low, high)); err != nil {
			return nil, err
		}
	}
	list, err = w.missing(ctx, list, "accounts", "accounts have no row, or an older one than their last transaction", fmt.Sprintf(accountsQuery, low, high))
	if err == nil && newest == 0 {
		// An index that went on with a later bundle answers all the same.
		list, err = w.missing(ctx, list, "seals", "bundles follow one that is not there", fmt.Sprintf(chainQuery, low, high))
	}
	if err == nil && newest == 0 {
		list, err = w.missing(ctx, list, "accounts_by_balance", "accounts are not ranked by their newest state", fmt.Sprintf(rankedQuery, low, high))
	}
	return list, err
}

func (w *Watch) missing(ctx context.Context, list []Damage, table, what, query string) ([]Damage, error) {
	with := driver.Context(ctx, driver.WithSettings(driver.Settings{
		"max_threads": 1, "priority": 5, "max_execution_time": 0, "max_bytes_before_external_group_by": 128 << 20, "join_algorithm": "grace_hash,hash",
	}))
	var from uint32
	var n uint64
	if err := w.options.ClickHouse.Conn().QueryRow(with, query).Scan(&from, &n); err != nil {
		return list, fmt.Errorf("count rows of %s: %w", table, err)
	}
	if n == 0 {
		return list, nil
	}
	reason := fmt.Sprintf("%d %s, first bundle %d", n, what, from)
	for i, d := range list {
		if d.Table == table && strings.Contains(d.Reason, what) {
			list[i].From = min(d.From, from)
			return list, nil
		}
	}
	return append(list, Damage{Table: table, Reason: reason, From: from}), nil
}

// count compares once, at the start.
func (w *Watch) count(ctx context.Context) {
	began := time.Now()
	list, err := w.Count(ctx, startBundles)
	if err != nil {
		if ctx.Err() == nil {
			w.options.Report.Log.Warn().Err(err).Msg("the rows of the newest bundles could not be counted")
		}
		return
	}
	w.options.Report.Log.Debug().Dur("took", time.Since(began)).Int("damages", len(list)).Msg("the rows of the newest bundles were counted")
	w.mutex.Lock()
	defer w.mutex.Unlock()
	for _, d := range list {
		w.ledger.note(d)
	}
	w.publish([]part{})
}
