package cell

import "github.com/xssnick/tonutils-go/tvm/cell"

// LibraryOf returns the hash of the cell that a library cell stands for, and
// whether c is a library cell: a special one of type 2 with a hash of 256 bits.
func LibraryOf(c *cell.Cell) (hash [32]byte, ok bool) {
	if c == nil || c.GetType() != cell.LibraryCellType {
		return hash, false
	}
	// To read it is not to open it, which a trace would count.
	r := ReaderOf(c.WithoutTrace().ToBuilder().ToSlice())
	r.Skip(8)
	hash = r.Hash()
	return hash, r.Err() == nil
}
