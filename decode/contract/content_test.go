package contract_test

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/decode/contract"
	"tonscribe/internal/devnet/contracts"
	"tonscribe/schema/record"
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

func referred(c *cell.Cell) *cell.Cell { return cell.BeginCell().MustStoreRef(c).EndCell() }

func bytesCell(tag byte, text string) *cell.Cell {
	return cell.BeginCell().MustStoreUInt(uint64(tag), 8).MustStoreSlice([]byte(text), uint(len(text))*8).EndCell()
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
		layout  record.TokenContent_Layout
		want    string
	}{
		"off-chain": {contracts.OffchainContent("https://example.org/" + strings.Repeat("a", 300)), record.TokenContent_OFF_CHAIN,
			"map[uri:https://example.org/" + strings.Repeat("a", 300) + "]"},
		"in references": {onChain(t, map[string]*cell.Cell{"name": referred(bytesCell(0, "Gold"))}), record.TokenContent_ON_CHAIN, "map[name:Gold]"},
		"inline":        {onChain(t, map[string]*cell.Cell{"symbol": bytesCell(0, "GLD")}), record.TokenContent_ON_CHAIN, "map[symbol:GLD]"},
		"chunked":       {onChain(t, map[string]*cell.Cell{"name": referred(chunks(t, map[uint32]string{0: "Go", 1: "ld"}))}), record.TokenContent_ON_CHAIN, "map[name:Gold]"},
		"a gap in the chunks": {onChain(t, map[string]*cell.Cell{"name": referred(chunks(t, map[uint32]string{0: "Go", 2: "ld"}))}),
			record.TokenContent_ON_CHAIN, "map[]"},
		"semi-chain": {onChain(t, map[string]*cell.Cell{"uri": referred(bytesCell(0, "ipfs://x")), "decimals": bytesCell(0, "6")}),
			record.TokenContent_SEMI_CHAIN, "map[decimals:6 uri:ipfs://x]"},
		"image data": {onChain(t, map[string]*cell.Cell{"image_data": referred(bytesCell(0, "\xff\xd8"))}), record.TokenContent_ON_CHAIN, "map[image_data:/9g=]"},
		"not UTF-8":  {onChain(t, map[string]*cell.Cell{"name": referred(bytesCell(0, "\xff\xd8")), "symbol": bytesCell(0, "A")}), record.TokenContent_ON_CHAIN, "map[symbol:A]"},
		"nothing":    {cell.BeginCell().MustStoreUInt(0, 9).EndCell(), record.TokenContent_ON_CHAIN, "map[]"},
	} {
		content, ok := contract.Content(c.content)
		if !ok || content.Layout != c.layout || fmt.Sprint(attributes(content)) != c.want {
			t.Errorf("%s: %v %s, want %s %s", name, content.GetLayout(), fmt.Sprint(attributes(content)), c.layout, c.want)
		}
	}
}

func TestWhatIsNoContentIsRefused(t *testing.T) {
	for name, c := range map[string]*cell.Cell{
		"no cell":           nil,
		"an empty cell":     cell.BeginCell().EndCell(),
		"another tag":       cell.BeginCell().MustStoreUInt(2, 8).EndCell(),
		"a URI of no UTF-8": bytesCell(1, "\xff"),
		"half a byte":       cell.BeginCell().MustStoreUInt(1, 8).MustStoreUInt(1, 4).EndCell(),
		"no dictionary":     cell.BeginCell().MustStoreUInt(0, 8).MustStoreBoolBit(true).MustStoreRef(cell.BeginCell().EndCell()).EndCell(),
	} {
		if content, ok := contract.Content(c); ok {
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
		content, _ := contract.Content(c)
		if size := content.SizeVT(); size > 64<<10 {
			t.Errorf("%s is read as %d bytes", name, size)
		}
	}
}
