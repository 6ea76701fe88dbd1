package tvm

import (
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm/cell"

	toncell "tonscribe/ton/cell"
)

// maxLibraries is how many libraries code may ask for, as in the node.
const maxLibraries = 8

// Libraries are public libraries that some code needs.
type Libraries struct {
	dictionary *cell.Dictionary // nil for none
	count      int
}

// Full reports whether no more are looked for.
func (l *Libraries) Full() bool { return l.count >= maxLibraries }

// Add takes one in.
func (l *Libraries) Add(hash [32]byte, library *cell.Cell) error {
	if l.dictionary == nil {
		l.dictionary = cell.NewDict(256)
	}
	l.count++
	return l.dictionary.Set(cell.BeginCell().MustStoreSlice(hash[:], 256).EndCell(), cell.BeginCell().MustStoreRef(library).EndCell())
}

// Roots are the dictionaries for a Context.
func (l *Libraries) Roots() []*cell.Cell {
	if l.dictionary == nil {
		return nil
	}
	return []*cell.Cell{l.dictionary.AsCell()}
}

// maxCodeCells is how many cells of code are looked at for libraries.
const maxCodeCells = 1 << 12

// FindLibraries sets the libraries that are parts of the account's code, of the code
// that the message brings, or of such libraries. find is asked for all at once that are
// known of, and again for those that the found ones name; nil is one that is not there.
// No more are asked for than the node allows.
func (in *Delivery) FindLibraries(find func(hashes [][32]byte) ([]*cell.Cell, error)) error {
	var found Libraries
	code := walk{waiting: []*cell.Cell{codeOf(in.Account), codeBrought(in.Message)}, seen: map[cell.Hash]bool{}}
	for asked := 0; ; {
		hashes, err := code.libraries(maxLibraries - asked)
		if err != nil {
			return err
		}
		if len(hashes) == 0 {
			break
		}
		asked += len(hashes)
		libraries, err := find(hashes)
		if err != nil {
			return err
		}
		for i, library := range libraries {
			if library == nil {
				continue
			}
			if err := found.Add(hashes[i], library); err != nil {
				return err
			}
			code.waiting = append(code.waiting, library)
		}
	}
	in.Libraries = found.Roots()
	return nil
}

// walk goes through code, each cell once.
type walk struct {
	waiting []*cell.Cell
	seen    map[cell.Hash]bool
}

// libraries returns up to limit of those that the waiting cells and their parts name.
func (w *walk) libraries(limit int) (hashes [][32]byte, err error) {
	for len(w.waiting) > 0 && len(w.seen) < maxCodeCells && len(hashes) < limit {
		c := w.waiting[0]
		w.waiting = w.waiting[1:]
		if c == nil || w.seen[c.HashKey()] {
			continue
		}
		w.seen[c.HashKey()] = true
		if hash, is := toncell.LibraryOf(c); is {
			hashes = append(hashes, hash)
			continue
		}
		for i := range int(c.RefsNum()) {
			child, err := c.PeekRef(i)
			if err != nil {
				return nil, err
			}
			w.waiting = append(w.waiting, child)
		}
	}
	return hashes, nil
}

// codeOf is the code of an account (TL-B Account), nil for none.
func codeOf(account *cell.Cell) *cell.Cell {
	var state tlb.AccountState
	if account == nil || tlb.Parse(&state, account) != nil || state.StateInit == nil {
		return nil
	}
	return state.StateInit.Code
}

// codeBrought is the code that a message brings, nil for none.
func codeBrought(message *cell.Cell) *cell.Cell {
	var m tlb.Message
	if message == nil || tlb.Parse(&m, message) != nil {
		return nil
	}
	var init *tlb.StateInit
	switch m.MsgType {
	case tlb.MsgTypeInternal:
		init = m.AsInternal().StateInit
	case tlb.MsgTypeExternalIn:
		init = m.AsExternalIn().StateInit
	}
	if init == nil {
		return nil
	}
	return init.Code
}

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
