package table

import (
	"fmt"

	"tonscribe/schema"
	"tonscribe/schema/record"
)

// Block is a block as the tables see it.
type Block struct {
	*record.Block
	Raw string
	// path and key are those of a row of BlocksIndex.
	path int8
	key  uint64
}

// NewBlock returns the row of a block that was read from raw. Its id must be
// complete.
func NewBlock(b *record.Block, raw []byte) (*Block, error) {
	if b.Id == nil || len(b.Id.RootHash) != 32 || len(b.Id.FileHash) != 32 {
		return nil, fmt.Errorf("block of bundle %d: the id is not complete", b.McSeqno)
	}
	return &Block{Block: b, Raw: text(raw)}, nil
}

// Blocks has every block once.
var Blocks = declare(Table{Name: "blocks", Doc: "a block", Key: []string{"mc_seqno", "workchain", "shard", "seqno"}, Standalone: true}, nil, []column[*Block]{
	col("mc_seqno", UInt32, "masterchain block that commits it", func(b *Block) uint32 { return b.McSeqno }),
	col("workchain", Int32, "workchain of the block", func(b *Block) int32 { return b.Id.Workchain }),
	col("shard", Prefix, "shard prefix with the tag bit", func(b *Block) uint64 { return b.Id.Shard }),
	col("seqno", UInt32, "seqno in the shard", func(b *Block) uint32 { return b.Id.Seqno }),
	col("gen_utime", UInt32, "when it was generated", func(b *Block) uint32 { return b.GenUtime }),
	col("start_lt", UInt64, "logical time at which it begins", func(b *Block) uint64 { return b.StartLt }),
	col("end_lt", UInt64, "logical time before which it ends", func(b *Block) uint64 { return b.EndLt }),
	col("root_hash", Hash, "hash of the block's root cell", func(b *Block) []byte { return b.Id.RootHash }),
	col("file_hash", Hash, "SHA-256 of the block's bag of cells", func(b *Block) []byte { return b.Id.FileHash }),
	col("tx_count", UInt32, "number of its transactions", func(b *Block) uint32 { return b.TxCount }),
	col("key_block", Bool, "whether it is a key block", func(b *Block) bool { return b.KeyBlock }),
	col("global_id", Int32, "global id of the network", func(b *Block) int32 { return b.GlobalId }),
	recordCol("the protobuf Block", func(b *Block) string { return b.Raw }),
})

// Paths of BlocksIndex.
const (
	blockByID int8 = iota + 1
	blockByHash
	blockByUtime
	blockByLt
)

// BlocksIndex finds blocks by id, by root hash and file hash, by time and by start
// lt.
var BlocksIndex = declare(Table{Name: "blocks_index", Internal: true, Doc: "a block by one of the ways to look for it", Standalone: true,
	Key: []string{"path", "key", "workchain", "shard", "seqno", "mc_seqno"}},
	func(b *Block, add func(*Block)) {
		to := func(path int8, key uint64) {
			b.path, b.key = path, key
			add(b)
		}
		to(blockByID, 0)
		to(blockByHash, schema.Prefix(b.Id.RootHash))
		to(blockByHash, schema.Prefix(b.Id.FileHash))
		to(blockByUtime, uint64(b.GenUtime))
		to(blockByLt, b.StartLt)
	}, []column[*Block]{
		col("path", Enum8(blockByID, "id", "hash", "utime", "lt"), "way to look for it", func(b *Block) int8 { return b.path }),
		col("key", Prefix, "id: 0; hash: first 8 bytes of root hash or file hash, a row for each; utime: gen_utime; lt: start_lt", func(b *Block) uint64 { return b.key }),
		col("workchain", Int32, "workchain of the block", func(b *Block) int32 { return b.Id.Workchain }),
		col("shard", Prefix, "shard prefix with the tag bit", func(b *Block) uint64 { return b.Id.Shard }),
		col("seqno", UInt32, "seqno in the shard", func(b *Block) uint32 { return b.Id.Seqno }),
		col("mc_seqno", UInt32, "masterchain block that commits it", func(b *Block) uint32 { return b.McSeqno }),
	})
