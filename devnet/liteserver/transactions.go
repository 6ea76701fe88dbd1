package liteserver

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math/big"

	"github.com/xssnick/tonutils-go/tl"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/ton"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/history"
)

// maxTransactions in one answer of getTransactions, as in the node.
const maxTransactions = 16

func (c *Component) oneTransaction(_ context.Context, q ton.GetOneTransaction) (tl.Serializable, error) {
	block, err := c.dependencies.History.Block(q.ID)
	if err != nil {
		return nil, err
	}
	prefix := binary.BigEndian.Uint64(q.AccID.ID)
	if q.AccID.Workchain != block.ID.Workchain || !holds(uint64(block.ID.Shard), prefix) {
		return nil, refuse(codeFatal, "requested account id is not contained in the shard of block %s", history.Name(q.ID))
	}
	var found *cell.Cell
	proof := prove(block.Root, func(s *cell.Slice) { found = visitTransaction(visitAccountBlocks(s), q.AccID.ID, uint64(q.LT)) })
	answer := ton.TransactionInfo{ID: block.ID, Proof: boc(proof)}
	if found != nil {
		answer.Transaction = boc(found.WithoutTrace())
	}
	return answer, nil
}

// visitAccountBlocks reads a block down to its account blocks.
func visitAccountBlocks(block *cell.Slice) *tlb.ShardAccountBlocks {
	readAll(child(block, refInfo))
	return load[tlb.ShardAccountBlocks](child(child(block, refExtra), 2))
}

// visitTransaction reads account blocks down to a transaction, whose own cells
// stay out of the proof; nil when there is none.
func visitTransaction(blocks *tlb.ShardAccountBlocks, account []byte, lt uint64) *cell.Cell {
	value := find(blocks.Accounts.LoadValue(key256(account)))
	if value == nil {
		return nil
	}
	tx := find(load[tlb.AccountBlock](value).Transactions.LoadValueByIntKey(new(big.Int).SetUint64(lt)))
	if tx == nil {
		return nil
	}
	return must(tx.PeekRefCell())
}

// transactions walks an account's transactions back from one.
func (c *Component) transactions(_ context.Context, q ton.GetTransactions) (tl.Serializable, error) {
	answer := ton.TransactionList{IDs: []*ton.BlockIDExt{}}
	var roots []*cell.Cell
	lt, hash := uint64(q.LT), q.TxHash
	for lt != 0 && uint32(len(roots)) < min(uint32(q.Limit), maxTransactions) {
		id, root, err := c.dependencies.History.Transaction(q.AccID.Workchain, [32]byte(q.AccID.ID), lt)
		if errors.Is(err, history.ErrNotFound) {
			return nil, c.noTransaction(q.AccID, lt)
		}
		if err != nil {
			return nil, err
		}
		if !bytes.Equal(root.Hash(), hash) {
			return nil, refuse(codeFatal, "transaction hash mismatch")
		}
		answer.IDs, roots = append(answer.IDs, id), append(roots, root)
		// transaction$0111, account, lt, then prev_trans_hash and prev_trans_lt
		s := skip(root.MustBeginParse(), 4+256+64)
		hash, lt = s.MustLoadSlice(256), s.MustLoadUInt(64)
	}
	answer.Transactions = boc(roots...)
	return answer, nil
}

// noTransaction says why there is no transaction of an account at lt.
func (c *Component) noTransaction(account *ton.AccountID, lt uint64) error {
	prefix := binary.BigEndian.Uint64(account.ID)
	if _, err := c.dependencies.History.ByLT(account.Workchain, prefix, lt); err == nil {
		return refuse(codeFatal, "cannot locate transaction in block with specified logical time")
	}
	return refuse(codeFatal, "cannot compute block with specified transaction: cannot find block (%d,%016x) lt=%d: lt not in db",
		account.Workchain, prefix, lt)
}
