package contracts

import (
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/decode/contract"
	"tonscribe/schema/record"
)

// body reads the fields of a message behind its opcode. After the first that
// does not fit, ok stays false.
type body struct {
	*cell.Slice
	ok bool
}

func (b *body) number(bits uint) uint64 {
	value, err := b.LoadUInt(bits)
	b.ok = b.ok && err == nil
	return value
}

// coins are TL-B Coins, as in records.
func (b *body) coins() []byte {
	value, err := b.LoadBigCoins()
	if err != nil {
		b.ok = false
		return nil
	}
	return value.Bytes()
}

func (b *body) address() []byte {
	account, ok := contract.ReadAddress(b.Slice)
	b.ok = b.ok && ok
	return account
}

// optional is a Maybe ^Cell as BoC.
func (b *body) optional() []byte {
	some, err := b.LoadBoolBit()
	if err != nil {
		b.ok = false
		return nil
	}
	if !some {
		return nil
	}
	held, err := b.LoadRefCell()
	if err != nil {
		b.ok = false
		return nil
	}
	return held.ToBOC()
}

// payload is an Either Cell ^Cell as BoC. What follows is optional: some senders
// leave it out.
func (b *body) payload() (boc []byte, inline bool) {
	if b.BitsLeft() == 0 {
		return nil, false
	}
	if referred := b.number(1); referred == 1 {
		held, err := b.LoadRefCell()
		if err != nil {
			return nil, false
		}
		return held.ToBOC(), false
	}
	if b.BitsLeft() == 0 && b.RefsNum() == 0 {
		return nil, false
	}
	rest, err := b.ToCell()
	if err != nil {
		return nil, false
	}
	return rest.ToBOC(), true
}

// readJettonTransfer reads TEP-74 transfer; nil for a body that is none.
func readJettonTransfer(t *record.Transaction, s *cell.Slice) *record.JettonTransfer {
	b := &body{s, true}
	o := &record.JettonTransfer{
		SourceWallet: t.Account, Lt: t.Lt, TransactionHash: t.Hash, Now: t.Now, TransactionMcSeqno: t.McSeqno,
		Aborted: t.Aborted, Source: t.InMsg.Source,
		QueryId: b.number(64), Amount: b.coins(), Destination: b.address(), ResponseDestination: b.address(),
		CustomPayload: b.optional(), ForwardAmount: b.coins(),
	}
	if !b.ok {
		return nil
	}
	o.ForwardPayload, o.ForwardPayloadInline = b.payload()
	return o
}

// readJettonBurn reads TEP-74 burn; nil for a body that is none.
func readJettonBurn(t *record.Transaction, s *cell.Slice) *record.JettonBurn {
	b := &body{s, true}
	o := &record.JettonBurn{
		Wallet: t.Account, Lt: t.Lt, TransactionHash: t.Hash, Now: t.Now, TransactionMcSeqno: t.McSeqno,
		Aborted: t.Aborted, Owner: t.InMsg.Source,
		QueryId: b.number(64), Amount: b.coins(), ResponseDestination: b.address(),
	}
	if !b.ok {
		return nil
	}
	if b.BitsLeft() > 0 { // older wallets have no payload
		o.CustomPayload = b.optional()
	}
	return o
}

// readNFTTransfer reads TEP-62 transfer; nil for a body that is none.
func readNFTTransfer(t *record.Transaction, s *cell.Slice) *record.NFTTransfer {
	b := &body{s, true}
	o := &record.NFTTransfer{
		Item: t.Account, Lt: t.Lt, TransactionHash: t.Hash, Now: t.Now, TransactionMcSeqno: t.McSeqno,
		Aborted: t.Aborted, OldOwner: t.InMsg.Source,
		QueryId: b.number(64), NewOwner: b.address(), ResponseDestination: b.address(),
		CustomPayload: b.optional(), ForwardAmount: b.coins(),
	}
	if !b.ok {
		return nil
	}
	o.ForwardPayload, o.ForwardPayloadInline = b.payload()
	return o
}
