package chain

import (
	"math/rand/v2"
	"testing"

	"github.com/xssnick/tonutils-go/tvm/cell"
)

// tree is a random tree of cells; the same seeds give the same parts.
func tree(r *rand.Rand, depth int, change float64) *cell.Cell {
	b := cell.BeginCell().MustStoreUInt(r.Uint64N(3), 64)
	if change > 0 && r.Float64() < change {
		b.MustStoreUInt(r.Uint64(), 64)
	}
	if depth == 0 {
		return b.EndCell()
	}
	for range 2 {
		b.MustStoreRef(tree(r, depth-1, change))
	}
	return b.EndCell()
}

func TestUpdatesBetweenAnyTreesApply(t *testing.T) {
	for seed := range uint64(200) {
		before := tree(rand.New(rand.NewPCG(seed, 1)), 6, 0)
		after := tree(rand.New(rand.NewPCG(seed, 1)), 5+int(seed%3), 0.02*float64(seed%5))
		if seed%4 == 0 { // what was deep is shallow now
			after = cell.BeginCell().MustStoreRef(after.MustPeekRef(0)).MustStoreRef(before.MustPeekRef(1).MustPeekRef(0)).EndCell()
		}
		update, err := cell.FromBOC(compare(before, after).update(before, after).ToBOC())
		must(t, err)
		must(t, cell.ValidateMerkleUpdate(update))
		got, _, err := cell.ApplyMerkleUpdate(before, update)
		must(t, err)
		if got.HashKey() != after.HashKey() {
			t.Fatalf("seed %d: the update gives %x, want %x", seed, got.Hash(), after.Hash())
		}
	}
}

// Contracts may keep proofs in their data, and code in libraries.
func TestUpdatesKeepSpecialCellsOfContractsWhole(t *testing.T) {
	library, err := cell.BeginCell().MustStoreUInt(2, 8).MustStoreSlice(repeated(7), 256).EndCellSpecial(true)
	must(t, err)
	proven := tree(rand.New(rand.NewPCG(9, 9)), 4, 0)
	builder := cell.NewMerkleProofBuilder(proven)
	builder.Root().MustBeginParse().MustLoadRef()
	proof, err := builder.CreateProof()
	must(t, err)
	stays := tree(rand.New(rand.NewPCG(8, 8)), 3, 0)
	before := cell.BeginCell().MustStoreUInt(1, 8).MustStoreRef(stays).MustStoreRef(library).EndCell()
	after := cell.BeginCell().MustStoreUInt(2, 8).MustStoreRef(cell.BeginCell().MustStoreRef(proof).EndCell()).MustStoreRef(stays).MustStoreRef(library).EndCell()
	for _, states := range [][2]*cell.Cell{{before, after}, {after, before}, {after, cell.BeginCell().MustStoreUInt(3, 8).MustStoreRef(proof).EndCell()}} {
		update := compare(states[0], states[1]).update(states[0], states[1])
		if update.Level() != 0 {
			t.Fatalf("the update is of level %d", update.Level())
		}
		got, _, err := cell.ApplyMerkleUpdate(states[0], update)
		must(t, err)
		if got.HashKey() != states[1].HashKey() {
			t.Fatalf("the update gives %x, want %x", got.Hash(), states[1].Hash())
		}
	}
}
