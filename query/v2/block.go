package v2

import (
	"slices"
	"time"

	"github.com/xssnick/tonutils-go/ton"

	"tonscribe/internal/lite"
	"tonscribe/query/api"
	"tonscribe/query/node"
)

// shardParams name a shard.
var shardParams = []Param{
	{Name: "workchain", Kind: Int32Kind, Required: true, Description: "-1 is the masterchain, 0 the basechain"},
	{Name: "shard", Kind: ShardKind, Required: true, Description: "shard as a signed decimal; -9223372036854775808 is the whole workchain"},
}

// blockParams name a block.
var blockParams = slices.Concat(shardParams, []Param{
	{Name: "seqno", Kind: Int32Kind, Required: true, Min: bound(1), Description: "seqno of the block"},
	{Name: "root_hash", Kind: HashKind, Description: "root hash of the block; with file_hash it spares a look-up"},
	{Name: "file_hash", Kind: HashKind, Description: "file hash of the block"},
})

// keepBlocks is how long answers about blocks that do not change are kept.
const keepBlocks = 300 * time.Second

// lookup is the place of a block that a request names.
func (c *call) lookup() lite.Lookup {
	return lite.Lookup{Workchain: int32(c.number("workchain")), Shard: c.number("shard"), Seqno: uint32(c.number("seqno"))}
}

// block is the block that a request names: with both hashes as they are, else
// looked up.
func (c *call) block() (*ton.BlockIDExt, error) {
	l := c.lookup()
	if c.sent("root_hash") && c.sent("file_hash") {
		root, file := c.hash("root_hash"), c.hash("file_hash")
		return &ton.BlockIDExt{Workchain: l.Workchain, Shard: l.Shard, SeqNo: l.Seqno, RootHash: root[:], FileHash: file[:]}, nil
	}
	return c.FindBlock(c, l)
}

var errOneOfThree = unprocessable("exactly one of seqno, lt, unixtime should be specified")

var lookupBlock = &Method{
	Name: "lookupBlock", Tag: tagBlocks, Summary: "Look up a block",
	Description: "The block of a shard with a seqno, or the first one that ends at an lt or was made at a time or later. Exactly one of the three is sent. The shard of the answer is the block's own.",
	Params: slices.Concat(shardParams, []Param{
		{Name: "seqno", Kind: Int32Kind, Min: bound(1), Description: "seqno of the block"},
		{Name: "lt", Kind: Int64Kind, Min: bound(0), Description: "logical time"},
		{Name: "unixtime", Kind: Int32Kind, Min: bound(0), Description: "unix time"},
	}),
	Cache:  keepBlocks,
	Errors: []Error{*errOneOfThree},
	check: func(v *Values) error {
		if asNumber(v.sent("seqno"))+asNumber(v.sent("lt"))+asNumber(v.sent("unixtime")) != 1 {
			return errOneOfThree
		}
		return nil
	},
	Result: of(blockID, func(c *call) (*ton.BlockIDExt, error) {
		l := c.lookup()
		if c.sent("lt") {
			l.LT = uint64(max(c.number("lt"), 1)) // every block ends at 1 or later
		}
		if c.sent("unixtime") {
			l.UTime = uint32(max(c.number("unixtime"), 1))
		}
		return c.FindBlock(c, l)
	}),
}

// masterSeqno is a masterchain block that has to be named.
var masterSeqno = Param{Name: "seqno", Kind: Int32Kind, Required: true, Min: bound(1), Description: "seqno of the masterchain block"}

var shardList = api.Typed("ShardList", "blocks.shards",
	api.List("shards", blockID, api.Same[[]*ton.BlockIDExt], api.Same[*ton.BlockIDExt]),
)

var getShards = &Method{
	Name: "getShards", Aliases: []string{"shards"}, Tag: tagBlocks, Summary: "Shards",
	Description: "The newest block of every shard as a masterchain block has them; the masterchain is not among them.",
	Params:      []Param{masterSeqno}, Cache: keepBlocks,
	Result: of(shardList, func(c *call) ([]*ton.BlockIDExt, error) { return c.Shards(c, uint32(c.number("seqno"))) }),
}

type header = *node.Header

var getBlockHeader = &Method{
	Name: "getBlockHeader", Tag: tagBlocks, Summary: "Block header",
	Description: "What a block says of itself: its place, times, validators, and the blocks that it follows.",
	Params:      blockParams, Cache: keepBlocks,
	Result: of(api.Typed("BlockHeader", "blocks.header",
		api.PartOf("id", blockID, func(h header) *ton.BlockIDExt { return h.ID }),
		api.Int32("global_id", func(h header) int32 { return h.Network }),
		api.Uint32("version", func(h header) uint32 { return h.Version }),
		api.Bool("after_merge", func(h header) bool { return h.AfterMerge }),
		api.Bool("after_split", func(h header) bool { return h.AfterSplit }),
		api.Bool("before_split", func(h header) bool { return h.BeforeSplit }),
		api.Bool("want_merge", func(h header) bool { return h.WantMerge }),
		api.Bool("want_split", func(h header) bool { return h.WantSplit }),
		api.Int32("validator_list_hash_short", func(h header) int32 { return int32(h.GenValidatorListHashShort) }),
		api.Uint32("catchain_seqno", func(h header) uint32 { return h.GenCatchainSeqno }),
		api.Uint32("min_ref_mc_seqno", func(h header) uint32 { return h.MinRefMcSeqno }),
		api.Bool("is_key_block", func(h header) bool { return h.KeyBlock }),
		api.Uint32("prev_key_block_seqno", func(h header) uint32 {
			if !h.IsMaster() {
				return 0
			}
			return h.PrevKeyBlockSeqno
		}),
		api.Decimal("start_lt", func(h header) uint64 { return h.StartLt }),
		api.Decimal("end_lt", func(h header) uint64 { return h.EndLt }),
		api.Uint32("gen_utime", func(h header) uint32 { return h.GenUtime }),
		api.List("prev_blocks", blockID, func(h header) []*ton.BlockIDExt { return h.Parents }, api.Same[*ton.BlockIDExt]),
	), func(c *call) (header, error) {
		id, err := c.block()
		if err != nil {
			return nil, err
		}
		return c.Header(c, id)
	}),
}

var masterchainInfo = api.Typed("MasterchainInfo", "blocks.masterchainInfo",
	api.PartOf("last", blockID, func(i *node.MasterchainInfo) *ton.BlockIDExt { return i.Last }),
	api.Bytes("state_root_hash", func(i *node.MasterchainInfo) []byte { return i.StateHash }),
	api.PartOf("init", blockID, func(i *node.MasterchainInfo) *ton.BlockIDExt { return i.Zero }),
)

var getMasterchainInfo = &Method{
	Name: "getMasterchainInfo", Tag: tagBlocks, Summary: "Masterchain info",
	Description: "The newest masterchain block, the hash of its state, and the zerostate.",
	Cache:       time.Second,
	Result:      of(masterchainInfo, func(c *call) (*node.MasterchainInfo, error) { return c.MasterchainInfo(c) }),
}

var getConsensusBlock = &Method{
	Name: "getConsensusBlock", Tag: tagBlocks, Summary: "Consensus block",
	Description: "Seqno of the newest masterchain block that is proven, and the time of the answer.",
	Cache:       time.Second,
	unanswered:  failed("no workers alive"),
	Result: of(api.Typed("ConsensusBlock", "ext.blocks.consensusBlock",
		api.Uint32("consensus_block", func(id *ton.BlockIDExt) uint32 { return id.SeqNo }),
		api.Int64("timestamp", func(*ton.BlockIDExt) int64 { return time.Now().Unix() }),
	), func(c *call) (*ton.BlockIDExt, error) { return c.ConsensusBlock(c) }),
}

var getOutMsgQueueSize = &Method{
	Name: "getOutMsgQueueSize", Aliases: []string{"getOutMsgQueueSizes"}, Tag: tagBlocks, Summary: "Outbound message queue size",
	Description: "How many messages wait in every shard to be delivered, the masterchain first.",
	Cache:       time.Second,
	Result: of(api.Typed("OutMsgQueueSizes", "blocks.outMsgQueueSizes",
		api.List("shards", api.Typed("OutMsgQueueSize", "blocks.outMsgQueueSize",
			api.PartOf("id", blockID, func(s ton.OutMsgQueueSize) *ton.BlockIDExt { return s.ID }),
			api.Int64("size", func(s ton.OutMsgQueueSize) int64 { return int64(s.Size) }),
		), func(s ton.OutMsgQueueSizes) []ton.OutMsgQueueSize { return s.Shards }, api.Same[ton.OutMsgQueueSize]),
		api.Int32("ext_msg_queue_size_limit", func(s ton.OutMsgQueueSizes) int32 { return s.ExtMsgQueueSizeLimit }),
	), func(c *call) (ton.OutMsgQueueSizes, error) { return c.QueueSizes(c) }),
}
