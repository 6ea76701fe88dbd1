package token

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/contracts"
	"tonscribe/test/support/costtest"
)

// onChain is a content of values by name.
func onChain(t testing.TB, values map[string]*cell.Cell) *cell.Cell {
	t.Helper()
	dict := cell.NewDict(256)
	for name, value := range values {
		key := sha256.Sum256([]byte(name))
		if err := dict.Set(cell.BeginCell().MustStoreSlice(key[:], 256).EndCell(), value); err != nil {
			t.Fatal(err)
		}
	}
	return cell.BeginCell().MustStoreUInt(0, 8).MustStoreDict(dict).EndCell()
}

// library is a special cell.
func library() *cell.Cell {
	b := cell.BeginCell().MustStoreUInt(2, 8).MustStoreSlice(make([]byte, 32), 256)
	special, err := b.EndCellSpecial(true)
	if err != nil {
		panic(err)
	}
	return special
}

// sizeOf is how many bytes a content has.
func sizeOf(c Content) (size int) {
	for _, a := range c.Attributes {
		size += len(a.Name) + len(a.Text)
	}
	return size
}

func referred(c *cell.Cell) *cell.Cell { return cell.BeginCell().MustStoreRef(c).EndCell() }

func bytesCell(tag byte, text string) *cell.Cell {
	return cell.BeginCell().MustStoreUInt(uint64(tag), 8).MustStoreSlice([]byte(text), uint(len(text))*8).EndCell()
}

func texts(c Content) map[string]string {
	all := map[string]string{}
	for _, a := range c.Attributes {
		all[a.Name] = a.Text
	}
	return all
}

// chunks are texts by index.
func chunks(t testing.TB, parts map[uint32]string) *cell.Cell {
	t.Helper()
	dict := cell.NewDict(32)
	for index, part := range parts {
		text := cell.BeginCell().MustStoreSlice([]byte(part), uint(len(part))*8).EndCell()
		if err := dict.Set(cell.BeginCell().MustStoreUInt(uint64(index), 32).EndCell(), referred(text)); err != nil {
			t.Fatal(err)
		}
	}
	return cell.BeginCell().MustStoreUInt(1, 8).MustStoreDict(dict).EndCell()
}

func TestContentIsReadInEveryLayout(t *testing.T) {
	for name, c := range map[string]struct {
		content *cell.Cell
		layout  Layout
		want    string
	}{
		"off-chain": {contracts.OffchainContent("https://example.org/" + strings.Repeat("a", 300)), OffChain,
			"map[uri:https://example.org/" + strings.Repeat("a", 300) + "]"},
		"in references": {onChain(t, map[string]*cell.Cell{"name": referred(bytesCell(0, "Gold"))}), OnChain, "map[name:Gold]"},
		"inline":        {onChain(t, map[string]*cell.Cell{"symbol": bytesCell(0, "GLD")}), OnChain, "map[symbol:GLD]"},
		"chunked":       {onChain(t, map[string]*cell.Cell{"name": referred(chunks(t, map[uint32]string{0: "Go", 1: "ld"}))}), OnChain, "map[name:Gold]"},
		"a gap in the chunks": {onChain(t, map[string]*cell.Cell{"name": referred(chunks(t, map[uint32]string{0: "Go", 2: "ld"}))}),
			OnChain, "map[]"},
		"semi-chain": {onChain(t, map[string]*cell.Cell{"uri": referred(bytesCell(0, "ipfs://x")), "decimals": bytesCell(0, "6")}),
			SemiChain, "map[decimals:6 uri:ipfs://x]"},
		"image data": {onChain(t, map[string]*cell.Cell{"image_data": referred(bytesCell(0, "\xff\xd8"))}), OnChain, "map[image_data:/9g=]"},
		"not UTF-8":  {onChain(t, map[string]*cell.Cell{"name": referred(bytesCell(0, "\xff\xd8")), "symbol": bytesCell(0, "A")}), OnChain, "map[symbol:A]"},
		"cells of no whole bytes": {onChain(t, map[string]*cell.Cell{"name": cell.BeginCell().MustStoreUInt(0, 8).MustStoreUInt(0x4, 4).
			MustStoreRef(cell.BeginCell().MustStoreUInt(0x1, 4).EndCell()).EndCell()}), OnChain, "map[name:A]"},
		"a name by its hash": {onChain(t, map[string]*cell.Cell{"other": bytesCell(0, "x")}), OnChain, fmt.Sprintf("map[%x:x]", sha256.Sum256([]byte("other")))},
		"an empty cell":      {onChain(t, map[string]*cell.Cell{"name": referred(cell.BeginCell().EndCell())}), OnChain, "map[name:]"},
		"no chunks":          {onChain(t, map[string]*cell.Cell{"name": chunks(t, nil)}), OnChain, "map[name:]"},
		"another prefix":     {onChain(t, map[string]*cell.Cell{"name": bytesCell(2, "A")}), OnChain, "map[]"},
		"a special cell":     {onChain(t, map[string]*cell.Cell{"name": referred(library()), "symbol": bytesCell(0, "A")}), OnChain, "map[symbol:A]"},
		"nothing":            {cell.BeginCell().MustStoreUInt(0, 9).EndCell(), OnChain, "map[]"},
	} {
		content, ok := Read(c.content)
		if !ok || content.Layout != c.layout || fmt.Sprint(texts(content)) != c.want {
			t.Errorf("%s: %v %s, want %v %s", name, content.Layout, fmt.Sprint(texts(content)), c.layout, c.want)
		}
	}
}

func TestWhatIsNoContentIsRefused(t *testing.T) {
	for name, c := range map[string]*cell.Cell{
		"no cell":           nil,
		"an empty cell":     cell.BeginCell().EndCell(),
		"a special cell":    library(),
		"another tag":       cell.BeginCell().MustStoreUInt(2, 8).EndCell(),
		"a URI of no UTF-8": bytesCell(1, "\xff"),
		"half a byte":       cell.BeginCell().MustStoreUInt(1, 8).MustStoreUInt(1, 4).EndCell(),
		"no dictionary":     cell.BeginCell().MustStoreUInt(0, 8).MustStoreBoolBit(true).MustStoreRef(cell.BeginCell().EndCell()).EndCell(),
	} {
		if content, ok := Read(c); ok {
			t.Errorf("%s is read as %v", name, content)
		}
	}
}

// wide is a dictionary of so many attributes whose names nobody knows.
func wide(t testing.TB, entries int) *cell.Cell {
	t.Helper()
	dict := cell.NewDict(256)
	text := bytesCell(0, strings.Repeat("z", 80))
	for i := range entries {
		key := sha256.Sum256(binary.BigEndian.AppendUint64(nil, uint64(i)))
		if err := dict.Set(cell.BeginCell().MustStoreSlice(key[:], 256).EndCell(), referred(text)); err != nil {
			t.Fatal(err)
		}
	}
	return cell.BeginCell().MustStoreUInt(0, 8).MustStoreDict(dict).EndCell()
}

func TestContentBombsAreContained(t *testing.T) {
	// An endless repetition of one chunk: few cells, any number of bytes.
	deep := cell.BeginCell().EndCell()
	for range 300 {
		deep = cell.BeginCell().MustStoreRef(deep).EndCell()
	}
	repeated := cell.NewDict(32)
	for i := range 4000 {
		if err := repeated.Set(cell.BeginCell().MustStoreUInt(uint64(i), 32).EndCell(), referred(deep)); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]*cell.Cell{
		"a deep snake":         contracts.DeepContent(300),
		"shared cells":         contracts.SharedContent(200),
		"a long text":          contracts.HugeContent(100_000),
		"a large dictionary":   wide(t, 100_000),
		"one chunk many times": onChain(t, map[string]*cell.Cell{"name": referred(cell.BeginCell().MustStoreUInt(1, 8).MustStoreDict(repeated).EndCell())}),
	} {
		costtest.Check(t, func() {
			if content, _ := Read(c); sizeOf(content) > 64<<10 {
				t.Errorf("%s is read as %d bytes", name, sizeOf(content))
			}
		})
	}
}

// halves is a value in so many cells, each of which ends within a byte.
func halves(cells int) *cell.Cell {
	const bits = 1020
	next := cell.BeginCell().EndCell()
	for range cells {
		next = cell.BeginCell().MustStoreSlice(bytes.Repeat([]byte("w"), (bits+7)/8), bits).MustStoreRef(next).EndCell()
	}
	return cell.BeginCell().MustStoreUInt(0, 8).MustStoreRef(next).EndCell()
}

func TestContentsThatAreReadInPartSaySo(t *testing.T) {
	long := func(text string) *cell.Cell { return contracts.OnchainContent(map[string]string{"description": text}) }
	parts := map[uint32]string{}
	for i := range uint32(MaxValue / 64) {
		parts[i] = strings.Repeat("z", 64)
	}
	whole := onChain(t, map[string]*cell.Cell{"description": chunks(t, parts)})
	parts[uint32(len(parts))] = "z"
	for name, c := range map[string]struct {
		content *cell.Cell
		cut     bool
		size    int // of the only attribute
	}{
		"a value as long as it may be":    {long(strings.Repeat("y", MaxValue)), false, MaxValue},
		"a longer one":                    {long(strings.Repeat("y", MaxValue+1)), true, MaxValue},
		"one that ends in a character":    {long(strings.Repeat("y", MaxValue-1) + "\u20ac"), true, MaxValue - 1},
		"chunks as long as they may be":   {whole, false, MaxValue},
		"longer chunks":                   {onChain(t, map[string]*cell.Cell{"description": chunks(t, parts)}), true, MaxValue},
		"one in cells of no whole bytes":  {onChain(t, map[string]*cell.Cell{"description": referred(halves(66))}), true, MaxValue},
		"a long link":                     {contracts.HugeContent(100_000), true, MaxValue},
		"a link that ends in a character": {contracts.OffchainContent(strings.Repeat("y", MaxValue-1) + "\u20ac"), true, MaxValue - 1},
		"a link as deep as it goes":       {contracts.DeepContent(1000), false, 999},
	} {
		content, ok := Read(c.content)
		if !ok || len(content.Attributes) != 1 {
			t.Fatalf("%s: %v", name, content)
		}
		if a := content.Attributes[0]; content.Cut != c.cut || a.Cut != c.cut || len(a.Text) != c.size {
			t.Errorf("%s: cut %t and %t, %d bytes; want %t and %d", name, content.Cut, a.Cut, len(a.Text), c.cut, c.size)
		}
	}
	if content, ok := Read(wide(t, maxUnnamed+1)); !ok || !content.Cut || len(content.Attributes) != maxUnnamed {
		t.Errorf("a name too many: cut %t, %d attributes", content.Cut, len(content.Attributes))
	}
	budget := map[string]*cell.Cell{}
	for _, name := range Names {
		deep := cell.BeginCell().EndCell()
		for range maxCells/len(Names) + 1 {
			deep = cell.BeginCell().MustStoreRef(deep).EndCell()
		}
		budget[name] = cell.BeginCell().MustStoreUInt(0, 8).MustStoreRef(deep).EndCell()
	}
	if content, ok := Read(onChain(t, budget)); !ok || !content.Cut || len(content.Attributes) != len(Names)-1 {
		t.Errorf("more cells than are read: cut %t, %d attributes", content.Cut, len(content.Attributes))
	}
}

func TestSnakesEndAtTheirBounds(t *testing.T) {
	chain := func(cells int) *cell.Slice {
		next := cell.BeginCell().MustStoreUInt('x', 8).EndCell()
		for range cells - 1 {
			next = cell.BeginCell().MustStoreUInt('x', 8).MustStoreRef(next).EndCell()
		}
		s, err := next.BeginParse()
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for _, c := range []struct {
		length, maxBytes, cells, read, left int
		ok                                  bool
	}{{5, 9, 9, 5, 5, true}, {5, 9, 5, 5, 1, true}, {5, 9, 4, 0, 0, false}, {5, 2, 9, 3, 7, true}, {5, 5, 9, 5, 5, true}, {1, 9, 0, 0, 0, false}} {
		cells := c.cells
		text, ok := Snake(chain(c.length), c.maxBytes, &cells)
		if ok != c.ok || len(text) != c.read || cells != c.left {
			t.Errorf("%d cells, %d bytes and %d cells at most: %q, %t, %d left; want %d bytes, %t, %d left",
				c.length, c.maxBytes, c.cells, text, ok, cells, c.read, c.ok, c.left)
		}
	}
}
