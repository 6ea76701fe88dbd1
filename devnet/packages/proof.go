package packages

import (
	"fmt"

	"github.com/xssnick/tonutils-go/ton"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/chain"
)

// Proof is what a node keeps beside a block (block.tlb, BlockProof): a Merkle
// proof of its header, and for a masterchain block the signatures of the
// bundle. It says whether the block is a key block; then the proof also shows
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
	bits := uint64(0)
	for shard<<bits != 1<<63 {
		bits++
	}
	b.MustStoreUInt(0, 2).MustStoreUInt(bits, 6).MustStoreInt(int64(id.Workchain), 32).MustStoreUInt(shard&(shard-1), 64).
		MustStoreUInt(uint64(id.SeqNo), 32).MustStoreSlice(id.RootHash, 256).MustStoreSlice(id.FileHash, 256)
}

// headerProof keeps BlockInfo and ValueFlow whole, and the roots of the state
// update and of BlockExtra.
func headerProof(block *chain.Block) (proof *cell.Cell, key bool, err error) {
	builder := cell.NewMerkleProofBuilder(block.Root)
	root := builder.Root()
	if err := readRefs(root, 1); err != nil { // the four parts of the block
		return nil, false, err
	}
	for _, whole := range []int{0, 1} {
		part, err := root.PeekRef(whole)
		if err != nil {
			return nil, false, err
		}
		if err := readRefs(part, wholeDepth); err != nil {
			return nil, false, err
		}
	}
	if key, err = isKeyBlock(block.Root); err != nil {
		return nil, false, err
	}
	if key {
		if err := readValidators(root); err != nil {
			return nil, false, fmt.Errorf("configuration: %w", err)
		}
	}
	proof, err = builder.CreateProof()
	return proof, key, err
}

// wholeDepth is deeper than any part of a header.
const wholeDepth = 1024

// readRefs reads a cell and what it refers to, to a depth below it.
func readRefs(c *cell.Cell, depth int) error {
	s, err := c.BeginParse()
	if err != nil {
		return err
	}
	for i := range s.RefsNum() {
		ref, err := c.PeekRef(i)
		if err != nil {
			return err
		}
		if depth > 0 {
			if err := readRefs(ref, depth-1); err != nil {
				return err
			}
		}
	}
	return nil
}

// keyBlock is the bit of the seventh of the eight flags that follow the magic
// and the version of BlockInfo.
const keyBlock = 1 << 1

// isKeyBlock reads key_block of BlockInfo.
func isKeyBlock(root *cell.Cell) (bool, error) {
	info, err := root.PeekRef(0)
	if err != nil {
		return false, err
	}
	s, err := info.BeginParse()
	if err != nil {
		return false, err
	}
	head, err := s.LoadSlice(32 + 32 + 8)
	if err != nil {
		return false, err
	}
	return head[8]&keyBlock != 0, nil
}

// readValidators reads what a client checks signatures of later blocks with:
// the parameters 28 (catchain) and 34 (validators) of the block's configuration.
func readValidators(root *cell.Cell) error {
	extra, err := root.PeekRef(3)
	if err != nil {
		return err
	}
	master, err := extra.PeekRef(3)
	if err != nil {
		return err
	}
	s, err := master.BeginParse()
	if err != nil {
		return err
	}
	// ConfigParams follow the references of everything else in McBlockExtra: they
	// are the last one.
	config, err := master.PeekRef(s.RefsNum() - 1)
	if err != nil {
		return err
	}
	params := config.AsDict(32)
	for _, n := range []uint64{28, 34} {
		value, err := params.LoadValueByUintKey(n)
		if err != nil {
			return fmt.Errorf("parameter %d: %w", n, err)
		}
		param, err := value.LoadRefCell()
		if err != nil {
			return fmt.Errorf("parameter %d: %w", n, err)
		}
		if err := readRefs(param, wholeDepth); err != nil {
			return err
		}
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
