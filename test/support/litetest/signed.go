package litetest

import (
	"context"
	"math/big"
	"os"
	"path/filepath"
	"testing"

	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/ton"
	"github.com/xssnick/tonutils-go/tvm/cell"
)

// Signed is a Folder with the validators' signatures of its masterchain blocks,
// read from block proofs as nodes keep them (BlockProof of block.tlb). It
// answers getBlockProof from its one key block on.
type Signed struct {
	*Folder
	key        *ton.BlockIDExt
	signatures map[uint32]ton.SignatureSet
}

// OpenSigned indexes a folder of blocks and one of proofs.
func OpenSigned(t testing.TB, blocks, proofs string, key, head uint32) *Signed {
	t.Helper()
	s := &Signed{Folder: OpenFolder(t, blocks, head), signatures: map[uint32]ton.SignatureSet{}}
	s.key = s.ID(-1, MasterShard, key)
	paths, err := filepath.Glob(filepath.Join(proofs, "*.boc"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no proofs in %s: %v", proofs, err)
	}
	for _, path := range paths {
		boc, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		root, err := cell.FromBOC(boc)
		if err != nil {
			t.Fatal(err)
		}
		seqno, set, err := readSignatures(root)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		s.signatures[seqno] = set
	}
	return s
}

// readSignatures reads a BlockProof: block_proof#c3 proof_for:BlockIdExt
// root:^Cell signatures:(Maybe ^BlockSignatures).
func readSignatures(root *cell.Cell) (seqno uint32, set ton.SignatureSet, err error) {
	proof, err := root.BeginParse()
	if err != nil {
		return 0, set, err
	}
	if _, err = proof.LoadSlice(8 + 2 + 6 + 32 + 64); err != nil {
		return 0, set, err
	}
	number, err := proof.LoadUInt(32)
	if err != nil {
		return 0, set, err
	}
	if _, err = proof.LoadSlice(512); err != nil {
		return 0, set, err
	}
	if _, err = proof.LoadRefCell(); err != nil {
		return 0, set, err
	}
	list, err := proof.LoadMaybeRef()
	if err != nil || list == nil {
		return uint32(number), set, err
	}
	if _, err = list.LoadSlice(8); err != nil { // block_signatures#11
		return 0, set, err
	}
	hash, err := list.LoadUInt(32)
	if err != nil {
		return 0, set, err
	}
	catchain, err := list.LoadUInt(32)
	if err != nil {
		return 0, set, err
	}
	if _, err = list.LoadSlice(32 + 64); err != nil { // their number and weight
		return 0, set, err
	}
	pairs, err := list.LoadDict(16)
	if err != nil {
		return 0, set, err
	}
	set.ValidatorSetHash, set.CatchainSeqno = int32(hash), int32(catchain)
	all, err := pairs.LoadAll()
	if err != nil {
		return 0, set, err
	}
	for _, pair := range all {
		node, err := pair.Value.LoadSlice(256)
		if err != nil {
			return 0, set, err
		}
		if _, err := pair.Value.LoadUInt(4); err != nil { // ed25519_signature#5
			return 0, set, err
		}
		signature, err := pair.Value.LoadSlice(512)
		if err != nil {
			return 0, set, err
		}
		set.Signatures = append(set.Signatures, ton.Signature{NodeIDShort: node, Signature: signature})
	}
	return uint32(number), set, nil
}

// Key is the id of the key block.
func (s *Signed) Key() *ton.BlockIDExt { return s.key }

// Handle is a Handler.
func (s *Signed) Handle(ctx context.Context, r Request) any {
	q, ok := r.Query.(ton.GetBlockProof)
	if !ok {
		return s.Folder.Handle(ctx, r)
	}
	if s.read(q.TargetBlock) == nil || !q.KnownBlock.Equals(s.key) {
		return notFound
	}
	config := s.prove(s.key, func(b *tlb.Block) error {
		for _, number := range []int64{28, 34} {
			value, err := b.Extra.Custom.ConfigParams.Config.Params.LoadValueByIntKey(big.NewInt(number))
			if err != nil {
				return err
			}
			param, err := value.LoadRefCell()
			if err != nil {
				return err
			}
			if err := readWhole(param); err != nil {
				return err
			}
		}
		return nil
	})
	dest := s.prove(q.TargetBlock, func(*tlb.Block) error { return nil })
	if config == nil || dest == nil {
		return notFound
	}
	return ton.PartialBlockProof{Complete: true, From: q.KnownBlock, To: q.TargetBlock, Steps: []any{ton.BlockLinkForward{
		ToKeyBlock: q.TargetBlock.Equals(s.key), From: q.KnownBlock, To: q.TargetBlock,
		DestProof: dest.ToBOC(), ConfigProof: config.ToBOC(), SignatureSet: s.signatures[q.TargetBlock.SeqNo],
	}}}
}

// readWhole reads all cells below one, so that a proof holds them.
func readWhole(c *cell.Cell) error {
	loader, err := c.BeginParse()
	if err != nil {
		return err
	}
	for loader.RefsNum() > 0 {
		next, err := loader.LoadRefCell()
		if err != nil {
			return err
		}
		if err := readWhole(next); err != nil {
			return err
		}
	}
	return nil
}
