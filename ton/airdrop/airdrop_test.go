package airdrop_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"testing"

	tcell "github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/test/support/costtest"
	"tonscribe/ton/airdrop"
	"tonscribe/ton/cell"
)

// itemCell is AirdropItem.
func itemCell(amount *big.Int, start, expire uint64) *tcell.Cell {
	return tcell.BeginCell().MustStoreBigCoins(amount).MustStoreUInt(start, 48).MustStoreUInt(expire, 48).EndCell()
}

// keyCell is addr_std without anycast.
func keyCell(workchain int8, owner []byte) *tcell.Cell {
	return tcell.BeginCell().MustStoreUInt(0b100, 3).MustStoreInt(int64(workchain), 8).MustStoreSlice(owner, 256).EndCell()
}

func dictionary(t testing.TB, items []airdrop.Item) *tcell.Cell {
	t.Helper()
	d := tcell.NewDict(267)
	for _, i := range items {
		if err := d.Set(keyCell(int8(i.Workchain), i.Owner[:]), itemCell(i.Amount, i.StartFrom, i.ExpireAt)); err != nil {
			t.Fatal(err)
		}
	}
	return d.AsCell()
}

func read(t testing.TB, root *tcell.Cell) (list []airdrop.Item, err error) {
	t.Helper()
	a, err := airdrop.Parse(root.ToBOC(), [32]byte(root.Hash()))
	if err != nil {
		return nil, err
	}
	if err := a.Each(func(i *airdrop.Item) error { list = append(list, *i); return nil }); err != nil {
		t.Fatal(err)
	}
	if a.Items != len(list) {
		t.Errorf("%d items are counted, and %d are there", a.Items, len(list))
	}
	return list, nil
}

func item(workchain int32, n byte, amount int64) airdrop.Item {
	return airdrop.Item{Workchain: workchain, Owner: [32]byte(bytes.Repeat([]byte{n}, 32)), Amount: big.NewInt(amount), StartFrom: 1_700_000_000 + uint64(n), ExpireAt: 1<<48 - 1}
}

func TestItemsAreThoseThatWerePut(t *testing.T) {
	largest := item(0, 7, 0)
	largest.Amount = new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 120), big.NewInt(1))
	var many []airdrop.Item
	for n := range 200 {
		many = append(many, item(0, byte(n), int64(n)))
	}
	for name, want := range map[string][]airdrop.Item{
		"one": {item(0, 1, 5)}, "one of the masterchain": {item(-1, 0xff, 5)}, "the largest amount": {largest}, "two workchains": {item(0, 1, 0), item(-1, 2, 9)}, "many": many,
	} {
		have, err := read(t, dictionary(t, want))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if text, wanted := fmt.Sprint(have), fmt.Sprint(want); text != wanted {
			t.Errorf("%s: items are %.300s, want %.300s", name, text, wanted)
		}
	}
}

func TestOtherKeysThanPlainAddressesArePassedOver(t *testing.T) {
	d := tcell.NewDict(267)
	for _, tag := range []uint64{0b000, 0b100, 0b101, 0b110} {
		key := tcell.BeginCell().MustStoreUInt(tag, 3).MustStoreInt(0, 8).MustStoreSlice(bytes.Repeat([]byte{byte(tag)}, 32), 256).EndCell()
		if err := d.Set(key, itemCell(big.NewInt(int64(tag)), 0, 1)); err != nil {
			t.Fatal(err)
		}
	}
	have, err := read(t, d.AsCell())
	if err != nil || len(have) != 1 || have[0].Amount.Int64() != 0b100 {
		t.Errorf("items are %v, %v, want the one of addr_std", have, err)
	}
}

func TestDictionariesOfSharedCellsAreRefusedBeforeTheyUnfold(t *testing.T) {
	for _, depth := range []uint{3, 20, 200} {
		if _, err := read(t, costtest.SharedDictionary(267, depth, itemCell(big.NewInt(1), 0, 1).ToBuilder())); !errors.Is(err, cell.ErrLimit) {
			t.Errorf("2^%d items in %d cells: %v, want %v", depth, depth+1, err, cell.ErrLimit)
		}
	}
}

func TestWhatIsNoAirdropIsRefused(t *testing.T) {
	good := dictionary(t, []airdrop.Item{item(0, 1, 5), item(0, 2, 6)})
	boc, root := good.ToBOC(), [32]byte(good.Hash())
	library, err := tcell.BeginCell().MustStoreUInt(2, 8).MustStoreSlice(bytes.Repeat([]byte{1}, 32), 256).EndCellSpecial(true)
	if err != nil {
		t.Fatal(err)
	}
	short := tcell.BeginCell().MustStoreUInt(0b10, 2).MustStoreUInt(267, 9).MustStoreSlice(make([]byte, 34), 267)
	inside := tcell.BeginCell().MustStoreUInt(0, 2).MustStoreRef(library).MustStoreRef(good).EndCell()
	for name, c := range map[string]struct {
		dump []byte
		root [32]byte
		want error
	}{
		"another root": {boc, [32]byte{1}, airdrop.ErrRoot}, "no bytes": {nil, root, cell.ErrFormat}, "cut short": {boc[:len(boc)-5], root, cell.ErrFormat},
		"a library": {library.ToBOC(), [32]byte(library.Hash()), cell.ErrPruned}, "a library below": {inside.ToBOC(), [32]byte(inside.Hash()), cell.ErrPruned},
		"a leaf without an item": {short.EndCell().ToBOC(), [32]byte(short.EndCell().Hash()), cell.ErrUnderflow},
		"an empty cell":          {tcell.BeginCell().EndCell().ToBOC(), [32]byte(tcell.BeginCell().EndCell().Hash()), cell.ErrUnderflow},
	} {
		if a, err := airdrop.Parse(c.dump, c.root); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, %v, want %v", name, a, err, c.want)
		}
	}
	if _, err := airdrop.Parse(slices.Clone(boc), root); err != nil {
		t.Error(err)
	}
}

func BenchmarkParse(b *testing.B) {
	var items []airdrop.Item
	for n := range 20_000 {
		i := item(0, 0, int64(n)*1e9)
		copy(i.Owner[:], fmt.Sprintf("%x", n*2654435761))
		items = append(items, i)
	}
	root := dictionary(b, items)
	boc, hash := root.ToBOC(), [32]byte(root.Hash())
	b.SetBytes(int64(len(boc)))
	b.ReportAllocs()
	for b.Loop() {
		if a, err := airdrop.Parse(boc, hash); err != nil || a.Items != len(items) {
			b.Fatal(a, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, c := range []*tcell.Cell{
		dictionary(f, []airdrop.Item{item(0, 1, 5)}), dictionary(f, []airdrop.Item{item(0, 1, 5), item(-1, 2, 6), item(0, 3, 0)}),
		costtest.SharedDictionary(267, 30, itemCell(big.NewInt(1), 0, 1).ToBuilder()), tcell.BeginCell().EndCell(),
	} {
		f.Add(c.ToBOC())
	}
	f.Fuzz(func(t *testing.T, boc []byte) {
		bag, err := cell.Parse(boc)
		if err != nil {
			return
		}
		root, err := bag.Single()
		if err != nil {
			return
		}
		costtest.Check(t, func() {
			a, err := airdrop.Parse(boc, *root.Hash())
			if err != nil {
				return
			}
			if 2*a.Items-1 > bag.Len() {
				t.Errorf("%d items in %d cells", a.Items, bag.Len())
			}
			n := 0
			if err := a.Each(func(*airdrop.Item) error { n++; return nil }); err != nil || n != a.Items {
				t.Errorf("%d items, then %d and %v", a.Items, n, err)
			}
		})
	})
}
