package worker

import (
	"context"
	"fmt"
	"time"

	"tonscribe/decode"
	"tonscribe/schema"
	"tonscribe/schema/record"
)

// job is one block of a bundle on its way through the decoders.
type job struct {
	ctx                   context.Context
	id                    *record.BlockId
	boc                   []byte
	mcSeqno               uint32
	partition, partitions int

	done         chan struct{}
	header       *record.Block // nil when another partition has it
	transactions []*record.Transaction
	// sizes of the transactions, encoded, with what the block alone tells of
	// states: the cuts between records must not depend on what a store has.
	sizes   []int
	changes []*decode.Change
	// received are cells of messages, where an account may have kept a part.
	received []decode.CellRecord
	begins   *record.BlockId // the zerostate that the block follows
	config   []byte          // of the chain; nil when another partition has it
	err      error
}

// decode takes blocks of all partitions, the oldest first.
func (c *Component) decode(ctx context.Context) {
	var decoder decode.Decoder
	for {
		select {
		case <-ctx.Done():
			return
		case j := <-c.jobs:
			began := time.Now()
			j.run(&decoder)
			c.metrics.decoding.Observe(time.Since(began).Seconds())
		}
	}
}

func (j *job) run(decoder *decode.Decoder) {
	defer close(j.done)
	if j.ctx.Err() != nil {
		j.err = context.Cause(j.ctx)
		return
	}
	result, err := decoder.Known(j.id, j.boc, j.mcSeqno)
	j.boc = nil
	if err != nil {
		j.err = &undecodable{j.id, j.mcSeqno, err}
		return
	}
	if first, _ := schema.PartitionsOf(j.id.Shard, j.partitions); first == j.partition {
		j.header, j.config = result.Block, result.Config
	}
	j.begins = begins(result.Block)
	j.received = result.MessageCells
	for _, c := range result.Changes {
		if schema.PartitionOf(schema.AccountID(c.Account), j.partitions) == j.partition {
			j.changes = append(j.changes, c)
		}
	}
	for _, t := range result.Transactions {
		if schema.PartitionOf(schema.AccountID(t.Account), j.partitions) == j.partition {
			j.transactions = append(j.transactions, t)
			j.sizes = append(j.sizes, t.SizeVT())
		}
	}
}

// blockName is the form (workchain,shard,seqno) in which TON tools name a block.
func blockName(id *record.BlockId) string {
	return fmt.Sprintf("(%d,%016x,%d)", id.GetWorkchain(), id.GetShard(), id.GetSeqno())
}

// undecodable is a block that ingest let pass and decode does not understand.
type undecodable struct {
	id      *record.BlockId
	mcSeqno uint32
	reason  error
}

func (u *undecodable) Error() string {
	return fmt.Sprintf("block %s of bundle %d does not decode: %v", blockName(u.id), u.mcSeqno, u.reason)
}

func (u *undecodable) Unwrap() error { return u.reason }
