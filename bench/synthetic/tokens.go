package synthetic

import (
	"cmp"
	"fmt"
	"maps"
	"math/big"
	"math/rand/v2"
	"slices"

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
	cells    cells
	others   others
	// For the keys: which jetton wallets sent something, and who burned something.
	sent    []bool
	burners sample
}

const (
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
		balances: make([]uint64, a.count(jettonWallets)), owners: make([]int32, a.count(items)),
		known: make([]uint32, a.first[masters]-a.first[jettonWallets]),
		sent:  make([]bool, a.count(jettonWallets)), burners: sample{random: rand.New(rand.NewPCG(rows.seed, 5))},
	}
	if rows.whole {
		t.others = newOthers(a, rand.New(rand.NewPCG(rows.seed, 6)))
		t.known = make([]uint32, a.first[kinds]-a.first[jettonWallets])
	}
	return t
}

// Records are what the bundle brings, as records of a partition of the topic. It
// must be called once for each bundle and every partition, in order, the first
// partition first.
func (t *Tokens) Records(b *Bundle, partitions int) [][]*record.Record {
	batch := t.batch(b)
	out := make([][]*record.Record, partitions)
	for p := range partitions {
		part := &record.ContractBatch{
			Contracts:       within(batch.Contracts, (*record.Contract).GetAccount, p, partitions),
			JettonTransfers: within(batch.JettonTransfers, (*record.JettonTransfer).GetSourceWallet, p, partitions),
			JettonBurns:     within(batch.JettonBurns, (*record.JettonBurn).GetWallet, p, partitions),
			NftTransfers:    within(batch.NftTransfers, (*record.NFTTransfer).GetItem, p, partitions),
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
		switch kind, number := a.kindOf(b.ids[i]); kind {
		case wallets:
			continue
		case jettonWallets:
			t.jettonTransaction(batch, number, tx)
		default:
			t.itemTransaction(batch, number, tx)
		}
		changed[b.ids[i]-a.first[jettonWallets]] = tx
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

// contract is what an account is now, by its number among those that are no wallets.
func (t *Tokens) contract(b *Bundle, at int, tx *record.Transaction) *record.Contract {
	a := t.rows.accounts
	id := a.first[jettonWallets] + at
	kind, number := a.kindOf(id)
	c := t.found(b, id, uint64(at)<<32|uint64(b.Seqno))
	if tx != nil {
		c.LastTransLt, c.Now = tx.Lt, tx.Now
	}
	switch kind {
	case jettonWallets:
		if tx == nil {
			t.balances[number] = t.some(nanoTokens)
		}
		c.JettonWallet = &record.JettonWallet{
			Balance: amount(t.balances[number]), Owner: a.address(a.owner(number)), Master: a.of(masters, a.master(number)), WalletCodeHash: c.CodeHash,
		}
	case items:
		c.NftItem = t.item(number)
	case sales:
		t.sale(c, number)
	case multisigs:
		c.Multisig = t.multisig(number)
	case orders:
		c.MultisigOrder = t.order(number)
	case vestings:
		c.Vesting = t.vesting(number)
	}
	return c
}

// found is a contract as the bundle finds it, without what it is.
func (t *Tokens) found(b *Bundle, id int, data uint64) *record.Contract {
	a := t.rows.accounts
	kind, number := a.kindOf(id)
	if kind == sales && isAuction(number) {
		kind = auctions
	}
	c := &record.Contract{
		Account: a.address(id), McSeqno: b.Seqno, FirstMcSeqno: b.Seqno, Now: b.Utime, LastTransLt: firstRowLT,
		Interfaces: []string{types[kind].name}, CodeHash: t.rows.contracts[kind].code.Hash,
		DataHash: seededHash(t.rows.seed, kindData, data),
	}
	if at := id - a.first[jettonWallets]; at < len(t.known) {
		t.known[at] = cmp.Or(t.known[at], b.Seqno)
		c.FirstMcSeqno = t.known[at]
	}
	return c
}

// some is a random amount of about the mean.
func (t *Tokens) some(mean float64) uint64 { return 1 + uint64(t.random.ExpFloat64()*mean) }

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
	item := &record.NFTItem{
		Init: true, Index: amount(uint64(number / collectionCount)), Collection: a.of(collections, number%collectionCount),
		Owner: a.address(t.owner(number)), Content: content("uri", itemLink(number)),
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
	for i := range masterCount + collectionCount {
		c := t.found(b, a.first[masters]+i, uint64(i)<<48)
		owner := a.address(i % a.count(wallets))
		if i < masterCount {
			c.JettonMaster = &record.JettonMaster{
				TotalSupply: amount(1e18), Mintable: true, Admin: owner, WalletCodeHash: t.rows.contracts[jettonWallets].code.Hash,
				Content: content("decimals", "9", "name", fmt.Sprintf("Jetton %d", i), "symbol", fmt.Sprintf("J%d", i)),
			}
		} else {
			c.NftCollection = &record.NFTCollection{
				NextItemIndex: amount(uint64(a.count(items) / collectionCount)), Owner: owner, Content: content("uri", collectionLink(i-masterCount)),
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

// deliveryOf is how the transfer or burn of a transaction ended.
func deliveryOf(tx *record.Transaction) record.Delivery {
	if tx.Aborted {
		return record.Delivery_REFUSED
	}
	return record.Delivery_DELIVERED
}

// jettonTransaction is a transfer, or a burn.
func (t *Tokens) jettonTransaction(batch *record.ContractBatch, wallet int, tx *record.Transaction) {
	a := t.rows.accounts
	value := t.some(nanoTokens)
	if !tx.Aborted {
		if t.balances[wallet] < value {
			t.balances[wallet] += value * 3 // somebody sent some
		}
		t.balances[wallet] -= value
	}
	owner, master := a.address(a.owner(wallet)), a.of(masters, a.master(wallet))
	if t.random.IntN(burnsOf) == 0 {
		t.burners.offer(nameOf(owner))
		batch.JettonBurns = append(batch.JettonBurns, &record.JettonBurn{
			Wallet: tx.Account, Lt: tx.Lt, TransactionHash: tx.Hash, Now: tx.Now, McSeqno: tx.McSeqno, TransactionMcSeqno: tx.McSeqno, Aborted: tx.Aborted,
			QueryId: t.random.Uint64N(1 << 50), Amount: amount(value), Owner: owner, Master: master, ResponseDestination: owner,
			Delivery: deliveryOf(tx), Receipt: t.receipt(tx, master),
		})
		return
	}
	j := &record.JettonTransfer{
		SourceWallet: tx.Account, Lt: tx.Lt, TransactionHash: tx.Hash, Now: tx.Now, McSeqno: tx.McSeqno, TransactionMcSeqno: tx.McSeqno, Aborted: tx.Aborted,
		QueryId: t.random.Uint64N(1 << 50), Amount: amount(value), Source: owner, Destination: a.address(a.wallet(t.random)), Master: master,
		ResponseDestination: owner, ForwardAmount: amount(t.random.Uint64N(1e8)), Delivery: deliveryOf(tx),
	}
	if t.random.IntN(5) < 3 {
		payload := make([]byte, t.random.IntN(100)+8)
		fill(payload, t.random)
		j.ForwardPayload = t.cells.boc(t.cells.of(payload))
	}
	j.Receipt = t.receipt(tx, a.of(jettonWallets, t.random.IntN(a.count(jettonWallets))))
	if !tx.Aborted && t.random.IntN(lateOf) == 0 {
		later := j.CloneVT()
		later.McSeqno += arrivesAfter
		t.underWay = append(t.underWay, later)
		j.Delivery, j.Receipt = record.Delivery_IN_PROGRESS, nil
	}
	batch.JettonTransfers = append(batch.JettonTransfers, j)
	t.sent[wallet] = t.sent[wallet] || !tx.Aborted
}

// receipt is the transaction of the receiver, which nobody made.
func (t *Tokens) receipt(tx *record.Transaction, account []byte) *record.Receipt {
	if tx.Aborted {
		return nil
	}
	return &record.Receipt{
		Account: account, Lt: tx.Lt + 2, TransactionHash: seededHash(t.rows.seed, kindTransaction, tx.Lt|1<<56), Now: tx.Now, McSeqno: tx.McSeqno,
	}
}

// arrive tells of the transfers that arrive with the bundle.
func (t *Tokens) arrive(b *Bundle, batch *record.ContractBatch) {
	for len(t.underWay) > 0 && t.underWay[0].McSeqno <= b.Seqno {
		t.underWay[0].McSeqno = b.Seqno
		batch.JettonTransfers = append(batch.JettonTransfers, t.underWay[0])
		t.underWay = t.underWay[1:]
	}
}

func (t *Tokens) itemTransaction(batch *record.ContractBatch, item int, tx *record.Transaction) {
	a := t.rows.accounts
	from, to := a.address(t.owner(item)), a.wallet(t.random)
	if !tx.Aborted {
		t.owners[item] = 1 + int32(to)
	}
	batch.NftTransfers = append(batch.NftTransfers, &record.NFTTransfer{
		Item: tx.Account, Lt: tx.Lt, TransactionHash: tx.Hash, Now: tx.Now, McSeqno: tx.McSeqno, TransactionMcSeqno: tx.McSeqno, Aborted: tx.Aborted,
		QueryId: t.random.Uint64N(1 << 50), Collection: a.of(collections, item%collectionCount), OldOwner: from, NewOwner: a.address(to),
		ResponseDestination: from, ForwardAmount: amount(t.random.Uint64N(1e8)), Delivery: deliveryOf(tx),
	})
}
