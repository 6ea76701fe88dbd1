package liteserver

import (
	"context"

	"github.com/xssnick/tonutils-go/tl"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/ton"
	"github.com/xssnick/tonutils-go/tvm/cell"
)

// maxLibraries that one query may name, as in the node.
const maxLibraries = 16

func (c *Component) libraries(_ context.Context, q ton.GetLibraries) (tl.Serializable, error) {
	if len(q.LibraryList) > maxLibraries {
		return nil, refuse(codeFatal, "too many libraries requested, maximum %d", maxLibraries)
	}
	head, err := c.head()
	if err != nil {
		return nil, err
	}
	state, err := c.dependencies.History.State(head.ID)
	if err != nil {
		return nil, err
	}
	return ton.LibraryResult{Result: visitLibraries(state.MustBeginParse(), q.LibraryList)}, nil
}

func (c *Component) librariesWithProof(_ context.Context, q ton.GetLibrariesWithProof) (tl.Serializable, error) {
	if len(q.LibraryList) > maxLibraries {
		return nil, refuse(codeFatal, "too many libraries requested, maximum %d", maxLibraries)
	}
	commit, err := c.commitOf(q.ID)
	if err != nil {
		return nil, err
	}
	answer := ton.LibraryResultWithProof{ID: commit.Master, Mode: q.Mode}
	answer.StateProof, answer.DataProof, err = c.stateProofs(commit.Master, func(state *cell.Slice) {
		answer.Result = visitLibraries(state, q.LibraryList)
	})
	return answer, err
}

// visitLibraries reads a masterchain state down to libraries, as many as there are.
func visitLibraries(state *cell.Slice, hashes [][]byte) []*ton.LibraryEntry {
	found := []*ton.LibraryEntry{}
	dict := libraryDict(state)
	for _, hash := range hashes {
		if value := find(dict.LoadValue(key256(hash))); value != nil {
			found = append(found, &ton.LibraryEntry{Hash: hash, Data: boc(must(value.PeekRefCell()).WithoutTrace())})
		}
	}
	return found
}

// libraryDict is the dictionary of public libraries (HashmapE 256 LibDescr) in
// the third reference of a state.
func libraryDict(state *cell.Slice) *cell.Dictionary {
	stats := skip(child(state, refTotals), 64+64) // overload and underload history
	load[tlb.CurrencyCollection](stats)           // total balance
	load[tlb.CurrencyCollection](stats)           // validators' fees
	return stats.MustLoadDict(256)
}
