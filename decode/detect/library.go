package detect

import (
	"context"
	"fmt"

	"github.com/xssnick/tonutils-go/tvm/cell"

	toncell "tonscribe/ton/cell"
)

// keepLibraries keeps those that accounts of the masterchain lend to everybody.
// One that is lent no more stays: code that names it by hash names nothing else.
func (w *work) keepLibraries(context.Context) error {
	for _, l := range w.now.libraries {
		if w.library([32]byte(l.Hash)) != nil {
			continue
		}
		if err := w.addLibrary(l.Boc); err != nil {
			return fmt.Errorf("library %x: %w", l.Hash, err)
		}
		if err := w.store.Set(l.Boc, keyLibrary, l.Hash); err != nil {
			return err
		}
		if err := w.came(l.Hash); err != nil {
			return err
		}
		w.metrics.libraries.Inc()
	}
	return nil
}

// library is the one with the hash, nil when it is not known.
func (w *work) library(hash [32]byte) *cell.Cell {
	value, err := w.libraries.LoadValue(cell.BeginCell().MustStoreSlice(hash[:], 256).EndCell())
	if err != nil {
		return nil
	}
	return toncell.ReaderOf(value).Ref()
}

func (w *work) addLibrary(boc []byte) error {
	root, err := cell.FromBOC(boc)
	if err != nil {
		return err
	}
	key := cell.BeginCell().MustStoreSlice(root.Hash(), 256).EndCell()
	if err := w.libraries.Set(key, cell.BeginCell().MustStoreRef(root).EndCell()); err != nil {
		return err
	}
	w.known = []*cell.Cell{w.libraries.AsCell()}
	return nil
}
