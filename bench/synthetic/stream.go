package synthetic

import (
	"slices"

	"tonscribe/schema"
	"tonscribe/schema/record"
)

// batchBytes is how large a batch of transactions gets, about.
const batchBytes = 256 << 10

// Records are the bundle as the records that decoding publishes to a partition
// of the topics with tables, seals included.
func (b *Bundle) Records(partition, partitions int) (headers, transactions, accounts []*record.Record) {
	return b.headers(partition, partitions), b.transactions(partition, partitions), b.accounts(partition, partitions)
}

// Nothing is the bundle in a partition of a topic that has no rows of it.
func (b *Bundle) Nothing() []*record.Record { return b.seal(nil, 0) }

func (b *Bundle) headers(partition, partitions int) []*record.Record {
	batch := &record.BlockBatch{}
	for _, block := range b.Blocks {
		if first, _ := schema.PartitionsOf(block.Id.Shard, partitions); first == partition {
			batch.Blocks = append(batch.Blocks, block)
		}
	}
	var out []*record.Record
	if len(batch.Blocks) > 0 {
		out = append(out, &record.Record{Content: &record.Record_Blocks{Blocks: batch}})
	}
	return b.seal(out, len(batch.Blocks))
}

func (b *Bundle) transactions(partition, partitions int) (out []*record.Record) {
	list := within(b.Transactions, (*record.Transaction).GetAccount, partition, partitions)
	batch, size := &record.TransactionBatch{}, 0
	for i, tx := range list {
		batch.Transactions = append(batch.Transactions, tx)
		if size += tx.SizeVT(); size >= batchBytes || i == len(list)-1 {
			out = append(out, &record.Record{Content: &record.Record_Transactions{Transactions: batch}})
			batch, size = &record.TransactionBatch{}, 0
		}
	}
	return b.seal(out, len(list))
}

func (b *Bundle) accounts(partition, partitions int) (out []*record.Record) {
	const perRecord = 32
	list := within(b.Accounts, (*record.Account).GetAccount, partition, partitions)
	first := &record.AccountBatch{
		Accounts: list[:min(perRecord, len(list))], Late: within(b.Late, (*record.Account).GetAccount, partition, partitions),
	}
	if partition == 0 {
		first.Codes = b.Codes
	}
	out = append(out, &record.Record{Content: &record.Record_Accounts{Accounts: first}})
	for chunk := range slices.Chunk(list[len(first.Accounts):], perRecord) {
		out = append(out, &record.Record{Content: &record.Record_Accounts{Accounts: &record.AccountBatch{Accounts: chunk}}})
	}
	return b.seal(out, len(list))
}

// within is what of a list belongs to a partition, by an account.
func within[T any](list []T, account func(T) []byte, partition, partitions int) (out []T) {
	for _, x := range list {
		if schema.PartitionOf(schema.AccountID(account(x)), partitions) == partition {
			out = append(out, x)
		}
	}
	return out
}

// seal numbers the records of the bundle and ends it.
func (b *Bundle) seal(records []*record.Record, rows int) []*record.Record {
	seal := &record.Seal{Rows: uint64(rows), Master: b.Blocks[len(b.Blocks)-1].Id, GenUtime: b.Utime}
	records = append(records, &record.Record{Content: &record.Record_Seal{Seal: seal}})
	for i, r := range records {
		r.McSeqno, r.Index = b.Seqno, uint32(i)
		if !b.First {
			r.PrevMcSeqno = b.Seqno - 1 - b.Skipped
		}
	}
	return records
}
