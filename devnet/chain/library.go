package chain

import (
	"errors"
	"fmt"

	"github.com/xssnick/tonutils-go/tvm"
	"github.com/xssnick/tonutils-go/tvm/cell"

	toncell "tonscribe/ton/cell"
)

// maxLibraries is how many libraries an account may lend, as on the main network
// (SizeLimitsConfig, max_acc_public_libraries).
const maxLibraries = 256

// publicLibraries are the libraries that an account of the masterchain lends to
// everybody, by hash.
func publicLibraries(account *tvm.PreparedAccount) map[[32]byte]*cell.Cell {
	state := account.State()
	if state == nil || !state.IsValid || state.StateInit == nil || state.StateInit.Lib == nil || state.StateInit.Lib.IsEmpty() {
		return nil
	}
	// A stranger deploys what he likes: what is no dictionary of libraries, or
	// more than anybody lends, lends nothing.
	entries, err := toncell.Dictionary{Root: state.StateInit.Lib.AsCell(), Bits: 256}.Entries(maxLibraries)
	if err != nil {
		return nil
	}
	out := map[[32]byte]*cell.Cell{}
	for _, e := range entries {
		public, err := e.Value.LoadBoolBit() // simple_lib$_ public:Bool root:^Cell
		if err != nil {
			return nil
		}
		root, err := e.Value.LoadRefCell()
		if err != nil {
			return nil
		}
		if public {
			out[[32]byte(e.Key)] = root
		}
	}
	return out
}

// settleLibraries brings what the accounts of this block lend, or lend no more,
// into the state.
func (c *collation) settleLibraries() error {
	var libraries *cell.Dictionary
	for _, l := range c.inOrderOfID() {
		after := publicLibraries(l.account)
		if len(l.lent) == 0 && len(after) == 0 {
			continue
		}
		if libraries == nil {
			libraries = cell.NewDict(256)
			if c.state.libraries != nil {
				libraries = c.state.libraries.AsDict(256)
			}
		}
		var err error
		for hash, root := range after {
			if l.lent[hash] == nil {
				err = errors.Join(err, lend(libraries, hash, root, l.id, true))
			}
		}
		for hash, root := range l.lent {
			if after[hash] == nil {
				err = errors.Join(err, lend(libraries, hash, root, l.id, false))
			}
		}
		if err != nil {
			return fmt.Errorf("libraries of account %x: %w", l.id, err)
		}
	}
	if libraries != nil {
		c.state.libraries = libraries.AsCell()
	}
	return nil
}

// lend makes an account a publisher of a library, or no longer one, in a
// dictionary of LibDescr (block.tlb). A library without publishers is gone.
func lend(libraries *cell.Dictionary, hash [32]byte, root *cell.Cell, publisher [32]byte, add bool) error {
	key := cell.BeginCell().MustStoreSlice(hash[:], 256).EndCell()
	publishers := cell.NewDict(256)
	if value, err := libraries.LoadValue(key); err == nil {
		if err := value.SkipBitsAndRefs(2, 1); err != nil {
			return err
		}
		rest, err := value.ToCell()
		if err != nil {
			return err
		}
		publishers = rest.AsDict(256)
	}
	who := cell.BeginCell().MustStoreSlice(publisher[:], 256).EndCell()
	if add {
		if err := publishers.SetBuilder(who, cell.BeginCell()); err != nil {
			return err
		}
	} else if err := publishers.Delete(who); err != nil {
		return err
	}
	if publishers.IsEmpty() {
		return libraries.Delete(key)
	}
	return libraries.SetBuilder(key, cell.BeginCell().MustStoreUInt(0, 2).MustStoreRef(root).MustStoreBuilder(publishers.AsCell().ToBuilder()))
}
