package contract_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/contracts"
)

func TestContentsThatAreReadInPartAreCounted(t *testing.T) {
	dictionary := large(90_000)
	if size := len(dictionary.ToBOC()); size < 10<<20 {
		t.Fatalf("the dictionary has %d bytes, want 10 MB", size)
	}
	for name, c := range map[string]struct {
		content *cell.Cell
		cut     bool
	}{
		"a short one":                {contracts.OffchainContent("https://example.org/j.json"), false},
		"a text of 8 KiB":            {contracts.OnchainContent(map[string]string{"description": strings.Repeat("y", 8192)}), false},
		"a text of 100 kB":           {contracts.HugeContent(100_000), true},
		"a snake as deep as it goes": {contracts.DeepContent(1000), false},
		"a dictionary of 10 MB":      {dictionary, true},
		"many attributes, all known": {contracts.OnchainContent(map[string]string{"name": "a", "symbol": "b"}), false},
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

// large is content of so many attributes with texts of their own.
func large(entries int) *cell.Cell {
	attributes := map[string]string{}
	for i := range entries {
		name := strconv.Itoa(i)
		attributes[name] = name + strings.Repeat("z", 80)
	}
	return contracts.OnchainContent(attributes)
}
