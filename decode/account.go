package decode

import (
	"fmt"

	"tonscribe/schema/record"
	"tonscribe/ton/cell"
)

// noAccountHash is the hash of the cell account_none$0: what stands in a
// transaction for the state of an account that does not exist.
var noAccountHash = func() [32]byte {
	var u cell.Builder
	u.Store(0, 1)
	c, err := new(cell.Bag).Add(&u)
	if err != nil {
		panic(err)
	}
	return *c.Hash()
}()

// NoAccount reports whether the hash of a state is that of an account that does not
// exist.
func NoAccount(stateHash []byte) bool { return string(stateHash) == string(noAccountHash[:]) }

// accountCells are the parts of an account that its state names by hash.
type accountCells struct {
	state      *record.AccountState
	code, data cell.Cell // not valid when the account has none
	extra      cell.Cell // dictionary of extra currencies, when it is pruned
	libraries  cell.Cell // dictionary, not valid when it is empty
	lastPaid   uint32
}

// account reads Account. The cell and its references need their hashes; below a
// Merkle update or proof, code and data may be pruned branches.
func (d *Decoder) account(c cell.Cell) (accountCells, error) {
	a := accountCells{state: d.memory.states.next()}
	s := c.Slice()
	if !s.Bool() { // account_none$0
		a.state.Status = record.AccountStatus_ACCOUNT_NONEXIST
		return a, s.Err()
	}
	skipAddress(&s)
	s.Skip(int(s.Uint(3)) * 8) // cells
	s.Skip(int(s.Uint(3)) * 8) // bits
	// storage_extra; of the old format, public_cells, which nothing ever had.
	switch s.Uint(3) {
	case 0:
	case 1:
		s.Skip(256)
	default:
		s.FailTag()
	}
	a.lastPaid = uint32(s.Uint(32))
	if s.Bool() {
		s.VarUint(4) // due_payment
	}
	s.Skip(64) // last_trans_lt
	if err := d.accountBalance(&s, &a); err != nil {
		return a, fmt.Errorf("balance: %w", err)
	}
	d.storedState(&s, &a)
	return a, s.Err()
}

// AccountState reads the state out of the record of an account's cell (package
// cell).
func (d *Decoder) AccountState(cellRecord []byte) (*record.AccountState, error) {
	d.bag.Reset()
	c, err := d.bag.Open(cellRecord)
	if err != nil {
		return nil, fmt.Errorf("account: %w", err)
	}
	d.budget = 1 << 16
	a, err := d.account(c)
	if err != nil {
		return nil, fmt.Errorf("account: %w", err)
	}
	return a.state, nil
}

// accountBalance reads a CurrencyCollection whose dictionary may be pruned.
func (d *Decoder) accountBalance(s *cell.Slice, a *accountCells) (err error) {
	a.state.Balance = s.VarUint(4)
	if !s.Bool() {
		return s.Err()
	}
	dict := s.Ref()
	if s.Failed() {
		return s.Err()
	}
	if dict.Level() > 0 {
		a.state.ExtraUnknown, a.extra = true, dict
		return nil
	}
	a.state.ExtraCurrencies, err = d.currencies(dict.Slice())
	return err
}

// storedState reads AccountState: account_uninit$00, account_frozen$01 or
// account_active$1.
func (d *Decoder) storedState(s *cell.Slice, a *accountCells) {
	if !s.Bool() {
		a.state.Status = record.AccountStatus_ACCOUNT_UNINIT
		if s.Bool() {
			a.state.Status = record.AccountStatus_ACCOUNT_FROZEN
			a.state.FrozenHash = d.bytes32(s)
		}
		return
	}
	a.state.Status = record.AccountStatus_ACCOUNT_ACTIVE
	if s.Bool() {
		s.Skip(5) // split_depth, or fixed_prefix_length
	}
	if s.Bool() {
		s.Skip(2) // special
	}
	hasCode, hasData, hasLibraries := s.Bool(), s.Bool(), s.Bool()
	if hasCode {
		if a.code = s.Ref(); a.code.Valid() {
			a.state.CodeHash = d.hash(a.code.HashAt(0))
		}
	}
	if hasData {
		if a.data = s.Ref(); a.data.Valid() {
			a.state.DataHash = d.hash(a.data.HashAt(0))
		}
	}
	if hasLibraries {
		a.libraries = s.Ref()
	}
}

// skipAddress passes MsgAddressInt.
func skipAddress(s *cell.Slice) {
	tag := s.Uint(2)
	if s.Bool() { // anycast
		s.Skip(int(s.Uint(5)))
	}
	switch tag {
	case 2:
		s.Skip(8 + 256)
	case 3:
		bits := int(s.Uint(9))
		s.Skip(32 + bits)
	default:
		s.FailTag()
	}
}
