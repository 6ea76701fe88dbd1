package liteserver

import (
	"context"
	"errors"

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
	loader, err := state.BeginParse()
	if err != nil {
		return nil, err
	}
	list, err := visitLibraries(loader, q.LibraryList)
	return ton.LibraryResult{Result: list}, err
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
	roots, err := c.stateProof(commit.Master, func(state *cell.Slice) error {
		answer.Result, err = visitLibraries(state, q.LibraryList)
		return err
	})
	if err != nil {
		return nil, err
	}
	answer.StateProof, answer.DataProof = boc(roots[0]), boc(roots[1])
	return answer, nil
}

// visitLibraries reads a masterchain state down to libraries, as many as there are.
func visitLibraries(state *cell.Slice, hashes [][]byte) ([]*ton.LibraryEntry, error) {
	found := []*ton.LibraryEntry{}
	dict, err := libraryDict(state)
	if err != nil || dict.IsEmpty() {
		return found, err
	}
	for _, hash := range hashes {
		value, err := dict.LoadValue(cell.BeginCell().MustStoreSlice(hash, 256).EndCell())
		if errors.Is(err, cell.ErrNoSuchKeyInDict) {
			continue
		}
		if err != nil {
			return nil, err
		}
		library, err := value.PeekRefCell()
		if err != nil {
			return nil, err
		}
		found = append(found, &ton.LibraryEntry{Hash: hash, Data: boc(library.WithoutTrace())})
	}
	return found, nil
}

// libraryDict is the dictionary of public libraries (HashmapE 256 LibDescr) in
// the third reference of a state.
func libraryDict(state *cell.Slice) (*cell.Dictionary, error) {
	stats, err := child(state, 2)
	if err != nil {
		return nil, err
	}
	if err := stats.SkipBits(64 + 64); err != nil { // overload and underload history
		return nil, err
	}
	for range 2 { // total balance, validators' fees
		var amount tlb.CurrencyCollection
		if err := tlb.LoadFromCell(&amount, stats); err != nil {
			return nil, err
		}
	}
	return stats.LoadDict(256)
}
