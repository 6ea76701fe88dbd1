package decode

import (
	"fmt"

	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/ton/cell"
)

// maxLibraries bounds what is read of one account.
const maxLibraries = 1024

// librariesOf is the hash of the libraries of an account of the masterchain: only
// those of its accounts are public for all.
func librariesOf(a accountCells, account []byte) *[32]byte {
	if schema.Workchain(account) != Masterchain || !a.libraries.Valid() {
		return nil
	}
	hash := *a.libraries.HashAt(0)
	return &hash
}

// MaxLibraryBytes is how much the libraries of an account have together: they may
// share cells, so that few of these are many libraries of any size.
const MaxLibraryBytes = 1 << 20

// Libraries reads the public ones of a dictionary of an account's libraries
// (Hashmap 256 SimpleLib), by hash. Larger ones than MaxCodeBytes, and what goes
// beyond MaxLibraryBytes, are left out.
func (d *Decoder) Libraries(dict cell.Cell) ([]*record.Library, error) {
	d.budget, d.output = 4*maxLibraries, maxOutput
	left := MaxLibraryBytes
	var list []*record.Library
	err := dict.Slice().Hashmap(256, &d.budget, false, func(_ cell.Key, s cell.Slice) error {
		public, root := s.Bool(), s.Ref()
		if s.Failed() || !public {
			return s.Err()
		}
		if boc := d.whole(root, min(MaxCodeBytes, left)); boc != nil {
			left -= len(boc)
			list = append(list, &record.Library{Hash: d.hash(root.HashAt(0)), Boc: boc})
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("libraries: %w", err)
	}
	return list, nil
}
