package tvm

import (
	"github.com/xssnick/tonutils-go/tvm/cell"

	toncell "tonscribe/ton/cell"
)

// missingLibrary runs the method once more and watches which library cells it
// opens; the last one of which the libraries hold nothing is why it ended. The
// machine itself does not tell.
func (in *Input) missingLibrary(gas int64) *[32]byte {
	var missing *[32]byte
	watch := cell.NewTrace(cell.TraceHooks{OnLoad: func(c *cell.Cell) {
		if hash, ok := toncell.LibraryOf(c); ok && !in.hasLibrary(hash) {
			missing = &hash
		}
	}})
	again := *in
	again.Code, again.Data = in.Code.WithTrace(watch), in.Data
	if in.Data != nil {
		again.Data = in.Data.WithTrace(watch)
	}
	again.Libraries = make([]*cell.Cell, 0, len(in.Libraries)) // which may name others
	for _, root := range in.Libraries {
		if root != nil {
			again.Libraries = append(again.Libraries, root.WithTrace(watch))
		}
	}
	// Code that is itself a library is opened before the watch begins.
	if hash, ok := toncell.LibraryOf(in.Code); ok && !in.hasLibrary(hash) {
		return &hash
	}
	if _, err := again.execute(gas); err != nil {
		return nil
	}
	return missing
}

func (in *Input) hasLibrary(hash [32]byte) bool {
	key := cell.BeginCell().MustStoreSlice(hash[:], 256).EndCell()
	for _, root := range in.Libraries {
		if root == nil {
			continue
		}
		value, err := root.AsDict(256).LoadValue(key)
		if err != nil {
			continue
		}
		library, err := value.LoadRefCell()
		if err == nil && library.HashKey() == cell.Hash(hash) {
			return true
		}
	}
	return false
}
