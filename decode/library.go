package decode

import (
	"fmt"

	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/ton/cell"
)

// mostLibraries bounds what is read of one account.
const mostLibraries = 1024

// librariesOf is the hash of the libraries of an account of the masterchain: only
// those of its accounts are public for all.
func librariesOf(a accountCells, account []byte) *[32]byte {
	if schema.Workchain(account) != Masterchain || !a.libraries.Valid() {
		return nil
	}
	hash := *a.libraries.HashAt(0)
	return &hash
}

// Libraries reads the public ones of a dictionary of an account's libraries
// (Hashmap 256 SimpleLib), by hash. Larger ones than MaxCodeBytes are left out.
func (d *Decoder) Libraries(dict cell.Cell) ([]*record.Library, error) {
	d.budget, d.output = 4*mostLibraries, maxOutput
	list, err := d.libraryNode(dict.Slice(), [4]uint64{}, 0, nil)
	if err != nil {
		return nil, fmt.Errorf("libraries: %w", err)
	}
	return list, nil
}

// libraryNode walks a node of that dictionary; key holds the first bits.
func (d *Decoder) libraryNode(s cell.Slice, key [4]uint64, bits int, list []*record.Library) ([]*record.Library, error) {
	if err := d.visit(); err != nil {
		return nil, err
	}
	label, n := s.Label(256 - bits)
	putBits(&key, label, bits)
	bits += n
	if bits == 256 {
		public, root := s.Bool(), s.Ref()
		if s.Failed() || !public {
			return list, s.Err()
		}
		boc, err := d.whole(root, MaxCodeBytes)
		if err != nil || boc == nil {
			return list, err
		}
		return append(list, &record.Library{Hash: d.hash(root.HashAt(0)), Boc: boc}), nil
	}
	left, right := s.Next(), s.Next()
	if s.Failed() {
		return nil, s.Err()
	}
	list, err := d.libraryNode(left, key, bits+1, list)
	if err != nil {
		return nil, err
	}
	key[bits/64] |= 1 << (63 - bits%64)
	return d.libraryNode(right, key, bits+1, list)
}
