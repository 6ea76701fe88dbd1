package contract_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/decode/contract"
	"tonscribe/devnet/contracts"
)

// lend puts a library cell into a tree wherever a cell is.
func lend(t *testing.T, root, part *cell.Cell) *cell.Cell {
	t.Helper()
	if root.HashKey() == part.HashKey() {
		name, err := cell.BeginCell().MustStoreUInt(uint64(cell.LibraryCellType), 8).MustStoreSlice(part.Hash(), 256).EndCellSpecial(true)
		if err != nil {
			t.Fatal(err)
		}
		return name
	}
	s := root.MustBeginParse()
	bits := s.BitsLeft()
	b := cell.BeginCell().MustStoreSlice(s.MustLoadSlice(bits), bits)
	for s.RefsNum() > 0 {
		ref, err := s.LoadRefCell()
		if err != nil {
			t.Fatal(err)
		}
		b.MustStoreRef(lend(t, ref, part))
	}
	return b.EndCell()
}

func TestMethodsAreReadThroughLibraries(t *testing.T) {
	code := contracts.Code(contracts.JettonMinterCode)
	dict, err := code.PeekRef(0)
	if err != nil {
		t.Fatal(err)
	}
	half, err := dict.PeekRef(1)
	if err != nil {
		t.Fatal(err)
	}
	want := codeOf(code)
	for name, part := range map[string]*cell.Cell{"the code": code, "its dictionary": dict, "a half of the dictionary": half} {
		lent := lend(t, code, part)
		c, err := contract.NewCode(lent, nil)
		var missing *contract.MissingLibrary
		if !errors.As(err, &missing) || missing.Hash != part.HashKey() || len(c.Methods) > 0 || !c.Empty() {
			t.Errorf("%s is in a library that is not known: methods %v, %v", name, c.Methods, err)
		}
		c, err = contract.NewCode(lent, func(hash [32]byte) *cell.Cell {
			if hash != part.HashKey() {
				return nil
			}
			return part
		})
		if err != nil || !slices.Equal(c.Methods, want.Methods) || !slices.Equal(c.Names, want.Names) || c.Hash != lent.HashKey() {
			t.Errorf("%s is in a library: methods %v, names %v, %v; want %v, %v", name, c.Methods, c.Names, err, want.Methods, want.Names)
		}
	}
}

func TestALibraryThatNamesALibraryIsNoCode(t *testing.T) {
	code := contracts.Code(contracts.JettonMinterCode)
	name := lend(t, code, code)
	c, err := contract.NewCode(lend(t, name, name), func([32]byte) *cell.Cell { return name })
	if err != nil || len(c.Methods) > 0 {
		t.Errorf("methods %v, %v; want none, and no library to wait for", c.Methods, err)
	}
}
