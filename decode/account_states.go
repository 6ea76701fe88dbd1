package decode

import (
	"errors"
	"fmt"
	"slices"

	"tonscribe/schema/record"
	"tonscribe/ton/cell"
)

// Change is what a block does to an account.
type Change struct {
	Account      []byte                // as in a record
	Transactions []*record.Transaction // by lt
	// Before is the state before the first transaction; nil when the block shows
	// no more of it than its hash.
	Before *record.AccountState
	// After is the state after the last transaction, nil with a Problem.
	After *record.AccountState
	// Code and Data are the BoCs of After when the block has all of their cells;
	// what After names by hash and is not here did not change, or was not written
	// because of its size.
	Code, Data []byte
	// Whole reports whether the block has all of After's data, written or not.
	Whole bool
	// DataDepth is the depth of the data cell.
	DataDepth int
	// CodeMethods are the ids of Code's get-methods.
	CodeMethods Methods
	// Extra is the hash of the dictionary of extra currencies of After, when the
	// block has it only in part: see SetExtra.
	Extra *[32]byte
	// Libraries is the hash of the dictionary of After's libraries, for an account
	// of the masterchain that has some: see the Decoder's method of that name.
	Libraries *[32]byte
	// OldCells and NewCells are the records of the cells (package cell) that the
	// block shows of both states; the account's own cell is the first. There are none
	// where a block shows more than is written of it.
	OldCells, NewCells []CellRecord
	// Problem says that the block contradicts itself about the account: its
	// states are not known then.
	Problem error
}

// CellRecord is a cell as a store keeps it.
type CellRecord struct {
	Hash   [32]byte
	Record []byte
}

// HashBefore is the hash of the state before the first transaction.
func (c *Change) HashBefore() []byte { return c.Transactions[0].StateHashBefore }

// HashAfter is the hash of the state after the last transaction.
func (c *Change) HashAfter() []byte {
	return c.Transactions[len(c.Transactions)-1].StateHashAfter
}

// ErrState is wrapped by a Change's Problem.
var ErrState = errors.New("state is not the one that the transactions name")

// MaxDataBytes is the size of the largest data BoC that is written. What is
// larger can be had from a node.
const MaxDataBytes = 64 << 10

// MaxCodeBytes is the same for code, and for a library.
const MaxCodeBytes = 256 << 10

// MaxConfigBytes is the same for the parameters of the chain.
const MaxConfigBytes = 2 << 20

// touched is a range of d.list that is of one account.
type touched struct {
	key      cell.Key
	from, to int
}

// changes makes the Changes of the accounts of d.touched out of the leaves of
// the state update, and completes their transactions with states.
func (d *Decoder) changes() []*Change {
	list := make([]*Change, 0, len(d.touched))
	before, after := d.before, d.after
	for _, t := range d.touched {
		var oldLeaf, newLeaf *leaf
		oldLeaf, before = find(before, t.key)
		newLeaf, after = find(after, t.key)
		c := &Change{Account: d.list[t.from].Account, Transactions: slices.Clone(d.list[t.from:t.to])}
		d.recorder.Begin(&d.bag) // a store may keep the cells of some accounts only: what they share is in each
		if c.Problem = d.change(c, oldLeaf, newLeaf); c.Problem == nil {
			d.keepReceived(c, t)
			c.Problem = c.complete()
		}
		if c.Problem != nil {
			c.After, c.Before = nil, nil
			for _, tx := range c.Transactions {
				tx.StateBefore, tx.StateAfter = nil, nil
			}
		}
		list = append(list, c)
	}
	return list
}

// keepReceived adds the cells of the messages of an account whose data is not
// whole, or whose first code.
func (d *Decoder) keepReceived(c *Change, t touched) {
	deployed := len(c.After.CodeHash) > 0 && c.Code == nil && c.Transactions[0].OrigStatus != record.AccountStatus_ACCOUNT_ACTIVE
	if (len(c.After.DataHash) == 0 || c.Whole) && !deployed {
		return
	}
	// Here a part that was kept may be a cell without references, and what the
	// state has as well must be there too.
	d.recorder.Begin(&d.bag)
	d.recorder.Leaves = true
	defer func() { d.recorder.Leaves = false }()
	for _, root := range d.roots[t.from:t.to] {
		s := root.Slice()
		messages := s.Next()
		if !messages.Bool() {
			continue
		}
		if m := messages.Ref(); m.Valid() {
			d.received = d.record(d.received, m)
		}
	}
}

// change reads the account on both sides.
func (d *Decoder) change(c *Change, oldLeaf, newLeaf *leaf) error {
	if err := d.stateAfter(c, newLeaf); err != nil {
		return fmt.Errorf("state after: %w", err)
	}
	if NoAccount(c.HashBefore()) {
		c.Before = d.noState()
		return nil
	}
	if oldLeaf == nil || oldLeaf.account.Kind() == cell.PrunedBranch {
		return nil
	}
	a, err := d.account(oldLeaf.account)
	if err != nil {
		return fmt.Errorf("state before: %w", err)
	}
	if *oldLeaf.account.HashAt(0) != [32]byte(c.HashBefore()) {
		return fmt.Errorf("state before: %w: hash %x", ErrState, *oldLeaf.account.HashAt(0))
	}
	c.Before, c.OldCells = a.state, d.cells(oldLeaf.account)
	return nil
}

func (d *Decoder) stateAfter(c *Change, l *leaf) error {
	last := c.Transactions[len(c.Transactions)-1]
	if NoAccount(last.StateHashAfter) {
		c.After = d.noState()
		return nil
	}
	if l == nil || l.account.Kind() == cell.PrunedBranch {
		return fmt.Errorf("%w: the block does not show the account", ErrState)
	}
	if got := *l.account.HashAt(0); got != [32]byte(last.StateHashAfter) {
		return fmt.Errorf("%w: hash %x", ErrState, got)
	}
	if l.transLt != last.Lt || l.transHash != [32]byte(last.Hash) {
		return fmt.Errorf("%w: its last transaction is (%d, %x)", ErrState, l.transLt, l.transHash)
	}
	a, err := d.account(l.account)
	if err != nil {
		return err
	}
	c.After, c.Code, c.Data = a.state, d.whole(a.code, MaxCodeBytes), d.whole(a.data, MaxDataBytes)
	if c.Code != nil {
		c.CodeMethods = methodsOf(a.code)
	}
	if a.data.Valid() {
		c.DataDepth, c.Whole = a.data.DepthAt(0), a.data.Level() == 0
	}
	if a.extra.Valid() {
		hash := *a.extra.HashAt(0)
		c.Extra = &hash
	}
	c.Libraries, c.NewCells = librariesOf(a, c.Account), d.cells(l.account)
	return nil
}

// whole is the BoC of a cell when nothing below it is pruned and it is not too
// large.
func (d *Decoder) whole(c cell.Cell, limit int) []byte {
	if !c.Valid() || c.Level() > 0 {
		return nil
	}
	return d.boc(c, limit)
}

// cells are the records of an account's cells.
func (d *Decoder) cells(account cell.Cell) []CellRecord {
	from := len(d.records)
	d.records = d.record(d.records, account)
	return slices.Clone(d.records[from:])
}

// record adds the records of the cells below one, none of them when there is no room
// for all.
func (d *Decoder) record(list []CellRecord, root cell.Cell) []CellRecord {
	from, room := len(list), d.room()
	d.recorder.Record(root, func(hash *[32]byte, record []byte) bool {
		d.output -= len(record)
		if room -= len(record); room < 0 {
			return false
		}
		kept := d.memory.take(len(record))
		copy(kept, record)
		list = append(list, CellRecord{*hash, kept})
		return true
	})
	if room < 0 {
		d.recorder.Begin(&d.bag) // nothing was recorded
		clear(list[from:])
		list = list[:from]
	}
	return list
}

func (d *Decoder) noState() *record.AccountState {
	s := d.memory.states.next()
	s.Status = record.AccountStatus_ACCOUNT_NONEXIST
	return s
}

// complete gives every transaction the state before and after it: hashes and
// statuses are in the transaction, and balances follow from the last one.
func (c *Change) complete() error {
	state := c.After
	for i := len(c.Transactions) - 1; i >= 0; i-- {
		tx := c.Transactions[i]
		if i+1 < len(c.Transactions) && string(c.Transactions[i+1].StateHashBefore) != string(tx.StateHashAfter) {
			return fmt.Errorf("%w: transaction %d ends in state %x, the next one begins with %x", ErrState, tx.Lt,
				tx.StateHashAfter, c.Transactions[i+1].StateHashBefore)
		}
		if state.Status != tx.EndStatus {
			return fmt.Errorf("%w: status %s after transaction %d, which ends in %s", ErrState, state.Status, tx.Lt, tx.EndStatus)
		}
		tx.StateAfter = state
		before := &record.AccountState{Status: tx.OrigStatus, Balance: balanceBefore(state.Balance, tx), Partial: true}
		if err := extraBefore(before, state, tx); err != nil {
			return err
		}
		state = c.known(before, tx.StateHashBefore)
		tx.StateBefore = state
	}
	return c.agrees(state)
}

// SetBefore completes the states of c with the one before its first transaction,
// which was found elsewhere by HashBefore.
func (c *Change) SetBefore(state *record.AccountState) error {
	c.Before = state
	return c.complete()
}

// SetExtra completes the states of c, whose Extra says that extra currencies are
// missing, with the dictionary that has the hash.
func (d *Decoder) SetExtra(c *Change, dict cell.Cell) error {
	list, err := d.Currencies(dict)
	if err != nil {
		return err
	}
	c.After.ExtraCurrencies, c.After.ExtraUnknown = list, false
	return c.complete()
}

// Currencies reads a dictionary of extra currencies.
func (d *Decoder) Currencies(dict cell.Cell) ([]*record.ExtraCurrency, error) {
	d.budget = 1 << 16
	list, err := d.currencies(dict.Slice())
	if err != nil {
		return nil, fmt.Errorf("extra currencies: %w", err)
	}
	return list, nil
}

// known replaces a state that only arithmetic tells of by one that the block
// shows.
func (c *Change) known(partial *record.AccountState, hash []byte) *record.AccountState {
	switch {
	case NoAccount(hash):
		partial.Partial = false
	case string(hash) == string(c.HashAfter()):
		return c.After
	case c.Before != nil && string(hash) == string(c.HashBefore()):
		if c.Before.ExtraUnknown {
			c.Before.ExtraCurrencies, c.Before.ExtraUnknown = partial.ExtraCurrencies, partial.ExtraUnknown
		}
		return c.Before
	case partial.Status == record.AccountStatus_ACCOUNT_UNINIT:
		partial.Partial = false // there is no more to know
	}
	return partial
}

// agrees compares what arithmetic says of the first state with what the block
// shows of it.
func (c *Change) agrees(state *record.AccountState) error {
	first := c.Transactions[0]
	if state.Status != first.OrigStatus {
		return fmt.Errorf("%w: status %s before transaction %d, which begins with %s", ErrState, state.Status, first.Lt, first.OrigStatus)
	}
	computed := balanceBefore(first.StateAfter.Balance, first)
	if (c.Before != nil || NoAccount(first.StateHashBefore)) && computed != state.Balance {
		return fmt.Errorf("%w: balance %d before transaction %d, computed %d", ErrState, state.Balance, first.Lt, computed)
	}
	return nil
}

// balanceBefore is the balance before a transaction: what it received goes, what
// it paid and sent comes back. What the credit phase took of the message for debts
// is in the fees, and never was in the balance: credit is what was left.
func balanceBefore(after uint64, tx *record.Transaction) uint64 {
	balance := after - tx.Credit.GetCredit() - tx.Credit.GetDueFeesCollected() + tx.TotalFees
	for _, m := range tx.OutMsgs {
		if m.Kind == record.Message_INTERNAL {
			balance += m.Value + m.FwdFee + m.IhrFee
		}
	}
	return balance
}
