package synthetic

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/xssnick/tonutils-go/ton/wallet"

	"tonscribe/decode"
	"tonscribe/schema"
	"tonscribe/schema/record"
)

// contract is what the accounts of a kind have in common.
type contract struct {
	code      *record.Code
	dataBytes int
}

// contracts by kind of account.
type contracts struct {
	walletV3, walletV4, jettonWallet, item contract
}

const (
	codeBytes         = 900 // of what is no wallet
	walletDataBytes   = 40  // seqno, wallet id, public key
	jettonWalletBytes = 83
	itemBytes         = 75
	walletID          = 698983191
)

func newContracts(seed uint64) *contracts {
	return &contracts{
		walletV3:     contract{walletCode(wallet.V3R2), walletDataBytes},
		walletV4:     contract{walletCode(wallet.V4R2), walletDataBytes + 1},
		jettonWallet: contract{madeUpCode(seed, 1), jettonWalletBytes},
		item:         contract{madeUpCode(seed, 2), itemBytes},
	}
}

// walletCode is the code of a real wallet.
func walletCode(version wallet.Version) *record.Code {
	init, err := wallet.GetStateInit(make([]byte, 32), version, walletID)
	if err != nil {
		panic(err) // the library has these
	}
	c := &record.Code{Hash: init.Code.Hash(), Boc: init.Code.ToBOC()}
	methods, err := decode.MethodsOf(c.Boc)
	if err != nil {
		panic(err) // as above
	}
	c.Methods, c.MethodsKnown = methods.IDs, methods.Known
	return c
}

func madeUpCode(seed, number uint64) *record.Code {
	data := make([]byte, codeBytes)
	for at := 0; at+32 <= len(data); at += 32 {
		seeded(data[at:], seed, kindCode, number<<32|uint64(at))
	}
	c := new(record.Code)
	c.Boc, c.Hash = bagOfBytes(data)
	return c
}

func (c *contracts) codes() []*record.Code {
	list := []*record.Code{c.walletV3.code, c.walletV4.code, c.jettonWallet.code, c.item.code}
	slices.SortFunc(list, func(a, b *record.Code) int { return slices.Compare(a.Hash, b.Hash) })
	return list
}

// of is the contract of an account.
func (c *contracts) of(a *accounts, id int) *contract {
	switch {
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

// balance after transaction number n: a few accounts have most of all.
func (r *Rows) balance(n uint64) uint64 {
	const median, most = 1e8, 1e17
	share := (float64(mix(mix(r.seed)^n)>>11) + 1) / (1 << 53)
	return uint64(min(median*math.Pow(share, -1.3)-median/2, most))
}

// states fills in the states around a transaction and gives the account as it is
// after it. The balances are numbers of their own: nothing is added up.
func (r *Rows) states(tx *record.Transaction, id int, number uint64) *record.Account {
	before := r.accounts.state[id]
	tx.StateBefore = &record.AccountState{Status: record.AccountStatus_ACCOUNT_NONEXIST}
	if before.lt != 0 {
		tx.StateBefore = r.state(id, before.count, uint64(before.last))
	}
	tx.StateAfter = r.state(id, before.count+1, number)
	return &record.Account{
		Account: tx.Account, McSeqno: tx.McSeqno, LastTransLt: tx.Lt, LastTransHash: tx.Hash, Now: tx.Now,
		Hash: tx.StateHashAfter, State: tx.StateAfter, StatusBefore: tx.StateBefore.Status, BalanceBefore: tx.StateBefore.Balance,
	}
}

func (r *Rows) state(id int, count int32, number uint64) *record.AccountState {
	_, hash := r.data(id, count)
	return &record.AccountState{
		Status: record.AccountStatus_ACCOUNT_ACTIVE, Balance: r.balance(number),
		CodeHash: r.contracts.of(r.accounts, id).code.Hash, DataHash: hash,
	}
}

// settle makes the bundle's accounts out of what every transaction left behind.
func (r *Rows) settle(b *Bundle, left []leftBehind) {
	last := map[int]int{}
	for _, l := range left {
		if at, ok := last[l.id]; ok {
			l.account.StatusBefore, l.account.BalanceBefore = b.Accounts[at].StatusBefore, b.Accounts[at].BalanceBefore
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
	return b.seal(out, rows)
}
