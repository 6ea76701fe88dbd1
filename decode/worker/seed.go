package worker

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"tonscribe/schema"
	"tonscribe/schema/record"
)

// seed puts the zerostates into the store that the bundle's blocks begin with,
// and their accounts, late ones, into this bundle and those after it.
func (k *accountStates) seed(ctx context.Context, b *bundle) error {
	for _, j := range b.jobs {
		if j.begins == nil || k.zerostate == nil {
			continue
		}
		boc, err := k.zerostate(ctx, j.begins)
		if err != nil {
			return fmt.Errorf("zerostate of block %s: %w", blockName(j.id), err)
		}
		if boc == nil {
			continue
		}
		if err := k.plant(b, j.begins, boc); err != nil {
			return fmt.Errorf("zerostate of block %s: %w", blockName(j.id), err)
		}
	}
	return nil
}

func (k *accountStates) plant(b *bundle, id *record.BlockId, boc []byte) error {
	z, err := k.decoder.State(boc)
	if err != nil {
		return err
	}
	if !bytes.Equal(z.RootHash[:], id.RootHash) || !bytes.Equal(z.FileHash[:], id.FileHash) {
		return fmt.Errorf("the state has root hash %x, the block names %x", z.RootHash, id.RootHash)
	}
	if k.partition == 0 && z.Config != nil && b.config == nil {
		b.config = z.Config
	}
	for _, a := range z.Accounts {
		if schema.PartitionOf(schema.AccountID(a.Account), k.kafka.Partitions()) != k.partition {
			continue
		}
		k.put(a.Cells)
		if len(a.State.CodeHash) == 32 && a.Code != nil {
			hash := [32]byte(a.State.CodeHash)
			if _, ok := k.codes.get(hash); !ok {
				k.codes.put(hash, struct{}{}, 1)
				b.codes = append(b.codes, &record.Code{Hash: hash[:], Boc: a.Code, Methods: a.CodeMethods.IDs, MethodsKnown: a.CodeMethods.Known})
			}
		}
		if err := k.libraries(a.Libraries, b); err != nil {
			return err
		}
		late := &record.Account{Account: a.Account, McSeqno: b.mcSeqno, LastTransLt: a.LastTransLt, LastTransHash: a.LastTransHash,
			Now: z.GenUtime, Hash: a.Hash, State: a.State, Data: a.Data, DataDepth: uint32(a.DataDepth)}
		if err := k.incomplete.add(late); err != nil {
			return err
		}
	}
	return nil
}

// begins is the zerostate that a block follows, nil when it follows a block.
func begins(block *record.Block) *record.BlockId {
	i := slices.IndexFunc(block.PrevBlocks, func(id *record.BlockId) bool { return id.Seqno == 0 })
	if i < 0 {
		return nil
	}
	return block.PrevBlocks[i]
}
