package synthetic

import (
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

func (b *Bundle) transactions(partition, partitions int) []*record.Record {
	var out []*record.Record
	batch, size, rows := &record.TransactionBatch{}, 0, 0
	flush := func() {
		if len(batch.Transactions) > 0 {
			out = append(out, &record.Record{Content: &record.Record_Transactions{Transactions: batch}})
		}
		batch, size = &record.TransactionBatch{}, 0
	}
	for _, tx := range b.Transactions {
		if schema.PartitionOf(schema.AccountID(tx.Account), partitions) != partition {
			continue
		}
		batch.Transactions = append(batch.Transactions, tx)
		rows++
		if size += tx.SizeVT(); size >= batchBytes {
			flush()
		}
	}
	flush()
	return b.seal(out, rows)
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
