package synthetic

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"

	"github.com/xssnick/tonutils-go/ton/wallet"
	tcell "github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/decode"
	"tonscribe/schema/record"
	"tonscribe/ton/cell"
	"tonscribe/ton/code"
)

// contract is what the accounts of a kind have in common.
type contract struct {
	code      *record.Code
	dataBytes int
}

// contracts by kind of account, and the second kind of wallets.
type contracts [kinds + 1]contract

const (
	walletsV4 = kinds

	codeBytes       = 900 // of what is no wallet
	walletDataBytes = 40  // seqno, wallet id, public key
	otherBytes      = 110
	walletID        = 698983191
)

// types are the interface, the get-methods and the size of the data of what is
// no wallet, by kind.
var types = [kinds]struct {
	name      string
	dataBytes int
	methods   []string
}{
	jettonWallets: {"jetton_wallet", 83, []string{"get_wallet_data"}},
	items:         {"nft_item", 75, []string{"get_nft_data"}},
	masters:       {"jetton_master", otherBytes, []string{"get_jetton_data", "get_wallet_address"}},
	collections:   {"nft_collection", otherBytes, []string{"get_collection_data", "get_nft_address_by_index", "get_nft_content"}},
	sales:         {"nft_sale", otherBytes, []string{"get_sale_data"}},
	auctions:      {"nft_auction_getgems_v4", otherBytes, []string{"get_auction_data_v4"}},
	multisigs:     {"multisig_v2", otherBytes, []string{"get_multisig_data", "get_order_address"}},
	orders:        {"multisig_order_v2", otherBytes, []string{"get_order_data"}},
	vestings:      {"vesting_contract", otherBytes, []string{"get_vesting_data", "get_whitelist"}},
}

func newContracts(seed uint64) *contracts {
	c := &contracts{wallets: {walletCode(wallet.V3R2), walletDataBytes}, walletsV4: {walletCode(wallet.V4R2), walletDataBytes + 1}}
	for kind := jettonWallets; kind < kinds; kind++ {
		c[kind] = contract{madeUpCode(seed, uint64(kind), types[kind].methods...), types[kind].dataBytes}
	}
	return c
}

// walletCode is the code of a real wallet.
func walletCode(version wallet.Version) *record.Code {
	return codeOf(must(wallet.GetStateInit(make([]byte, 32), version, walletID)).Code)
}

// madeUpCode is a code with some get-methods, of which none does anything.
func madeUpCode(seed, number uint64, methods ...string) *record.Code {
	data := make([]byte, codeBytes)
	for at := 0; at+32 <= len(data); at += 32 {
		seeded(data[at:], seed, kindCode, number<<32|uint64(at))
	}
	var filler cells
	const keyBits = 19
	entries := tcell.NewDict(keyBits)
	for _, name := range methods {
		key := tcell.BeginCell().MustStoreUInt(uint64(code.MethodID(name)), keyBits).EndCell()
		must(entries, entries.Set(key, tcell.BeginCell().MustStoreUInt(0, 8).EndCell()))
	}
	// SETCP0, and DICTPUSHCONST with the entries.
	return codeOf(tcell.BeginCell().MustStoreUInt(0xff00, 16).MustStoreUInt(0xf4a4<<8|keyBits, 24).MustStoreRef(entries.AsCell()).
		MustStoreRef(must(tcell.FromBOC(filler.boc(filler.of(data))))).EndCell())
}

// codeOf is a code with what decode reads of it.
func codeOf(root *tcell.Cell) *record.Code {
	c := &record.Code{Hash: root.Hash(), Boc: root.ToBOC()}
	methods := must(decode.MethodsOf(c.Boc))
	c.Methods, c.MethodsKnown = methods.IDs, methods.Known
	return c
}

func (c *contracts) codes() (list []*record.Code) {
	for i := range c {
		list = append(list, c[i].code)
	}
	slices.SortFunc(list, func(a, b *record.Code) int { return slices.Compare(a.Hash, b.Hash) })
	return list
}

// of is the contract of an account.
func (c *contracts) of(a *accounts, id int) *contract {
	kind, number := a.kindOf(id)
	switch {
	case kind == wallets && id%3 != 0:
		kind = walletsV4
	case kind == sales && isAuction(number):
		kind = auctions
	}
	return &c[kind]
}

// data is what an account holds after so many transactions, until the next cell
// is made.
func (r *Rows) data(id int, count int32) cell.Cell {
	c := r.contracts.of(r.accounts, id)
	data := make([]byte, (c.dataBytes+31)/32*32)
	for at := 0; at < len(data); at += 32 {
		seeded(data[at:], r.seed, kindData, uint64(id)<<8|uint64(at)/32)
	}
	binary.BigEndian.PutUint32(data, uint32(count))
	if id < r.accounts.count(wallets) {
		binary.BigEndian.PutUint32(data[4:], walletID)
	}
	return r.bodies.of(data[:c.dataBytes])
}

// firstBalance is what an account has before its first transaction here: half of
// them have less than half a TON, and a few have most of all.
func (r *Rows) firstBalance(id int) uint64 {
	const median, spread, most = 4.85e8, 3, 1e17
	of := func(n uint64) float64 { return (float64(mix(mix(r.seed^n)^uint64(id))>>11) + 1) / (1 << 53) }
	normal := math.Sqrt(-2*math.Log(of(1))) * math.Cos(2*math.Pi*of(2)) // Box and Muller
	return uint64(min(median*math.Exp(spread*normal), most))
}

// states fills in the states around a transaction, whose fees are known, and gives
// the account as it is after it. What an account sends is not taken from it.
func (r *Rows) states(tx *record.Transaction, id int, number uint64) *record.Account {
	s := &r.accounts.state[id]
	if tx.StateBefore = (&record.AccountState{Status: record.AccountStatus_ACCOUNT_NONEXIST}); s.exists() {
		tx.StateBefore = r.state(id)
	} else {
		s.balance = r.firstBalance(id)
	}
	s.balance = max(s.balance+tx.InMsg.Value, tx.TotalFees+1) - tx.TotalFees
	s.lt, s.last = tx.Lt, int32(number)
	s.count++
	tx.StateAfter = r.state(id)
	return &record.Account{
		Account: tx.Account, McSeqno: tx.McSeqno, LastTransLt: tx.Lt, LastTransHash: tx.Hash, Now: tx.Now,
		Hash: tx.StateHashAfter, State: tx.StateAfter,
	}
}

// state is the account as it is now.
func (r *Rows) state(id int) *record.AccountState {
	s := &r.accounts.state[id]
	return &record.AccountState{
		Status: record.AccountStatus_ACCOUNT_ACTIVE, Balance: s.balance,
		CodeHash: r.contracts.of(r.accounts, id).code.Hash, DataHash: bytes.Clone(r.data(id, s.count).Hash()[:]),
	}
}

// stateHash is that of the account as it is now.
func (r *Rows) stateHash(id int) []byte {
	if s := &r.accounts.state[id]; s.lt != 0 {
		return seededHash(r.seed, kindState, uint64(s.last))
	}
	return seededHash(r.seed, kindState, 1<<40|uint64(id))
}

// shownAtOnce is how many accounts a bundle shows at least.
const addedAtOnce = 4

// addUntouched brings accounts that no transaction has made yet, so many that all are
// there before the end.
func (r *Rows) addUntouched(b *Bundle) {
	a := r.accounts
	for n := a.perBundle(len(a.state), r.total); n > 0 && r.next < len(a.state); r.next++ {
		s := &a.state[r.next]
		if s.exists() {
			continue
		}
		n--
		s.balance, s.last = r.firstBalance(r.next), shown
		b.Late = append(b.Late, &record.Account{
			Account: a.address(r.next), McSeqno: b.Seqno, LastTransHash: make([]byte, 32), Hash: r.stateHash(r.next),
			State: r.state(r.next), Data: r.bodies.boc(r.data(r.next, 0)),
		})
	}
}

// perBundle is how many of some accounts each bundle has to show.
func (a *accounts) perBundle(n, transactions int) int {
	return addedAtOnce + n*transactionsPerBundle/transactions
}
