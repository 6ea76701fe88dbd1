package node

import (
	"context"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/internal/lite"
	"tonscribe/ton/address"
)

// History is a part of an account's transactions.
type History struct {
	Account address.Address
	// From is the transaction to start with, nil for the newest one.
	From *TransactionID
	// Stop is the lt that ends it, which is left out; 0 is no bound.
	Stop  uint64
	Limit int
	// Archival asks servers that keep the whole history.
	Archival bool
}

// maxAtOnce is how many transactions lite servers give at a time.
const maxAtOnce = 16

// Transactions reads a part of an account's transactions, the newest first.
func (n *Node) Transactions(ctx context.Context, h History) (list []*Transaction, err error) {
	var after uint32 // the masterchain block from which on servers have the first one
	if h.From == nil {
		s, err := n.Account(ctx, h.Account, nil)
		if err != nil {
			return nil, err
		}
		h.From, after = &s.Last, s.Master.SeqNo
	}
	for at := *h.From; at.LT > h.Stop && len(list) < h.Limit; {
		found, err := n.someBefore(ctx, &h, at, after, min(h.Limit-len(list), maxAtOnce))
		if err != nil {
			return nil, err
		}
		for _, one := range found {
			t, err := ParseTransaction(h.Account.Workchain(), one)
			if err != nil {
				return nil, err
			}
			if t.ID.LT <= h.Stop {
				return list, nil
			}
			list = append(list, t)
			at = t.Previous
		}
	}
	return list, nil
}

// someBefore asks for some transactions from one back; what servers do not have any
// more is asked of those that keep everything.
func (n *Node) someBefore(ctx context.Context, h *History, at TransactionID, after uint32, count int) ([]*cell.Cell, error) {
	account := ofTonutils(h.Account)
	found, err := n.servers.Transactions(ctx, account, at.LT, at.Hash[:], count, after, h.Archival)
	if err == nil || h.Archival || !lite.IsMissing(err) {
		return found, err
	}
	again, second := n.servers.Transactions(ctx, account, at.LT, at.Hash[:], count, after, true)
	if second != nil {
		return nil, err // the first reason tells more
	}
	return again, nil
}
