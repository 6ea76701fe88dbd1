package liteserver

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"github.com/xssnick/tonutils-go/tl"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/ton"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/history"
)

var errNoShard = errors.New("no such shard")

// commitOf is the bundle that a query's masterchain block ends.
func (c *Component) commitOf(id *ton.BlockIDExt) (history.Commit, error) {
	id, err := c.reference(id)
	if err != nil {
		return history.Commit{}, err
	}
	if id.Workchain != masterchain || id.SeqNo == 0 {
		return history.Commit{}, refuse(codeFatal, "reference block %s does not belong to the masterchain", show(id))
	}
	return c.dependencies.History.Commit(id.SeqNo)
}

func (c *Component) allShardsInfo(_ context.Context, q ton.GetAllShardsInfo) (tl.Serializable, error) {
	commit, err := c.commitOf(q.ID)
	if err != nil {
		return nil, err
	}
	master, err := c.dependencies.History.Block(commit.Master)
	if err != nil {
		return nil, err
	}
	data := cell.BeginCell()
	proof, err := prove(master.Root, func(block *cell.Slice) error {
		hashes, err := shardHashes(block)
		if err != nil {
			return err
		}
		if hashes.IsEmpty() {
			return data.StoreBoolBit(false)
		}
		return data.StoreMaybeRef(hashes.AsCell().WithoutTrace())
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
	answer.ShardProof, err = c.stateProof(commit.Master, func(state *cell.Slice) error {
		leaf, err := visitShard(state, q.Workchain, uint64(q.Shard))
		if errors.Is(err, errNoShard) {
			return nil
		}
		if err != nil {
			return err
		}
		if top != nil {
			answer.ShardBlock, answer.ShardDescription = top, leaf.WithoutTrace()
		}
		return nil
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
// holds prefix, and returns its leaf (BinTree ShardDescr).
func visitShard(state *cell.Slice, workchain int32, prefix uint64) (*cell.Cell, error) {
	extra, err := mcExtra(state)
	if err != nil {
		return nil, err
	}
	return shardLeaf(extra.ShardHashes, workchain, prefix)
}

func shardLeaf(hashes *cell.Dictionary, workchain int32, prefix uint64) (*cell.Cell, error) {
	value, err := hashes.LoadValueByIntKey(big.NewInt(int64(workchain)))
	if errors.Is(err, cell.ErrNoSuchKeyInDict) {
		return nil, errNoShard
	}
	if err != nil {
		return nil, fmt.Errorf("shard hashes: %w", err)
	}
	node, err := value.LoadRefCell()
	if err != nil {
		return nil, fmt.Errorf("shard hashes: %w", err)
	}
	for bit := 63; bit >= 0; bit-- {
		s, err := node.BeginParse()
		if err != nil {
			return nil, fmt.Errorf("shard hashes: %w", err)
		}
		fork, err := s.LoadBoolBit()
		if err != nil {
			return nil, fmt.Errorf("shard hashes: %w", err)
		}
		if !fork {
			return node, readAll(s)
		}
		if node, err = s.PeekRefCellAt(int(prefix >> bit & 1)); err != nil {
			return nil, fmt.Errorf("shard hashes: %w", err)
		}
	}
	return nil, errNoShard
}

func (c *Component) shardBlockProof(_ context.Context, q ton.GetShardBlockProof) (tl.Serializable, error) {
	meta, err := c.dependencies.History.Meta(q.ID)
	if err != nil {
		return nil, err
	}
	if meta.ID.Workchain == masterchain {
		return nil, refuse(codeFatal, "block %s is no shard block", show(meta.ID))
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
		return nil, fmt.Errorf("block %s: %w in masterchain block %d", show(target), errNoShard, commit.Master.SeqNo)
	}
	master, err := c.dependencies.History.Block(commit.Master)
	if err != nil {
		return nil, err
	}
	proof, err := prove(master.Root, visitShardHash(target.Workchain, uint64(top.Shard)))
	if err != nil {
		return nil, err
	}
	links := []ton.ShardBlockLink{{ID: top, Proof: boc(proof)}}
	for cur := top; !cur.Equals(target); {
		if cur.SeqNo <= target.SeqNo {
			return nil, fmt.Errorf("block %s is not under masterchain block %d", show(target), commit.Master.SeqNo)
		}
		header, err := c.header(cur, 0)
		if err != nil {
			return nil, err
		}
		block, err := c.dependencies.History.Block(cur)
		if err != nil {
			return nil, err
		}
		if cur, err = parentOf(block.Root, uint64(target.Shard)); err != nil {
			return nil, err
		}
		links = append(links, ton.ShardBlockLink{ID: cur, Proof: header.HeaderProof})
	}
	return links, nil
}

// visitShardHash reads a masterchain block down to the description of a shard.
func visitShardHash(workchain int32, prefix uint64) func(*cell.Slice) error {
	return func(block *cell.Slice) error {
		hashes, err := shardHashes(block)
		if err != nil {
			return err
		}
		_, err = shardLeaf(hashes, workchain, prefix)
		return err
	}
}

// shardHashes reads a masterchain block down to its dictionary of shards.
func shardHashes(block *cell.Slice) (*cell.Dictionary, error) {
	if err := visitInfo(block); err != nil {
		return nil, err
	}
	extra, err := child(block, refExtra)
	if err != nil {
		return nil, err
	}
	mc, err := child(extra, 3)
	if err != nil {
		return nil, err
	}
	if err := mc.SkipBits(16 + 1); err != nil {
		return nil, err
	}
	return mc.LoadDict(32)
}

// parentOf is the block before one, the parent that holds prefix after a merge.
func parentOf(block *cell.Cell, prefix uint64) (*ton.BlockIDExt, error) {
	info, err := block.PeekRef(refInfo)
	if err != nil {
		return nil, err
	}
	var header tlb.BlockHeader
	if err := tlb.Parse(&header, info); err != nil {
		return nil, err
	}
	parents, err := ton.GetParentBlocks(&header)
	if err != nil {
		return nil, err
	}
	for _, id := range parents {
		if holds(uint64(id.Shard), prefix) {
			return id, nil
		}
	}
	return parents[0], nil
}
