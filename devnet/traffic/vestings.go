package traffic

import (
	"errors"

	"github.com/xssnick/tonutils-go/address"

	"tonscribe/devnet/contracts"
)

// grant is a vesting wallet and its owner.
type grant struct {
	is      contracts.Vesting
	owner   *person
	address *address.Address
}

const (
	grants     = 6
	year       = 360 * day
	day        = 86400
	grantsFrom = 1_577_836_800 // 2020
)

// foundGrants makes vesting wallets, of which every second is unlocked for long
// and the others for years to come.
func (t *Traffic) foundGrants() {
	for i := range grants {
		owner := t.users[(40+i*3)%len(t.users)]
		is := contracts.Vesting{
			Key: owner.wallet.Key, Subwallet: 698983191, StartTime: grantsFrom, TotalDuration: year, UnlockPeriod: 30 * day,
			TotalAmount: ton(4000), Sender: t.founder.address, Owner: owner.address,
		}
		if i%2 == 1 {
			is.TotalDuration, is.CliffDuration = 40*year, year
		}
		t.grants = append(t.grants, &grant{is: is, owner: owner, address: is.Address(0)})
	}
}

// vestingTransfer sends from a vesting wallet: by a message of its owner, or by
// one that he signs for the wallet itself.
func (s *step) vestingTransfer() int {
	g := oneOf(s.chance, s.grants)
	data := s.data(g.address)
	if data == nil || !s.free(g.owner, 5) || s.used[accountAt(g.address)] {
		return 0
	}
	to := s.founder.address
	if s.chance.IntN(3) > 0 {
		to = s.other(g.owner).address
	}
	message := give(to, coins(s.chance, 0.05, 2), contracts.CommentBody(oneOf(s.chance, remarks)))
	message.Mode = contracts.ModePayFees | contracts.ModeIgnoreErrors
	if s.chance.IntN(3) == 0 {
		external, err := g.is.External(0, g.owner.key, uint32(data.Uint(32)), s.now+lifetime, message)
		if s.fail(errors.Join(err, data.Err())) {
			return 0
		}
		s.used[accountAt(g.address)] = true
		s.messages = append(s.messages, external)
		return 2
	}
	return s.send(4, g.owner, pay(g.address, ton(0.1), contracts.VestingSendBody(s.query(), message)))
}

// vestingList adds to the addresses that may get what is locked.
func (s *step) vestingList() int {
	g := oneOf(s.chance, s.grants)
	if !s.ready || !s.free(s.founder, 5) {
		return 0
	}
	list := addresses([]*person{oneOf(s.chance, s.users), oneOf(s.chance, s.users), oneOf(s.chance, s.users)})[:1+s.chance.IntN(3)]
	return s.send(3, s.founder, pay(g.address, ton(0.1), contracts.VestingAddWhitelistBody(s.query(), list...)))
}
