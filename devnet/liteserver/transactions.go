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
		return nil, refuse(codeFatal, "requested account id is not contained in the shard of block %s", show(q.ID))
	}
	var found *cell.Cell
	proof, err := prove(block.Root, func(s *cell.Slice) error {
		blocks, err := visitAccountBlocks(s)
		if err != nil {
			return err
		}
		found, err = visitTransaction(blocks, q.AccID.ID, uint64(q.LT))
		return err
	})
	if err != nil {
		return nil, err
	}
	answer := ton.TransactionInfo{ID: block.ID, Proof: boc(proof)}
	if found != nil {
		answer.Transaction = boc(found.WithoutTrace())
	}
	return answer, nil
}

// visitAccountBlocks reads a block down to its account blocks.
func visitAccountBlocks(block *cell.Slice) (*tlb.ShardAccountBlocks, error) {
	if err := visitInfo(block); err != nil {
		return nil, err
	}
	extra, err := child(block, refExtra)
	if err != nil {
		return nil, err
	}
	list, err := child(extra, 2)
	if err != nil {
		return nil, err
	}
	var blocks tlb.ShardAccountBlocks
	return &blocks, tlb.LoadFromCell(&blocks, list)
}

// visitTransaction reads account blocks down to a transaction, whose own cells
// stay out of the proof; nil when there is none.
func visitTransaction(blocks *tlb.ShardAccountBlocks, account []byte, lt uint64) (*cell.Cell, error) {
	value, err := blocks.Accounts.LoadValue(cell.BeginCell().MustStoreSlice(account, 256).EndCell())
	if errors.Is(err, cell.ErrNoSuchKeyInDict) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var block tlb.AccountBlock
	if err := tlb.LoadFromCell(&block, value); err != nil {
		return nil, err
	}
	tx, err := block.Transactions.LoadValueByIntKey(new(big.Int).SetUint64(lt))
	if errors.Is(err, cell.ErrNoSuchKeyInDict) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return tx.PeekRefCell()
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
		if lt, hash, err = previous(root); err != nil {
			return nil, err
		}
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

// previous names the account's transaction before this one: transaction$0111,
// account 256 bits, lt 64, then prev_trans_hash and prev_trans_lt.
func previous(tx *cell.Cell) (lt uint64, hash []byte, err error) {
	s, err := tx.BeginParse()
	if err != nil {
		return 0, nil, err
	}
	if err := s.SkipBits(4 + 256 + 64); err != nil {
		return 0, nil, err
	}
	if hash, err = s.LoadSlice(256); err != nil {
		return 0, nil, err
	}
	lt, err = s.LoadUInt(64)
	return lt, hash, err
}
