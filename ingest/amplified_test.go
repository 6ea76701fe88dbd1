package ingest

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/xssnick/tonutils-go/tvm/cell"
)

// amplify gives a masterchain block one transaction whose out_msgs are one message
// of a megabyte, 16,384 times.
func amplify(t *testing.T, boc []byte) []byte {
	t.Helper()
	root, err := cell.FromBOC(boc)
	if err != nil {
		t.Fatal(err)
	}
	begin := cell.BeginCell
	chunk := make([]byte, 127)
	var level []*cell.Cell
	for n := range 1 << 13 {
		binary.BigEndian.PutUint32(chunk, uint32(n))
		level = append(level, begin().MustStoreSlice(chunk, 8*127).EndCell())
	}
	for len(level) > 1 {
		b := begin()
		for range min(4, len(level)) {
			b.MustStoreRef(level[0])
			level = level[1:]
		}
		level = append(level, b.EndCell())
	}
	body := level[0]
	id := bytes.Repeat([]byte{0x11}, 32)
	address := func(b *cell.Builder) *cell.Builder {
		return b.MustStoreUInt(0b100, 3).MustStoreInt(-1, 8).MustStoreSlice(id, 256)
	}
	message := address(address(begin().MustStoreUInt(0b0110, 4))).MustStoreCoins(1).MustStoreBoolBit(false).MustStoreCoins(0).MustStoreCoins(0).
		MustStoreUInt(7, 64).MustStoreUInt(1, 32).MustStoreUInt(0b01, 2).MustStoreRef(body).EndCell()
	node := begin().MustStoreUInt(0b0_10_0, 4).MustStoreRef(message).EndCell()
	for range 14 {
		node = begin().MustStoreUInt(0, 2).MustStoreRef(node).MustStoreRef(node).EndCell()
	}
	update := begin().MustStoreUInt(0x72, 8).MustStoreSlice(make([]byte, 32), 256).MustStoreSlice(make([]byte, 32), 256).EndCell()
	tx := begin().MustStoreUInt(7, 4).MustStoreSlice(id, 256).MustStoreUInt(100, 64).MustStoreSlice(make([]byte, 32), 256).
		MustStoreUInt(99, 64).MustStoreUInt(1, 32).MustStoreUInt(1<<14, 15).MustStoreUInt(0b1010, 4).
		MustStoreRef(begin().MustStoreMaybeRef(nil).MustStoreMaybeRef(node).EndCell()).MustStoreCoins(0).MustStoreBoolBit(false).
		MustStoreRef(update).MustStoreRef(begin().MustStoreUInt(0b0000_0_0_0_0_00_0_0_0_0, 14).EndCell()).EndCell()
	leaf := begin().MustStoreUInt(0b10, 2).MustStoreUInt(256, 9).MustStoreSlice(id, 256). // hml_long
												MustStoreCoins(0).MustStoreBoolBit(false).MustStoreUInt(5, 4).MustStoreSlice(id, 256).
												MustStoreUInt(0b10, 2).MustStoreUInt(64, 7).MustStoreUInt(100, 64).MustStoreCoins(0).MustStoreBoolBit(false).MustStoreRef(tx).MustStoreRef(update).EndCell()
	accounts := begin().MustStoreBoolBit(true).MustStoreRef(leaf).MustStoreCoins(0).MustStoreBoolBit(false).EndCell()
	replaced := func(c *cell.Cell, at int, by *cell.Cell) *cell.Cell {
		s := c.MustBeginParse()
		bits := s.BitsLeft()
		b := begin().MustStoreSlice(s.MustLoadSlice(bits), bits)
		for i := range int(c.RefsNum()) {
			ref, err := c.PeekRef(i)
			if err != nil {
				t.Fatal(err)
			}
			if i == at {
				ref = by
			}
			b.MustStoreRef(ref)
		}
		return b.EndCell()
	}
	extra, err := root.PeekRef(3)
	if err != nil {
		t.Fatal(err)
	}
	return replaced(root, 3, replaced(extra, 2, accounts)).ToBOC()
}

// What is too large of a block is left out where it is decoded: whoever pays for such a
// block must not keep the chain from going on.
func TestABlockThatSharesItsCellsBeyondMeasureIsTaken(t *testing.T) {
	dir := copyFolder(t, genesis(t))
	path := filepath.Join(dir, name(-1, whole, 40))
	boc, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	amplified := amplify(t, boc)
	if len(amplified) < 1<<20 || len(amplified) > 4<<20 {
		t.Fatalf("a block of %d bytes", len(amplified))
	}
	if err := os.WriteFile(path, amplified, 0o644); err != nil {
		t.Fatal(err)
	}
	for n := 41; n < 200; n++ { // nothing tells that it is another block than the chain's
		os.Remove(filepath.Join(dir, name(-1, whole, n)))
	}
	log := newTape(1)
	publish(t, configure("files:"+dir, 1, 40), log)
	if got := bundles(log.read(t, 0)); len(got) != 40 {
		t.Errorf("%d bundles, want 40", len(got))
	}
}
