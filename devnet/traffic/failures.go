package traffic

import (
	"math/big"

	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/contracts"
)

// What goes wrong on a network, on purpose.

// wrongSignature is a message that nobody accepts.
func (s *step) wrongSignature() int {
	p := s.anyone(5)
	if p == nil {
		return 0
	}
	message, err := s.sign(p, contracts.Order{Messages: []contracts.Message{give(s.other(p).address, ton(1), nil)}}, 0)
	if err != nil {
		s.fail(err)
		return 0
	}
	forged, err := spoilt(message)
	if err != nil {
		s.fail(err)
		return 0
	}
	return s.refuse(forged)
}

// oldSeqno is an order with a number that was used before.
func (s *step) oldSeqno() int {
	p := s.anyone(5)
	if p == nil {
		return 0
	}
	if seqno, err := s.walletSeqno(p); err != nil || seqno == 0 {
		s.fail(err)
		return 0
	}
	message, err := s.sign(p, contracts.Order{Messages: []contracts.Message{give(s.other(p).address, ton(1), nil)}}, 1)
	if err != nil {
		s.fail(err)
		return 0
	}
	return s.refuse(message)
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
	body, err := external.Body.BeginParse()
	if err != nil {
		return nil, err
	}
	size := body.BitsLeft()
	bits, err := body.LoadSlice(size)
	if err != nil {
		return nil, err
	}
	bits[(size-1)/8] ^= 0x80 >> ((size - 1) % 8)
	changed := cell.BeginCell().MustStoreSlice(bits, size)
	for body.RefsNum() > 0 {
		ref, err := body.LoadRefCell()
		if err != nil {
			return nil, err
		}
		changed.MustStoreRef(ref)
	}
	external.Body = changed.EndCell()
	return tlb.ToCell(&external)
}

// noFunds asks for more than the wallet has: the order is accepted and paid for,
// and its action fails.
func (s *step) noFunds() int {
	p := s.anyone(5)
	if p == nil || p.wallet.Version == contracts.WalletV5R1 {
		return 0
	}
	if !s.send(p, give(s.other(p).address, ton(8_000_000), nil)) {
		return 0
	}
	return 1
}

// toNobody sends to an address where there is no contract, and gets it back.
func (s *step) toNobody() int {
	p := s.anyone(20)
	if p == nil || !s.send(p, pay(s.stranger(), coins(s.chance, 0.1, 5), contracts.CommentBody("anybody there?"))) {
		return 0
	}
	return 3
}

// unknownMessage sends a contract what it does not know, and gets it back.
func (s *step) unknownMessage() int {
	p := s.anyone(5)
	j := oneOf(s.chance, s.jettons)
	if p == nil || s.supply(j) == nil {
		return 0
	}
	if !s.send(p, pay(j.address, coins(s.chance, 0.05, 0.5), contracts.CommentBody("please mint some for me"))) {
		return 0
	}
	return 3
}

func (s *step) tooManyJettons() int {
	j := oneOf(s.chance, s.jettons)
	p, balance := s.holder(j)
	if p == nil {
		return 0
	}
	transfer, _ := s.jettonOrder(p, new(big.Int).Add(balance, big.NewInt(1+s.chance.Int64N(1_000_000))))
	if !s.send(p, pay(j.walletOf(p.address), ton(0.1), contracts.JettonTransferBody(transfer))) {
		return 0
	}
	return 3
}

// notTheOwner tries to transfer somebody else's item.
func (s *step) notTheOwner() int {
	item, owner := s.item(s.collections[s.chance.IntN(2)])
	if item == nil {
		return 0
	}
	p := s.other(owner)
	if !s.free(p, 2) {
		return 0
	}
	transfer := contracts.NFTTransfer{QueryID: s.query(), NewOwner: p.address, Response: p.address}
	if !s.send(p, pay(item, ton(0.1), contracts.NFTTransferBody(transfer))) {
		return 0
	}
	return 3
}

// tooLittle cannot pay for the gas of what it asks; not even for being sent back.
func (s *step) tooLittle() int {
	j := oneOf(s.chance, s.jettons)
	p, balance := s.holder(j)
	if p == nil {
		return 0
	}
	transfer, _ := s.jettonOrder(p, s.part(balance))
	if !s.send(p, pay(j.walletOf(p.address), ton(0.000_1), contracts.JettonTransferBody(transfer))) {
		return 0
	}
	return 2
}
