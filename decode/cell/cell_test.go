package cell

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io/fs"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	tcell "github.com/xssnick/tonutils-go/tvm/cell"
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

func TestWriterGivesTheBytesOfTheReferenceSerializer(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	var w Writer
	for _, cells := range []int{1, 2, 3, 7, 20, 63, 64, 65, 100, 255, 256, 300, 1000, 5000} {
		tree := randomTree(r, cells)
		b, err := Parse(tree.ToBOC())
		if err != nil {
			t.Fatal(err)
		}
		n, err := w.Prepare(b.Root(0), MaxSize)
		if err != nil {
			t.Fatal(err)
		}
		boc := w.Append(nil)
		if want := tree.ToBOCWithOptions(tcell.BOCSerializeOptions{WithCRC32C: true}); !bytes.Equal(boc, want) {
			t.Fatalf("%d cells: other bytes", cells)
		}
		if len(boc) != n {
			t.Errorf("%d cells: %d bytes announced, %d written", cells, n, len(boc))
		}
		if _, err := w.Prepare(b.Root(0), len(boc)/4); cells > 20 && !errors.Is(err, ErrLimit) {
			t.Errorf("%d cells: over the limit: %v", cells, err)
		}
	}
}

// TestWriterWritesEqualCellsOnce reads a BoC that has the same cell twice.
func TestWriterWritesEqualCellsOnce(t *testing.T) {
	twice := raw(true, "0200 0102", leafAB, leafAB)
	b, err := Parse(twice)
	if err != nil {
		t.Fatal(err)
	}
	boc, err := BoC(b.Root(0))
	if err != nil {
		t.Fatal(err)
	}
	again, err := Parse(boc)
	if err != nil {
		t.Fatal(err)
	}
	if again.Len() != 2 || *again.Root(0).Hash() != *b.Root(0).Hash() {
		t.Errorf("%d cells, root %x", again.Len(), *again.Root(0).Hash())
	}
}

func TestSliceReadsWhatWasStored(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for range 300 {
		b := tcell.BeginCell()
		type field struct {
			bits  uint
			value *big.Int
		}
		var fields []field
		for total := uint(0); ; {
			f := field{bits: uint(1 + r.IntN(256))}
			if total += f.bits; total > 1023 {
				break
			}
			f.value = new(big.Int)
			for range 4 {
				f.value.Lsh(f.value, 64).Or(f.value, new(big.Int).SetUint64(r.Uint64()))
			}
			f.value.Rsh(f.value, 256-f.bits)
			b.MustStoreBigUInt(f.value, f.bits)
			fields = append(fields, f)
		}
		bag, err := Parse(b.EndCell().ToBOC())
		if err != nil {
			t.Fatal(err)
		}
		s := bag.Root(0).Slice()
		for _, f := range fields {
			var got *big.Int
			switch {
			case f.bits == 1:
				got = big.NewInt(0)
				if s.Bool() {
					got = big.NewInt(1)
				}
			case f.bits <= 64:
				got = new(big.Int).SetUint64(s.Uint(f.bits))
			default:
				buf := make([]byte, (f.bits+7)/8)
				s.ReadBits(buf, int(f.bits))
				got = new(big.Int).SetBytes(buf)
				got.Rsh(got, uint(len(buf))*8-f.bits)
			}
			if got.Cmp(f.value) != 0 {
				t.Fatalf("%d bits: got %x, want %x", f.bits, got, f.value)
			}
		}
		if s.BitsLeft() != 0 || s.Err() != nil {
			t.Fatalf("%d bits left, %v", s.BitsLeft(), s.Err())
		}
		if s.Uint(1); !errors.Is(s.Err(), ErrUnderflow) {
			t.Fatalf("read past the end: %v", s.Err())
		}
	}
}

func TestAmountsOver64BitsFail(t *testing.T) {
	for _, c := range []struct {
		amount string
		want   error
	}{{"0", nil}, {"255", nil}, {"18446744073709551615", nil}, {"18446744073709551616", ErrAmount}} {
		amount, _ := new(big.Int).SetString(c.amount, 10)
		bag, err := Parse(tcell.BeginCell().MustStoreBigCoins(amount).EndCell().ToBOC())
		if err != nil {
			t.Fatal(err)
		}
		s := bag.Root(0).Slice()
		got := s.VarUint(4)
		if !errors.Is(s.Err(), c.want) || c.want == nil && got != amount.Uint64() {
			t.Errorf("%s: got %d, %v", c.amount, got, s.Err())
		}
	}
}

func TestAFailedSliceGivesZeros(t *testing.T) {
	if _, err := Parse(raw(true, "0946 03"+zeros+"0000 01", leafAB)); err == nil {
		t.Fatal("a wrong merkle proof was read")
	}
	bag, err := Parse(raw(true, "0842 02"+zeros))
	if err != nil {
		t.Fatal(err)
	}
	library := bag.Root(0).Slice()
	if !errors.Is(library.Err(), ErrPruned) {
		t.Errorf("exotic cell: %v", library.Err())
	}
	var empty Slice
	for _, s := range []Slice{library, empty} {
		buf := []byte{1, 2}
		s.ReadBits(nil, 0)
		s.Read(buf)
		label, n := s.Label(256)
		next := s.Next()
		if s.Uint(64) != 0 || s.Int(8) != 0 || s.Bool() || s.Unary() != 0 || s.VarUint(4) != 0 || s.Ref().Valid() ||
			buf[0] != 0 || buf[1] != 0 || label != [4]uint64{} || n != 0 || !next.Failed() || s.Err() == nil {
			t.Errorf("failed slice %+v gives something", s)
		}
		s.Skip(1)
		s.Skip(-1)
		s.FailTag()
	}
}

func TestLabelsOfAllFormsAreRead(t *testing.T) {
	for _, c := range []struct {
		bits string
		m    int
		want string
	}{
		{"00", 64, ""},
		{"01110" + "101", 64, "101"},
		{"10" + "0000011" + "110", 64, "110"},
		{"11" + "1" + "1000000", 64, strings.Repeat("1", 64)},
		{"11" + "0" + "000101", 33, "00000"},
		{"11" + "1" + "100000000", 256, strings.Repeat("1", 256)},
		{"10" + "001000001" + strings.Repeat("01", 32) + "1", 256, strings.Repeat("01", 32) + "1"},
	} {
		b := tcell.BeginCell()
		for _, bit := range c.bits {
			b.MustStoreBoolBit(bit == '1')
		}
		bag, err := Parse(b.EndCell().ToBOC())
		if err != nil {
			t.Fatal(err)
		}
		s := bag.Root(0).Slice()
		label, n := s.Label(c.m)
		var got strings.Builder
		for i := range n {
			got.WriteByte('0' + byte(label[i/64]>>(63-i%64)&1))
		}
		if got.String() != c.want || s.Err() != nil || s.BitsLeft() != 0 {
			t.Errorf("%s: got %s, %v", c.bits, got.String(), s.Err())
		}
	}
}

func TestAddedCellsHaveTheirHash(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	tree := randomTree(r, 30)
	bag, err := Parse(tree.ToBOC())
	if err != nil {
		t.Fatal(err)
	}
	for range 200 {
		var u Builder
		want := tcell.BeginCell()
		for range r.IntN(12) {
			n, v := uint(r.IntN(64)+1), r.Uint64()
			u.Store(v&(1<<n-1), n)
			want.MustStoreUInt(v&(1<<n-1), n)
		}
		s, from := bag.Root(0).Ref(0).Slice(), tree.MustPeekRef(0).MustBeginParse()
		skip := r.IntN(s.BitsLeft() + 1)
		s.Skip(skip)
		from.MustLoadSlice(uint(skip))
		if uint(s.BitsLeft())+want.BitsUsed() > 1023 {
			continue
		}
		u.StoreRest(&s)
		if err := want.StoreBuilder(from.ToBuilder()); err != nil {
			t.Fatal(err)
		}
		c, err := bag.Add(&u)
		if err != nil {
			t.Fatal(err)
		}
		same(t, c, want.EndCell(), map[[32]byte]bool{})
		boc, err := BoC(c)
		if err != nil || !bytes.Equal(boc, want.EndCell().ToBOCWithOptions(tcell.BOCSerializeOptions{WithCRC32C: true})) {
			t.Fatalf("other bytes, %v", err)
		}
	}
	var u Builder
	for range 17 {
		u.Store(0, 64)
	}
	if _, err := bag.Add(&u); !errors.Is(err, ErrLimit) {
		t.Errorf("too long: %v", err)
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
	dir := os.Getenv("TONSCRIBE_TESTDATA")
	if dir == "" {
		t.Skip("TONSCRIBE_TESTDATA is not set: no real bags of cells to read")
	}
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
		if err := b.Parse(boc); err != nil {
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
