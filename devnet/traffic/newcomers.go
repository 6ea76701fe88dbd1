package traffic

import "tonscribe/devnet/contracts"

// A newcomer's address gets money first; some blocks later the wallet is
// deployed by its own first message, and later again most of them leave: the
// account is deleted. Who came in which block follows from its number.
const (
	deployedAfter = 10
	leavingAfter  = 30
	newcomersMost = 64 // of one block
)

func (s *step) comer(seqno uint32, index int) *person {
	chance := chanceOf(s.seed, "newcomer", uint64(seqno), uint64(index))
	return s.make("newcomer", uint64(seqno), uint64(index), versionOf(chance.IntN(100)), 0)
}

func (s *step) newcomer(p *person) int {
	index := s.done["newcomer"]
	if index >= newcomersMost {
		return 0
	}
	return s.send(2, p, give(s.comer(s.seqno, index).address, coins(s.chance, 0.5, 3), nil))
}

// followNewcomers lets those act who came some blocks ago.
func (s *step) followNewcomers() {
	s.each(deployedAfter, func(p *person) {
		state := s.account(p.account)
		if state.StateInit != nil || state.Balance.Nano().Cmp(ton(0.3)) < 0 || s.chance.IntN(10) == 0 {
			return
		}
		message := give(s.other(p).address, coins(s.chance, 0.01, 0.1), nil)
		s.count("wallet deployed", s.order(2, p, contracts.Order{Messages: []contracts.Message{message}, Deploy: true}))
	})
	s.each(leavingAfter, func(p *person) {
		if state := s.account(p.account); state.StateInit == nil || s.chance.IntN(6) == 0 {
			return
		}
		message := give(s.other(p).address, nil, contracts.CommentBody("leaving"))
		message.Mode = contracts.ModeAllBalance | deleteWhenEmpty
		s.count("wallet deleted", s.send(2, p, message))
	})
}

// deleteWhenEmpty is the send mode that deletes an account without balance.
const deleteWhenEmpty = 32

func (s *step) each(ago uint32, act func(*person)) {
	if s.seqno <= ago {
		return
	}
	for i := range newcomersMost {
		p := s.comer(s.seqno-ago, i)
		// Those of a block are numbered without gaps, but some may have left.
		if !s.account(p.account).IsValid {
			return
		}
		act(p)
	}
}
