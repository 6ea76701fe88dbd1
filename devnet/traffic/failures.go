package traffic

import (
	"math/big"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/contracts"
)

// What goes wrong on a network, on purpose.

// wrongSignature is a message that nobody accepts.
func (s *step) wrongSignature(p *person) int {
	message := s.sign(p, contracts.Order{Messages: []contracts.Message{give(s.other(p).address, ton(1), nil)}}, 0)
	if message == nil {
		return 0
	}
	forged, err := spoilt(message)
	s.fail(err)
	return s.refuse(forged)
}

// oldSeqno is an order with a number that was used before.
func (s *step) oldSeqno(p *person) int {
	if s.walletSeqno(p) == 0 {
		return 0
	}
	return s.refuse(s.sign(p, contracts.Order{Messages: []contracts.Message{give(s.other(p).address, ton(1), nil)}}, 1))
}

// refuse adds a message that is meant to be refused.
func (s *step) refuse(message *cell.Cell) int {
	s.messages = append(s.messages, message)
	s.refused++
	return 0
}

// spoilt is an external message with another last bit of its body: of the
// signature in wallets v5, of what was signed in the older ones.
func spoilt(message *cell.Cell) (*cell.Cell, error) {
	var external tlb.ExternalMessage
	if err := tlb.Parse(&external, message); err != nil {
		return nil, err
	}
	body := external.Body.MustBeginParse()
	size := body.BitsLeft()
	bits := body.MustLoadSlice(size)
	bits[(size-1)/8] ^= 0x80 >> ((size - 1) % 8)
	external.Body = cell.BeginCell().MustStoreSlice(bits, size).MustStoreBuilder(body.ToBuilder()).EndCell()
	return tlb.ToCell(&external)
}

// noFunds asks for more than the wallet has: the order is accepted and paid for,
// and its action fails.
func (s *step) noFunds(p *person) int {
	if p.wallet.Version == contracts.WalletV5R1 {
		return 0
	}
	return s.send(1, p, give(s.other(p).address, ton(8_000_000), nil))
}

// toNobody sends to an address where there is no contract, and gets it back.
func (s *step) toNobody(p *person) int {
	return s.send(3, p, pay(s.stranger(), coins(s.chance, 0.1, 5), contracts.CommentBody("anybody there?")))
}

// unknownMessage sends a contract what it does not know, and gets it back.
func (s *step) unknownMessage() int {
	p := s.anyone(5)
	j := oneOf(s.chance, s.jettons)
	if p == nil || s.supply(j) == nil {
		return 0
	}
	return s.send(3, p, pay(j.address, coins(s.chance, 0.05, 0.5), contracts.CommentBody("please mint some for me")))
}

func (s *step) tooManyJettons(j *jetton, p *person, balance *big.Int) int {
	transfer, _ := s.jettonOrder(p, new(big.Int).Add(balance, big.NewInt(1+s.chance.Int64N(1_000_000))))
	return s.send(3, p, pay(j.walletOf(p.address), ton(0.1), contracts.JettonTransferBody(transfer)))
}

// notTheOwner tries to transfer somebody else's item.
func (s *step) notTheOwner(_ *collection, item *address.Address, owner *person) int {
	p := s.other(owner)
	if !s.free(p, 2) {
		return 0
	}
	transfer := contracts.NFTTransfer{QueryID: s.query(), NewOwner: p.address, Response: p.address}
	return s.send(3, p, pay(item, ton(0.1), contracts.NFTTransferBody(transfer)))
}

// tooLittle cannot pay for the gas of what it asks; not even for being sent back.
func (s *step) tooLittle(j *jetton, p *person, balance *big.Int) int {
	transfer, _ := s.jettonOrder(p, s.part(balance))
	return s.send(2, p, pay(j.walletOf(p.address), ton(0.000_1), contracts.JettonTransferBody(transfer)))
}
