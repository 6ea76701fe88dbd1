package verify

import (
	"context"

	"tonscribe/internal/clickhouse"
	"tonscribe/schema"
	"tonscribe/schema/table"
)

// compareTallies compares what blocks and seals promise of transactions with the
// transactions themselves.
func (v *verifier) compareTallies(ctx context.Context) error {
	for _, s := range []struct {
		subject     subject
		check, name string
		locate      func(ctx context.Context, low, high uint32) error
	}{
		{blockTransactions, CheckBlocks, table.Transactions.Name, v.locateBlock},
		{sealedTransactions, CheckSeals, "seals", v.locateSeal(schema.Transactions, "uniqExact(workchain, account, lt)")},
		{sealedAccounts, CheckSeals, "seals", v.locateSeal(schema.Accounts, "uniqExact(workchain, account)")},
	} {
		n := firstDifferent(v.chainSide.cells[s.subject], v.rowSide.cells[s.subject])
		if n < 0 {
			continue
		}
		low, high := v.chainSide.bucket(n)
		err := v.mustName(s.check, s.name, low, high, func() error { return s.locate(ctx, low, high) })
		if err != nil {
			return err
		}
	}
	return nil
}

// locateBlock finds the blocks of a range whose transactions are not as many as
// they count.
func (v *verifier) locateBlock(ctx context.Context, low, high uint32) error {
	var p blockKey
	var counted, there uint64
	return v.each(ctx, `SELECT mc_seqno, workchain, shard, number, max(counted) AS should, max(there) AS present FROM (
			SELECT mc_seqno, workchain, shard, seqno AS number, toUInt64(tx_count) AS counted, toUInt64(0) AS there
				FROM blocks WHERE mc_seqno BETWEEN ? AND ?
			UNION ALL SELECT mc_seqno, workchain, shard, block_seqno, toUInt64(0), uniqExact(account, lt)
				FROM transactions WHERE mc_seqno BETWEEN ? AND ? GROUP BY mc_seqno, workchain, shard, block_seqno)
		GROUP BY mc_seqno, workchain, shard, number HAVING should != present ORDER BY mc_seqno, workchain, shard, number`,
		[]any{low, high, low, high}, []any{&p.mcSeqno, &p.workchain, &p.shard, &p.seqno, &counted, &there}, func() error {
			v.findings.differs(CheckBlocks, "transactions", p.where("mc_seqno", "block_seqno"), "%d transactions of the block, but tx_count in table blocks is %d", there, counted)
			return nil
		})
}

// locateSeal finds the partitions of a range whose seals of a topic promise
// another number than the transactions make.
func (v *verifier) locateSeal(topic schema.Topic, count string) func(ctx context.Context, low, high uint32) error {
	return func(ctx context.Context, low, high uint32) error {
		s := sealRow{topic: topic.Name}
		var there uint64
		q := clickhouse.Sealed{Topic: topic.Name, Table: table.Transactions.Name, Rows: count, Partitions: v.partitions}.Query(low, high)
		return v.each(ctx, "SELECT mc_seqno, part, sealed, present FROM ("+q+") WHERE sealed != present ORDER BY mc_seqno, part",
			nil, []any{&s.mcSeqno, &s.partition, &s.rows, &there}, func() error {
				v.findings.differs(CheckSeals, "seals", s.key(), "rows is %d, but the table transactions makes %d of the bundle and partition", s.rows, there)
				return nil
			})
	}
}
