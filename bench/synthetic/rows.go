package synthetic

import (
	"math"
	"math/rand/v2"
	"slices"

	"tonscribe/schema/record"
)

// RowOptions say what Rows makes.
type RowOptions struct {
	// Transactions is how many, exactly.
	Transactions int
	Seed         uint64
	// Accounts and Holders are how many wallets there are, and how many hold the
	// biggest jetton; 0 for a tenth and a twentieth of the transactions.
	Accounts, Holders int
	// Whole adds what no transaction touches: the states of all other accounts,
	// and contracts of the kinds that transactions do nothing with.
	Whole bool
}

// Rows is a synthetic chain as decoded rows, bundle by bundle: two shards, 20
// transactions per masterchain block, traces of 4.1 transactions on average that
// begin with an external message, 2.37 message rows per transaction, accounts by
// Zipf's law with one that has 5 % of all transactions, 5 % aborted.
//
// What holds: a message is the same where it is produced and where it is
// consumed, later; the transactions and the state hashes of an account are
// chained; the hashes of a message and of its body are those of their cells. All
// other hashes are numbers from the seed. Memory is that of the accounts, about 30
// bytes for each of the 0.185 accounts per transaction.
type Rows struct {
	total    int
	least    int // transactions of a bundle, and how many more it may have
	spread   int
	seed     uint64
	whole    bool
	next     int // the first account that may not be there
	random   *rand.Rand
	accounts *accounts
	bodies   *bodies

	contracts *contracts

	made    int
	bundles int
	queue   []pending

	txKeys, causedKeys, messageKeys sample
}

// Bundle is one masterchain block and the shard blocks that it commits.
type Bundle struct {
	// Blocks by (workchain, shard, seqno), the masterchain block last.
	Blocks []*record.Block
	// Transactions in the order of the blocks, and inside by (lt, account).
	Transactions []*record.Transaction
	// Accounts that the transactions change, by account id, and the codes of all
	// of the chain's accounts, in the first bundle.
	Accounts []*record.Account
	Codes    []*record.Code
	// Late are accounts that are there without a transaction.
	Late  []*record.Account
	Seqno uint32
	Utime uint32
	// First reports whether no bundle is before it.
	First bool
	// Skipped is how many bundles were left out right before it.
	Skipped uint32

	ids []int // of the transactions' accounts
}

// trace is what runs because of one external message.
type trace struct {
	remaining int // transactions that are still to be caused
	pending   int // messages that are under way
}

type pending struct {
	trace   *trace
	message *record.Message
	account int
	from    int // -1 is nobody
}

const (
	firstMaster   = 30_000_000
	firstShard    = 35_000_000
	firstRowLT    = uint64(40_000_000_000_000)
	ltPerBundle   = 1_000_000
	ltPerRow      = 100
	firstRowUtime = 1_700_000_000
	minPerBlock   = 14 // transactions of a bundle: 14 to 26
	spreadInBlock = 13
	maxPerBundle  = ltPerBundle / ltPerRow * 3 / 4

	transactionsPerBundle = minPerBlock + spreadInBlock/2
	maxTrace              = 20
	traceEnds             = 0.2427 // chance that a trace has no further transaction
	gasPrice              = 400
)

// NewRows makes a generator. It fits Zipf's law first, about two seconds for ten
// million transactions.
func NewRows(o RowOptions) *Rows {
	random := rand.New(rand.NewPCG(o.Seed, 1))
	keys := rand.New(rand.NewPCG(o.Seed, 2))
	return &Rows{
		total: o.Transactions, least: minPerBlock, spread: spreadInBlock, seed: o.Seed, whole: o.Whole, random: random,
		accounts: newAccounts(o), bodies: newBodies(random), contracts: newContracts(o.Seed),
		txKeys: sample{random: keys}, causedKeys: sample{random: keys}, messageKeys: sample{random: keys},
	}
}

// Made is how many transactions there were so far.
func (r *Rows) Made() int { return r.made }

// GoOn takes the end from the chain, whose bundles have about so many transactions
// from here on.
func (r *Rows) GoOn(perBundle int) {
	perBundle = max(1, min(perBundle, maxPerBundle))
	r.total, r.least, r.spread = math.MaxInt, max(1, perBundle*3/4), 1+perBundle/2
}

// Next is the next bundle, nil after the last.
func (r *Rows) Next() *Bundle {
	due := r.take(r.least + r.random.IntN(r.spread))
	if len(due) == 0 {
		return nil
	}
	b := &Bundle{
		Seqno: firstMaster + uint32(r.bundles), Utime: firstRowUtime + uint32(r.bundles)*5/2, First: r.bundles == 0,
		Transactions: make([]*record.Transaction, 0, len(due)),
	}
	shards := [2][]pending{}
	for _, p := range due {
		half := p.message.Destination[4] >> 7
		shards[half] = append(shards[half], p)
	}
	lt := firstRowLT + uint64(r.bundles)*ltPerBundle
	changed := map[int]*record.Account{} // as the last transaction left them
	for half, list := range shards {
		shard := uint64(half)<<63 | 1<<62
		block := r.block(b, 0, shard, lt, len(list))
		b.Blocks = append(b.Blocks, block)
		for _, p := range list {
			at := lt + uint64(len(b.Transactions)+1)*ltPerRow
			tx, account := r.transaction(p, b, block, at)
			b.Transactions = append(b.Transactions, tx)
			b.ids = append(b.ids, p.account)
			changed[p.account] = account
		}
	}
	b.Blocks = append(b.Blocks, r.block(b, -1, wholeShard, lt, 0))
	for id, account := range changed {
		account.Data = r.bodies.boc(r.data(id, r.accounts.state[id].count))
		b.Accounts = append(b.Accounts, account)
	}
	slices.SortFunc(b.Accounts, func(x, y *record.Account) int { return slices.Compare(x.Account, y.Account) })
	if b.First {
		b.Codes = r.contracts.codes()
	}
	if r.whole {
		r.addUntouched(b)
	}
	r.bundles++
	return b
}

// take is what is due next: messages under way first, then new traces.
func (r *Rows) take(n int) []pending {
	n = min(n, r.total-r.made)
	due := make([]pending, 0, n)
	taken := min(n, len(r.queue))
	due = append(due, r.queue[:taken]...)
	r.queue = append(r.queue[:0:0], r.queue[taken:]...)
	for len(due) < n {
		due = append(due, r.newTrace())
	}
	return due
}

func (r *Rows) newTrace() pending {
	length := 1
	for length < maxTrace && r.random.Float64() > traceEnds {
		length++
	}
	account := r.accounts.wallet(r.random)
	b := r.bodies.fresh(maxBody) // none is like another: it has no logical time
	m := &record.Message{
		Kind: record.Message_EXTERNAL_IN, Destination: r.accounts.address(account), ImportFee: 400_000 + r.random.Uint64N(1_000_000),
	}
	b.seal(m)
	return pending{&trace{remaining: length - 1, pending: 1}, m, account, -1}
}

// internal is a message from an account to another, without a body.
func (r *Rows) internal(source []byte, to int, lt uint64, utime uint32) *record.Message {
	return &record.Message{
		Source: source, Destination: r.accounts.address(to),
		Value: 1 + uint64(r.random.ExpFloat64()*1e9), FwdFee: 266_669 + r.random.Uint64N(400_000),
		IhrDisabled: true, Bounce: r.random.IntN(3) > 0, CreatedLt: lt, CreatedAt: utime,
	}
}
