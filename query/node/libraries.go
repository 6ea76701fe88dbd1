package node

import (
	"context"
	"slices"

	"github.com/xssnick/tonutils-go/tvm/cell"
)

// librariesAtOnce is how many libraries lite servers take in a request.
const librariesAtOnce = 16

// Library is a public library and its hash.
type Library struct {
	Hash [32]byte
	Cell *cell.Cell
}

// Libraries reads public libraries by the order of their hashes, up to 16 different
// ones; unknown ones are left out.
func (n *Node) Libraries(ctx context.Context, hashes [][32]byte) (list []Library, err error) {
	hashes = slices.Clone(hashes)
	slices.SortFunc(hashes, func(a, b [32]byte) int { return slices.Compare(a[:], b[:]) })
	hashes = slices.Compact(hashes)
	if len(hashes) == 0 {
		return nil, nil
	}
	hashes = hashes[:min(len(hashes), librariesAtOnce)]
	asked := make([][]byte, len(hashes))
	for i := range hashes {
		asked[i] = hashes[i][:]
	}
	found, err := n.servers.Libraries(ctx, asked...)
	if err != nil {
		return nil, err
	}
	for i, library := range found {
		if library != nil {
			list = append(list, Library{hashes[i], library})
		}
	}
	return list, nil
}

// CodeLibraries reads public libraries that code needs, nil for those that there are
// none of. Found ones are kept.
func (n *Node) CodeLibraries(ctx context.Context, hashes [][32]byte) ([]*cell.Cell, error) {
	list := make([]*cell.Cell, len(hashes))
	var missing [][]byte
	var at []int
	for i := range hashes {
		if library, ok := n.libraries.held.GetIfPresent(hashes[i]); ok {
			list[i] = library
			continue
		}
		missing, at = append(missing, hashes[i][:]), append(at, i)
	}
	if len(missing) == 0 {
		return list, nil
	}
	found, err := n.servers.Libraries(ctx, missing...)
	if err != nil {
		return nil, err
	}
	for j, library := range found {
		if library != nil {
			list[at[j]] = library
			n.libraries.held.Set(hashes[at[j]], library)
		}
	}
	return list, nil
}
