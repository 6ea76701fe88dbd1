package contract_test

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/internal/devnet/contracts"
)

func TestContentsThatAreReadInPartAreCounted(t *testing.T) {
	dictionary := large(t, 90_000)
	if size := len(dictionary.ToBOC()); size < 10<<20 {
		t.Fatalf("the dictionary has %d bytes, want 10 MB", size)
	}
	for name, c := range map[string]struct {
		content *cell.Cell
		cut     bool
	}{
		"a short one":                {contracts.OffchainContent("https://example.org/j.json"), false},
		"a text of 8 KiB":            {onChain(t, map[string]*cell.Cell{"description": referred(longText(8192))}), false},
		"a text of 100 kB":           {contracts.HugeContent(100_000), true},
		"a snake as deep as it goes": {contracts.DeepContent(1000), false},
		"a dictionary of 10 MB":      {dictionary, true},
		"many attributes, all known": {onChain(t, map[string]*cell.Cell{"name": referred(bytesCell(0, "a")), "symbol": referred(bytesCell(0, "b"))}), false},
	} {
		bomb := contracts.Bomb{ID: 9, Content: c.content}
		findings := detect(t, accountOf(bomb.Address(0), bomb.StateInit()))
		if cut := findings.Cut > 0; cut != c.cut {
			t.Errorf("%s: %d contents were cut, want some: %t", name, findings.Cut, c.cut)
		}
		if size := findings.Facts.SizeVT(); size > 200<<10 {
			t.Errorf("%s: the facts have %d bytes", name, size)
		}
	}
}

// longText is a snake of so many bytes behind its tag.
func longText(n int) *cell.Cell {
	var next *cell.Cell
	for n > 0 {
		part := (n-1)%126 + 1
		b := cell.BeginCell()
		if n -= part; n == 0 {
			b.MustStoreUInt(0, 8)
		}
		b.MustStoreSlice([]byte(strings.Repeat("y", part)), uint(part)*8)
		if next != nil {
			b.MustStoreRef(next)
		}
		next = b.EndCell()
	}
	return next
}

// large is a dictionary of attributes with texts of their own.
func large(t testing.TB, entries int) *cell.Cell {
	t.Helper()
	dict := cell.NewDict(256)
	for i := range entries {
		key := sha256.Sum256(binary.BigEndian.AppendUint64(nil, uint64(i)))
		text := bytesCell(0, hex.EncodeToString(key[:])+strings.Repeat("z", 20))
		if err := dict.Set(cell.BeginCell().MustStoreSlice(key[:], 256).EndCell(), text); err != nil {
			t.Fatal(err)
		}
	}
	return cell.BeginCell().MustStoreUInt(0, 8).MustStoreDict(dict).EndCell()
}
