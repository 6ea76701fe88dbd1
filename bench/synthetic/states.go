package synthetic

import (
	"cmp"
	"crypto/sha256"
	"slices"

	"tonscribe/schema/record"
	"tonscribe/ton/cell"
)

// The state update of a template is not that of the real block, whose cells
// cannot be re-keyed, but one of its own: the old state is pruned away, the new
// one shows the accounts that the block changes, with data of one cell. Balances
// follow from the transactions, and every state is the one that the transactions
// name.

// ledger has the last transactions of accounts by the ids that templates have.
type ledger map[key]*last

// last is the last transaction of an account, and what it left.
type last struct {
	lt      uint64
	hash    [32]byte
	state   [32]byte
	balance uint64
	status  record.AccountStatus
	visits  uint32 // of the account in blocks
}

// state is an account after the block.
type state struct {
	id   key
	cell cell.Cell // no cell without the account
	last *last
}

const (
	firstBalance = 1_000_000_000_000_000_000
	codeKinds    = 16
)

// before is the state that the account's next transaction finds.
func (l *last) before(id key, next *flow) (hash [32]byte, balance uint64) {
	switch {
	case next.orig == record.AccountStatus_ACCOUNT_NONEXIST:
		copy(hash[:], noAccount)
	case l.visits > 0 && l.status == next.orig:
		return l.state, l.balance
	default: // a state that nobody has seen
		seeded(hash[:], id[0], kindState, uint64(l.visits))
		balance = firstBalance
	}
	return hash, balance
}

// stateHashes makes the state that the block leaves of an account and returns
// the hashes of its states before the first and after each of its transactions.
func (k *rekeying) stateHashes(id key, a *account, l *last) (hashes [][32]byte) {
	hash, balance := l.before(id, &a.flows[0])
	hashes = append(hashes, hash)
	for i := range a.flows {
		f := &a.flows[i]
		balance += f.received - f.spent
		if f.ends == record.AccountStatus_ACCOUNT_NONEXIST {
			copy(hash[:], noAccount)
		} else {
			seeded(hash[:], id[0], kindState, f.lt+k.shift)
		}
		hashes = append(hashes, hash)
	}
	l.status, l.balance, l.visits = a.status, balance, l.visits+1
	s := state{id: k.rekeyed(id)}
	if a.status != record.AccountStatus_ACCOUNT_NONEXIST {
		s.cell = k.accountState(id, a, l)
		hashes[len(a.flows)] = *s.cell.Hash()
	}
	l.state = hashes[len(a.flows)]
	k.states = append(k.states, s)
	return hashes
}

// hashUpdate makes update_hashes#72 old_hash:bits256 new_hash:bits256.
func (k *rekeying) hashUpdate(before, after *[32]byte) cell.Cell {
	var u cell.Builder
	u.Store(0x72, 8)
	u.StoreBytes(before[:], 256)
	u.StoreBytes(after[:], 256)
	return k.added(&u)
}

// accountState makes account$1.
func (k *rekeying) accountState(id key, a *account, l *last) cell.Cell {
	var u cell.Builder
	u.Store(0b1100, 4) // account$1, addr_std$10, no anycast
	u.Store(uint64(k.header.Id.Workchain), 8)
	k.rekeyed(id).store(&u)
	u.Store(1<<8|3, 11)                       // cells
	u.Store(2<<16|1000, 19)                   // bits
	u.Store(0, 3)                             // no public cells
	u.Store(uint64(k.header.GenUtime)<<1, 33) // last_paid, no due_payment
	u.Store(a.flows[len(a.flows)-1].lt+k.shift+1, 64)
	u.Store(8, 4) // balance of 8 bytes
	u.Store(l.balance, 64)
	u.Store(0, 1) // no extra currencies
	switch a.status {
	case record.AccountStatus_ACCOUNT_ACTIVE:
		u.Store(0b100110, 6)
		u.StoreRef(k.libraryCode(byte(id[3] % codeKinds)))
		var data cell.Builder
		data.Store(uint64(l.visits), 32)
		id.store(&data)
		data.Store(0, 40)
		u.StoreRef(k.added(&data))
	case record.AccountStatus_ACCOUNT_FROZEN:
		u.Store(0b01, 2)
		key{}.store(&u)
	default:
		u.Store(0b00, 2)
	}
	return k.added(&u)
}

// libraryCode is a library cell, as the code of many contracts is one.
func (k *rekeying) libraryCode(kind byte) cell.Cell {
	hash := sha256.Sum256([]byte{'c', kind})
	var u cell.Builder
	u.Store(uint64(cell.Library), 8)
	u.StoreBytes(hash[:], 256)
	return k.checked(k.bag.AddExotic(&u))
}

// stateUpdate makes the MERKLE_UPDATE to a ShardStateUnsplit of the accounts that
// are there after the block.
func (k *rekeying) stateUpdate() cell.Cell {
	there := slices.DeleteFunc(k.states, func(s state) bool { return !s.cell.Valid() })
	slices.SortFunc(there, func(a, b state) int { return slices.CompareFunc(a.id[:], b.id[:], cmp.Compare) })
	var accounts, nothing, state, pruned, update cell.Builder
	if len(there) > 0 {
		accounts.Store(1, 1)
		accounts.StoreRef(k.stateNode(there, 0))
	} else {
		accounts.Store(0, 1)
	}
	storeDepthBalance(&accounts)
	state.Store(0x9023afe2, 32)
	state.StoreRef(k.added(&nothing))
	state.StoreRef(k.added(&accounts))
	after := k.added(&state)

	before := sha256.Sum256([]byte(k.name)) // a state that nobody has
	pruned.Store(uint64(cell.PrunedBranch)<<8|1, 16)
	pruned.StoreBytes(before[:], 256)
	pruned.Store(1, 16)
	update.Store(uint64(cell.MerkleUpdate), 8)
	update.StoreBytes(before[:], 256)
	update.StoreBytes(after.Hash()[:], 256)
	update.Store(1, 16)
	update.Store(uint64(after.Depth()), 16)
	update.StoreRef(k.checked(k.bag.AddExotic(&pruned)))
	update.StoreRef(after)
	return k.checked(k.bag.AddExotic(&update))
}

// stateNode makes the node of ShardAccounts above some accounts, which share the
// first bits of their ids.
func (k *rekeying) stateNode(list []state, depth int) cell.Cell {
	var u cell.Builder
	first := list[0].id
	n := min(256, first.shared(list[len(list)-1].id)) - depth
	first.from(depth).storeLabel(&u, n, 256-depth)
	storeDepthBalance(&u)
	if len(list) == 1 {
		u.StoreRef(list[0].cell)
		u.StoreBytes(list[0].last.hash[:], 256)
		u.Store(list[0].last.lt, 64)
		return k.added(&u)
	}
	depth += n
	split := slices.IndexFunc(list, func(s state) bool { return s.id.bit(depth) })
	u.StoreRef(k.stateNode(list[:split], depth+1))
	u.StoreRef(k.stateNode(list[split:], depth+1))
	return k.added(&u)
}

// storeDepthBalance stores a DepthBalanceInfo of nothing: no split, no coins, no
// others.
func storeDepthBalance(u *cell.Builder) { u.Store(0, 5+4+1) }
