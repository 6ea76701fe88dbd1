package decode

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"hash/crc32"
	"math/rand/v2"
	"testing"
	"time"

	tcell "github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/schema/record"
	"tonscribe/test/support/costtest"
	"tonscribe/test/support/realdata"
	"tonscribe/ton/cell"
)

const mutations = 10000

// mutate cuts a BoC off, flips some bits or overwrites some bytes; half of the
// time the checksum is right afterwards, so that the change is seen further in.
func mutate(r *rand.Rand, boc []byte) []byte {
	m := bytes.Clone(boc)
	switch r.IntN(8) {
	case 0:
		return m[:r.IntN(len(m))]
	case 1:
		at := r.IntN(len(m))
		for i := at; i < min(at+1+r.IntN(40), len(m)); i++ {
			m[i] = byte(r.Uint32())
		}
	default:
		for range 1 + r.IntN(3) {
			m[r.IntN(len(m))] ^= 1 << r.IntN(8)
		}
	}
	if len(m) > 10 && r.IntN(2) == 0 {
		sum := crc32.Checksum(m[:len(m)-4], crc32.MakeTable(crc32.Castagnoli))
		binary.LittleEndian.PutUint32(m[len(m)-4:], sum)
	}
	return m
}

// TestMutatedBlocksGiveAnErrorOrAnotherRootHash also feeds the mutations to
// Known with a file hash that fits, and to Transaction.
func TestMutatedBlocksGiveAnErrorOrAnotherRootHash(t *testing.T) {
	bocs := [][]byte{sample().boc(t), masterBlock(nil).boc(t)}
	if realdata.There() {
		for i, f := range blockFiles(t) {
			if i%12 == 0 && len(f.boc) < 40000 {
				bocs = append(bocs, f.boc)
			}
		}
	}
	for i, boc := range bocs { // without stored hashes and index a change passes the bag of cells
		root, err := tcell.FromBOC(boc)
		if err != nil {
			t.Fatal(err)
		}
		if i%2 == 0 {
			bocs = append(bocs, root.ToBOCWithOptions(tcell.BOCSerializeOptions{WithCRC32C: true}))
		}
	}
	r := rand.New(rand.NewPCG(17, 18))
	var d Decoder
	decoded := 0
	started := time.Now()
	for i := range mutations {
		boc := bocs[i%len(bocs)]
		want, err := d.Header(boc)
		if err != nil {
			t.Fatal(err)
		}
		m := mutate(r, boc)
		if bytes.Equal(m, boc) {
			continue
		}
		if got, err := d.Block(m, 1); err == nil {
			decoded++
			if bytes.Equal(got.Block.Id.RootHash, want.ID.RootHash) && !onlyCacheBits(boc, m) {
				t.Fatalf("mutation %d has the same root hash", i)
			}
		}
		if got, err := d.Header(m); err == nil && bytes.Equal(got.ID.RootHash, want.ID.RootHash) && !onlyCacheBits(boc, m) {
			t.Fatalf("mutation %d has the same root hash", i)
		}
		file := sha256.Sum256(m)
		id := &record.BlockId{Workchain: want.ID.Workchain, Shard: want.ID.Shard, Seqno: want.ID.Seqno, RootHash: want.ID.RootHash, FileHash: file[:]}
		_, _ = d.Known(id, m, 1)
		_, _ = d.Transaction(m, 12)
	}
	if decoded < mutations/100 {
		t.Errorf("only %d mutations were read to the end", decoded)
	}
	t.Logf("%d mutations of %d blocks, %d read to the end, %v", mutations, len(bocs), decoded, time.Since(started))
}

// onlyCacheBits reports whether the mutation only changed cache bits of the index,
// the lowest bit of each entry, which say nothing about the cells.
func onlyCacheBits(boc, m []byte) bool {
	if len(boc) != len(m) || boc[4]&0x20 == 0 {
		return false
	}
	size, offset := int(boc[4]&7), int(boc[5])
	index := 6 + 4*size + offset
	cells := 0
	for _, x := range boc[6 : 6+size] {
		cells = cells<<8 | int(x)
	}
	for i := range len(boc) - 4 { // the checksum is at the end
		entry := i - index
		cacheBit := entry >= 0 && entry < cells*offset && entry%offset == offset-1
		if d := boc[i] ^ m[i]; d > 1 || d == 1 && !cacheBit {
			return false
		}
	}
	return true
}

// TestMutatedTransactionsNeverPanic changes the cells of transactions, not the
// bytes of the BoC, so that every change reaches the transaction.
func TestMutatedTransactionsNeverPanic(t *testing.T) {
	boc := sample().boc(t)
	_, list, cells := tonutilsBlock(t, boc)
	r := rand.New(rand.NewPCG(19, 20))
	var d Decoder
	failed := 0
	for range mutations / len(list) {
		for _, tx := range list {
			c := mutateCell(r, cells[string(tx.Hash)], 1+r.IntN(3))
			if _, err := d.Transaction(c.ToBOC(), uint32(r.IntN(14))); err != nil {
				failed++
			}
		}
	}
	if failed == 0 {
		t.Error("no mutation was refused")
	}
	t.Logf("%d refused", failed)
}

// mutateCell changes n places in a tree: bits, length, or references.
func mutateCell(r *rand.Rand, c *tcell.Cell, n int) *tcell.Cell {
	s := c.MustBeginParse()
	size := s.BitsLeft()
	data := s.MustLoadSlice(size)
	refs := make([]*tcell.Cell, c.RefsNum())
	for i := range refs {
		refs[i] = c.MustPeekRef(i)
	}
	for range n {
		switch k := r.IntN(6); {
		case k < 3 && len(refs) > 0:
			i := r.IntN(len(refs))
			refs[i] = mutateCell(r, refs[i], 1)
		case k == 3 && len(refs) > 0:
			refs = refs[:len(refs)-1]
		case k == 4 && size > 0:
			size = uint(r.IntN(int(size)))
		case size > 0:
			at := r.IntN(int(size))
			data[at/8] ^= 0x80 >> (at % 8)
		}
	}
	b := begin().MustStoreSlice(data, size)
	for _, ref := range refs {
		b.MustStoreRef(ref)
	}
	return b.EndCell()
}

func FuzzBlock(f *testing.F) {
	f.Add(sample().boc(f))
	f.Add(masterBlock(map[int64]*tcell.Cell{0: shardLeaf(1, bit(false))}).boc(f))
	root, err := tcell.FromBOC(sample().boc(f))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(root.ToBOCWithOptions(tcell.BOCSerializeOptions{}))
	var d Decoder
	f.Fuzz(func(t *testing.T, boc []byte) {
		var info *BlockInfo
		var r *Result
		var err, err2 error
		costtest.Check(t, func() { info, err = d.Header(boc) })
		costtest.Check(t, func() { r, err2 = d.Block(boc, 1) })
		if err == nil && err2 == nil && !info.ID.EqualVT(r.Block.Id) {
			t.Fatal("Header and Block name another block")
		}
		if err2 == nil {
			known, err := d.Known(r.Block.Id, boc, 1)
			if err != nil || len(known.Transactions) != len(r.Transactions) {
				t.Fatalf("Block reads what Known does not: %v", err)
			}
		}
	})
}

func FuzzTransaction(f *testing.F) {
	boc := sample().boc(f)
	_, list, cells := tonutilsBlock(f, boc)
	for _, tx := range list {
		f.Add(cells[string(tx.Hash)].ToBOCWithOptions(tcell.BOCSerializeOptions{}), uint32(12))
	}
	var d Decoder
	f.Fuzz(func(t *testing.T, boc []byte, version uint32) {
		var tx *record.Transaction
		var err error
		if costtest.Check(t, func() { tx, err = d.Transaction(boc, version) }); err != nil {
			return
		}
		for _, m := range append(tx.OutMsgs, tx.InMsg) {
			if m == nil {
				continue
			}
			bag, err := cell.Parse(m.Body)
			if err != nil || !bytes.Equal(bag.Root(0).Hash()[:], m.BodyHash) {
				t.Fatalf("body is not readable: %v", err)
			}
		}
	})
}
