package store

import (
	"context"

	"tonscribe/query/list"
	"tonscribe/query/reader"
	"tonscribe/query/sql"
	"tonscribe/schema/record"
)

// Accounts are the states of those of the accounts that exist on the chain, as of
// the view.
func (s *Store) Accounts(ctx context.Context, v *View, list []Address) (map[Address]*record.Account, error) {
	newest, err := s.newestAccounts(ctx, list)
	if err != nil {
		return nil, err
	}
	var beyond []*record.Account
	for address, a := range newest {
		if a.McSeqno > v.Watermark {
			delete(newest, address)
			beyond = append(beyond, a)
		}
	}
	earlier, err := reader.Gather(ctx, beyond, func(ctx context.Context, newer *record.Account) ([]*record.Account, error) {
		return s.accountAt(ctx, v, newer)
	})
	for _, a := range earlier {
		newest[Address(a.Account)] = a
	}
	return newest, err
}

// newestAccounts are the newest rows, those that lie beyond every view too.
func (s *Store) newestAccounts(ctx context.Context, list []Address) (map[Address]*record.Account, error) {
	rows, err := s.accounts.At(ctx, s.watermark(), sql.KeysOf(list))
	if err != nil {
		return nil, err
	}
	newest := make(map[Address]*record.Account, len(rows))
	for _, a := range rows {
		newest[Address(a.Account)] = a
	}
	found := make(map[Address]*record.Account, len(list))
	for _, a := range list {
		if newest[a] != nil { // others may share its first 8 bytes
			found[a] = newest[a]
		}
	}
	return found, nil
}

// accountAt is the account as of the view, from its last transaction there, none
// when it had none. Data is what the newer row has, if it is the same.
func (s *Store) accountAt(ctx context.Context, v *View, newer *record.Account) ([]*record.Account, error) {
	f := &list.TransactionFilter{Accounts: []Address{Address(newer.Account)}, Utime: list.Everything, Lts: list.Everything}
	found, _, err := s.Transactions(ctx, v, f, list.Page{Limit: 1, Descending: true}, nil)
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
