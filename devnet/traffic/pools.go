package traffic

import (
	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/chain"
	"tonscribe/devnet/contracts"
)

// poolMembers is how many users may put money into the pool.
const poolMembers = 40

// foundPool makes the nominators' pool of the first wallet of the masterchain.
func (t *Traffic) foundPool() {
	t.pool = contracts.NominatorPool{
		Validator: t.masters[0].address, ValidatorShare: 4000, MaxNominators: poolMembers,
		MinValidatorStake: ton(1000), MinNominatorStake: ton(10), Elector: address.NewAddress(0, 255, chain.Elector[:]),
	}
	t.poolAt = t.pool.Address(-1)
}

// nominators is the dictionary of the pool's members; ok is false as long as
// there is no pool.
func (s *step) nominators() (members *cell.Dictionary, ok bool) {
	data := s.data(s.poolAt)
	if data == nil {
		return nil, false
	}
	data.Skip(8 + 16)
	data.Coins()
	data.Coins()
	data.Ref()
	members = cell.NewDict(256)
	if root := data.MaybeRef(); root != nil {
		members = root.AsDict(256)
	}
	return members, !s.fail(data.Err())
}

func (s *step) member() *person {
	p := oneOf(s.chance, s.users[:min(len(s.users), poolMembers)])
	if !s.free(p, 300) {
		return nil
	}
	return p
}

func (s *step) poolDeposit() int {
	_, ok := s.nominators()
	p := s.member()
	if !ok || p == nil {
		return 0
	}
	return s.send(2, p, pay(s.poolAt, coins(s.chance, 12, 200), contracts.CommentBody(contracts.PoolDeposit)))
}

func (s *step) poolWithdrawal() int {
	members, ok := s.nominators()
	p := s.member()
	if !ok || p == nil {
		return 0
	}
	if _, err := members.LoadValue(cell.BeginCell().MustStoreSlice(p.account.ID(), 256).EndCell()); err != nil {
		return 0
	}
	return s.send(3, p, pay(s.poolAt, ton(1), contracts.CommentBody(contracts.PoolWithdraw)))
}

func (s *step) poolValidatorDeposit() int {
	p := s.masters[0]
	if !s.ready || !s.free(p, 300) {
		return 0
	}
	return s.send(2, p, pay(s.poolAt, coins(s.chance, 10, 100), contracts.PoolValidatorDepositBody(s.query())))
}
