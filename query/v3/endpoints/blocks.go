package endpoints

import (
	"slices"

	"tonscribe/query/api"
	"tonscribe/query/head"
	"tonscribe/query/list"
	"tonscribe/query/list/paging"
	"tonscribe/query/params"
	"tonscribe/query/render"
	v3 "tonscribe/query/v3"
	"tonscribe/schema/record"
)

const blockchainData = "Blockchain data"

var (
	masterchainInfoAnswer = api.New("MasterchainInfoAnswer",
		api.Object("last", render.Block, func(v *head.View) *record.Block { return v.Last }, nil),
		api.Object("first", render.Block, func(v *head.View) *record.Block { return v.First }, nil),
	)
	blocksAnswer     = v3.ListOf("BlocksAnswer", "blocks", render.Block, v3.HasNext)
	shardStateAnswer = v3.ListOf("ShardStateAnswer", "blocks", render.Block, v3.HasBook, api.Written[v3.Described]("transactions", api.ListOf(render.Transaction), nil))
)

var masterchainInfo = &v3.Endpoint{
	Path: "/masterchainInfo", Tag: blockchainData, Summary: "Masterchain info",
	Description: "The newest and the oldest indexed masterchain block.",
	Result:      masterchainInfoAnswer,
	Serve: func(q *v3.Request) error {
		q.Body = masterchainInfoAnswer.Append(q.Body, q.View)
		return nil
	},
}

var blockParams = []params.Param{
	{Name: "workchain", Kind: params.Int32Kind, Description: "workchain of the block"},
	{Name: "shard", Kind: params.ShardKind, Description: "shard of the block; send it with workchain"},
	{Name: "seqno", Kind: params.Int32Kind, Description: "seqno of the block; send it with workchain and shard"},
}

var mcSeqnoParam = params.Param{Name: "mc_seqno", Kind: params.Int32Kind, Description: "the masterchain block that commits"}

var blocks = &v3.Endpoint{
	Path: "/blocks", Tag: blockchainData, Summary: "Blocks",
	Description: "Blocks that match all filters, the newest first unless sorted otherwise.",
	Params: slices.Concat(blockParams, []params.Param{
		{Name: "root_hash", Kind: params.HashKind, Description: "root hash of the block"},
		{Name: "file_hash", Kind: params.HashKind, Description: "file hash of the block"},
		mcSeqnoParam,
	}, params.UtimeRange("gen_utime"), params.LTRange("start_lt"), params.PageParams("", "by gen_utime")),
	Result: blocksAnswer,
	Serve: func(q *v3.Request) error {
		return serveBlocks(q, &list.BlockFilter{
			Workchain: q.Int32("workchain"), Shard: q.Number("shard"), Seqno: q.Int32("seqno"), McSeqno: q.Int32("mc_seqno"),
			RootHash: q.Hash("root_hash"), FileHash: q.Hash("file_hash"),
			Utime: q.Span("start_utime", "end_utime"), Lts: q.Span("start_lt", "end_lt"),
		}, nil)
	},
}

var seqnoParam = params.Param{
	Name: "seqno", Kind: params.SeqnoKind, Required: true, Description: "seqno of a masterchain block; what is missing or not a number counts as 0",
}

var blocksNotFound = params.NotFound("blocks not found")

var masterchainBlockShards = &v3.Endpoint{
	Path: "/masterchainBlockShards", Tag: blockchainData, Summary: "Blocks of a masterchain block",
	Description: "The blocks that a masterchain block commits, itself included: those that appeared after the previous masterchain block.",
	Params:      slices.Concat([]params.Param{seqnoParam}, params.PageParams("", "by gen_utime")),
	Result:      blocksAnswer,
	Errors:      []params.Error{*blocksNotFound},
	Serve: func(q *v3.Request) error {
		seqno, _ := q.Values.Int32("seqno")
		return serveBlocks(q, &list.BlockFilter{McSeqno: &seqno, Utime: list.Everything, Lts: list.Everything}, blocksNotFound)
	},
}

// serveBlocks answers a page; none is the error of an empty list, if that is one.
func serveBlocks(q *v3.Request, f *list.BlockFilter, none *params.Error) error {
	f.AnyOrder = !q.Values.Sent("sort")
	return v3.ServePage(q, blocksAnswer, &v3.Page[*record.Block, *record.Block, list.BlockKey]{
		None: func() error {
			if none != nil {
				return none
			}
			return nil
		},
		Row: api.Same[*record.Block], KeyOf: list.BlockKeyOf, Read: v3.InView(q, f, q.Store.Blocks),
	})
}

var masterchainBlockShardState = &v3.Endpoint{
	Path: "/masterchainBlockShardState", Tag: blockchainData, Summary: "Shard state of a masterchain block",
	Description: "The newest block of every shard as of a masterchain block and that block itself, and the transactions of all blocks that appeared after the previous masterchain block. A shard whose newest block is not indexed is left out.",
	Params:      []params.Param{seqnoParam},
	Result:      shardStateAnswer,
	Errors:      []params.Error{*blocksNotFound},
	Serve: func(q *v3.Request) error {
		seqno, _ := q.Values.Int32("seqno")
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
		row, err := withTraces(q, bundle, nil)
		if err != nil {
			return err
		}
		w := q.Writer(v3.HasBook, 0)
		v3.WriteRows(w, "blocks", render.Block, blocks, api.Same)
		v3.WriteRows(w, "transactions", render.Transaction, bundle, row)
		return q.Finish(w, v3.HasBook, nil)
	},
}

// maxOfBundle is more transactions than a bundle has.
const maxOfBundle = 200_000
