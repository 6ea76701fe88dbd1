package synthetic

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/xssnick/tonutils-go/ton/wallet"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/decode"
	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/ton/code"
)

// contract is what the accounts of a kind have in common.
type contract struct {
	code      *record.Code
	dataBytes int
}

// contracts by kind of account.
type contracts struct {
	walletV3, walletV4, jettonWallet, item          contract
	master, collection                              contract
	sale, auction, multisig, multisigOrder, vesting contract
}

const (
	codeBytes         = 900 // of what is no wallet
	walletDataBytes   = 40  // seqno, wallet id, public key
	jettonWalletBytes = 83
	itemBytes         = 75
	otherBytes        = 110
	walletID          = 698983191
)

func newContracts(seed uint64) *contracts {
	return &contracts{
		walletV3:     contract{walletCode(wallet.V3R2), walletDataBytes},
		walletV4:     contract{walletCode(wallet.V4R2), walletDataBytes + 1},
		jettonWallet: contract{madeUpCode(seed, 1, "get_wallet_data"), jettonWalletBytes},
		item:         contract{madeUpCode(seed, 2, "get_nft_data"), itemBytes},
		master:       contract{madeUpCode(seed, 3, "get_jetton_data", "get_wallet_address"), otherBytes},
		collection:   contract{madeUpCode(seed, 4, "get_collection_data", "get_nft_address_by_index", "get_nft_content"), otherBytes},
		sale:         contract{madeUpCode(seed, 5, "get_sale_data"), otherBytes},
		auction:      contract{madeUpCode(seed, 6, "get_auction_data_v4"), otherBytes},

		multisig:      contract{madeUpCode(seed, 7, "get_multisig_data", "get_order_address"), otherBytes},
		multisigOrder: contract{madeUpCode(seed, 8, "get_order_data"), otherBytes},
		vesting:       contract{madeUpCode(seed, 9, "get_vesting_data", "get_whitelist"), otherBytes},
	}
}

// walletCode is the code of a real wallet.
func walletCode(version wallet.Version) *record.Code {
	init, err := wallet.GetStateInit(make([]byte, 32), version, walletID)
	if err != nil {
		panic(err) // the library has these
	}
	return codeOf(init.Code)
}

// madeUpCode is a code with some get-methods, of which none does anything.
func madeUpCode(seed, number uint64, methods ...string) *record.Code {
	data := make([]byte, codeBytes)
	for at := 0; at+32 <= len(data); at += 32 {
		seeded(data[at:], seed, kindCode, number<<32|uint64(at))
	}
	boc, _ := bagOfBytes(data)
	filler, err := cell.FromBOC(boc)
	if err != nil {
		panic(err) // it is one
	}
	const keyBits = 19
	entries := cell.NewDict(keyBits)
	for _, name := range methods {
		key := cell.BeginCell().MustStoreUInt(uint64(code.MethodID(name)), keyBits).EndCell()
		if err := entries.Set(key, cell.BeginCell().MustStoreUInt(0, 8).EndCell()); err != nil {
			panic(err) // a key of the right size is always stored
		}
	}
	// SETCP0, and DICTPUSHCONST with the entries.
	root := cell.BeginCell().MustStoreUInt(0xff00, 16).MustStoreUInt(0xf4a4<<8|keyBits, 24).MustStoreRef(entries.AsCell()).MustStoreRef(filler).EndCell()
	return codeOf(root)
}

// codeOf is a code with what decode reads of it.
func codeOf(root *cell.Cell) *record.Code {
	c := &record.Code{Hash: root.Hash(), Boc: root.ToBOC()}
	methods, err := decode.MethodsOf(c.Boc)
	if err != nil {
		panic(err) // it is a bag of cells
	}
	c.Methods, c.MethodsKnown = methods.IDs, methods.Known
	return c
}

func (c *contracts) codes() []*record.Code {
	var list []*record.Code
	for _, of := range []*contract{&c.walletV3, &c.walletV4, &c.jettonWallet, &c.item, &c.master, &c.collection, &c.sale, &c.auction, &c.multisig, &c.multisigOrder, &c.vesting} {
		list = append(list, of.code)
	}
	slices.SortFunc(list, func(a, b *record.Code) int { return slices.Compare(a.Hash, b.Hash) })
	return list
}

// of is the contract of an account.
func (c *contracts) of(a *accounts, id int) *contract {
	switch {
	case id >= a.firstVesting():
		return &c.vesting
	case id >= a.firstOrder():
		return &c.multisigOrder
	case id >= a.firstMultisig():
		return &c.multisig
	case id >= a.firstSale() && isAuction(id-a.firstSale()):
		return &c.auction
	case id >= a.firstSale():
		return &c.sale
	case id >= a.firstMaster()+jettonMasters:
		return &c.collection
	case id >= a.firstMaster():
		return &c.master
	case id >= a.firstItem():
		return &c.item
	case id >= a.wallets:
		return &c.jettonWallet
	case id%3 == 0:
		return &c.walletV3
	}
	return &c.walletV4
}

// data is what an account holds after so many transactions, as a BoC.
func (r *Rows) data(id int, count int32) (boc, hash []byte) {
	c := r.contracts.of(r.accounts, id)
	data := make([]byte, (c.dataBytes+31)/32*32)
	for at := 0; at < len(data); at += 32 {
		seeded(data[at:], r.seed, kindData, uint64(id)<<8|uint64(at)/32)
	}
	binary.BigEndian.PutUint32(data, uint32(count))
	if id < r.accounts.wallets {
		binary.BigEndian.PutUint32(data[4:], walletID)
	}
	return bagOfBytes(data[:c.dataBytes])
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
	_, hash := r.data(id, s.count)
	return &record.AccountState{
		Status: record.AccountStatus_ACCOUNT_ACTIVE, Balance: s.balance,
		CodeHash: r.contracts.of(r.accounts, id).code.Hash, DataHash: hash,
	}
}

// stateHash is that of the account as it is now.
func (r *Rows) stateHash(dst []byte, id int) {
	if s := &r.accounts.state[id]; s.lt != 0 {
		seeded(dst, r.seed, kindState, uint64(s.last))
	} else {
		seeded(dst, r.seed, kindState, 1<<40|uint64(id))
	}
}

// shownAtOnce is how many accounts a bundle shows at least.
const shownAtOnce = 4

// show brings accounts that no transaction has made yet, so many that all are
// there before the end.
func (r *Rows) show(b *Bundle) {
	a := r.accounts
	for n := r.accounts.perBundle(len(a.state), r.total); n > 0 && r.next < len(a.state); r.next++ {
		s := &a.state[r.next]
		if s.exists() {
			continue
		}
		n--
		s.balance, s.last = r.firstBalance(r.next), shown
		shownAccount := &record.Account{
			Account: a.address(r.next), McSeqno: b.Seqno, LastTransHash: make([]byte, 32), Hash: make([]byte, 32),
			State: r.state(r.next),
		}
		r.stateHash(shownAccount.Hash, r.next)
		shownAccount.Data, _ = r.data(r.next, 0)
		b.Late = append(b.Late, shownAccount)
	}
}

// perBundle is how many of some accounts each bundle has to show.
func (a *accounts) perBundle(n, transactions int) int {
	return shownAtOnce + n*transactionsPerBundle/transactions
}

// settle makes the bundle's accounts out of what every transaction left behind.
func (r *Rows) settle(b *Bundle, left []leftBehind) {
	last := map[int]int{}
	for _, l := range left {
		if at, ok := last[l.id]; ok {
			b.Accounts[at] = l.account
			continue
		}
		last[l.id] = len(b.Accounts)
		b.Accounts = append(b.Accounts, l.account)
	}
	for id, at := range last {
		b.Accounts[at].Data, _ = r.data(id, r.accounts.state[id].count)
	}
	slices.SortFunc(b.Accounts, func(x, y *record.Account) int { return slices.Compare(x.Account, y.Account) })
	if b.First {
		b.Codes = r.contracts.codes()
	}
}

// leftBehind is an account after one of a bundle's transactions.
type leftBehind struct {
	id      int
	account *record.Account
}

func (b *Bundle) accounts(partition, partitions int) []*record.Record {
	const perRecord = 32
	first := &record.AccountBatch{}
	if partition == 0 {
		first.Codes = b.Codes
	}
	out := []*record.Record{{Content: &record.Record_Accounts{Accounts: first}}}
	batch, rows := first, 0
	for _, a := range b.Accounts {
		if schema.PartitionOf(schema.AccountID(a.Account), partitions) != partition {
			continue
		}
		if len(batch.Accounts) == perRecord {
			batch = &record.AccountBatch{}
			out = append(out, &record.Record{Content: &record.Record_Accounts{Accounts: batch}})
		}
		batch.Accounts = append(batch.Accounts, a)
		rows++
	}
	for _, a := range b.Late {
		if schema.PartitionOf(schema.AccountID(a.Account), partitions) == partition {
			first.Late = append(first.Late, a)
		}
	}
	return b.seal(out, rows)
}
