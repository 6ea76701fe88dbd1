package lite

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/ton"
	"github.com/xssnick/tonutils-go/tvm/cell"
)

// Transaction is a transaction of an account with its block, as the server says
// it: the hash chain proves the transaction, not the block.
type Transaction struct {
	Block *ton.BlockIDExt
	Cell  *cell.Cell
}

// Transactions gives transactions of an account, the newest first, from the one
// with this lt and hash back, that one at least; servers give up to 16. Each is checked
// by the hash that the one after it names. after is the masterchain block from which
// on servers have the first one; 0 is unknown.
func (p *Pool) Transactions(ctx context.Context, account *address.Address, lt uint64, hash []byte, limit int, after uint32, archival bool) ([]Transaction, error) {
	query := Query{Request: ton.GetTransactions{Limit: int32(limit), AccID: accountID(account), LT: int64(lt), TxHash: hash}, Seqno: after, Archival: archival}
	return checked(ctx, p, query, func(answer any) ([]Transaction, error) { return readTransactions(answer, account, lt, hash, limit) })
}

func readTransactions(answer any, account *address.Address, lt uint64, hash []byte, limit int) ([]Transaction, error) {
	got, err := as[ton.TransactionList]("getTransactions", answer)
	if err != nil {
		return nil, err
	}
	if n := len(got.IDs); n == 0 || n > limit {
		return nil, fmt.Errorf("getTransactions: %d transactions, asked for %d", n, limit)
	}
	roots, err := cell.FromBOCMultiRoot(got.Transactions)
	if err != nil {
		return nil, fmt.Errorf("getTransactions: %w", err)
	}
	if len(roots) != len(got.IDs) {
		return nil, fmt.Errorf("getTransactions: %d transactions of %d blocks", len(roots), len(got.IDs))
	}
	list := make([]Transaction, len(roots))
	for i, root := range roots {
		if !bytes.Equal(root.Hash(), hash) {
			return nil, lie("getTransactions: transaction %d is %X, not %X", i, root.Hash(), hash)
		}
		var tx tlb.Transaction
		if err := tlb.Parse(&tx, root); err != nil {
			return nil, fmt.Errorf("getTransactions: transaction %X: %w", hash, err)
		}
		if tx.LT != lt || !bytes.Equal(tx.AccountAddr, account.Data()) {
			return nil, fmt.Errorf("getTransactions: transaction %X has lt %d of %X", hash, tx.LT, tx.AccountAddr)
		}
		if !complete(got.IDs[i]) {
			return nil, errors.New("getTransactions: incomplete block id")
		}
		list[i] = Transaction{got.IDs[i], root}
		lt, hash = tx.PrevTxLT, tx.PrevTxHash
	}
	return list, nil
}

// Transaction gives one transaction of a block, proven against its root hash;
// nil when the account has none with this lt there.
func (p *Pool) Transaction(ctx context.Context, block *ton.BlockIDExt, account *address.Address, lt uint64) (*cell.Cell, error) {
	query := Query{Request: ton.GetOneTransaction{ID: block, AccID: accountID(account), LT: int64(lt)}}
	return checked(ctx, p, query, func(answer any) (*cell.Cell, error) {
		got, err := as[ton.TransactionInfo]("getOneTransaction", answer)
		if err != nil || len(got.Transaction) == 0 {
			return nil, err
		}
		tx, err := replay(answer).GetTransaction(ctx, block, account, lt)
		if err != nil {
			return nil, err
		}
		if tx.LT != lt || !bytes.Equal(tx.AccountAddr, account.Data()) {
			return nil, fmt.Errorf("getOneTransaction: got lt %d of %X", tx.LT, tx.AccountAddr)
		}
		return cell.FromBOC(got.Transaction)
	})
}

// BlockTransactions lists up to count transactions of a block after the given
// one (nil: from the first), proven against the block's root hash. more says
// that the list goes on. Whether one was left out is not proven.
func (p *Pool) BlockTransactions(ctx context.Context, block *ton.BlockIDExt, count uint32, after *ton.TransactionID3) (list []ton.TransactionShortInfo, more bool, err error) {
	mode := uint32(0b100111) // account, lt, hash; proof
	if after != nil {
		mode |= 1 << 7
	}
	_, _, err = p.Query(ctx, Query{
		Request: ton.ListBlockTransactions{ID: block, Mode: mode, Count: count, After: after, WantProof: &ton.True{}},
		Check: func(answer any) (err error) {
			list, more, err = replay(answer).GetBlockTransactionsV2(ctx, block, count, after)
			return err
		},
	})
	return list, more, err
}
