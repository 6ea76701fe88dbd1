package v2

import (
	"encoding/hex"
	"slices"
	"strconv"

	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/ton"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/query/openapi"
)

type shortTransaction struct {
	_       typed    `type:"blocks.shortTxId"`
	Mode    int32    `json:"mode"`
	Account string   `json:"account"`
	LT      uint64   `json:"lt,string"`
	Hash    [32]byte `json:"hash"`
}

type blockTransactions struct {
	_            typed              `type:"blocks.transactions"`
	ID           blockID            `json:"id"`
	Count        int64              `json:"req_count"`
	Incomplete   bool               `json:"incomplete"`
	Transactions []shortTransaction `json:"transactions"`
}

type blockTransactionsExt struct {
	_            typed                `type:"blocks.transactionsExt"`
	ID           blockID              `json:"id"`
	Count        int64                `json:"req_count"`
	Incomplete   bool                 `json:"incomplete"`
	Transactions []*rawTransactionExt `json:"transactions"`
}

// listParams are those of the two methods that list a block's transactions.
var listParams = Join(blockParams, []Param{
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

// shortMode is the mode of lite-server requests that ask for account, lt and
// hash from a starting point on; answers repeat it.
const shortMode = 135

var getBlockTransactions = &Method{
	Name: "getBlockTransactions", Tag: tagTransactions, Summary: "Short ids of a block's transactions",
	Description: "Transactions of a block in the order of account and lt.",
	Params:      listParams, Cache: keepBlocks, check: checkAfter,
	Errors: []Error{*errAfterTogether},
	Result: openapi.TypeOf[blockTransactions](),
	serve: func(c *call) (any, error) {
		id, page, more, err := c.page()
		if err != nil {
			return nil, err
		}
		result := blockTransactions{ID: newBlockID(id), Count: c.number("count"), Incomplete: more}
		prefix := strconv.Itoa(int(id.Workchain)) + ":"
		for _, t := range page {
			result.Transactions = append(result.Transactions, shortTransaction{
				Mode: shortMode, Account: prefix + hex.EncodeToString(t.account[:]), LT: t.lt, Hash: t.cell.HashKey(),
			})
		}
		return result, nil
	},
}

var getBlockTransactionsExt = &Method{
	Name: "getBlockTransactionsExt", Tag: tagTransactions, Summary: "Transactions of a block",
	Description: "Like getBlockTransactions, with the whole transactions.",
	Params:      listParams, Cache: keepBlocks, check: checkAfter,
	Errors: []Error{*errAfterTogether},
	Result: openapi.TypeOf[blockTransactionsExt](),
	serve: func(c *call) (any, error) {
		id, page, more, err := c.page()
		if err != nil {
			return nil, err
		}
		result := blockTransactionsExt{ID: newBlockID(id), Count: c.number("count"), Incomplete: more}
		for _, listed := range page {
			t, err := parseTransaction(id.Workchain, listed.cell)
			if err != nil {
				return nil, err
			}
			result.Transactions = append(result.Transactions, t.rawExt())
		}
		return result, nil
	},
}

// listed is a transaction in a block.
type listed struct {
	account [32]byte
	lt      uint64
	cell    *cell.Cell
}

func (l listed) compare(account [32]byte, lt uint64) int {
	if by := slices.Compare(l.account[:], account[:]); by != 0 {
		return by
	}
	switch {
	case l.lt < lt:
		return -1
	case l.lt > lt:
		return 1
	}
	return 0
}

// page is the part of a block's transactions that a request asks for. The whole
// block is read: its hash proves that nothing is missing.
func (c *call) page() (id *ton.BlockIDExt, page []listed, more bool, err error) {
	if id, err = c.block(); err != nil {
		return nil, nil, false, err
	}
	all, err := c.transactionsIn(id)
	if err != nil {
		return nil, nil, false, err
	}
	if c.sent("after_lt") {
		account, lt := c.hash("after_hash"), uint64(c.number("after_lt"))
		all = slices.DeleteFunc(all, func(l listed) bool { return l.compare(account, lt) <= 0 })
	}
	// A page that is full says that there is more, even when it ends with the
	// block.
	count := int(c.number("count"))
	return id, all[:min(len(all), count)], len(all) >= count, nil
}

// transactionsIn are all transactions of a block, by account and lt.
func (c *call) transactionsIn(id *ton.BlockIDExt) ([]listed, error) {
	_, root, err := c.node.Block(c, id)
	if err != nil {
		return nil, err
	}
	return listTransactions(root)
}

func listTransactions(root *cell.Cell) ([]listed, error) {
	r := parse(root)
	for range 3 { // info, value_flow, state_update
		r.ref()
	}
	extra := parse(r.ref())
	for range 2 { // in_msg_descr, out_msg_descr
		extra.ref()
	}
	accounts := extra.ref()
	if r.Err() != nil {
		return nil, r.Err()
	}
	if extra.Err() != nil {
		return nil, extra.Err()
	}
	var blocks tlb.ShardAccountBlocks
	if err := tlb.Parse(&blocks, accounts); err != nil {
		return nil, err
	}
	var list []listed
	err := blocks.Accounts.ForEachValueExtra(func(value, _ *cell.Slice) (bool, error) {
		var block tlb.AccountBlock
		if err := tlb.LoadFromCell(&block, value); err != nil {
			return false, err
		}
		return true, block.Transactions.ForEachValueExtra(func(value, _ *cell.Slice) (bool, error) {
			c, err := value.LoadRefCell()
			if err != nil {
				return false, err
			}
			t := parse(c)
			t.Skip(4)
			l := listed{account: t.Hash(), lt: t.Uint(64), cell: c}
			list = append(list, l)
			return true, t.Err()
		})
	})
	slices.SortFunc(list, func(a, b listed) int { return a.compare(b.account, b.lt) })
	return list, err
}
