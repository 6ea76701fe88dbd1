package litetest

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/ton"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/decode"
)

// Folder answers from block files: getMasterchainInfo, lookupBlock by seqno,
// getBlockHeader, getBlock and getAllShardsInfo. It knows no states and no
// signatures.
type Folder struct {
	byPlace map[place]*stored

	mu    sync.Mutex
	head  uint32 // the newest masterchain block that it shows
	moved chan struct{}
}

type place struct {
	workchain int32
	shard     int64
	seqno     uint32
}

type stored struct {
	id   *ton.BlockIDExt
	path string
}

// OpenFolder indexes the .boc files of a folder. The masterchain is shown up to
// head.
func OpenFolder(t testing.TB, dir string, head uint32) *Folder {
	t.Helper()
	f := &Folder{byPlace: map[place]*stored{}, head: head, moved: make(chan struct{})}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".boc") {
			return err
		}
		boc, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		info, err := decode.Header(boc)
		if err != nil {
			return err
		}
		file := fileHash(boc)
		id := &ton.BlockIDExt{Workchain: info.ID.Workchain, Shard: int64(info.ID.Shard), SeqNo: info.ID.Seqno, RootHash: info.ID.RootHash, FileHash: file}
		f.byPlace[place{id.Workchain, id.Shard, id.SeqNo}] = &stored{id, path}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Show moves the head.
func (f *Folder) Show(head uint32) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.head = head
	close(f.moved)
	f.moved = make(chan struct{})
}

// ID is the id of a block of the folder, nil when there is none.
func (f *Folder) ID(workchain int32, shard int64, seqno uint32) *ton.BlockIDExt {
	if s := f.byPlace[place{workchain, shard, seqno}]; s != nil {
		return s.id
	}
	return nil
}

// MasterShard is the one shard of the masterchain.
const MasterShard = int64(-1 << 63)

// Handle is the folder's Handler.
func (f *Folder) Handle(ctx context.Context, r Request) any {
	if r.Wait != nil && !f.wait(ctx, uint32(r.Wait.Seqno), time.Duration(r.Wait.Timeout)*time.Millisecond) {
		return ton.LSError{Code: 652, Text: "timeout"}
	}
	switch q := r.Query.(type) {
	case ton.GetMasterchainInf:
		f.mu.Lock()
		head := f.head
		f.mu.Unlock()
		zero := make([]byte, 32)
		return ton.MasterchainInfo{Last: f.ID(-1, MasterShard, head), StateRootHash: zero, Init: &ton.ZeroStateIDExt{Workchain: -1, RootHash: zero, FileHash: zero}}
	case ton.LookupBlock:
		return f.header(f.ID(q.ID.Workchain, q.ID.Shard, uint32(q.ID.Seqno)))
	case ton.GetBlockHeader:
		return f.header(q.ID)
	case ton.GetBlockData:
		if boc := f.read(q.ID); boc != nil {
			return ton.BlockData{ID: q.ID, Payload: boc}
		}
	case ton.GetAllShardsInfo:
		return f.shards(q.ID)
	}
	return notFound
}

var notFound = ton.LSError{Code: 651, Text: "block is not in db"}

func (f *Folder) wait(ctx context.Context, seqno uint32, limit time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		f.mu.Lock()
		head, moved := f.head, f.moved
		f.mu.Unlock()
		if head >= seqno {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-moved:
		}
	}
}

// read gives the bytes of a block that is shown.
func (f *Folder) read(id *ton.BlockIDExt) []byte {
	f.mu.Lock()
	head := f.head
	f.mu.Unlock()
	if id == nil || id.Workchain == -1 && id.SeqNo > head {
		return nil
	}
	s := f.byPlace[place{id.Workchain, id.Shard, id.SeqNo}]
	if s == nil || !s.id.Equals(id) {
		return nil
	}
	boc, err := os.ReadFile(s.path)
	if err != nil {
		return nil
	}
	return boc
}

// prove makes a proof of the parts of a block that look reads.
func (f *Folder) prove(id *ton.BlockIDExt, look func(*tlb.Block) error) *cell.Cell {
	boc := f.read(id)
	if boc == nil {
		return nil
	}
	root, err := cell.FromBOC(boc)
	if err != nil {
		return nil
	}
	builder := cell.NewMerkleProofBuilder(root)
	loader, err := builder.Root().BeginParse()
	if err != nil {
		return nil
	}
	var block tlb.Block
	if tlb.LoadFromCell(&block, loader) != nil || look(&block) != nil {
		return nil
	}
	proof, err := builder.CreateProof()
	if err != nil {
		return nil
	}
	return proof
}

func (f *Folder) header(id *ton.BlockIDExt) any {
	proof := f.prove(id, func(*tlb.Block) error { return nil })
	if proof == nil {
		return notFound
	}
	return ton.BlockHeader{ID: id, HeaderProof: proof.ToBOC()}
}

func (f *Folder) shards(id *ton.BlockIDExt) any {
	var hashes *cell.Dictionary
	proof := f.prove(id, func(b *tlb.Block) error {
		hashes = b.Extra.Custom.ShardHashes
		_, err := ton.LoadShardsFromHashes(hashes, false)
		return err
	})
	if proof == nil || hashes.IsEmpty() {
		return notFound
	}
	data := cell.BeginCell().MustStoreDict(hashes).EndCell()
	return ton.AllShardsInfo{ID: id, Proof: []*cell.Cell{proof}, Data: data.WithoutTrace()}
}
