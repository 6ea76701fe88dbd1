package liteserver

import (
	"context"
	"fmt"
	"math/big"

	"github.com/xssnick/tonutils-go/tl"
	"github.com/xssnick/tonutils-go/ton"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/history"
)

// commitOf is the bundle that a query's masterchain block ends.
func (c *Component) commitOf(id *ton.BlockIDExt) (history.Commit, error) {
	id, err := c.reference(id)
	if err != nil {
		return history.Commit{}, err
	}
	if id.Workchain != masterchain || id.SeqNo == 0 {
		return history.Commit{}, refuse(codeFatal, "reference block %s does not belong to the masterchain", history.Name(id))
	}
	return c.dependencies.History.Commit(id.SeqNo)
}

func (c *Component) allShardsInfo(_ context.Context, q ton.GetAllShardsInfo) (tl.Serializable, error) {
	commit, err := c.commitOf(q.ID)
	if err != nil {
		return nil, err
	}
	data := cell.BeginCell()
	proof, err := c.proveBlock(commit.Master, func(block *cell.Slice) {
		var root *cell.Cell
		if hashes := shardHashes(block); !hashes.IsEmpty() {
			root = hashes.AsCell().WithoutTrace()
		}
		data.MustStoreMaybeRef(root)
	})
	if err != nil {
		return nil, err
	}
	return ton.AllShardsInfo{ID: commit.Master, Proof: []*cell.Cell{proof}, Data: data.EndCell()}, nil
}

func (c *Component) shardInfo(_ context.Context, q ton.GetShardInfo) (tl.Serializable, error) {
	commit, err := c.commitOf(q.ID)
	if err != nil {
		return nil, err
	}
	answer := ton.ShardInfo{ID: commit.Master, ShardBlock: noBlock()}
	top := topFor(commit, q.Workchain, uint64(q.Shard))
	if top != nil && q.Exact && top.Shard != q.Shard {
		top = nil
	}
	answer.ShardProof, err = c.stateProof(commit.Master, func(state *cell.Slice) {
		if leaf := visitShard(state, q.Workchain, uint64(q.Shard)); leaf != nil && top != nil {
			answer.ShardBlock, answer.ShardDescription = top, leaf.WithoutTrace()
		}
	})
	return answer, err
}

// noBlock is the id that stands for none.
func noBlock() *ton.BlockIDExt {
	return &ton.BlockIDExt{RootHash: make([]byte, 32), FileHash: make([]byte, 32)}
}

// topFor is the newest block of the shard that holds prefix, nil when there is none.
func topFor(commit history.Commit, workchain int32, prefix uint64) *ton.BlockIDExt {
	for _, id := range commit.Tops {
		if id.Workchain == workchain && holds(uint64(id.Shard), prefix) {
			return id
		}
	}
	return nil
}

// visitShard reads a masterchain state down to the description of the shard that
// holds prefix, and returns its leaf (BinTree ShardDescr), nil when there is none.
func visitShard(state *cell.Slice, workchain int32, prefix uint64) *cell.Cell {
	return shardLeaf(mcExtra(state).ShardHashes, workchain, prefix)
}

func shardLeaf(hashes *cell.Dictionary, workchain int32, prefix uint64) *cell.Cell {
	value := find(hashes.LoadValueByIntKey(big.NewInt(int64(workchain))))
	if value == nil {
		return nil
	}
	node := must(value.LoadRefCell())
	for bit := 63; bit >= 0; bit-- {
		s := node.MustBeginParse()
		if !s.MustLoadBoolBit() {
			readAll(s)
			return node
		}
		node = must(s.PeekRefCellAt(int(prefix >> bit & 1)))
	}
	return nil
}

func (c *Component) shardBlockProof(_ context.Context, q ton.GetShardBlockProof) (tl.Serializable, error) {
	meta, err := c.dependencies.History.Meta(q.ID)
	if err != nil {
		return nil, err
	}
	if meta.ID.Workchain == masterchain {
		return nil, refuse(codeFatal, "block %s is no shard block", history.Name(meta.ID))
	}
	commit, err := c.dependencies.History.Commit(meta.MCSeqno)
	if err != nil {
		return nil, err
	}
	links, err := c.shardLinks(commit, meta.ID)
	if err != nil {
		return nil, err
	}
	return ton.ShardBlockProof{MasterchainID: commit.Master, Links: links}, nil
}

// shardLinks lead from a masterchain block to a shard block that it commits:
// first the masterchain block with the hash of the shard's newest block, then
// each block with the hash of the one before. A link has the id that its proof
// proves.
func (c *Component) shardLinks(commit history.Commit, target *ton.BlockIDExt) ([]ton.ShardBlockLink, error) {
	top := topFor(commit, target.Workchain, uint64(target.Shard))
	if top == nil {
		return nil, fmt.Errorf("block %s: no such shard in masterchain block %d", history.Name(target), commit.Master.SeqNo)
	}
	proof, err := c.proveBlock(commit.Master, func(block *cell.Slice) {
		shardLeaf(shardHashes(block), target.Workchain, uint64(top.Shard))
	})
	if err != nil {
		return nil, err
	}
	links := []ton.ShardBlockLink{{ID: top, Proof: boc(proof)}}
	for cur := top; !cur.Equals(target); {
		if cur.SeqNo <= target.SeqNo {
			return nil, fmt.Errorf("block %s is not under masterchain block %d", history.Name(target), commit.Master.SeqNo)
		}
		header, err := c.header(cur, 0)
		if err != nil {
			return nil, err
		}
		block, err := c.dependencies.History.Block(cur)
		if err != nil {
			return nil, err
		}
		cur = parentOf(block.Root, uint64(target.Shard))
		links = append(links, ton.ShardBlockLink{ID: cur, Proof: header.HeaderProof})
	}
	return links, nil
}

// shardHashes reads a masterchain block down to its dictionary of shards.
func shardHashes(block *cell.Slice) *cell.Dictionary {
	readAll(child(block, refInfo))
	return skip(mcBlockExtra(block), 16+1).MustLoadDict(32)
}

// parentOf is the block before one, the parent that holds prefix after a merge.
func parentOf(block *cell.Cell, prefix uint64) *ton.BlockIDExt {
	parents := must(ton.GetParentBlocks(headerOf(block)))
	for _, id := range parents {
		if holds(uint64(id.Shard), prefix) {
			return id
		}
	}
	return parents[0]
}
