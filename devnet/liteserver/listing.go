package liteserver

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"github.com/xssnick/tonutils-go/tl"
	"github.com/xssnick/tonutils-go/ton"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/chain"
)

// maxListed is how many transactions of a block one answer has, as in the node.
const maxListed = 256

// Bits of mode in listBlockTransactions. Those under them say which parts an id
// has; the devnet's messages carry no metadata.
const (
	wantProof    = 1 << 5
	reverseOrder = 1 << 6
	afterGiven   = 1 << 7
	withMetadata = 1 << 8
)

// page is a part of a block's transactions.
type page struct {
	block      *chain.Block
	list       []chain.Transaction
	incomplete bool
	proof      *cell.Cell
}

func (c *Component) listBlockTransactions(_ context.Context, q ton.ListBlockTransactions) (tl.Serializable, error) {
	p, err := c.page(q.ID, q.Mode, q.Count, q.After)
	if err != nil {
		return nil, err
	}
	ids := make([]ton.TransactionID, 0, len(p.list))
	for i := range p.list {
		tx := &p.list[i]
		ids = append(ids, ton.TransactionID{Flags: q.Mode &^ withMetadata, Account: tx.Account[:], LT: tx.LT, Hash: tx.Hash[:]})
	}
	return ton.BlockTransactions{ID: p.block.ID, ReqCount: int32(q.Count), Incomplete: p.incomplete, TransactionIds: ids, Proof: p.proof}, nil
}

func (c *Component) listBlockTransactionsExt(_ context.Context, q ton.ListBlockTransactionsExt) (tl.Serializable, error) {
	p, err := c.page(q.ID, q.Mode, q.Count, q.After)
	if err != nil {
		return nil, err
	}
	answer := ton.BlockTransactionsExt{ID: p.block.ID, ReqCount: int32(q.Count), Incomplete: p.incomplete}
	for i := range p.list {
		answer.Transactions = append(answer.Transactions, p.list[i].Cell)
	}
	if p.proof != nil {
		answer.Proof = boc(p.proof)
	}
	return answer, nil
}

// page lists by account, then logical time, from after on; backwards with the
// bit for it.
func (c *Component) page(id *ton.BlockIDExt, mode, count uint32, after *ton.TransactionID3) (page, error) {
	block, err := c.dependencies.History.Block(id)
	if err != nil {
		return page{}, err
	}
	direction := 1
	if mode&reverseOrder != 0 {
		direction = -1
	}
	compare := func(account []byte, lt uint64, tx *chain.Transaction) int {
		return direction * cmp.Or(bytes.Compare(account, tx.Account[:]), cmp.Compare(lt, tx.LT))
	}
	list := slices.Clone(block.Transactions)
	slices.SortFunc(list, func(a, b chain.Transaction) int { return compare(a.Account[:], a.LT, &b) })
	if mode&afterGiven != 0 && after != nil {
		list = slices.DeleteFunc(list, func(tx chain.Transaction) bool { return compare(after.Account, after.LT, &tx) >= 0 })
	}
	p := page{block: block, list: list}
	if limit := min(count, maxListed); uint32(len(list)) > limit {
		p.list, p.incomplete = list[:limit], true
	}
	if mode&wantProof != 0 {
		p.proof = prove(block.Root, func(block *cell.Slice) {
			blocks := visitAccountBlocks(block)
			for _, tx := range p.list {
				visitTransaction(blocks, tx.Account[:], tx.LT)
			}
		})
	}
	return p, nil
}
