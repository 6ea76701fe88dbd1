package dns

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/test/support/costtest"
	toncell "tonscribe/ton/cell"
)

// recordOf is a record of 32 bytes.
func recordOf(kind Kind, fill byte) *cell.Cell {
	return cell.BeginCell().MustStoreUInt(uint64(kind), 16).MustStoreSlice(bytes.Repeat([]byte{fill}, 32), 256).EndCell()
}

// special is a cell that is no record although it begins as one.
func special() *cell.Cell {
	c, err := cell.BeginCell().MustStoreUInt(2, 8).MustStoreSlice(make([]byte, 32), 256).EndCellSpecial(true)
	if err != nil {
		panic(err)
	}
	return c
}

// dictionary is of values by category.
func dictionary(t testing.TB, values map[[32]byte]*cell.Builder) *cell.Cell {
	t.Helper()
	d := cell.NewDict(256)
	for category, value := range values {
		if err := d.Set(cell.BeginCell().MustStoreSlice(category[:], 256).EndCell(), value.EndCell()); err != nil {
			t.Fatal(err)
		}
	}
	return d.AsCell()
}

func referred(c *cell.Cell) *cell.Builder { return cell.BeginCell().MustStoreRef(c) }

func TestRecordsAreFoundByCategoryAndKind(t *testing.T) {
	root := dictionary(t, map[[32]byte]*cell.Builder{
		Category("site"):    referred(recordOf(ADNL, 'a')),
		Category("storage"): referred(recordOf(ADNL, 'b')), // of another kind
		Category("wallet"):  referred(special()),
		Category("other"):   cell.BeginCell(), // no reference
		{}:                  referred(recordOf(Storage, 'c')),
	})
	for _, c := range []struct {
		category string
		kind     Kind
		want     string
	}{{"site", ADNL, strings.Repeat("a", 32)}, {"storage", Storage, ""}, {"wallet", Address, ""}, {"other", ADNL, ""}, {"dns_next_resolver", NextResolver, ""}} {
		if _, text, err := Find(root, c.category, c.kind).RestBits(); err != nil || string(text) != c.want {
			t.Errorf("%s: %q and %v, want %q", c.category, text, err, c.want)
		}
	}
	entries, err := Records(root)
	if err != nil || len(entries) != 5 || entries[0].Category != [32]byte{} {
		t.Fatalf("%d records, the first is of %x, and %v", len(entries), entries[0].Category, err)
	}
	for _, e := range entries {
		if missing := e.Category == Category("other"); missing != (e.Record == nil) {
			t.Errorf("%x: %v", e.Category, e.Record)
		}
	}
	if entries, err := Records(nil); err != nil || len(entries) != 0 {
		t.Errorf("no records: %v and %v", entries, err)
	}
	if _, err := Records(cell.BeginCell().EndCell()); !errors.Is(err, toncell.ErrDictionary) {
		t.Errorf("no dictionary: %v, want %v", err, toncell.ErrDictionary)
	}
}

func TestCategoriesAreKnownByTheirHashes(t *testing.T) {
	const site = "fbae041b02c41ed0fd8a4efb039bc780dd6af4a1f0c420f42561ae705dda43fe"
	for hash, name := range Categories {
		if is := fmt.Sprintf("%x", hash) == site; is != (name == "site") {
			t.Errorf("%s is %x", name, hash)
		}
	}
	if len(Categories) != 4 {
		t.Errorf("%d categories have names, want 4", len(Categories))
	}
}

func TestRecordsAreReadWithinALimit(t *testing.T) {
	// Both sides of each of the first forks are the same cell: 2^forks records.
	shared := func(forks uint) *cell.Cell {
		rest := 256 - forks
		node := cell.BeginCell().MustStoreUInt(0b110, 3).MustStoreUInt(uint64(rest), uint(big.NewInt(int64(rest)).BitLen())).
			MustStoreBuilder(referred(recordOf(Storage, 'x'))).EndCell()
		for range forks {
			node = cell.BeginCell().MustStoreUInt(0b00, 2).MustStoreRef(node).MustStoreRef(node).EndCell()
		}
		return node
	}
	costtest.Check(t, func() {
		if _, err := Records(shared(40)); !errors.Is(err, toncell.ErrTooManyEntries) {
			t.Errorf("2^40 records: %v, want %v", err, toncell.ErrTooManyEntries)
		}
	})
	if entries, err := Records(shared(8)); err != nil || len(entries) != MaxRecords {
		t.Errorf("%d records: %d and %v", MaxRecords, len(entries), err)
	}
}

func TestTextsAreJoinedFromTheirChunks(t *testing.T) {
	part := func(text string) *cell.Builder {
		return cell.BeginCell().MustStoreUInt(uint64(len(text)), 8).MustStoreSlice([]byte(text), uint(len(text))*8)
	}
	chunks := func(n uint64, rest *cell.Builder) *cell.Cell {
		return cell.BeginCell().MustStoreUInt(uint64(Text), 16).MustStoreUInt(n, 8).MustStoreBuilder(rest).EndCell()
	}
	for name, c := range map[string]struct {
		record *cell.Cell
		want   string
		ok     bool
	}{
		"none":           {chunks(0, cell.BeginCell()), "", true},
		"one":            {chunks(1, part("ab")), "ab", true},
		"two":            {chunks(2, part("ab").MustStoreRef(part("c").EndCell())), "abc", true},
		"more than said": {chunks(1, part("ab").MustStoreRef(part("c").EndCell())), "ab", true},
		"one too few":    {chunks(2, part("ab")), "", false},
		"a short one":    {chunks(1, cell.BeginCell().MustStoreUInt(9, 8)), "", false},
	} {
		kind, body := Parse(c.record)
		if text, err := ParseText(body); kind != Text || string(text) != c.want || (err == nil) != c.ok {
			t.Errorf("%s: kind %x, %q and %v, want %q", name, kind, text, err, c.want)
		}
	}
}

func FuzzRecords(f *testing.F) {
	f.Add(dictionary(f, map[[32]byte]*cell.Builder{Category("site"): referred(recordOf(ADNL, 'a')), {}: referred(special())}).ToBOC())
	f.Add(cell.BeginCell().MustStoreUInt(uint64(Text), 16).MustStoreUInt(2, 8).MustStoreUInt(2, 8).MustStoreUInt(0x6161, 16).
		MustStoreRef(cell.BeginCell().MustStoreUInt(1, 8).MustStoreUInt(0x62, 8).EndCell()).EndCell().ToBOC())
	f.Fuzz(func(t *testing.T, boc []byte) {
		root, err := cell.FromBOCWithOptions(boc, cell.BOCParseOptions{MaxCells: 1 << 14})
		if err != nil {
			return
		}
		costtest.Check(t, func() {
			_, body := Parse(root)
			_, _ = ParseText(body)
			entries, _ := Records(root)
			for _, e := range entries {
				name, known := Categories[e.Category]
				if !known || e.Record == nil {
					continue
				}
				if kind, body := Parse(e.Record); kind != 0 && Find(root, name, kind).BitsLeft() != body.BitsLeft() {
					t.Errorf("the record of %s is not found", name)
				}
			}
		})
	})
}
