package cell

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	tcell "github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/test/support/costtest"
	"tonscribe/test/support/realdata"
)

// randomTree builds a tree with shared cells in tonutils-go.
func randomTree(r *rand.Rand, cells int) *tcell.Cell {
	var all []*tcell.Cell
	for range cells {
		b := tcell.BeginCell()
		size := r.IntN(1024)
		if r.IntN(3) == 0 {
			size = r.IntN(4)
		}
		data := make([]byte, 128)
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		b.MustStoreSlice(data, uint(size))
		for range r.IntN(5) {
			if len(all) > 0 {
				k := len(all) - 1 - r.IntN(min(len(all), 6))
				b.MustStoreRef(all[k])
			}
		}
		all = append(all, b.EndCell())
	}
	top := tcell.BeginCell().MustStoreUInt(7, 3)
	for i := range 4 {
		top.MustStoreRef(all[len(all)-1-i%len(all)])
	}
	return top.EndCell()
}

var bocForms = map[string]tcell.BOCSerializeOptions{
	"bare":    {},
	"crc":     {WithCRC32C: true},
	"index":   {WithIndex: true},
	"cache":   {WithIndex: true, WithCacheBits: true, WithCRC32C: true},
	"hashes":  {WithIntHashes: true, WithTopHash: true, WithCRC32C: true},
	"allbits": {WithIndex: true, WithCacheBits: true, WithCRC32C: true, WithIntHashes: true, WithTopHash: true},
}

// same compares every cell below ours with tonutils-go's, on all levels.
func same(t *testing.T, ours Cell, theirs *tcell.Cell, seen map[[32]byte]bool) {
	t.Helper()
	if seen[*ours.Hash()] {
		return
	}
	seen[*ours.Hash()] = true
	if !bytes.Equal(ours.Hash()[:], theirs.Hash()) || ours.Depth() != int(theirs.Depth()) || ours.Level() != theirs.Level() {
		t.Fatalf("cell %x: tonutils-go has %x", *ours.Hash(), theirs.Hash())
	}
	for level := range 4 {
		if !bytes.Equal(ours.HashAt(level)[:], theirs.Hash(level)) || ours.DepthAt(level) != int(theirs.Depth(level)) {
			t.Fatalf("cell %x: level %d is %x, tonutils-go has %x", *ours.Hash(), level, *ours.HashAt(level), theirs.Hash(level))
		}
	}
	if ours.Bits() != int(theirs.BitsSize()) || ours.Refs() != int(theirs.RefsNum()) || (ours.Kind() != Ordinary) != theirs.IsSpecial() {
		t.Fatalf("cell %x: another content", *ours.Hash())
	}
	for i := range ours.Refs() {
		same(t, ours.Ref(i), theirs.MustPeekRef(i), seen)
	}
}

func TestEveryFormOfABagOfCellsIsRead(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var b Bag
	for _, cells := range []int{1, 2, 5, 40, 300, 3000} {
		tree := randomTree(r, cells)
		for name, options := range bocForms {
			if err := b.Parse(tree.ToBOCWithOptions(options)); err != nil {
				t.Fatalf("%s, %d cells: %v", name, cells, err)
			}
			root, err := b.Single()
			if err != nil {
				t.Fatal(err)
			}
			same(t, root, tree, map[[32]byte]bool{})
		}
	}
}

func TestSeveralRootsAreRead(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	roots := []*tcell.Cell{randomTree(r, 10), randomTree(r, 20), randomTree(r, 1)}
	b, err := Parse(tcell.ToBOCWithOptions(roots, tcell.BOCSerializeOptions{WithCRC32C: true}))
	if err != nil {
		t.Fatal(err)
	}
	if b.Roots() != len(roots) {
		t.Fatalf("%d roots", b.Roots())
	}
	for i, root := range roots {
		same(t, b.Root(i), root, map[[32]byte]bool{})
	}
	if _, err := b.Single(); !errors.Is(err, ErrFormat) {
		t.Errorf("single root: %v", err)
	}
}

// legacy turns an indexed BoC without CRC and with one root into the older form
// with its own magic number.
func legacy(boc []byte, crc bool) []byte {
	size, offset := int(boc[4]&7), int(boc[5])
	counts := 6 + 3*size + offset
	old := binary.BigEndian.AppendUint32(nil, map[bool]uint32{false: 0x68ff65f3, true: 0xacc3a728}[crc])
	old = append(old, byte(size), byte(offset))
	old = append(old, boc[6:counts]...)
	old = append(old, boc[counts+size:]...)
	if crc {
		old = binary.LittleEndian.AppendUint32(old, crc32.Checksum(old, castagnoli))
	}
	return old
}

func TestLegacyFormsAreRead(t *testing.T) {
	tree := randomTree(rand.New(rand.NewPCG(5, 6)), 300)
	boc := tree.ToBOCWithOptions(tcell.BOCSerializeOptions{WithIndex: true})
	for _, crc := range []bool{false, true} {
		b, err := Parse(legacy(boc, crc))
		if err != nil {
			t.Fatalf("crc %t: %v", crc, err)
		}
		same(t, b.Root(0), tree, map[[32]byte]bool{})
	}
	broken := legacy(boc, true)
	broken[len(broken)/2] ^= 1
	if _, err := Parse(broken); !errors.Is(err, ErrChecksum) {
		t.Errorf("broken checksum: %v", err)
	}
}

func TestReadAndHashGiveWhatParseGives(t *testing.T) {
	tree := randomTree(rand.New(rand.NewPCG(13, 14)), 400)
	for name, options := range bocForms {
		var b Bag
		if err := b.Read(tree.ToBOCWithOptions(options)); err != nil {
			t.Fatal(err)
		}
		below := b.Root(0).Ref(2)
		if *b.Root(0).Hash() != [32]byte{} {
			t.Errorf("%s: a cell that was not hashed has a hash", name)
		}
		if err := b.Hash(below); err != nil {
			t.Fatal(err)
		}
		same(t, below, tree.MustPeekRef(2), map[[32]byte]bool{})
		if err := b.Hash(b.Root(0)); err != nil {
			t.Fatal(err)
		}
		same(t, b.Root(0), tree, map[[32]byte]bool{})
	}
}

// TestRealBagsOfCells reads every BoC of the test data.
func TestRealBagsOfCells(t *testing.T) {
	dir := realdata.Path(t)
	var b Bag
	var w Writer
	files := 0
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || filepath.Ext(path) != ".boc" {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		theirs, err := tcell.FromBOCMultiRoot(content)
		if err != nil {
			t.Logf("%s: tonutils-go: %v", path, err)
			if b.Parse(content) == nil {
				t.Errorf("%s: we read it", path)
			}
			return nil
		}
		if err := b.Parse(content); err != nil {
			t.Errorf("%s: %v", path, err)
			return nil
		}
		files++
		seen := map[[32]byte]bool{}
		for i, root := range theirs {
			same(t, b.Root(i), root, seen)
			boc, err := w.AppendBoC(nil, b.Root(i))
			if err != nil {
				return err
			}
			if !bytes.Equal(boc, root.ToBOCWithOptions(tcell.BOCSerializeOptions{WithCRC32C: true})) {
				t.Errorf("%s: other bytes", path)
			}
		}
		return nil
	})
	if err != nil || files < 500 {
		t.Errorf("%d files, %v", files, err)
	}
	t.Logf("%d files", files)
}

func FuzzParse(f *testing.F) {
	r := rand.New(rand.NewPCG(15, 16))
	for _, options := range bocForms {
		f.Add(randomTree(r, 12).ToBOCWithOptions(options))
	}
	f.Add(raw(false, "0a8a 04"+zeros+zeros+"00000000 0101", leafAB))
	f.Add(raw(false, "2848 0101"+zeros+"0003"))
	var b Bag
	f.Fuzz(func(t *testing.T, boc []byte) {
		var err error
		if costtest.Check(t, func() { err = b.Parse(boc) }); err != nil {
			return
		}
		for i := range b.Roots() {
			out, err := BoC(b.Root(i))
			if err != nil {
				t.Fatal(err)
			}
			again, err := Parse(out)
			if err != nil {
				t.Fatal(err)
			}
			if *again.Root(0).Hash() != *b.Root(i).Hash() {
				t.Fatal("another root hash after writing")
			}
		}
	})
}
