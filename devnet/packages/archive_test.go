package packages

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/xssnick/tonutils-go/ton"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/chain"
	"tonscribe/test/support/realdata"
)

type entry struct {
	name string
	data []byte
}

// readPackage knows the layout independently of the writer.
func readPackage(t *testing.T, path string) []entry {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := binary.LittleEndian.Uint32(data); got != 0xae8fdd01 {
		t.Fatalf("%s begins with %08x", path, got)
	}
	var entries []entry
	for data = data[4:]; len(data) > 0; {
		name, size := int(binary.LittleEndian.Uint16(data[2:])), int(binary.LittleEndian.Uint32(data[4:]))
		if got := binary.LittleEndian.Uint16(data); got != 0x1e8b || 8+name+size > len(data) {
			t.Fatalf("%s: bad entry: magic %04x, name %d, data %d", path, got, name, size)
		}
		entries = append(entries, entry{string(data[8 : 8+name]), data[8+name : 8+name+size]})
		data = data[8+name+size:]
	}
	return entries
}

// nodePackage is a package that a node wrote, as bundles: a masterchain block
// and the shard blocks behind it.
func nodePackage(t *testing.T) (entries []entry, bundles []*chain.Bundle) {
	t.Helper()
	folder := realdata.Path(t)
	entries = readPackage(t, filepath.Join(folder, "packs/mylocalton_mc1-264/archive.00100.pack"))
	proofs := map[string][]byte{}
	for _, e := range entries {
		if name, ok := strings.CutPrefix(e.name, "proof_"); ok {
			proofs[name] = e.data
		}
	}
	for _, e := range entries {
		name, ok := strings.CutPrefix(e.name, "block_")
		if !ok {
			continue
		}
		block := blockNamed(t, name, e.data)
		if isMaster(block.ID) {
			b := &chain.Bundle{Master: block}
			takeSignatures(t, b, proofs[name])
			bundles = append(bundles, b)
		} else if len(bundles) > 0 {
			b := bundles[len(bundles)-1]
			b.Shards = append(b.Shards, block)
		}
	}
	return entries, bundles
}

func blockNamed(t *testing.T, name string, data []byte) *chain.Block {
	t.Helper()
	var workchain int32
	var shard uint64
	var seqno uint32
	if _, err := fmt.Sscanf(name, "(%d,%x,%d)", &workchain, &shard, &seqno); err != nil {
		t.Fatalf("%q: %v", name, err)
	}
	root, err := cell.FromBOC(data)
	if err != nil {
		t.Fatal(err)
	}
	file := sha256.Sum256(data)
	return &chain.Block{Data: data, Root: root, ID: &ton.BlockIDExt{
		Workchain: workchain, Shard: int64(shard), SeqNo: seqno, RootHash: root.Hash(), FileHash: file[:],
	}}
}

// takeSignatures reads them out of a node's BlockProof.
func takeSignatures(t *testing.T, b *chain.Bundle, proof []byte) {
	t.Helper()
	root, err := cell.FromBOC(proof)
	if err != nil {
		t.Fatal(err)
	}
	s := root.MustPeekRef(1).MustBeginParse()
	if tag := s.MustLoadUInt(8); tag != 0x11 {
		t.Fatalf("signatures with tag %02x", tag)
	}
	b.ValidatorSetHash, b.CatchainSeqno = uint32(s.MustLoadUInt(32)), uint32(s.MustLoadUInt(32))
	s.MustLoadUInt(32)
	s.MustLoadUInt(64)
	pairs, err := s.MustLoadDict(16).LoadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, pair := range pairs {
		node := pair.Value.MustLoadSlice(256)
		pair.Value.MustLoadUInt(4)
		b.Signatures = append(b.Signatures, ton.Signature{NodeIDShort: node, Signature: pair.Value.MustLoadSlice(512)})
	}
}

func TestPackageHasTheEntriesThatANodeWrites(t *testing.T) {
	want, bundles := nodePackage(t)
	dir := t.TempDir()
	writer := NewArchive(dir, LongNames)
	for _, b := range bundles {
		if err := writer.Write(b); err != nil {
			t.Fatal(err)
		}
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	got := map[string][]byte{}
	for _, e := range readPackage(t, filepath.Join(dir, "packages/arch0000/archive.00100.pack")) {
		got[e.name] = e.data
	}
	distinct := map[string]bool{} // the node wrote some entries twice
	for _, e := range want {
		distinct[e.name] = true
		if data, ok := got[e.name]; !ok {
			t.Errorf("%s is missing", e.name)
		} else if !bytes.Equal(data, e.data) {
			t.Errorf("%s: %d bytes that differ from the node's %d", e.name, len(data), len(e.data))
		}
	}
	if len(got) != len(distinct) {
		t.Errorf("%d entries, the node has %d", len(got), len(distinct))
	}
}

// The official node keeps session, slot and candidate behind what catchain's
// signatures have too.
func TestSignaturesOfSimplexKeepTheirCandidate(t *testing.T) {
	c, err := chain.New(chain.Options{GenUtime: 1_750_000_000})
	if err != nil {
		t.Fatal(err)
	}
	var b *chain.Bundle
	for range 3 { // the first of a session names no parent
		if b, err = c.Step(1_750_000_001, nil); err != nil {
			t.Fatal(err)
		}
	}
	proof, _, err := Proof(b.Master, b)
	if err != nil {
		t.Fatal(err)
	}
	root, err := cell.FromBOC(proof)
	if err != nil {
		t.Fatal(err)
	}
	s := root.MustPeekRef(1).MustBeginParse()
	if tag := s.MustLoadUInt(8); tag != 0x12 {
		t.Fatalf("signatures with tag %02x, want 12", tag)
	}
	s.MustLoadSlice(32 + 32 + 32 + 64)
	pairs, err := s.MustLoadDict(16).LoadAll()
	if err != nil || len(pairs) != len(b.Signatures) {
		t.Errorf("%d signatures (%v), want %d", len(pairs), err, len(b.Signatures))
	}
	session, slot := s.MustLoadSlice(256), uint32(s.MustLoadUInt(32))
	candidate := s.MustLoadRef()
	first := candidate.MustLoadSlice(candidate.BitsLeft())
	rest := candidate.MustLoadRef()
	data := append(first, rest.MustLoadSlice(rest.BitsLeft())...)
	if len(first) != 127 || !bytes.Equal(session, b.Candidate.SessionID) || slot != b.Candidate.Slot || !bytes.Equal(data, b.Candidate.Data) {
		t.Errorf("session %x, slot %d, candidate %x (%d bytes in its first cell); want %x, %d, %x (127)",
			session, slot, data, len(first), b.Candidate.SessionID, b.Candidate.Slot, b.Candidate.Data)
	}
	if s.BitsLeft() != 0 || s.RefsNum() != 0 {
		t.Errorf("%d bits and %d references too many", s.BitsLeft(), s.RefsNum())
	}
}
