package worker

import (
	"fmt"
	"slices"

	"tonscribe/decode/cellstore"
	"tonscribe/schema/record"
)

// maxLateBytes is how much of late accounts a bundle carries, about.
const maxLateBytes = 1 << 20

// incompleteAccounts are those of a partition that no transaction told of, or not all:
// they go into the first bundle that has room for them, unless a transaction
// comes first. The store has them too until that bundle is published.
type incompleteAccounts struct {
	batch    *cellstore.Batch
	accounts map[string]*record.Account
	queue    []string // in order; what is not in accounts any more was told otherwise
}

// load takes up what was incomplete in an earlier life.
func (o *incompleteAccounts) load(c *Component, partition int) error {
	err := noted(c, cellstore.Incomplete, partition, func(account string, a *record.Account) bool {
		o.accounts[account] = a
		o.queue = append(o.queue, account)
		return true
	})
	slices.Sort(o.queue)
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
	for size := 0; len(o.queue) > 0 && size < maxLateBytes; o.queue = o.queue[1:] {
		if a := o.accounts[o.queue[0]]; a != nil {
			late = append(late, a)
			size += 256 + len(a.Data)
			o.forget(a.Account)
		}
	}
	return late
}
