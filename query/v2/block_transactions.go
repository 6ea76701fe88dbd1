package v2

import (
	"encoding/hex"
	"slices"
	"strconv"

	"github.com/xssnick/tonutils-go/ton"

	"tonscribe/query/api"
	"tonscribe/query/node"
)

// blockPage is a part of a block's transactions.
type blockPage[T any] struct {
	id    *ton.BlockIDExt
	count int64
	more  bool
	list  []T
}

func blockList[T, R any](name, typeName string, transactions api.Form[R], of func(*blockPage[T]) []R) *api.Shape[*blockPage[T]] {
	return api.Typed(name, typeName,
		api.PartOf("id", blockID, func(p *blockPage[T]) *ton.BlockIDExt { return p.id }),
		api.Int64("req_count", func(p *blockPage[T]) int64 { return p.count }),
		api.Bool("incomplete", func(p *blockPage[T]) bool { return p.more }),
		api.List("transactions", transactions, of, api.Same[R]),
	)
}

// listParams are those of the two methods that list a block's transactions.
var listParams = slices.Concat(blockParams, []Param{
	{Name: "after_lt", Kind: Int64Kind, Min: bound(0), Description: "lt of the last transaction of the page before; send it with after_hash"},
	{Name: "after_hash", Kind: AccountKind, Description: "account of the last transaction of the page before: its address, or its id as a hash"},
	{Name: "count", Kind: Int64Kind, Default: "40", Min: bound(1), Max: bound(10000), Description: "page size"},
})

var errAfterTogether = unprocessable("after_lt and after_hash should be used together")

func checkAfter(v *Values) error {
	if v.sent("after_lt") != v.sent("after_hash") {
		return errAfterTogether
	}
	return nil
}

// shortRow is a transaction of a block in a workchain.
type shortRow struct {
	workchain int32
	node.Listed
}

// shortMode is the mode of lite-server requests that ask for account, lt and
// hash from a starting point on; answers repeat it.
const shortMode = 135

var shortTransaction = api.Typed("ShortTransaction", "blocks.shortTxId",
	api.Int32("mode", func(shortRow) int32 { return shortMode }),
	api.Text("account", func(t shortRow) string {
		return strconv.Itoa(int(t.workchain)) + ":" + hex.EncodeToString(t.Account[:])
	}),
	api.Decimal("lt", func(t shortRow) uint64 { return t.LT }),
	api.Hash("hash", func(t shortRow) []byte { return t.Cell.Hash() }),
)

var blockTransactions = blockList("BlockTransactions", "blocks.transactions", shortTransaction, func(p *blockPage[node.Listed]) []shortRow {
	rows := make([]shortRow, len(p.list))
	for i, t := range p.list {
		rows[i] = shortRow{p.id.Workchain, t}
	}
	return rows
})

var getBlockTransactions = &Method{
	Name: "getBlockTransactions", Tag: tagTransactions, Summary: "Short ids of a block's transactions",
	Description: "Transactions of a block in the order of account and lt.",
	Params:      listParams, Cache: keepBlocks, check: checkAfter,
	Errors: []Error{*errAfterTogether},
	Result: of(blockTransactions, (*call).page),
}

var getBlockTransactionsExt = &Method{
	Name: "getBlockTransactionsExt", Tag: tagTransactions, Summary: "Transactions of a block",
	Description: "Like getBlockTransactions, with the whole transactions.",
	Params:      listParams, Cache: keepBlocks, check: checkAfter,
	Errors: []Error{*errAfterTogether},
	Result: of(blockList("BlockTransactionsExt", "blocks.transactionsExt", rawTransactionExt, func(p *blockPage[*node.Transaction]) []*node.Transaction {
		return p.list
	}), func(c *call) (*blockPage[*node.Transaction], error) {
		p, err := c.page()
		if err != nil {
			return nil, err
		}
		list := make([]*node.Transaction, len(p.list))
		for i, t := range p.list {
			if list[i], err = node.ParseTransaction(p.id.Workchain, t.Cell); err != nil {
				return nil, err
			}
		}
		return &blockPage[*node.Transaction]{p.id, p.count, p.more, list}, nil
	}),
}

// page reads the part of a block's transactions that a request asks for.
func (c *call) page() (*blockPage[node.Listed], error) {
	id, err := c.block()
	if err != nil {
		return nil, err
	}
	var after *node.Listed
	if c.sent("after_lt") {
		after = &node.Listed{Account: c.hash("after_hash"), LT: uint64(c.number("after_lt"))}
	}
	p := &blockPage[node.Listed]{id: id, count: c.number("count")}
	p.list, p.more, err = c.BlockTransactions(c, id, after, int(p.count))
	return p, err
}
