package synthetic

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math/big"
	"math/rand/v2"
	"slices"

	"tonscribe/schema"
	"tonscribe/schema/record"
)

// Tokens says what the contracts of a Rows chain are, and what its transactions
// do with tokens, as the topic contracts has it. Every transaction of a jetton
// wallet is a transfer, one of fifty a burn; every one of an NFT item a transfer.
// A fifth of the jetton transfers arrive some bundles later and are told twice.
// Contracts that have no transaction yet become known little by little, so that
// all of them are there in the end; of a whole chain also sales, multisigs with
// their orders and vesting contracts, and the items of one collection are names.
type Tokens struct {
	rows     *Rows
	random   *rand.Rand
	balances []uint64 // of jetton wallets
	owners   []int32  // of items, wallets by their number and 1 more, 0 before there is one
	known    []uint32 // first bundle of jetton wallets and all after them, 0 before it
	next     int      // the first that may be unknown
	underWay []*record.JettonTransfer
	others   others
	// For the keys: which jetton wallets sent something, and who burned something.
	sent    []bool
	burners sample
}

const (
	collections  = 50
	burnsOf      = 50
	lateOf       = 5
	arrivesAfter = 3 // bundles
	nanoTokens   = 1e10
)

// NewTokens makes the tokens of a chain that has not begun.
func NewTokens(rows *Rows) *Tokens {
	a := rows.accounts
	t := &Tokens{
		rows: rows, random: rand.New(rand.NewPCG(rows.seed, 4)),
		balances: make([]uint64, a.jettonWallets()), owners: make([]int32, a.items), known: make([]uint32, a.firstMaster()-a.wallets),
		sent: make([]bool, a.jettonWallets()), burners: sample{random: rand.New(rand.NewPCG(rows.seed, 5))},
	}
	if rows.whole {
		t.others = newOthers(a, rand.New(rand.NewPCG(rows.seed, 6)))
		t.known = make([]uint32, a.end()-a.wallets)
	}
	return t
}

func (t *Tokens) collection(item int) int {
	return t.rows.accounts.firstMaster() + jettonMasters + item%collections
}

// jetton is the number of a wallet's master.
func (t *Tokens) jetton(wallet int) int {
	if holders := t.rows.accounts.holders; wallet >= holders {
		return 1 + (wallet-holders)%smallJettons
	}
	return 0
}

// Records are what the bundle brings, as records of a partition of the topic. It
// must be called once for each bundle and every partition, in order, the first
// partition first.
func (t *Tokens) Records(b *Bundle, partitions int) [][]*record.Record {
	batch := t.batch(b)
	out := make([][]*record.Record, partitions)
	for p := range partitions {
		here := func(account []byte) bool { return schema.PartitionOf(schema.AccountID(account), partitions) == p }
		part := &record.ContractBatch{}
		for _, c := range batch.Contracts {
			if here(c.Account) {
				part.Contracts = append(part.Contracts, c)
			}
		}
		for _, j := range batch.JettonTransfers {
			if here(j.SourceWallet) {
				part.JettonTransfers = append(part.JettonTransfers, j)
			}
		}
		for _, j := range batch.JettonBurns {
			if here(j.Wallet) {
				part.JettonBurns = append(part.JettonBurns, j)
			}
		}
		for _, n := range batch.NftTransfers {
			if here(n.Item) {
				part.NftTransfers = append(part.NftTransfers, n)
			}
		}
		rows := len(part.Contracts) + len(part.JettonTransfers) + len(part.JettonBurns) + len(part.NftTransfers)
		var records []*record.Record
		if rows > 0 {
			records = append(records, &record.Record{Content: &record.Record_Contracts{Contracts: part}})
		}
		out[p] = b.seal(records, rows)
	}
	return out
}

func (t *Tokens) batch(b *Bundle) *record.ContractBatch {
	batch, a := &record.ContractBatch{}, t.rows.accounts
	if b.First {
		t.parents(b, batch)
	}
	t.arrive(b, batch)
	changed := map[int]*record.Transaction{}
	for i, tx := range b.Transactions {
		id := b.ids[i]
		switch {
		case id < a.wallets:
			continue
		case id < a.firstItem():
			t.jettonTransaction(batch, id-a.wallets, tx)
		default:
			t.itemTransaction(batch, id-a.firstItem(), tx)
		}
		changed[id-a.wallets] = tx
	}
	for unknown := a.perBundle(len(t.known), t.rows.total); unknown > 0 && t.next < len(t.known); t.next++ {
		if t.known[t.next] == 0 && changed[t.next] == nil {
			changed[t.next] = nil
			unknown--
		}
	}
	for _, at := range slices.Sorted(maps.Keys(changed)) {
		batch.Contracts = append(batch.Contracts, t.contract(b, at, changed[at]))
	}
	slices.SortFunc(batch.Contracts, func(x, y *record.Contract) int { return slices.Compare(x.Account, y.Account) })
	return batch
}

// contract is what a jetton wallet, an item or one of the others is now.
func (t *Tokens) contract(b *Bundle, at int, tx *record.Transaction) *record.Contract {
	a := t.rows.accounts
	c := &record.Contract{Account: a.address(a.wallets + at), McSeqno: b.Seqno, Now: b.Utime, LastTransLt: firstRowLT, DataHash: make([]byte, 32)}
	if t.known[at] == 0 {
		t.known[at] = b.Seqno
	}
	c.FirstMcSeqno = t.known[at]
	if tx != nil {
		c.LastTransLt, c.Now = tx.Lt, tx.Now
	}
	seeded(c.DataHash, t.rows.seed, kindData, uint64(at)<<32|uint64(b.Seqno))
	c.CodeHash = t.rows.contracts.of(a, a.wallets+at).code.Hash
	switch id := a.wallets + at; {
	case id >= a.firstSale():
		t.other(c, id)
	case id >= a.firstItem():
		c.Interfaces = []string{"nft_item"}
		c.NftItem = t.item(id - a.firstItem())
	default:
		if tx == nil {
			t.balances[at] = 1 + uint64(t.random.ExpFloat64()*nanoTokens)
		}
		c.Interfaces = []string{"jetton_wallet"}
		c.JettonWallet = &record.JettonWallet{
			Balance: amount(t.balances[at]), Owner: a.address(a.owner(at)), Master: a.address(a.firstMaster() + t.jetton(at)), WalletCodeHash: c.CodeHash,
		}
	}
	return c
}

// owner is the wallet that owns an item, which somebody does from the first time
// on that it is asked for.
func (t *Tokens) owner(item int) int {
	if t.owners[item] == 0 {
		t.owners[item] = 1 + int32(t.rows.accounts.wallet(t.random))
	}
	return int(t.owners[item]) - 1
}

func (t *Tokens) item(number int) *record.NFTItem {
	a := t.rows.accounts
	owner := a.address(t.owner(number))
	item := &record.NFTItem{
		Init: true, Index: amount(uint64(number / collections)), Collection: a.address(t.collection(number)), Owner: owner, Content: content("uri", itemLink(number)),
	}
	if t.rows.whole {
		t.sellOrName(item, number)
	}
	return item
}

func itemLink(number int) string { return fmt.Sprintf("https://example.com/nft/%d.json", number) }

func collectionLink(number int) string {
	return fmt.Sprintf("https://example.com/collection/%d.json", number)
}

// parents are the jetton masters and the collections.
func (t *Tokens) parents(b *Bundle, batch *record.ContractBatch) {
	a := t.rows.accounts
	for i := range jettonMasters + collections {
		c := &record.Contract{
			Account: a.address(a.firstMaster() + i), McSeqno: b.Seqno, FirstMcSeqno: b.Seqno, Now: b.Utime, LastTransLt: firstRowLT,
			CodeHash: t.rows.contracts.of(a, a.firstMaster()+i).code.Hash, DataHash: make([]byte, 32),
		}
		if at := a.firstMaster() + i - a.wallets; at < len(t.known) {
			t.known[at] = b.Seqno
		}
		seeded(c.DataHash, t.rows.seed, kindData, uint64(i)<<48)
		if i < jettonMasters {
			c.Interfaces = []string{"jetton_master"}
			c.JettonMaster = &record.JettonMaster{
				TotalSupply: amount(1e18), Mintable: true, Admin: a.address(i % a.wallets), WalletCodeHash: t.rows.contracts.jettonWallet.code.Hash,
				Content: content("decimals", "9", "name", fmt.Sprintf("Jetton %d", i), "symbol", fmt.Sprintf("J%d", i)),
			}
		} else {
			c.Interfaces = []string{"nft_collection"}
			c.NftCollection = &record.NFTCollection{
				NextItemIndex: amount(uint64(a.items / collections)), Owner: a.address(i % a.wallets),
				Content: content("uri", collectionLink(i-jettonMasters)),
			}
		}
		batch.Contracts = append(batch.Contracts, c)
	}
}

func content(pairs ...string) *record.TokenContent {
	c := &record.TokenContent{Layout: record.TokenContent_ON_CHAIN}
	if pairs[0] == "uri" {
		c.Layout = record.TokenContent_OFF_CHAIN
	}
	for i := 0; i < len(pairs); i += 2 {
		c.Attributes = append(c.Attributes, &record.TokenAttribute{Name: pairs[i], Value: pairs[i+1]})
	}
	return c
}

func amount(n uint64) []byte { return new(big.Int).SetUint64(n).Bytes() }

// jettonTransaction is a transfer, or a burn.
func (t *Tokens) jettonTransaction(batch *record.ContractBatch, wallet int, tx *record.Transaction) {
	a := t.rows.accounts
	value := 1 + uint64(t.random.ExpFloat64()*nanoTokens)
	if !tx.Aborted {
		if t.balances[wallet] < value {
			t.balances[wallet] += value * 3 // somebody sent some
		}
		t.balances[wallet] -= value
	}
	owner, master := a.address(a.owner(wallet)), a.address(a.firstMaster()+t.jetton(wallet))
	delivery := record.Delivery_DELIVERED
	if tx.Aborted {
		delivery = record.Delivery_REFUSED
	}
	if t.random.IntN(burnsOf) == 0 {
		t.burners.offer(a.name(a.owner(wallet)))
		batch.JettonBurns = append(batch.JettonBurns, &record.JettonBurn{
			Wallet: tx.Account, Lt: tx.Lt, TransactionHash: tx.Hash, Now: tx.Now, McSeqno: tx.McSeqno, TransactionMcSeqno: tx.McSeqno, Aborted: tx.Aborted,
			QueryId: t.random.Uint64N(1 << 50), Amount: amount(value), Owner: owner, Master: master, ResponseDestination: owner,
			Delivery: delivery, Receipt: t.receipt(tx, delivery, master),
		})
		return
	}
	j := &record.JettonTransfer{
		SourceWallet: tx.Account, Lt: tx.Lt, TransactionHash: tx.Hash, Now: tx.Now, McSeqno: tx.McSeqno, TransactionMcSeqno: tx.McSeqno, Aborted: tx.Aborted,
		QueryId: t.random.Uint64N(1 << 50), Amount: amount(value), Source: owner, Destination: a.address(a.wallet(t.random)), Master: master,
		ResponseDestination: owner, ForwardAmount: amount(t.random.Uint64N(1e8)), Delivery: delivery,
	}
	if t.random.IntN(5) < 3 {
		payload := make([]byte, t.random.IntN(100)+8)
		for i := 0; i+8 <= len(payload); i += 8 {
			binary.LittleEndian.PutUint64(payload[i:], t.random.Uint64())
		}
		j.ForwardPayload, _ = bagOfBytes(payload)
	}
	receiver := a.address(a.wallets + t.random.IntN(a.jettonWallets()))
	if delivery == record.Delivery_DELIVERED && t.random.IntN(lateOf) == 0 {
		later := j.CloneVT()
		later.McSeqno += arrivesAfter
		later.Receipt = t.receipt(tx, delivery, receiver)
		t.underWay = append(t.underWay, later)
		j.Delivery = record.Delivery_IN_PROGRESS
	} else {
		j.Receipt = t.receipt(tx, delivery, receiver)
	}
	batch.JettonTransfers = append(batch.JettonTransfers, j)
	t.sent[wallet] = t.sent[wallet] || !tx.Aborted
}

// receipt is the transaction of the receiver, which nobody made.
func (t *Tokens) receipt(tx *record.Transaction, delivery record.Delivery, account []byte) *record.Receipt {
	if delivery != record.Delivery_DELIVERED {
		return nil
	}
	hash := make([]byte, 32)
	seeded(hash, t.rows.seed, kindTransaction, tx.Lt|1<<56)
	return &record.Receipt{Account: account, Lt: tx.Lt + 2, TransactionHash: hash, Now: tx.Now, McSeqno: tx.McSeqno}
}

// arrive tells of the transfers that arrive with the bundle.
func (t *Tokens) arrive(b *Bundle, batch *record.ContractBatch) {
	n := 0
	for n < len(t.underWay) && t.underWay[n].McSeqno <= b.Seqno {
		t.underWay[n].McSeqno = b.Seqno
		n++
	}
	batch.JettonTransfers = append(batch.JettonTransfers, t.underWay[:n]...)
	t.underWay = slices.Clone(t.underWay[n:])
}

func (t *Tokens) itemTransaction(batch *record.ContractBatch, item int, tx *record.Transaction) {
	a := t.rows.accounts
	delivery := record.Delivery_DELIVERED
	if tx.Aborted {
		delivery = record.Delivery_REFUSED
	}
	from, to := t.owner(item), a.wallet(t.random)
	if !tx.Aborted {
		t.owners[item] = 1 + int32(to)
	}
	old := a.address(from)
	batch.NftTransfers = append(batch.NftTransfers, &record.NFTTransfer{
		Item: tx.Account, Lt: tx.Lt, TransactionHash: tx.Hash, Now: tx.Now, McSeqno: tx.McSeqno, TransactionMcSeqno: tx.McSeqno, Aborted: tx.Aborted,
		QueryId: t.random.Uint64N(1 << 50), Collection: a.address(t.collection(item)), OldOwner: old, NewOwner: a.address(to),
		ResponseDestination: old, ForwardAmount: amount(t.random.Uint64N(1e8)), Delivery: delivery,
	})
}
