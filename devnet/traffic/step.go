package traffic

import (
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/chain"
	"tonscribe/devnet/contracts"
)

// lifetime is how long an external message is valid, in seconds: longer than
// any queue before a block.
const lifetime = 600

// step is the making of one block's messages.
type step struct {
	*Traffic
	view       View
	seqno, now uint32
	chance     *rand.Rand
	// left is how many transactions are still to be caused.
	left float64
	// ready tells that the setup is done, so that admins may do other things.
	ready    bool
	used     map[place]bool
	messages []*cell.Cell
	done     map[string]int
	caused   map[string]float64
	refused  int // messages that are meant to be refused
	err      error
}

func (t *Traffic) begin(view View, mcSeqno, now uint32) *step {
	return &step{
		Traffic: t, view: view, seqno: mcSeqno, now: now, chance: chanceOf(t.seed, "step", uint64(mcSeqno)),
		used: map[place]bool{}, done: map[string]int{}, caused: map[string]float64{},
	}
}

// wait leaves those alone whose messages still wait for a block, and asks for
// less the more of them wait.
func (s *step) wait(transactions int) {
	pending := s.view.Pending()
	for _, root := range pending {
		var message tlb.ExternalMessage
		if err := tlb.Parse(&message, root); err == nil {
			s.used[placeOf(message.DstAddr)] = true
		}
	}
	s.left = float64(transactions - 2*len(pending))
}

// account is the state of an account at the head; the zero value when there is
// none.
func (s *step) account(at place) tlb.AccountState {
	var state tlb.AccountState
	shard, err := s.view.Account(at.workchain, at.id)
	if errors.Is(err, chain.ErrNoAccount) {
		return state
	}
	if err != nil {
		s.fail(err)
		return state
	}
	if err := tlb.Parse(&state, shard.Account); err != nil {
		s.fail(fmt.Errorf("account %d:%x: %w", at.workchain, at.id, err))
	}
	return state
}

func (s *step) fail(err error) {
	if err != nil && s.err == nil {
		s.err = err
	}
}

// data opens a contract's data, nil when it is not deployed.
func (s *step) data(of *address.Address) *cell.Slice {
	state := s.account(placeOf(of))
	if !state.IsValid || state.StateInit == nil || state.StateInit.Data == nil {
		return nil
	}
	data, err := state.StateInit.Data.BeginParse()
	s.fail(err)
	return data
}

// free tells whether a person can still send something in this block, and has
// so many tons. Those who sent are left alone, since the view does not show it.
func (s *step) free(p *person, tons float64) bool {
	if s.used[p.place()] {
		return false
	}
	state := s.account(p.place())
	return state.IsValid && state.StateInit != nil && state.Balance.Nano().Cmp(ton(tons)) >= 0
}

// anyone is a user who can send, nil when none is found.
func (s *step) anyone(tons float64) *person {
	for range 20 {
		if p := oneOf(s.chance, s.users); s.free(p, tons) {
			return p
		}
	}
	return nil
}

// other is a user who is not p: one of the well known, or anyone.
func (s *step) other(p *person) *person {
	for {
		q := oneOf(s.chance, s.users)
		if s.chance.IntN(2) == 0 {
			q = among(s.chance, s.users)
		}
		if q != p || len(s.users) == 1 {
			return q
		}
	}
}

// send signs a person's order.
func (s *step) send(p *person, messages ...contracts.Message) bool {
	return s.order(p, contracts.Order{Messages: messages})
}

func (s *step) order(p *person, order contracts.Order) bool {
	message, err := s.sign(p, order, 0)
	if err != nil {
		s.fail(err)
		return false
	}
	s.used[p.place()] = true
	s.messages = append(s.messages, message)
	return true
}

// sign makes the external message. back is how many orders ago its number was
// right.
func (s *step) sign(p *person, order contracts.Order, back uint32) (*cell.Cell, error) {
	order.ValidUntil = s.now + lifetime
	order.CreatedAt = uint64(s.now - 1)
	if p.wallet.Version == contracts.WalletHighloadV3 {
		order.QueryID = queryID(s.seqno)
	} else if !order.Deploy {
		seqno, err := s.walletSeqno(p)
		if err != nil {
			return nil, err
		}
		order.Seqno = seqno - back
	}
	if p.wallet.Version == contracts.WalletV5R1 {
		for i := range order.Messages {
			order.Messages[i].Mode |= contracts.ModeIgnoreErrors
		}
	}
	return p.wallet.External(p.workchain, p.key, order)
}

// queryID is the block's number in the form of highload wallets: 13 bits, and
// ten below 1023. It comes again after eight million blocks.
func queryID(seqno uint32) uint32 {
	number := seqno % (1 << 13 * 1023)
	return number/1023<<10 | number%1023
}

// walletSeqno reads the number of the next order from a wallet's data.
func (s *step) walletSeqno(p *person) (uint32, error) {
	data := s.data(p.address)
	if data == nil {
		return 0, fmt.Errorf("wallet %s is not active", p.address.StringRaw())
	}
	if p.wallet.Version == contracts.WalletV5R1 {
		if err := data.SkipBits(1); err != nil {
			return 0, err
		}
	}
	seqno, err := data.LoadUInt(32)
	return uint32(seqno), err
}

// pay is a message of some value that comes back when it fails.
func pay(to *address.Address, value *big.Int, body *cell.Cell) contracts.Message {
	return contracts.Message{To: to, Value: value, Bounce: true, Body: body, Mode: contracts.ModePayFees}
}

// give is a message that stays where it arrives.
func give(to *address.Address, value *big.Int, body *cell.Cell) contracts.Message {
	message := pay(to, value, body)
	message.Bounce = false
	return message
}

// query is a number for a message, as wallets choose it.
func (s *step) query() uint64 { return s.chance.Uint64() >> 8 }
