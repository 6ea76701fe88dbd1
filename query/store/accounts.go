package store

import (
	"context"
	"fmt"
	"sync"

	"github.com/ClickHouse/ch-go/proto"
	"golang.org/x/sync/errgroup"

	"tonscribe/schema"
	"tonscribe/schema/record"
)

// Accounts are the states of those of the accounts that exist on the chain, as of
// the view.
func (s *Store) Accounts(ctx context.Context, v *View, list []Address) (map[Address]*record.Account, error) {
	newest, err := s.newestAccounts(ctx, list)
	if err != nil {
		return nil, err
	}
	var mutex sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(mostSplits)
	for address, a := range newest {
		if a.McSeqno <= v.Watermark {
			continue
		}
		group.Go(func() error {
			earlier, err := s.accountAt(ctx, v, address, a)
			mutex.Lock()
			defer mutex.Unlock()
			newest[address] = earlier
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	for address, a := range newest {
		if a == nil {
			delete(newest, address)
		}
	}
	return newest, nil
}

// newestAccounts reads the newest rows, those that lie beyond every view too.
func (s *Store) newestAccounts(ctx context.Context, list []Address) (map[Address]*record.Account, error) {
	newest := make(map[Address]*record.Account, len(list))
	versions := make(map[Address]uint64, len(list))
	var mutex sync.Mutex
	for _, a := range list {
		newest[a] = nil
	}
	err := inChunks(ctx, list, s.splits(len(list)), compareAddresses, func(ctx context.Context, part []Address) error {
		var records proto.ColStr
		var version proto.ColUInt64
		statement := "SELECT record, version FROM accounts WHERE " + accounts("workchain", "account_prefix", part)
		return s.run(ctx, "accounts", statement, proto.Results{{Name: "record", Data: &records}, {Name: "version", Data: &version}}, func(rows int) error {
			mutex.Lock()
			defer mutex.Unlock()
			for i := range rows {
				a := new(record.Account)
				if err := a.UnmarshalVT(records.RowBytes(i)); err != nil {
					return fmt.Errorf("record of an account: %w", err)
				}
				if len(a.Account) != schema.AddressSize {
					return fmt.Errorf("record of an account: address of %d bytes", len(a.Account))
				}
				address := Address(a.Account)
				// Others may share its first 8 bytes, and a row may be there twice.
				if old, wanted := newest[address]; wanted && (old == nil || version[i] >= versions[address]) {
					newest[address], versions[address] = a, version[i]
				}
			}
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	for address, a := range newest {
		if a == nil {
			delete(newest, address)
		}
	}
	return newest, nil
}

// accountAt is the account as of the view, from its last transaction there; nil
// when it had none. Data is what the newer row has, if it is the same.
func (s *Store) accountAt(ctx context.Context, v *View, address Address, newer *record.Account) (*record.Account, error) {
	f := &TransactionFilter{Accounts: []Address{address}, Utime: Everything, Lts: Everything}
	list, _, err := s.Transactions(ctx, v, f, Page{Limit: 1, Descending: true}, nil)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	tx := list[0]
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
	return a, nil
}
