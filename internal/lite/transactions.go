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

// Transactions gives transactions of an account, the newest first, from the one
// with this lt and hash back, that one at least; servers give up to 16. Each is checked
// by the hash that the one after it names. after is the masterchain block from which
// on servers have the first one; 0 is unknown.
func (p *Pool) Transactions(ctx context.Context, account *address.Address, lt uint64, hash []byte, limit int, after uint32, archival bool) ([]*cell.Cell, error) {
	query := Query{Request: ton.GetTransactions{Limit: int32(limit), AccID: accountID(account), LT: int64(lt), TxHash: hash}, Seqno: after, Archival: archival}
	return checked(ctx, p, query, func(answer any) ([]*cell.Cell, error) { return readTransactions(answer, account, lt, hash, limit) })
}

func readTransactions(answer any, account *address.Address, lt uint64, hash []byte, limit int) ([]*cell.Cell, error) {
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
	list := make([]*cell.Cell, len(roots))
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
		list[i] = root
		lt, hash = tx.PrevTxLT, tx.PrevTxHash
	}
	return list, nil
}
