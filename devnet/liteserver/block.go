package liteserver

import (
	"bytes"
	"context"
	"crypto/sha256"

	"github.com/xssnick/tonutils-go/tl"
	"github.com/xssnick/tonutils-go/ton"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/history"
)

// maxAnswer is what clients take in one packet, less its frame.
const maxAnswer = 16<<20 - 4096

// Parts of a block that getBlockHeader adds to the proof (lite_api.tl).
const (
	withStateUpdate  = 1 << 0
	withValueFlow    = 1 << 1
	withExtra        = 1 << 4
	withShardHashes  = 1 << 5
	withPrevBlkSigns = 1 << 6
)

func (c *Component) block(_ context.Context, q ton.GetBlockData) (tl.Serializable, error) {
	data, err := c.dependencies.History.Data(q.ID)
	if err != nil {
		return nil, err
	}
	if len(data) > maxAnswer {
		return nil, refuse(codeError, "block %s has %d bytes, more than an answer can hold", history.Name(q.ID), len(data))
	}
	return ton.BlockData{ID: q.ID, Payload: data}, nil
}

func (c *Component) state(ctx context.Context, q ton.GetState) (tl.Serializable, error) {
	if q.ID.SeqNo == 0 {
		zero, err := c.dependencies.History.Zerostate(q.ID.Workchain)
		if err != nil {
			return nil, err
		}
		if !bytes.Equal(zero.ID.RootHash, q.ID.RootHash) || !bytes.Equal(zero.ID.FileHash, q.ID.FileHash) {
			return nil, refuse(codeNotReady, "zerostate %s is not in db", history.Name(q.ID))
		}
		return ton.BlockState{ID: q.ID, RootHash: zero.ID.RootHash, FileHash: zero.ID.FileHash, Data: zero.Data}, nil
	}
	var answer ton.BlockState
	err := c.withHeavy(ctx, func() error {
		root, err := c.dependencies.History.State(q.ID)
		if err != nil {
			return err
		}
		data := root.ToBOCWithOptions(cell.BOCSerializeOptions{WithIndex: true, WithCRC32C: true, WithIntHashes: true, WithCacheBits: true})
		if len(data) > maxAnswer {
			return refuse(codeError, "the state of %s has %d bytes, more than an answer can hold", history.Name(q.ID), len(data))
		}
		hash := sha256.Sum256(data)
		answer = ton.BlockState{ID: q.ID, RootHash: root.Hash(), FileHash: hash[:], Data: data}
		return nil
	})
	return answer, err
}

func (c *Component) blockHeader(_ context.Context, q ton.GetBlockHeader) (tl.Serializable, error) {
	return c.header(q.ID, q.Mode)
}

// header proves BlockInfo and what mode adds.
func (c *Component) header(id *ton.BlockIDExt, mode uint32) (ton.BlockHeader, error) {
	proof, err := c.proveBlock(id, func(s *cell.Slice) { visitParts(s, mode, id.Workchain == masterchain) })
	if err != nil {
		return ton.BlockHeader{}, err
	}
	return ton.BlockHeader{ID: id, Mode: mode, HeaderProof: boc(proof)}, nil
}

func visitParts(block *cell.Slice, mode uint32, master bool) {
	readAll(child(block, refInfo))
	if mode&withStateUpdate != 0 {
		child(block, refStateUpdate)
	}
	if mode&withValueFlow != 0 {
		readAll(child(block, refValueFlow))
	}
	if mode&(withExtra|withShardHashes|withPrevBlkSigns) != 0 {
		child(block, refExtra)
	}
	if !master || mode&(withShardHashes|withPrevBlkSigns) == 0 {
		return
	}
	mc := skip(mcBlockExtra(block), 16+1)
	if hashes := mc.MustLoadMaybeRef(); hashes != nil && mode&withShardHashes != 0 {
		readAll(hashes)
	}
	if mode&withPrevBlkSigns != 0 {
		visitSignatures(mc)
	}
}

// visitSignatures goes on after the shard hashes: shard_fees (HashmapAugE 96),
// then the details' reference with the dictionary of signatures.
func visitSignatures(mc *cell.Slice) {
	details := mc.RefsNum() - 1
	if mc.MustLoadBoolBit() { // fees
		details = 1
	}
	// The root extra of the fees may bring references of extra currencies; the
	// devnet has none, so that the details come next.
	s := child(mc, min(details, mc.RefsNum()-1))
	if s.MustLoadBoolBit() {
		readAll(child(s, 0))
	}
}
