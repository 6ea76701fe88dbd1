package liteserver

import (
	"bytes"
	"context"
	"errors"

	"github.com/xssnick/tonutils-go/tl"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/ton"

	"tonscribe/devnet/history"
)

// How a block is looked up: the lowest bits of mode.
const (
	bySeqno = 1 << 0
	byLT    = 1 << 1
	byUtime = 1 << 2
)

// find is the block that a look-up names.
func (c *Component) find(mode uint32, id *ton.BlockInfoShort, lt uint64, utime uint32) (history.Meta, error) {
	past := c.dependencies.History
	prefix := uint64(id.Shard)
	var meta history.Meta
	var err error
	var what string
	switch mode & (bySeqno | byLT | byUtime) {
	case bySeqno:
		what = "seqno"
		meta, err = past.BySeqno(id.Workchain, prefix, uint32(id.Seqno))
	case byLT:
		what = "lt"
		meta, err = past.ByLT(id.Workchain, prefix, lt)
	case byUtime:
		what = "ts"
		meta, err = past.ByUtime(id.Workchain, prefix, utime)
	default:
		return history.Meta{}, refuse(codeFatal, "exactly one of mode.0, mode.1 and mode.2 bits must be set")
	}
	if errors.Is(err, history.ErrNotFound) {
		err = refuse(codeNotReady, "cannot find block (%d,%016x): %s not in db (last known masterchain block: %d)", id.Workchain, prefix, what, past.Last())
	}
	return meta, err
}

func (c *Component) lookupBlock(_ context.Context, q ton.LookupBlock) (tl.Serializable, error) {
	meta, err := c.find(q.Mode, q.ID, q.LT, q.UTime)
	if err != nil {
		return nil, err
	}
	return c.header(meta.ID, q.Mode>>4)
}

// lookupBlockWithProof proves that the block found is part of the chain which the
// client's masterchain block ends, and, for a look-up by time, that the block
// before it is too early.
func (c *Component) lookupBlockWithProof(_ context.Context, q ton.LookupBlockWithProof) (tl.Serializable, error) {
	trusted, err := c.reference(q.MCBlockID)
	if err != nil {
		return nil, err
	}
	if trusted.Workchain != masterchain || trusted.SeqNo == 0 {
		return nil, refuse(codeFatal, "%s is no masterchain block", history.Name(trusted))
	}
	meta, err := c.find(q.Mode, q.ID, q.LT, q.UTime)
	if err != nil {
		return nil, err
	}
	if meta.MCSeqno > trusted.SeqNo {
		return nil, refuse(codeUnknown, "specified mc block is older than block's masterchain ref")
	}
	answer := ton.LookupBlockResult{ID: meta.ID, Mode: q.Mode, ShardLinks: []ton.ShardBlockLink{}}
	if err := c.proveLookup(&answer, trusted, meta); err != nil {
		return nil, err
	}
	header, err := c.header(meta.ID, 0)
	if err != nil {
		return nil, err
	}
	answer.Header = header.HeaderProof
	if q.Mode&(byLT|byUtime) != 0 {
		answer.PrevHeader, err = c.previousHeader(meta.ID, uint64(q.ID.Shard))
	}
	return answer, err
}

// proveLookup fills in the way from the trusted masterchain block (its proof and
// that of its state, which lists the blocks before) to the one that committed the
// block found, and from there to the block.
func (c *Component) proveLookup(answer *ton.LookupBlockResult, trusted *ton.BlockIDExt, meta history.Meta) error {
	commit, err := c.dependencies.History.Commit(meta.MCSeqno)
	if err != nil {
		return err
	}
	answer.MCBlockID = commit.Master
	if !bytes.Equal(commit.Master.RootHash, trusted.RootHash) {
		answer.ClientMCStateProof, answer.MCBlockProof, err = c.stateProofs(trusted, visitPrevBlock(commit.Master.SeqNo))
		if err != nil {
			return err
		}
	}
	if meta.ID.Workchain == masterchain {
		return nil
	}
	answer.ShardLinks, err = c.shardLinks(commit, meta.ID)
	return err
}

// previousHeader is the header proof of the block before, on the way to the
// accounts with prefix; nothing for a first block.
func (c *Component) previousHeader(id *ton.BlockIDExt, prefix uint64) ([]byte, error) {
	block, err := c.dependencies.History.Block(id)
	if err != nil {
		return nil, err
	}
	before := parentOf(block.Root, prefix)
	if before.SeqNo == 0 {
		return nil, nil
	}
	header, err := c.header(before, 0)
	return header.HeaderProof, err
}

// holds reports whether a shard holds the accounts that begin with prefix.
func holds(shard, prefix uint64) bool {
	return tlb.ShardID(shard).IsAncestor(tlb.ShardID(prefix | 1))
}
