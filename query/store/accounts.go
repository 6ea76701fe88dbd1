package store

import (
	"context"

	"tonscribe/query/head"
	"tonscribe/query/list"
	"tonscribe/query/list/paging"
	"tonscribe/query/reader"
	"tonscribe/query/sql"
	"tonscribe/schema/record"
	"tonscribe/ton/address"
)

// Accounts are the states of those of the accounts that exist on the chain, as of
// the view.
func (s *Store) Accounts(ctx context.Context, v *head.View, list []address.Address) (map[address.Address]*record.Account, error) {
	newest, err := s.States(ctx, sql.KeysOf(list))
	if err != nil {
		return nil, err
	}
	found := make(map[address.Address]*record.Account, len(list))
	var beyond []*record.Account
	for _, a := range list { // others may share its first 8 bytes
		if state := newest[a]; state != nil && state.McSeqno <= v.Watermark {
			found[a] = state
		} else if state != nil {
			beyond = append(beyond, state)
			delete(newest, a) // it may be in the list once more
		}
	}
	earlier, err := reader.Gather(ctx, beyond, func(ctx context.Context, newer *record.Account) ([]*record.Account, error) {
		return s.accountAt(ctx, v, newer)
	})
	for _, a := range earlier {
		found[address.Address(a.Account)] = a
	}
	return found, err
}

// accountAt is the account as of the view, from its last transaction there, none
// when it had none. Data is what the newer row has, if it is the same.
func (s *Store) accountAt(ctx context.Context, v *head.View, newer *record.Account) ([]*record.Account, error) {
	f := &list.TransactionFilter{Accounts: []address.Address{address.Address(newer.Account)}, Utime: list.Everything, Lts: list.Everything}
	found, _, err := s.Transactions(ctx, v, f, paging.Page{Limit: 1, Descending: true}, nil)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	tx := found[0]
	a := &record.Account{
		Account: tx.Account, McSeqno: tx.McSeqno, LastTransLt: tx.Lt, LastTransHash: tx.Hash, Now: tx.Now,
		Hash: tx.StateHashAfter, State: tx.StateAfter,
	}
	if a.State == nil {
		a.State = &record.AccountState{Status: tx.EndStatus, Partial: true}
	}
	if len(a.State.DataHash) > 0 && string(a.State.DataHash) == string(newer.GetState().GetDataHash()) {
		a.Data = newer.Data
	}
	return []*record.Account{a}, nil
}
