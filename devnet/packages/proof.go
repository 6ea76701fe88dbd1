package packages

import (
	"fmt"
	"math/bits"

	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/ton"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/chain"
)

// Proof is what a node keeps beside a block (block.tlb, BlockProof): a Merkle
// proof of its header, and for a masterchain block the signatures of the
// bundle. It reports whether the block is a key block; then the proof also shows
// the validators of the configuration.
func Proof(block *chain.Block, b *chain.Bundle) (boc []byte, key bool, err error) {
	root, key, err := headerProof(block)
	if err != nil {
		return nil, false, err
	}
	builder := cell.BeginCell().MustStoreUInt(0xc3, 8)
	storeID(builder, block.ID)
	builder.MustStoreRef(root)
	if !isMaster(block.ID) {
		return builder.MustStoreBoolBit(false).EndCell().ToBOCWithOptions(cell.BOCSerializeOptions{}), key, nil
	}
	signatures, err := signaturesCell(b)
	if err != nil {
		return nil, false, err
	}
	builder.MustStoreBoolBit(true).MustStoreRef(signatures)
	return builder.EndCell().ToBOCWithOptions(cell.BOCSerializeOptions{}), key, nil
}

// storeID writes BlockIdExt.
func storeID(b *cell.Builder, id *ton.BlockIDExt) {
	shard := uint64(id.Shard)
	depth := 63 - bits.TrailingZeros64(shard)
	b.MustStoreUInt(0, 2).MustStoreUInt(uint64(depth), 6).MustStoreInt(int64(id.Workchain), 32).MustStoreUInt(shard&(shard-1), 64).
		MustStoreUInt(uint64(id.SeqNo), 32).MustStoreSlice(id.RootHash, 256).MustStoreSlice(id.FileHash, 256)
}

// headerProof keeps BlockInfo and ValueFlow whole, and the roots of the state
// update and of BlockExtra.
func headerProof(block *chain.Block) (proof *cell.Cell, key bool, err error) {
	var header tlb.BlockHeader
	if err := tlb.Parse(&header, block.Root.MustPeekRef(0)); err != nil {
		return nil, false, err
	}
	builder := cell.NewMerkleProofBuilder(block.Root)
	root := builder.Root()
	for i, depth := range []int{wholeDepth, wholeDepth, 0, 0} {
		readRefs(root.MustPeekRef(i), depth)
	}
	root.MustBeginParse()
	if header.KeyBlock {
		if err := readValidators(root); err != nil {
			return nil, false, fmt.Errorf("configuration: %w", err)
		}
	}
	proof, err = builder.CreateProof()
	return proof, header.KeyBlock, err
}

// wholeDepth is deeper than any part of a header.
const wholeDepth = 1024

// readRefs reads a cell of the chain's own and what it refers to, to a depth
// below it.
func readRefs(c *cell.Cell, depth int) {
	for i := range c.MustBeginParse().RefsNum() {
		if depth > 0 {
			readRefs(c.MustPeekRef(i), depth-1)
		}
	}
}

// readValidators reads what a client checks signatures of later blocks with:
// the parameters 28 (catchain) and 34 (validators) of the block's configuration.
func readValidators(root *cell.Cell) error {
	extra := root.MustPeekRef(3)
	extra.MustBeginParse()
	master := extra.MustPeekRef(3)
	// ConfigParams follow the references of everything else in McBlockExtra: they
	// are the last one.
	params := master.MustPeekRef(master.MustBeginParse().RefsNum() - 1).AsDict(32)
	for _, n := range []uint64{28, 34} {
		value, err := params.LoadValueByUintKey(n)
		if err != nil {
			return fmt.Errorf("parameter %d: %w", n, err)
		}
		param, err := value.LoadRefCell()
		if err != nil {
			return fmt.Errorf("parameter %d: %w", n, err)
		}
		readRefs(param, wholeDepth)
	}
	return nil
}

// signaturesCell is BlockSignatures of the bundle's masterchain block.
func signaturesCell(b *chain.Bundle) (*cell.Cell, error) {
	pairs := cell.NewDict(16)
	for i, s := range b.Signatures {
		if len(s.NodeIDShort) != 32 || len(s.Signature) != 64 {
			return nil, fmt.Errorf("signature %d: %d bytes of node and %d of signature", i, len(s.NodeIDShort), len(s.Signature))
		}
		pair := cell.BeginCell().MustStoreSlice(s.NodeIDShort, 256).MustStoreUInt(5, 4).MustStoreSlice(s.Signature, 512).EndCell()
		key := cell.BeginCell().MustStoreUInt(uint64(i), 16).EndCell()
		if err := pairs.Set(key, pair); err != nil {
			return nil, err
		}
	}
	tag := uint64(ordinarySignatures)
	if b.Candidate != nil {
		tag = simplexSignatures
	}
	list := cell.BeginCell().MustStoreUInt(tag, 8).
		MustStoreUInt(uint64(b.ValidatorSetHash), 32).MustStoreUInt(uint64(b.CatchainSeqno), 32).
		MustStoreUInt(uint64(len(b.Signatures)), 32).MustStoreUInt(uint64(len(b.Signatures)), 64). // each of weight 1
		MustStoreDict(pairs)
	if b.Candidate == nil {
		return list.EndCell(), nil
	}
	candidate := cell.BeginCell()
	if err := candidate.StoreBinarySnake(b.Candidate.Data); err != nil {
		return nil, fmt.Errorf("candidate: %w", err)
	}
	return list.MustStoreSlice(b.Candidate.SessionID, 256).MustStoreUInt(uint64(b.Candidate.Slot), 32).
		MustStoreRef(candidate.EndCell()).EndCell(), nil
}

// Tags of BlockSignatures (block.tlb): block_signatures#11 and
// block_signatures_simplex#12, which adds session, slot and candidate.
const (
	ordinarySignatures = 0x11
	simplexSignatures  = 0x12
)
