package v2

import (
	"errors"
	"time"

	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/ton"

	"tonscribe/internal/lite"
	"tonscribe/query/openapi"
)

// shardParams name a shard.
var shardParams = []Param{
	{Name: "workchain", Kind: Int32Kind, Required: true, Description: "-1 is the masterchain, 0 the basechain"},
	{Name: "shard", Kind: ShardKind, Required: true, Description: "shard as a signed decimal; -9223372036854775808 is the whole workchain"},
}

// blockParams name a block.
var blockParams = Join(shardParams, []Param{
	{Name: "seqno", Kind: Int32Kind, Required: true, Min: bound(1), Description: "seqno of the block"},
	{Name: "root_hash", Kind: HashKind, Description: "root hash of the block; with file_hash it spares a look-up"},
	{Name: "file_hash", Kind: HashKind, Description: "file hash of the block"},
})

// keepBlocks is how long answers about blocks that do not change are kept.
const keepBlocks = 300 * time.Second

var lookupBlock = &Method{
	Name: "lookupBlock", Tag: tagBlocks, Summary: "Look up a block",
	Description: "The block of a shard with a seqno, or the first one that ends at an lt or was made at a time or later. Exactly one of the three is sent. The shard of the answer is the block's own.",
	Params: Join(shardParams, []Param{
		{Name: "seqno", Kind: Int32Kind, Min: bound(1), Description: "seqno of the block"},
		{Name: "lt", Kind: Int64Kind, Min: bound(0), Description: "logical time"},
		{Name: "unixtime", Kind: Int32Kind, Min: bound(0), Description: "unix time"},
	}),
	Cache:  keepBlocks,
	Result: openapi.TypeOf[blockID](),
	Errors: []Error{*errOneOfThree},
	check: func(v *Values) error {
		if asNumber(v.sent("seqno"))+asNumber(v.sent("lt"))+asNumber(v.sent("unixtime")) != 1 {
			return errOneOfThree
		}
		return nil
	},
	serve: func(c *call) (any, error) {
		l := lite.Lookup{Workchain: int32(c.number("workchain")), Shard: c.number("shard"), Seqno: uint32(c.number("seqno"))}
		if c.sent("lt") {
			l.LT = uint64(max(c.number("lt"), 1)) // every block ends at 1 or later
		}
		if c.sent("unixtime") {
			l.UTime = uint32(max(c.number("unixtime"), 1))
		}
		id, err := c.find(l)
		if err != nil {
			return nil, err
		}
		return newBlockID(id), nil
	},
}

var errOneOfThree = unprocessable("exactly one of seqno, lt, unixtime should be specified")

// find looks a block up. The masterchain is one shard.
func (c *call) find(l lite.Lookup) (*ton.BlockIDExt, error) {
	if l.Workchain == masterWorkchain && l.LT == 0 && l.UTime == 0 { // whatever part of it is asked for
		return c.masterAt(l.Seqno)
	}
	id, _, err := c.lookup(l)
	return id, err
}

// lookup looks a block up. A shard block is proven to be in the chain, unless no
// server can do that: its newest blocks are in no masterchain block yet.
func (c *call) lookup(l lite.Lookup) (*ton.BlockIDExt, *tlb.BlockHeader, error) {
	id, header, err := c.node.Lookup(c, l)
	if err != nil || isMaster(id) {
		return id, header, err
	}
	_, _, err = c.shardLinks(id)
	var denied ton.LSError
	if errors.As(err, &denied) {
		err = nil
	}
	return id, header, err
}

// block is the block that a request names: with both hashes as they are, else
// looked up.
func (c *call) block() (*ton.BlockIDExt, error) {
	if c.sent("root_hash") && c.sent("file_hash") {
		root, file := c.hash("root_hash"), c.hash("file_hash")
		return &ton.BlockIDExt{
			Workchain: int32(c.number("workchain")), Shard: c.number("shard"), SeqNo: uint32(c.number("seqno")),
			RootHash: root[:], FileHash: file[:],
		}, nil
	}
	return c.find(lite.Lookup{Workchain: int32(c.number("workchain")), Shard: c.number("shard"), Seqno: uint32(c.number("seqno"))})
}

type shardList struct {
	_      typed     `type:"blocks.shards"`
	Shards []blockID `json:"shards"`
}

var getShards = &Method{
	Name: "getShards", Aliases: []string{"shards"}, Tag: tagBlocks, Summary: "Shards",
	Description: "The newest block of every shard as a masterchain block has them; the masterchain is not among them.",
	Params:      []Param{masterSeqno}, Cache: keepBlocks,
	Result: openapi.TypeOf[shardList](),
	serve: func(c *call) (any, error) {
		master, err := c.masterAt(uint32(c.number("seqno")))
		if err != nil {
			return nil, err
		}
		shards, err := c.node.AllShards(c, master)
		return shardList{Shards: newBlockIDs(shards)}, err
	},
}

// masterSeqno is a masterchain block that has to be named.
var masterSeqno = Param{Name: "seqno", Kind: Int32Kind, Required: true, Min: bound(1), Description: "seqno of the masterchain block"}

type blockHeader struct {
	_                      typed     `type:"blocks.header"`
	ID                     blockID   `json:"id"`
	GlobalID               int32     `json:"global_id"`
	Version                uint32    `json:"version"`
	AfterMerge             bool      `json:"after_merge"`
	AfterSplit             bool      `json:"after_split"`
	BeforeSplit            bool      `json:"before_split"`
	WantMerge              bool      `json:"want_merge"`
	WantSplit              bool      `json:"want_split"`
	ValidatorListHashShort int32     `json:"validator_list_hash_short"`
	CatchainSeqno          uint32    `json:"catchain_seqno"`
	MinRefMcSeqno          uint32    `json:"min_ref_mc_seqno"`
	IsKeyBlock             bool      `json:"is_key_block"`
	PrevKeyBlockSeqno      uint32    `json:"prev_key_block_seqno"`
	StartLT                uint64    `json:"start_lt,string"`
	EndLT                  uint64    `json:"end_lt,string"`
	GenUtime               uint32    `json:"gen_utime"`
	PrevBlocks             []blockID `json:"prev_blocks"`
}

var getBlockHeader = &Method{
	Name: "getBlockHeader", Tag: tagBlocks, Summary: "Block header",
	Description: "What a block says of itself: its place, times, validators, and the blocks that it follows.",
	Params:      blockParams, Cache: keepBlocks,
	Result: openapi.TypeOf[blockHeader](),
	serve: func(c *call) (any, error) {
		id, err := c.block()
		if err != nil {
			return nil, err
		}
		block, err := c.header(id)
		if err != nil {
			return nil, err
		}
		parents, err := ton.GetParentBlocks(&block.BlockInfo)
		if err != nil {
			return nil, err
		}
		return newHeader(id, &block.BlockInfo, parents, block.GlobalID), nil
	},
}

func newHeader(id *ton.BlockIDExt, h *tlb.BlockHeader, parents []*ton.BlockIDExt, global int32) blockHeader {
	b := blockHeader{
		ID: newBlockID(id), GlobalID: global, Version: h.Version,
		AfterMerge: h.AfterMerge, AfterSplit: h.AfterSplit, BeforeSplit: h.BeforeSplit, WantMerge: h.WantMerge, WantSplit: h.WantSplit,
		ValidatorListHashShort: int32(h.GenValidatorListHashShort), CatchainSeqno: h.GenCatchainSeqno, MinRefMcSeqno: h.MinRefMcSeqno,
		IsKeyBlock: h.KeyBlock, StartLT: h.StartLt, EndLT: h.EndLt, GenUtime: h.GenUtime, PrevBlocks: newBlockIDs(parents),
	}
	if isMaster(id) {
		b.PrevKeyBlockSeqno = h.PrevKeyBlockSeqno
	}
	return b
}

// header is the part of a block that a proof of its header shows. Headers of
// tonutils-go leave out which network the block is of.
func (c *call) header(id *ton.BlockIDExt) (block *tlb.Block, err error) {
	_, _, err = c.node.Query(c, lite.Query{
		Request: ton.GetBlockHeader{ID: id},
		Check: func(answer any) (err error) {
			block, err = headerBlock(answer, id)
			return err
		},
	})
	return block, err
}
