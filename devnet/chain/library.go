package chain

import (
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

// applyLibraries brings what the accounts of this block lend, or lend no more,
// into the state.
func (c *collation) applyLibraries() {
	for _, a := range c.inOrderOfID() {
		after := publicLibraries(a.account)
		for hash, root := range after {
			if a.lent[hash] == nil {
				c.state.lend(hash, root, a.id, true)
			}
		}
		for hash, root := range a.lent {
			if after[hash] == nil {
				c.state.lend(hash, root, a.id, false)
			}
		}
	}
}

// lend makes an account a publisher of a library, or no longer one, in the
// dictionary of LibDescr (block.tlb). A library without publishers is gone.
func (st *state) lend(hash [32]byte, root *cell.Cell, publisher [32]byte, add bool) {
	libraries, publishers := cell.NewDict(256), cell.NewDict(256)
	if st.libraries != nil {
		libraries = st.libraries.AsDict(256)
	}
	key := cell.BeginCell().MustStoreSlice(hash[:], 256).EndCell()
	if value, err := libraries.LoadValue(key); err == nil {
		publishers = sure(value, value.SkipBitsAndRefs(2, 1)).MustToCell().AsDict(256)
	}
	who := cell.BeginCell().MustStoreSlice(publisher[:], 256).EndCell()
	if add {
		sure(who, publishers.SetBuilder(who, cell.BeginCell()))
	} else {
		sure(who, publishers.Delete(who))
	}
	if publishers.IsEmpty() {
		sure(key, libraries.Delete(key))
	} else {
		sure(key, libraries.SetBuilder(key, cell.BeginCell().MustStoreUInt(0, 2).MustStoreRef(root).MustStoreBuilder(publishers.AsCell().ToBuilder())))
	}
	st.libraries = libraries.AsCell()
}
