package worker

import (
	"fmt"
	"slices"

	"tonscribe/decode/cellstore"
	"tonscribe/schema"
	"tonscribe/schema/record"
)

// mostLateBytes is how much of late accounts a bundle carries, about.
const mostLateBytes = 1 << 20

// incompleteAccounts are those of a partition that no transaction told of, or not all:
// they go into the first bundle that has room for them, unless a transaction
// comes first. The store has them too until that bundle is published.
type incompleteAccounts struct {
	batch    *cellstore.Batch
	accounts map[string]*record.Account
	queue    []string // in order; what is not in accounts any more was told otherwise
}

// load takes up what was incomplete in an earlier life.
func (o *incompleteAccounts) load(cells *cellstore.Store, partition, partitions int) error {
	var problem error
	err := cells.Noted(cellstore.Incomplete, func(account, what []byte) bool {
		if schema.PartitionOf(schema.AccountID(account), partitions) != partition {
			return true
		}
		a := new(record.Account)
		if problem = a.UnmarshalVT(what); problem != nil {
			problem = fmt.Errorf("cell store: account %x: %w", account, problem)
			return false
		}
		o.accounts[string(account)] = a
		o.queue = append(o.queue, string(account))
		return true
	})
	slices.Sort(o.queue)
	if problem != nil {
		return problem
	}
	return err
}

func (o *incompleteAccounts) add(a *record.Account) error {
	what, err := a.MarshalVT()
	if err != nil {
		return fmt.Errorf("account %x: %w", a.Account, err)
	}
	key := string(a.Account)
	if o.accounts[key] == nil {
		o.queue = append(o.queue, key)
	}
	o.accounts[key] = a
	o.batch.Note(cellstore.Incomplete, a.Account, what)
	return nil
}

// forget takes an account away.
func (o *incompleteAccounts) forget(account []byte) {
	if _, ok := o.accounts[string(account)]; ok {
		delete(o.accounts, string(account))
		o.batch.Strike(cellstore.Incomplete, account)
	}
}

// take is what the bundle carries.
func (o *incompleteAccounts) take() (late []*record.Account) {
	for size := 0; len(o.queue) > 0 && size < mostLateBytes; o.queue = o.queue[1:] {
		if a := o.accounts[o.queue[0]]; a != nil {
			late = append(late, a)
			size += 256 + len(a.Data)
			o.forget(a.Account)
		}
	}
	return late
}
