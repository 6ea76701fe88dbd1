package cell

import (
	"errors"
	"testing"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/test/support/costtest"
)

func FuzzDictionary(f *testing.F) {
	for _, bits := range []uint{1, 8, 32, 256} {
		f.Add(shared(bits, cell.BeginCell()).ToBOC(), uint16(bits))
	}
	for _, bits := range []uint{8, 64, 264} {
		d := cell.NewDict(bits)
		for i := range 40 {
			key := cell.BeginCell().MustStoreUInt(uint64(i*i)&0x7f, 8).MustStoreSlice(make([]byte, 32), bits-8).EndCell()
			if err := d.Set(key, cell.BeginCell().MustStoreUInt(uint64(i), 16).EndCell()); err != nil {
				f.Fatal(err)
			}
		}
		f.Add(d.AsCell().ToBOC(), uint16(bits))
	}
	f.Fuzz(func(t *testing.T, boc []byte, bits uint16) {
		const limit = 1000
		root, err := cell.FromBOCWithOptions(boc, cell.BOCParseOptions{MaxCells: 1 << 14})
		if err != nil {
			return
		}
		d := Dictionary{Root: root, Bits: uint(bits) % 1024}
		var list []Entry
		costtest.Check(t, func() { list, err = d.Entries(limit) })
		if err != nil {
			return
		}
		for _, e := range list {
			if value, err := d.Find(e.Key); err != nil || value == nil {
				t.Fatalf("%x of %d bits is visited and not found (%v)", e.Key, d.Bits, err)
			}
		}
		if _, err := d.Entries(len(list) - 1); len(list) > 0 && !errors.Is(err, ErrTooManyEntries) {
			t.Fatalf("one of %d entries less: %v, want %v", len(list), err, ErrTooManyEntries)
		}
	})
}
