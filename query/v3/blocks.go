package v3

import (
	"slices"

	"tonscribe/query/api"
	"tonscribe/query/head"
	"tonscribe/query/list"
	"tonscribe/query/list/paging"
	"tonscribe/query/params"
	"tonscribe/query/render"
	"tonscribe/schema/record"
)

const blockchainData = "Blockchain data"

var (
	masterchainInfoAnswer = api.New("MasterchainInfoAnswer",
		api.Object("last", render.Block, func(v *head.View) *record.Block { return v.Last }, nil),
		api.Object("first", render.Block, func(v *head.View) *record.Block { return v.First }, nil),
	)
	blocksAnswer     = listOf("BlocksAnswer", "blocks", render.Block, hasNext)
	shardStateAnswer = listOf("ShardStateAnswer", "blocks", render.Block, hasBook, api.Written[described]("transactions", api.ListOf(render.Transaction), nil))
)

var masterchainInfo = &Endpoint{
	Path: "/masterchainInfo", Tag: blockchainData, Summary: "Masterchain info",
	Description: "The newest and the oldest indexed masterchain block.",
	Result:      masterchainInfoAnswer,
	serve: func(q *request) error {
		q.body = masterchainInfoAnswer.Append(q.body, q.View)
		return nil
	},
}

var blockParams = []params.Param{
	{Name: "workchain", Kind: params.Int32Kind, Description: "workchain of the block"},
	{Name: "shard", Kind: params.ShardKind, Description: "shard of the block; send it with workchain"},
	{Name: "seqno", Kind: params.Int32Kind, Description: "seqno of the block; send it with workchain and shard"},
}

var mcSeqnoParam = params.Param{Name: "mc_seqno", Kind: params.Int32Kind, Description: "the masterchain block that commits"}

var blocks = &Endpoint{
	Path: "/blocks", Tag: blockchainData, Summary: "Blocks",
	Description: "Blocks that match all filters, the newest first unless sorted otherwise.",
	Params: slices.Concat(blockParams, []params.Param{
		{Name: "root_hash", Kind: params.HashKind, Description: "root hash of the block"},
		{Name: "file_hash", Kind: params.HashKind, Description: "file hash of the block"},
		mcSeqnoParam,
	}, params.UtimeRange("gen_utime"), params.LTRange("start_lt"), params.PageParams("", "by gen_utime")),
	Result: blocksAnswer,
	serve: func(q *request) error {
		return q.serveBlocks(&list.BlockFilter{
			Workchain: q.int32("workchain"), Shard: q.number("shard"), Seqno: q.int32("seqno"), McSeqno: q.int32("mc_seqno"),
			RootHash: q.hash("root_hash"), FileHash: q.hash("file_hash"),
			Utime: q.span("start_utime", "end_utime"), Lts: q.span("start_lt", "end_lt"),
		}, nil)
	},
}

var seqnoParam = params.Param{
	Name: "seqno", Kind: params.SeqnoKind, Required: true, Description: "seqno of a masterchain block; what is missing or not a number counts as 0",
}

var blocksNotFound = params.NotFound("blocks not found")

var masterchainBlockShards = &Endpoint{
	Path: "/masterchainBlockShards", Tag: blockchainData, Summary: "Blocks of a masterchain block",
	Description: "The blocks that a masterchain block commits, itself included: those that appeared after the previous masterchain block.",
	Params:      slices.Concat([]params.Param{seqnoParam}, params.PageParams("", "by gen_utime")),
	Result:      blocksAnswer,
	Errors:      []params.Error{*blocksNotFound},
	serve: func(q *request) error {
		seqno, _ := q.values.Int32("seqno")
		return q.serveBlocks(&list.BlockFilter{McSeqno: &seqno, Utime: list.Everything, Lts: list.Everything}, blocksNotFound)
	},
}

// serveBlocks answers a page; none is the error of an empty list, if that is one.
func (q *request) serveBlocks(f *list.BlockFilter, none *params.Error) error {
	f.AnyOrder = !q.values.Sent("sort")
	return servePage(q, blocksAnswer, &page[*record.Block, *record.Block, list.BlockKey]{
		none: func() error {
			if none != nil {
				return none
			}
			return nil
		},
		row: api.Same[*record.Block], keyOf: list.BlockKeyOf, read: inView(q, f, q.Store.Blocks),
	})
}

var masterchainBlockShardState = &Endpoint{
	Path: "/masterchainBlockShardState", Tag: blockchainData, Summary: "Shard state of a masterchain block",
	Description: "The newest block of every shard as of a masterchain block and that block itself, and the transactions of all blocks that appeared after the previous masterchain block. A shard whose newest block is not indexed is left out.",
	Params:      []params.Param{seqnoParam},
	Result:      shardStateAnswer,
	Errors:      []params.Error{*blocksNotFound},
	serve: func(q *request) error {
		seqno, _ := q.values.Int32("seqno")
		blocks, err := q.Store.ShardState(q, q.View, seqno)
		if err != nil {
			return err
		}
		if len(blocks) == 0 {
			return blocksNotFound
		}
		f := &list.TransactionFilter{McSeqno: &seqno, Utime: list.Everything, Lts: list.Everything}
		bundle, _, err := q.Store.Transactions(q, q.View, f, paging.Page{Limit: maxOfBundle}, nil)
		if err != nil {
			return err
		}
		row, err := q.traced(bundle, nil)
		if err != nil {
			return err
		}
		w := q.writer(hasBook, 0)
		writeRows(w, "blocks", render.Block, blocks, api.Same)
		writeRows(w, "transactions", render.Transaction, bundle, row)
		return q.finish(w, hasBook, nil)
	},
}

// maxOfBundle is more transactions than a bundle has.
const maxOfBundle = 200_000
