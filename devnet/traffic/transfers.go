package traffic

import (
	"math/big"
	"strings"

	"github.com/xssnick/tonutils-go/address"

	"tonscribe/devnet/contracts"
)

// remarks are what people write.
var remarks = []string{
	"Thanks!", "lunch", "for the tickets", "rent, November", "deposit", "42", "invoice 2025-118", "gm", "happy birthday 🎂",
	"спасибо", "за кофе", "谢谢", "ありがとう", "refund of order #90210", "salary", "test", "user:18446744073709551615",
	"https://example.com/pay?id=7f3a", "  ", "0", "{\"order\":17,\"items\":[\"tea\",\"cake\"]}",
	strings.Repeat("A long remark that does not fit one cell. ", 8),
}

// recipient is whom p pays: mostly somebody known, now and then an address that
// few have used.
func (s *step) recipient(p *person) *address.Address {
	if s.chance.IntN(16) == 0 {
		return s.stranger()
	}
	return s.other(p).address
}

// strangers is how many addresses there are that nobody has the key of. There is
// an end to them, so that the state of a busy chain does not grow for ever.
const strangers = 8192

// stranger is an address without a contract.
func (s *step) stranger() *address.Address {
	id := digest(s.seed, "stranger", s.chance.Uint64N(strangers))
	return address.NewAddress(0, 0, id[:])
}

// purse is how much a transfer of p may be: the rich send more, so that wealth
// goes round for ever.
func (s *step) purse(p *person) *big.Int {
	balance, _ := new(big.Float).SetInt(s.account(p.account).Balance.Nano()).Float64()
	return coins(s.chance, 0.001, max(15, balance/1e9/1000))
}

func (s *step) transfer(p *person) int {
	return s.send(2, p, give(s.recipient(p), s.purse(p), nil))
}

func (s *step) comment(p *person) int {
	body := contracts.CommentBody(oneOf(s.chance, remarks))
	return s.send(2, p, give(s.recipient(p), s.purse(p), body))
}

func (s *step) encryptedComment(p *person) int {
	to := s.other(p)
	body, err := encrypted(s.chance, oneOf(s.chance, remarks), p, to)
	if s.fail(err) {
		return 0
	}
	return s.send(2, p, give(to.address, coins(s.chance, 0.01, 5), body))
}

// crossing pays from one workchain to the other.
func (s *step) crossing() int {
	from, to := oneOf(s.chance, s.masters), among(s.chance, s.users)
	if s.chance.IntN(2) == 0 {
		from, to = s.anyone(20), oneOf(s.chance, s.masters)
	}
	if from == nil || !s.free(from, 20) {
		return 0
	}
	return s.send(2, from, give(to.address, coins(s.chance, 0.1, 15), contracts.CommentBody(oneOf(s.chance, remarks))))
}

// several pays two or more with one order: a few of old wallets, many of v5.
func (s *step) several(p *person) int {
	n := 2 + s.chance.IntN(3)
	if p.wallet.Version == contracts.WalletV5R1 {
		n += s.chance.IntN(12)
	}
	messages := make([]contracts.Message, min(n, p.wallet.MaxMessages()))
	for i := range messages {
		messages[i] = give(s.recipient(p), coins(s.chance, 0.001, 2), nil)
		if s.chance.IntN(3) == 0 {
			messages[i].Body = contracts.CommentBody(oneOf(s.chance, remarks))
		}
	}
	return s.send(1+len(messages), p, messages...)
}

// payout is an exchange or a service that pays many from a highload wallet.
func (s *step) payout() int {
	p := oneOf(s.chance, s.payers)
	most := s.crowd(1)
	if most < 3 || !s.free(p, 1500) {
		return 0
	}
	messages := make([]contracts.Message, 2+s.chance.IntN(most-1))
	for i := range messages {
		messages[i] = give(s.recipient(p), coins(s.chance, 0.01, 3), contracts.CommentBody(oneOf(s.chance, remarks)))
	}
	return s.send(2+len(messages), p, messages...)
}

// crowd is to how many a payer may send, when each causes so many transactions:
// a payout must not be most of a block's traffic.
func (s *step) crowd(each int) int { return min(240, int(s.left)/(3*each)) }
