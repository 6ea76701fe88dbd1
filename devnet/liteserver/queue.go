package liteserver

import (
	"context"
	"errors"

	"github.com/xssnick/tonutils-go/tl"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/ton"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/history"
	toncell "tonscribe/ton/cell"
)

const (
	// externalQueueLimit is the queue length from which the node takes no more
	// external messages.
	externalQueueLimit = 8000
	// maxCounted bounds the counting of a queue that does not know its own size.
	maxCounted = 1 << 20

	shardGiven     = 1 << 0
	queueWantProof = 1 << 0
	wantMessages   = 1 << 2
)

func (c *Component) outMsgQueueSizes(ctx context.Context, q ton.GetOutMsgQueueSizes) (tl.Serializable, error) {
	last := c.dependencies.History.Last()
	if last == 0 {
		return nil, refuse(codeNotReady, "no blocks yet")
	}
	commit, err := c.dependencies.History.Commit(last)
	if err != nil {
		return nil, err
	}
	answer := ton.OutMsgQueueSizes{ExtMsgQueueSizeLimit: externalQueueLimit, Shards: []ton.OutMsgQueueSize{}}
	err = c.withHeavy(ctx, func() error {
		for _, id := range append([]*ton.BlockIDExt{commit.Master}, commit.Tops...) {
			if q.Mode&shardGiven != 0 && (id.Workchain != q.WC || !related(uint64(id.Shard), uint64(q.Shard))) {
				continue
			}
			state, err := c.dependencies.History.State(id)
			if err != nil {
				return err
			}
			size, err := visitQueueSize(state.MustBeginParse())
			if err != nil {
				return err
			}
			answer.Shards = append(answer.Shards, ton.OutMsgQueueSize{ID: id, Size: int32(size)})
		}
		return nil
	})
	return answer, err
}

// related reports whether one shard holds the other.
func related(a, b uint64) bool {
	return tlb.ShardID(a).IsAncestor(tlb.ShardID(b)) || tlb.ShardID(b).IsAncestor(tlb.ShardID(a))
}

func (c *Component) blockOutMsgQueueSize(ctx context.Context, q ton.GetBlockOutMsgQueueSize) (tl.Serializable, error) {
	id, err := c.reference(q.ID)
	if err != nil {
		return nil, err
	}
	if id.SeqNo == 0 {
		return nil, refuse(codeFatal, "%s is no block", history.Name(id))
	}
	answer := ton.BlockOutMsgQueueSize{Mode: q.Mode & queueWantProof, ID: id}
	err = c.withHeavy(ctx, func() error {
		var tooLong error
		roots, err := c.stateProof(id, func(state *cell.Slice) {
			var size uint64
			size, tooLong = visitQueueSize(state)
			answer.Size = int64(size)
		})
		if answer.Mode&queueWantProof != 0 {
			answer.Proof = boc(roots...)
		}
		return errors.Join(err, tooLong)
	})
	return answer, err
}

// visitQueueSize reads a state's OutMsgQueueInfo: the queue (HashmapAugE 352),
// proc_info (HashmapE 96), then perhaps an extra with the queue's size. Without
// it the messages are counted.
func visitQueueSize(state *cell.Slice) (size uint64, err error) {
	info := child(state, 0)
	queue := toncell.Dictionary{Bits: 352}
	if info.MustLoadBoolBit() {
		queue.Root = must(info.LoadRefCell())
	}
	skip(info, 64) // the queue's lowest lt
	info.MustLoadDict(96)
	if info.MustLoadBoolBit() { // out_msg_queue_extra#0: dispatch_queue (HashmapAugE 256), then Maybe uint48
		skip(info, 4).MustLoadDict(256)
		if skip(info, 64).MustLoadBoolBit() {
			return info.MustLoadUInt(48), nil
		}
	}
	if !must(queue.Walk(maxCounted, func([]byte, *cell.Slice) bool { size++; return true })) {
		return 0, refuse(codeError, "the message queue is too long to be counted")
	}
	return size, nil
}

// The devnet defers no messages: its dispatch queues are empty, which the proofs
// show.

func (c *Component) dispatchQueueInfo(_ context.Context, q ton.GetDispatchQueueInfo) (tl.Serializable, error) {
	id, proof, err := c.emptyDispatchQueue(q.ID, q.Mode)
	return ton.DispatchQueueInfo{Mode: q.Mode & queueWantProof, ID: id, Complete: true, Proof: proof,
		AccountDispatchQueues: []ton.AccountDispatchQueueInfo{}}, err
}

func (c *Component) dispatchQueueMessages(_ context.Context, q ton.GetDispatchQueueMessages) (tl.Serializable, error) {
	id, proof, err := c.emptyDispatchQueue(q.ID, q.Mode)
	return ton.DispatchQueueMessages{Mode: q.Mode & (queueWantProof | wantMessages), ID: id, Complete: true, Proof: proof,
		Messages: []ton.DispatchQueueMessage{}}, err
}

func (c *Component) emptyDispatchQueue(id *ton.BlockIDExt, mode uint32) (*ton.BlockIDExt, []byte, error) {
	id, err := c.reference(id)
	if err != nil || mode&queueWantProof == 0 {
		return id, nil, err
	}
	roots, err := c.stateProof(id, func(state *cell.Slice) { child(state, 0) })
	return id, boc(roots...), err
}
