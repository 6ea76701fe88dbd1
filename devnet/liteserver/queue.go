package liteserver

import (
	"context"

	"github.com/xssnick/tonutils-go/tl"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/ton"
	"github.com/xssnick/tonutils-go/tvm/cell"
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
			loader, err := state.BeginParse()
			if err != nil {
				return err
			}
			size, err := visitQueueSize(loader)
			if err != nil {
				return err
			}
			answer.Shards = append(answer.Shards, ton.OutMsgQueueSize{ID: id, Size: int32(size)})
		}
		return nil
	})
	return answer, err
}

// related tells whether one shard holds the other.
func related(a, b uint64) bool {
	return tlb.ShardID(a).IsAncestor(tlb.ShardID(b)) || tlb.ShardID(b).IsAncestor(tlb.ShardID(a))
}

func (c *Component) blockOutMsgQueueSize(ctx context.Context, q ton.GetBlockOutMsgQueueSize) (tl.Serializable, error) {
	id, err := c.reference(q.ID)
	if err != nil {
		return nil, err
	}
	if id.SeqNo == 0 {
		return nil, refuse(codeFatal, "%s is no block", show(id))
	}
	answer := ton.BlockOutMsgQueueSize{Mode: q.Mode & queueWantProof, ID: id}
	err = c.withHeavy(ctx, func() error {
		roots, err := c.stateProof(id, func(state *cell.Slice) error {
			size, err := visitQueueSize(state)
			answer.Size = int64(size)
			return err
		})
		if answer.Mode&queueWantProof != 0 {
			answer.Proof = boc(roots...)
		}
		return err
	})
	return answer, err
}

// visitQueueSize reads a state's OutMsgQueueInfo: the queue (HashmapAugE 352),
// proc_info (HashmapE 96), then perhaps an extra with the queue's size. Without
// it the messages are counted.
func visitQueueSize(state *cell.Slice) (uint64, error) {
	info, err := child(state, 0)
	if err != nil {
		return 0, err
	}
	queue, err := info.LoadMaybeRef()
	if err != nil {
		return 0, err
	}
	if err := info.SkipBits(64); err != nil { // the queue's lowest lt
		return 0, err
	}
	if _, err := info.LoadDict(96); err != nil {
		return 0, err
	}
	extra, err := info.LoadBoolBit()
	if err != nil {
		return 0, err
	}
	if extra {
		if size, known, err := sizeInExtra(info); known || err != nil {
			return size, err
		}
	}
	if queue == nil {
		return 0, nil
	}
	left := maxCounted
	return countLeaves(queue, 352, &left)
}

// sizeInExtra reads out_msg_queue_extra#0: dispatch_queue (HashmapAugE 256), then
// Maybe uint48.
func sizeInExtra(s *cell.Slice) (size uint64, known bool, err error) {
	if err := s.SkipBits(4); err != nil {
		return 0, false, err
	}
	if _, err := s.LoadDict(256); err != nil {
		return 0, false, err
	}
	if err := s.SkipBits(64); err != nil {
		return 0, false, err
	}
	if known, err = s.LoadBoolBit(); err != nil || !known {
		return 0, false, err
	}
	size, err = s.LoadUInt(48)
	return size, true, err
}

// countLeaves counts the values of a dictionary whose nodes carry extras behind
// their labels: what is not a leaf has two more references than its extra.
func countLeaves(node *cell.Slice, bits uint, left *int) (uint64, error) {
	if *left--; *left < 0 {
		return 0, refuse(codeError, "the message queue is too long to be counted")
	}
	label, err := labelLength(node, bits)
	if err != nil {
		return 0, err
	}
	if label >= bits {
		return 1, nil
	}
	total := uint64(0)
	for i := range 2 {
		next, err := child(node, i)
		if err != nil {
			return 0, err
		}
		count, err := countLeaves(next, bits-label-1, left)
		if err != nil {
			return 0, err
		}
		total += count
	}
	return total, nil
}

// labelLength reads HmLabel: hml_short$0 in unary, hml_long$10, hml_same$11.
func labelLength(s *cell.Slice, bits uint) (uint, error) {
	long, err := s.LoadBoolBit()
	if err != nil {
		return 0, err
	}
	if !long {
		length := uint(0)
		for {
			more, err := s.LoadBoolBit()
			if err != nil || !more {
				return length, err
			}
			length++
		}
	}
	same, err := s.LoadBoolBit()
	if err != nil {
		return 0, err
	}
	if same {
		if err := s.SkipBits(1); err != nil {
			return 0, err
		}
	}
	length, err := s.LoadUInt(bitsFor(bits))
	return uint(length), err
}

// bitsFor is how many bits a number up to n takes.
func bitsFor(n uint) uint {
	size := uint(0)
	for ; n > 0; n >>= 1 {
		size++
	}
	return size
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
	roots, err := c.stateProof(id, func(state *cell.Slice) error {
		_, err := child(state, 0)
		return err
	})
	return id, boc(roots...), err
}
