package node

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/xssnick/tonutils-go/ton"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/internal/lite"
)

// ShardProof is a chain of proofs from a masterchain block back to a block of any
// shard.
type ShardProof struct {
	From, Master *ton.BlockIDExt
	Links        []ton.ShardBlockLink
	Back         []ton.BlockLinkBackward
}

// ErrTooOld is the answer where a proof would have to lead forward.
var ErrTooOld = failed("from mc block is too old")

// ShardProof proves a block from a masterchain block with a seqno on, nil for the
// newest one.
func (n *Node) ShardProof(ctx context.Context, l lite.Lookup, seqno *uint32) (*ShardProof, error) {
	id, err := n.FindBlock(ctx, l)
	if err != nil {
		return nil, err
	}
	p := &ShardProof{Master: id}
	if p.From, err = n.MasterOrHead(ctx, seqno); err != nil {
		if e := Known(err); e != nil && e != errTimeout && seqno != nil {
			err = failed("lookup from block error: %s", e.Text)
		}
		return nil, err
	}
	if !isMaster(id) {
		if p.Master, p.Links, err = n.shardLinks(ctx, id, 0); err != nil {
			return nil, err
		}
	}
	if p.From.SeqNo < p.Master.SeqNo {
		return nil, ErrTooOld
	}
	p.Back, err = n.linksBack(ctx, p.From, p.Master)
	return p, err
}

// shardLinks leads from a masterchain block to a shard block. That one is known before
// anything is read of it: what a server makes up may have any number of shards. Then
// each proof is checked: the first shows the shard in the masterchain block, each further
// one shows the next block as a parent of the one before. The masterchain block is that
// with the seqno last or an earlier one, any for 0.
func (n *Node) shardLinks(ctx context.Context, id *ton.BlockIDExt, last uint32) (master *ton.BlockIDExt, links []ton.ShardBlockLink, err error) {
	var unknown error
	got, err := query(ctx, n, ton.GetShardBlockProof{ID: id}, last, func(got ton.ShardBlockProof) error {
		switch {
		case got.MasterchainID == nil:
			return errors.New("getShardBlockProof: it names no masterchain block")
		case last > 0 && got.MasterchainID.SeqNo > last:
			return fmt.Errorf("getShardBlockProof: it names masterchain block %d, the shard block is there at %d", got.MasterchainID.SeqNo, last)
		}
		if master, unknown = n.Master(ctx, got.MasterchainID.SeqNo); unknown != nil {
			return nil //nolint:nilerr // no fault of who names the block
		}
		if !master.Equals(got.MasterchainID) {
			return fmt.Errorf("getShardBlockProof: masterchain block %d is not the proven one", master.SeqNo)
		}
		return checkShardLinks(master, got.Links, id)
	})
	if err == nil {
		err = unknown
	}
	if err != nil {
		return nil, nil, err
	}
	return master, got.Links, nil
}

func checkShardLinks(at *ton.BlockIDExt, links []ton.ShardBlockLink, id *ton.BlockIDExt) error {
	for i, link := range links {
		if err := checkShardLink(at, link); err != nil {
			return fmt.Errorf("getShardBlockProof: link %d: %w", i, err)
		}
		at = link.ID
	}
	if !at.Equals(id) {
		return fmt.Errorf("getShardBlockProof: it leads to (%d,%016x,%d)", at.Workchain, uint64(at.Shard), at.SeqNo)
	}
	return nil
}

// checkShardLink checks that a block names the next one, among its shards, or as what
// it follows.
func checkShardLink(at *ton.BlockIDExt, link ton.ShardBlockLink) error {
	id := link.ID
	if id == nil {
		return errors.New("it names no block")
	}
	root, err := cell.FromBOC(link.Proof)
	if err != nil {
		return err
	}
	block, err := ton.CheckBlockProof(root, at.RootHash)
	if err != nil {
		return err
	}
	var named []*ton.BlockIDExt
	if block.Extra != nil && block.Extra.Custom != nil {
		named, err = ton.LoadShardsFromHashes(block.Extra.Custom.ShardHashes, true)
	} else {
		named, err = ton.GetParentBlocks(&block.BlockInfo)
	}
	if err != nil || slices.ContainsFunc(named, func(other *ton.BlockIDExt) bool { return other.Equals(id) }) {
		return err
	}
	return fmt.Errorf("block (%d,%016x,%d) is not in the proof", id.Workchain, uint64(id.Shard), id.SeqNo)
}

// linksBack leads from a masterchain block to an earlier one.
func (n *Node) linksBack(ctx context.Context, from, to *ton.BlockIDExt) (links []ton.BlockLinkBackward, err error) {
	if from.SeqNo == to.SeqNo {
		return nil, nil
	}
	request := ton.GetBlockProof{Mode: 1, KnownBlock: from, TargetBlock: to}
	_, err = query(ctx, n, request, from.SeqNo, func(got ton.PartialBlockProof) error {
		links = nil
		at := from
		for i, step := range got.Steps {
			link, ok := step.(ton.BlockLinkBackward)
			if !ok {
				return fmt.Errorf("getBlockProof: step %d is a %T", i, step)
			}
			if err := checkLinkBack(link, at); err != nil {
				return fmt.Errorf("getBlockProof: step %d: %w", i, err)
			}
			at = link.To
			links = append(links, link)
		}
		if !at.Equals(to) {
			return fmt.Errorf("getBlockProof: it leads to block %d", at.SeqNo)
		}
		return nil
	})
	return links, err
}

func checkLinkBack(link ton.BlockLinkBackward, from *ton.BlockIDExt) error {
	if err := lite.CheckBackward(link, from); err != nil {
		return err
	}
	dest, err := cell.FromBOC(link.DestProof)
	if err != nil {
		return err
	}
	_, err = ton.CheckBlockProof(dest, link.To.RootHash)
	return err
}
