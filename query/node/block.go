package node

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/xssnick/tonutils-go/tl"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/ton"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/internal/lite"
)

// ConsensusBlock returns the newest masterchain block while a lite server can be
// reached: without one nobody knows how far the chain has come.
func (n *Node) ConsensusBlock(ctx context.Context) (*ton.BlockIDExt, error) {
	head, err := n.servers.Head(ctx)
	if err == nil && !n.servers.Reached() {
		return nil, errTimeout
	}
	return head, err
}

// Master returns the masterchain block with a seqno. One that is not there yet is
// refused at once, as lite servers do.
func (n *Node) Master(ctx context.Context, seqno uint32) (*ton.BlockIDExt, error) {
	head, err := n.servers.Head(ctx)
	switch {
	case err != nil:
		return nil, err
	case head.SeqNo == seqno:
		return head, nil
	case head.SeqNo < seqno:
		return nil, failed("LITE_SERVER_NOTREADY: seqno not in db (last known masterchain block: %d)", head.SeqNo)
	}
	return n.servers.Master(ctx, seqno)
}

// MasterOrHead returns the masterchain block with a seqno, the newest one for nil.
func (n *Node) MasterOrHead(ctx context.Context, seqno *uint32) (*ton.BlockIDExt, error) {
	if seqno == nil {
		return n.servers.Head(ctx)
	}
	return n.Master(ctx, *seqno)
}

// FindBlock looks a block up. The masterchain is one shard.
func (n *Node) FindBlock(ctx context.Context, l lite.Lookup) (*ton.BlockIDExt, error) {
	if l.Workchain == masterWorkchain && l.LT == 0 && l.UTime == 0 { // whatever part of it is asked for
		return n.Master(ctx, l.Seqno)
	}
	id, _, err := n.lookup(ctx, l)
	return id, err
}

// lookup looks a block up. A shard block is proven to be in the chain, unless no
// server can do that because it is in no masterchain block yet, or in one after the head.
func (n *Node) lookup(ctx context.Context, l lite.Lookup) (*ton.BlockIDExt, *tlb.BlockHeader, error) {
	id, header, err := n.servers.Lookup(ctx, l)
	if err != nil || isMaster(id) {
		return id, header, err
	}
	var denied ton.LSError
	var ahead *Error // the masterchain block is not known here yet
	if _, _, err = n.shardLinks(ctx, id, 0); !errors.As(err, &denied) && !errors.As(err, &ahead) {
		return id, header, err
	}
	head, err := n.servers.Head(ctx)
	if err != nil {
		return nil, nil, err
	}
	there, err := n.passed(ctx, head, l, id)
	if err == nil && there {
		_, _, err = n.shardLinks(ctx, id, head.SeqNo)
	}
	return id, header, err
}

// passed reports whether the shard of a block that was looked up has come to the block's
// seqno, or to what it was looked up by, with a masterchain block.
func (n *Node) passed(ctx context.Context, head *ton.BlockIDExt, l lite.Lookup, id *ton.BlockIDExt) (bool, error) {
	tips, err := n.servers.AllShards(ctx, head)
	if err != nil {
		return false, err
	}
	later := false
	for _, tip := range tips {
		switch shard := uint64(tip.Shard); {
		case tip.Workchain != id.Workchain || !lite.ShardsMeet(shard, uint64(id.Shard)) || !lite.ShardsMeet(shard, uint64(l.Shard)):
			continue
		case tip.SeqNo >= id.SeqNo:
			return true, nil
		case l.LT == 0 && l.UTime == 0, tip.SeqNo == 0: // a zerostate has no header
			return false, nil
		}
		header, err := n.servers.Header(ctx, tip)
		if err != nil || l.LT != 0 && header.EndLt < l.LT || l.LT == 0 && header.GenUtime <= l.UTime { // of a second there may be several
			return false, err
		}
		later = true
	}
	return later, nil
}

// Shards returns the newest block of every shard as a masterchain block has them.
func (n *Node) Shards(ctx context.Context, seqno uint32) ([]*ton.BlockIDExt, error) {
	master, err := n.Master(ctx, seqno)
	if err != nil {
		return nil, err
	}
	return n.servers.AllShards(ctx, master)
}

// Header is what a block says of itself.
type Header struct {
	ID      *ton.BlockIDExt
	Network int32
	tlb.BlockHeader
	Parents []*ton.BlockIDExt
}

// IsMaster reports whether the block is of the masterchain.
func (h *Header) IsMaster() bool { return isMaster(h.ID) }

// Header reads a block's header out of a proof. Headers of tonutils-go leave out
// which network the block is of.
func (n *Node) Header(ctx context.Context, id *ton.BlockIDExt) (*Header, error) {
	block, err := n.headerBlock(ctx, ton.GetBlockHeader{ID: id})
	if err != nil {
		return nil, err
	}
	parents, err := ton.GetParentBlocks(&block.BlockInfo)
	return &Header{ID: id, Network: block.GlobalID, BlockHeader: block.BlockInfo, Parents: parents}, err
}

// headerBlock is the part of a block that a proof of its header shows, with the
// blocks that it follows.
func (n *Node) headerBlock(ctx context.Context, request ton.GetBlockHeader) (block *tlb.Block, err error) {
	var after uint32
	if isMaster(request.ID) {
		after = request.ID.SeqNo
	}
	_, err = query(ctx, n, request, after, func(got ton.BlockHeader) (err error) {
		var id *ton.BlockIDExt
		if id, block, err = lite.ReadHeader(got); err != nil {
			return err
		}
		if !id.Equals(request.ID) {
			return errors.New("getBlockHeader: it is of another block")
		}
		if request.Mode == withStateUpdate && (block.StateUpdate == nil || block.StateUpdate.GetType() != cell.MerkleUpdateCellType) {
			return errors.New("getBlockHeader: it does not show the state update")
		}
		_, err = ton.GetParentBlocks(&block.BlockInfo)
		return err
	})
	return block, err
}

// withStateUpdate is the mode of a header that shows the Merkle update of the
// state too.
const withStateUpdate = 1

// MasterchainInfo is the newest masterchain block, the hash of the state after it,
// and the zerostate.
type MasterchainInfo struct {
	Last      *ton.BlockIDExt
	StateHash []byte
	Zero      *ton.BlockIDExt
}

// MasterchainInfo reads the ends of the masterchain.
func (n *Node) MasterchainInfo(ctx context.Context) (*MasterchainInfo, error) {
	last, err := n.servers.Head(ctx)
	if err != nil {
		return nil, err
	}
	zero, err := n.servers.Master(ctx, 0)
	if err != nil {
		return nil, err
	}
	block, err := n.headerBlock(ctx, ton.GetBlockHeader{ID: last, Mode: withStateUpdate})
	if err != nil {
		return nil, err
	}
	after, err := block.StateUpdate.PeekRef(1)
	if err != nil {
		return nil, err
	}
	init := &ton.BlockIDExt{Workchain: masterWorkchain, RootHash: zero.RootHash, FileHash: zero.FileHash}
	return &MasterchainInfo{Last: last, StateHash: after.Hash(0), Zero: init}, nil
}

// QueueSizes returns how many messages wait in every shard to be delivered, the
// masterchain first. Sizes are the server's word: states need not hold them.
func (n *Node) QueueSizes(ctx context.Context) (ton.OutMsgQueueSizes, error) {
	return query(ctx, n, ton.GetOutMsgQueueSizes{}, 0, func(got ton.OutMsgQueueSizes) error {
		if slices.ContainsFunc(got.Shards, func(s ton.OutMsgQueueSize) bool { return s.ID == nil }) {
			return errors.New("getOutMsgQueueSizes: a size names no block")
		}
		return nil
	})
}

// query asks a lite server what this package checks by itself: that the answer is of a
// type, and what it says. The server knows the masterchain block with the seqno.
func query[T any](ctx context.Context, n *Node, request tl.Serializable, seqno uint32, check func(T) error) (got T, err error) {
	_, _, err = n.servers.Query(ctx, lite.Query{Request: request, Seqno: seqno, Check: func(answer any) error {
		value, ok := answer.(T)
		if !ok {
			return fmt.Errorf("%T: answered with %T", request, answer)
		}
		got = value
		return check(value)
	}})
	return got, err
}
