// Package traffic makes the devnet's life: in come a seed, the number of the
// next masterchain block and a view of the accounts at the head; out go signed
// external messages that cause about as many transactions as were asked for, in
// the proportions of a real network. It must never read a clock or a source of
// chance, and it remembers nothing: a devnet that is stopped and resumed goes on
// byte for byte as if it had not been.
package traffic

import (
	"fmt"
	"math/big"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/chain"
	"tonscribe/devnet/contracts"
	account "tonscribe/ton/address"
)

// View shows the chain as it is at the head. *chain.Chain is one.
type View interface {
	// Account is an account's state; chain.ErrNoAccount when there is none.
	Account(workchain int32, id [32]byte) (*tlb.ShardAccount, error)
	// Pending are external messages that have not found room in a block yet.
	Pending() []*cell.Cell
}

// Options says who takes part. The zero value is DefaultOptions.
type Options struct {
	// Wallets is how many people send messages. Each sends at most one external
	// message a block, so that it bounds the traffic: about five transactions a
	// block for each.
	Wallets int
	// NetworkID is the global id of the chain (config parameter 19).
	NetworkID int32
}

// DefaultOptions is a small town.
func DefaultOptions() Options { return Options{Wallets: 300, NetworkID: -3} }

// Traffic is immutable once made.
type Traffic struct {
	seed    uint64
	options Options
	// people are all wallets of the zerostate: users, then payers, admins and
	// those of the masterchain.
	people    []*person
	byAccount map[account.Address]*person

	users, payers, masters []*person

	// founder deploys and owns what belongs to nobody else.
	founder     *person
	jettons     []*jetton
	collections []*collection
	marketplace *address.Address
	names       contracts.DNSCollection
	zone        *address.Address // of names
	councils    []*council
	grants      []*grant
	pool        contracts.NominatorPool
	poolAt      *address.Address
	relays      []*address.Address
	exchange    *exchange

	tasks [][]task
	// market are tasks that come behind all others.
	market [][]task
	kinds  []kind
}

// New makes the people and what they own, all from the seed.
func New(seed uint64, options Options) *Traffic {
	usual := DefaultOptions()
	if options.Wallets <= 0 {
		options.Wallets = usual.Wallets
	}
	if options.NetworkID == 0 {
		options.NetworkID = usual.NetworkID
	}
	t := &Traffic{seed: seed, options: options, byAccount: map[account.Address]*person{}}
	t.populate()
	t.founder = t.admin(0)
	t.marketplace = contracts.Marketplace{Owner: t.founder.address}.Address(0)
	t.foundJettons()
	t.foundCollections()
	t.foundDomains()
	t.foundCouncils()
	t.foundGrants()
	t.foundPool()
	t.foundRelays()
	t.foundExchange()
	t.kinds = kinds()
	t.plan()
	return t
}

// Accounts are what the zerostate must hold: wallets with money, and the root of
// the names.
func (t *Traffic) Accounts() []chain.Account {
	accounts := make([]chain.Account, 0, len(t.people))
	for _, p := range t.people {
		state := p.wallet.StateInit()
		accounts = append(accounts, chain.Account{
			Workchain: p.account.Workchain(), ID: [32]byte(p.account.ID()), Code: state.Code, Data: state.Data, Balance: new(big.Int).Set(p.funds),
		})
	}
	return append(accounts, t.dnsRoot())
}

// Params are the config parameters that the zerostate must hold.
func (t *Traffic) Params() map[uint32]*cell.Cell {
	return map[uint32]*cell.Cell{dnsParam: cell.BeginCell().MustStoreSlice(rootID[:], 256).EndCell()}
}

// Next are the external messages for the block after the head: mcSeqno is its
// number, now its time. They cause about so many transactions, in this block and
// in those that follow. Until the contracts stand it also sends what deploys
// them, a few messages at a time.
func (t *Traffic) Next(view View, mcSeqno, now uint32, transactions int) ([]*cell.Cell, error) {
	return t.next(t.begin(view, mcSeqno, now), transactions)
}

// firstBlock is the first that can commit blocks of the basechain: the
// masterchain's first block makes it known.
const firstBlock = 2

func (t *Traffic) next(s *step, transactions int) ([]*cell.Cell, error) {
	if s.seqno < firstBlock {
		return nil, nil
	}
	s.wait(transactions)
	s.ready = s.prepare(s.tasks)
	if s.ready {
		s.prepare(s.market)
	}
	s.followNewcomers()
	s.followTenants()
	s.fill()
	if s.err != nil {
		return nil, fmt.Errorf("traffic for block %d: %w", s.seqno, s.err)
	}
	return s.messages, nil
}
