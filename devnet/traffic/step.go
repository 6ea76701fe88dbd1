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
	account "tonscribe/ton/address"
	toncell "tonscribe/ton/cell"
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
	used     map[account.Address]bool
	messages []*cell.Cell
	done     map[string]int
	caused   map[string]float64
	refused  int // messages that are meant to be refused
	err      error
}

func (t *Traffic) begin(view View, mcSeqno, now uint32) *step {
	return &step{
		Traffic: t, view: view, seqno: mcSeqno, now: now, chance: chanceOf(t.seed, "step", uint64(mcSeqno)),
		used: map[account.Address]bool{}, done: map[string]int{}, caused: map[string]float64{},
	}
}

// wait leaves those alone whose messages still wait for a block, and asks for
// less the more of them wait.
func (s *step) wait(transactions int) {
	pending := s.view.Pending()
	for _, root := range pending {
		var message tlb.ExternalMessage
		if err := tlb.Parse(&message, root); err == nil {
			s.used[accountAt(message.DstAddr)] = true
		}
	}
	s.left = float64(transactions - 2*len(pending))
}

// account is the state of an account at the head; the zero value when there is
// none.
func (s *step) account(at account.Address) tlb.AccountState {
	var state tlb.AccountState
	shard, err := s.view.Account(at.Workchain(), [32]byte(at.ID()))
	if errors.Is(err, chain.ErrNoAccount) || s.fail(err) {
		return state
	}
	if err := tlb.Parse(&state, shard.Account); err != nil {
		s.fail(fmt.Errorf("account %s: %w", at, err))
	}
	return state
}

// fail keeps the first error and reports whether err is one.
func (s *step) fail(err error) bool {
	if s.err == nil {
		s.err = err
	}
	return err != nil
}

// data opens a contract's data, nil when it is not deployed.
func (s *step) data(of *address.Address) *toncell.Reader {
	state := s.account(accountAt(of))
	if !state.IsValid || state.StateInit == nil || state.StateInit.Data == nil {
		return nil
	}
	return toncell.NewReader(state.StateInit.Data)
}

func accountAt(a *address.Address) account.Address { return account.New(a.Workchain(), a.Data()) }

// accountOf reads an address, zero when it is none.
func accountOf(r *toncell.Reader) (a account.Address) {
	copy(a[:], r.Account())
	return a
}

// free reports whether a person can still send something in this block, and has
// so many tons. Those who sent are left alone, since the view does not show it.
func (s *step) free(p *person, tons float64) bool {
	if s.used[p.account] {
		return false
	}
	state := s.account(p.account)
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

// send signs a person's order and returns how many transactions it causes, 0
// when it cannot be made.
func (s *step) send(caused int, p *person, messages ...contracts.Message) int {
	return s.order(caused, p, contracts.Order{Messages: messages})
}

func (s *step) order(caused int, p *person, order contracts.Order) int {
	message := s.sign(p, order, 0)
	if message == nil {
		return 0
	}
	s.used[p.account] = true
	s.messages = append(s.messages, message)
	return caused
}

// sign makes the external message, nil when it fails. back is how many orders ago
// its number was right.
func (s *step) sign(p *person, order contracts.Order, back uint32) *cell.Cell {
	order.ValidUntil = s.now + lifetime
	order.CreatedAt = uint64(s.now - 1)
	if p.wallet.Version == contracts.WalletHighloadV3 {
		order.QueryID = queryID(s.seqno)
	} else if !order.Deploy {
		order.Seqno = s.walletSeqno(p) - back
	}
	if p.wallet.Version == contracts.WalletV5R1 {
		for i := range order.Messages {
			order.Messages[i].Mode |= contracts.ModeIgnoreErrors
		}
	}
	message, err := p.wallet.External(p.account.Workchain(), p.key, order)
	if s.fail(err) {
		return nil
	}
	return message
}

// queryID is the block's number in the form of highload wallets: 13 bits, and
// ten below 1023. It comes again after eight million blocks.
func queryID(seqno uint32) uint32 {
	number := seqno % (1 << 13 * 1023)
	return number/1023<<10 | number%1023
}

// walletSeqno reads the number of the next order from a wallet's data.
func (s *step) walletSeqno(p *person) uint32 {
	data := s.data(p.address)
	if data == nil {
		s.fail(fmt.Errorf("wallet %s is not active", p.account))
		return 0
	}
	if p.wallet.Version == contracts.WalletV5R1 {
		data.Skip(1)
	}
	seqno := uint32(data.Uint(32))
	s.fail(data.Err())
	return seqno
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
