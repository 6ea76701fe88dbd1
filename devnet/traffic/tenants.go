package traffic

import (
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/contracts"
)

// A tenant's wallet gets money, sends all of it away and stays where it is,
// owing rent for its storage. The next message from outside finds that it owes
// too much: it is frozen. Some come back with their state and pay, to leave in
// peace later; of the others nothing is left when somebody calls once more. At
// most one tenant comes with each block. Who came, and what is due now, follows
// from the block's number and the account, as with newcomers.
const movedOutAfter = 10

// visits are how many blocks after a tenant came somebody looks.
var visits = []uint32{50, 60, 70, 100, 110, 120, 300, 310, 320}

// How many seconds of rent must be due before somebody calls: those who will
// come back owe more than freeze_due (config param 21), the others delete_due.
const (
	rentToFreeze = 35
	rentToDelete = 85
)

func (s *step) tenantOf(seqno uint32) (p *person, returns bool) {
	chance := chanceOf(s.seed, "tenant", uint64(seqno))
	version := oneOf(chance, []contracts.WalletVersion{contracts.WalletV4R2, contracts.WalletV5R1})
	return s.make("tenant", uint64(seqno), 0, version, 0), chance.IntN(2) == 0
}

func (s *step) tenant(p *person) int {
	if s.done["tenant"] > 0 {
		return 0
	}
	tenant, _ := s.tenantOf(s.seqno)
	return s.send(2, p, give(tenant.address, coins(s.chance, 0.5, 3), nil))
}

// followTenants lets happen what is due with those who came some blocks ago.
func (s *step) followTenants() {
	if s.seqno > movedOutAfter {
		s.moveOut(s.seqno - movedOutAfter)
	}
	for _, ago := range visits {
		if s.seqno > ago {
			s.visit(s.seqno - ago)
		}
	}
}

// moveOut deploys the wallet and empties it.
func (s *step) moveOut(seqno uint32) {
	p, _ := s.tenantOf(seqno)
	state := s.account(p.account)
	if state.StateInit != nil || state.Balance.Nano().Cmp(ton(0.3)) < 0 {
		return
	}
	message := give(s.other(p).address, nil, contracts.CommentBody("moving out"))
	message.Mode = contracts.ModeAllBalance
	s.count("tenant moved out", s.order(2, p, contracts.Order{Messages: []contracts.Message{message}, Deploy: true}))
}

func (s *step) visit(seqno uint32) {
	p, returns := s.tenantOf(seqno)
	state := s.account(p.account)
	switch {
	case !state.IsValid:
	case state.Status == tlb.AccountStatusFrozen && returns:
		s.payRent(p)
	case state.Status == tlb.AccountStatusFrozen:
		s.callAt(p, "tenant evicted")
	case state.StateInit == nil: // has not moved out, and never will
	case state.Balance.Nano().Sign() == 0:
		patience := uint32(rentToDelete)
		if returns {
			patience = rentToFreeze
		}
		if s.now >= state.StorageInfo.LastPaid+patience {
			s.callAt(p, "tenant frozen")
		}
	case state.Balance.Nano().Cmp(ton(0.3)) > 0:
		message := give(s.other(p).address, nil, contracts.CommentBody("leaving"))
		message.Mode = contracts.ModeAllBalance | deleteWhenEmpty
		s.count("tenant left", s.send(2, p, message))
	}
}

// callAt sends something that bounces: rent is taken before it arrives.
func (s *step) callAt(p *person, name string) {
	if caller := s.anyone(5); caller != nil {
		s.count(name, s.send(3, caller, pay(p.address, ton(0.05), contracts.CommentBody("are you there?"))))
	}
}

// payRent brings the state back that was frozen.
func (s *step) payRent(p *person) {
	friend := s.anyone(5)
	if friend == nil {
		return
	}
	message := give(p.address, ton(1), contracts.CommentBody("rent"))
	message.StateInit = afterOneOrder(p.wallet)
	s.count("tenant came back", s.send(2, friend, message))
}

// afterOneOrder is the state of a wallet v4 or v5 that has sent one order.
func afterOneOrder(w contracts.Wallet) *tlb.StateInit {
	init := w.StateInit()
	data := init.Data.MustBeginParse()
	changed := cell.BeginCell()
	if w.Version == contracts.WalletV5R1 {
		changed.MustStoreBoolBit(data.MustLoadBoolBit())
	}
	changed.MustStoreUInt(data.MustLoadUInt(32)+1, 32)
	init.Data = changed.MustStoreBuilder(data.ToBuilder()).EndCell()
	return init
}
