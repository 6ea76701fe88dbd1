package cell

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	tcell "github.com/xssnick/tonutils-go/tvm/cell"
)

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

// checkHash builds a cell again, of bytes and of references in another bag.
func checkHash(t *testing.T, c Cell) {
	t.Helper()
	s := c.Slice()
	data := make([]byte, (c.Bits()+7)/8)
	s.ReadBits(data, c.Bits())
	if rest := c.Bits() & 7; rest != 0 {
		data[len(data)-1] |= 0xff >> rest // what is behind the bits is not taken
	}
	var u Builder
	u.Store(0x5a, 7)
	u.Reset()
	front := c.Slice()
	head := min(c.Bits(), 13)
	u.Store(front.Uint(uint(head)), uint(head))
	u.StoreBits(&front, front.BitsLeft())
	refs := make([]Cell, c.Refs())
	for i := range refs {
		boc, err := BoC(c.Ref(i))
		if err != nil {
			t.Fatal(err)
		}
		other, err := Parse(boc)
		if err != nil {
			t.Fatal(err)
		}
		refs[i] = other.Root(0)
	}
	if hash, err := u.Hash(refs); err != nil || hash != *c.Hash() {
		t.Fatalf("hash %x instead of %x, %v", hash, *c.Hash(), err)
	}
	u.Reset()
	u.StoreBytes(data, c.Bits())
	if hash, err := u.Hash(refs); err != nil || hash != *c.Hash() {
		t.Fatalf("of bytes: hash %x instead of %x, %v", hash, *c.Hash(), err)
	}
}

func TestHashesOverOtherLevelsAndTooDeepCellsAreRefused(t *testing.T) {
	pruned, err := Parse(raw(false, "2848 0101"+zeros+"0003"))
	if err != nil {
		t.Fatal(err)
	}
	deep, err := new(Bag).Add(new(Builder))
	if err != nil {
		t.Fatal(err)
	}
	for range MaxDepth {
		var u Builder
		u.StoreRef(deep)
		if deep, err = deep.bag.Add(&u); err != nil {
			t.Fatal(err)
		}
	}
	var u Builder
	for name, refs := range map[string][]Cell{"level 1": {pruned.Root(0)}, "too deep": {deep}, "five": make([]Cell, 5)} {
		if _, err := u.Hash(refs); !errors.Is(err, ErrLimit) {
			t.Errorf("%s: %v", name, err)
		}
	}
	u.StoreBytes(make([]byte, 128), 1023)
	if _, err := u.Hash(nil); err != nil {
		t.Errorf("a full cell: %v", err)
	}
	u.StoreBytes([]byte{0}, 1)
	if _, err := u.Hash(nil); !errors.Is(err, ErrLimit) {
		t.Errorf("too long: %v", err)
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
		checkHash(t, c)
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

func TestAddedExoticCellsAreThoseThatParseReads(t *testing.T) {
	bag, err := Parse(randomTree(rand.New(rand.NewPCG(13, 14)), 10).ToBOC())
	if err != nil {
		t.Fatal(err)
	}
	exotic := func(kind Kind, store func(u *Builder), refs ...Cell) Cell {
		t.Helper()
		var u Builder
		u.Store(uint64(kind), 8)
		store(&u)
		for _, r := range refs {
			u.StoreRef(r)
		}
		c, err := bag.AddExotic(&u)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	root := bag.Root(0)
	library := exotic(Library, func(u *Builder) { u.StoreBytes(root.Hash()[:], 256) })
	pruned := exotic(PrunedBranch, func(u *Builder) {
		u.Store(1, 8)
		u.StoreBytes(root.Hash()[:], 256)
		u.Store(uint64(root.Depth()), 16)
	})
	if library.Level() != 0 || pruned.Level() != 1 || *pruned.HashAt(0) != *root.Hash() {
		t.Errorf("levels %d and %d, the pruned branch stands for %x", library.Level(), pruned.Level(), *pruned.HashAt(0))
	}
	update := exotic(MerkleUpdate, func(u *Builder) {
		for range 2 {
			u.StoreBytes(root.Hash()[:], 256)
		}
		u.Store(uint64(root.Depth())<<16|uint64(root.Depth()), 32)
	}, pruned, root)
	var u Builder
	u.StoreRef(library)
	u.StoreRef(update)
	top, err := bag.Add(&u)
	if err != nil {
		t.Fatal(err)
	}
	boc, err := BoC(top)
	if err != nil {
		t.Fatal(err)
	}
	read, err := Parse(boc)
	if err != nil || *read.Root(0).Hash() != *top.Hash() {
		t.Fatalf("read again it is another cell, %v", err)
	}
	theirs, err := tcell.FromBOC(boc)
	if err != nil {
		t.Fatal(err)
	}
	same(t, read.Root(0), theirs, map[[32]byte]bool{})
	for name, kind := range map[string]uint64{"ordinary": 0, "unknown": 9, "merkle proof of nothing": uint64(MerkleProof)} {
		var u Builder
		u.Store(kind<<8, 16)
		if _, err := bag.AddExotic(&u); !errors.Is(err, ErrExotic) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestATruncatedBagIsAsItWasBefore(t *testing.T) {
	bag, err := Parse(randomTree(rand.New(rand.NewPCG(15, 16)), 10).ToBOC())
	if err != nil {
		t.Fatal(err)
	}
	before, root := bag.Len(), *bag.Root(0).Hash()
	add := func(v uint64) [32]byte {
		t.Helper()
		var u Builder
		u.Store(v, 64)
		u.StoreRef(bag.Root(0))
		c, err := bag.Add(&u)
		if err != nil {
			t.Fatal(err)
		}
		checkHash(t, c)
		return *c.Hash()
	}
	first := add(1)
	add(2)
	size := len(bag.buf)
	for range 3 {
		bag.Truncate(before)
		bag.Truncate(before)
		if bag.Len() != before || *bag.Root(0).Hash() != root {
			t.Fatalf("%d cells instead of %d, root %x", bag.Len(), before, *bag.Root(0).Hash())
		}
		add(3)
		bag.Truncate(before)
		if again := add(1); again != first {
			t.Fatalf("the cell %x is %x", first, again)
		}
		if add(2); len(bag.buf) != size {
			t.Fatalf("%d bytes instead of %d", len(bag.buf), size)
		}
	}
}
