package cell

import (
	"bytes"
	"errors"
	"math/big"
	"testing"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/test/support/costtest"
)

// shared is a dictionary whose forks lead to the same cell on both sides: it
// has 2^bits entries in bits+1 cells.
func shared(bits uint, value *cell.Builder) *cell.Cell {
	node := cell.BeginCell().MustStoreUInt(0b00, 2).MustStoreBuilder(value).EndCell()
	for range bits {
		node = cell.BeginCell().MustStoreUInt(0b00, 2).MustStoreRef(node).MustStoreRef(node).EndCell()
	}
	return node
}

func dictionaryOf(t *testing.T, bits uint, keys ...int64) *cell.Cell {
	t.Helper()
	d := cell.NewDict(bits)
	for _, key := range keys {
		if err := d.SetIntKey(big.NewInt(key), cell.BeginCell().MustStoreInt(key, 64).EndCell()); err != nil {
			t.Fatal(err)
		}
	}
	return d.AsCell()
}

func TestEntriesComeInTheOrderOfTheirKeys(t *testing.T) {
	for _, bits := range []uint{8, 15, 19, 32, 256} {
		d := Dictionary{Root: dictionaryOf(t, bits, 7, 3, 100, 0, 64), Bits: bits}
		list, err := d.Entries(5)
		if err != nil || len(list) != 5 {
			t.Fatalf("%d bits: %d entries and %v, want 5 and none", bits, len(list), err)
		}
		for i, want := range []int64{0, 3, 7, 64, 100} {
			got := list[i].Value.MustLoadInt(64)
			key := new(big.Int).SetBytes(list[i].Key)
			key.Rsh(key, (8-bits%8)%8)
			if got != want || key.Int64() != want {
				t.Errorf("%d bits, entry %d: %v → %d, want %d", bits, i, key, got, want)
			}
			found, err := d.Find(list[i].Key)
			if err != nil || found == nil || found.MustLoadInt(64) != want {
				t.Errorf("%d bits: find %d: %v, %v", bits, want, found, err)
			}
		}
		if found, err := d.Find(bytes.Repeat([]byte{0xff}, int(bits+7)/8)); found != nil || err != nil {
			t.Errorf("%d bits: find what is not there: %v, %v", bits, found, err)
		}
	}
}

func TestSharedCellsCostNoMoreThanTheLimit(t *testing.T) {
	for _, bits := range []uint{32, 256} {
		d := Dictionary{Root: shared(bits, cell.BeginCell()), Bits: bits}
		opened := 0
		d.Open = func(c *cell.Cell) (*cell.Cell, error) { opened++; return c, nil }
		costtest.Check(t, func() {
			opened = 0
			if _, err := d.Entries(1000); !errors.Is(err, ErrTooManyEntries) {
				t.Errorf("%d bits: %v, want %v", bits, err, ErrTooManyEntries)
			}
		})
		if most := 2*1000 + int(bits) + 2; opened > most {
			t.Errorf("%d bits: %d cells were read, want %d at most", bits, opened, most)
		}
	}
}

func TestWalkEndsWhereItIsTold(t *testing.T) {
	d := Dictionary{Root: dictionaryOf(t, 8, 1, 2, 3), Bits: 8}
	for _, c := range []struct {
		limit, stop, visits int
		complete            bool
	}{{3, 9, 3, true}, {2, 9, 2, false}, {0, 9, 0, false}, {3, 1, 1, false}} {
		visits := 0
		complete, err := d.Walk(c.limit, func([]byte, *cell.Slice) bool { visits++; return visits != c.stop })
		if err != nil || visits != c.visits || complete != c.complete {
			t.Errorf("limit %d, stop at %d: %d visits, complete %t, %v; want %d and %t", c.limit, c.stop, visits, complete, err, c.visits, c.complete)
		}
	}
	if complete, err := (Dictionary{Bits: 8}).Walk(0, nil); !complete || err != nil {
		t.Errorf("an empty dictionary: %t, %v", complete, err)
	}
}

func TestCellsThatAreNoDictionaryAreAnError(t *testing.T) {
	long := cell.BeginCell().MustStoreUInt(0b11, 2).MustStoreUInt(0b1_1111, 5).EndCell()
	for name, root := range map[string]*cell.Cell{
		"nothing":                cell.BeginCell().EndCell(),
		"a fork without ends":    cell.BeginCell().MustStoreUInt(0, 2).EndCell(),
		"a label beyond the key": long,
		"a label that ends":      cell.BeginCell().MustStoreUInt(0b10_1000_1, 7).EndCell(),
	} {
		if _, err := (Dictionary{Root: root, Bits: 8}).Entries(10); !errors.Is(err, ErrDictionary) {
			t.Errorf("%s: %v, want %v", name, err, ErrDictionary)
		}
	}
}
