package action_test

import (
	"math/big"
	"testing"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/decode/action"
	"tonscribe/devnet/contracts"
)

func TestToncoinsOfADevnet(t *testing.T) {
	relay := contracts.Forwarder{ID: 1}
	at := relay.Address(0)
	s := newDevnet(t, placed(relay.StateInit(), 0, 1))
	nobody := contracts.Forwarder{ID: 2}.Address(0)
	s.plays("a plain transfer", s.alice, one(s.bob.Address, 5, nil), is("ton_transfer", "source", s.alice, "destination", s.bob, "value", ton(5)))
	s.plays("with a comment", s.alice, one(s.bob.Address, 0.5, contracts.CommentBody("for the book")),
		is("ton_transfer", "source", s.alice, "destination", s.bob, "value", ton(0.5), "comment", "for the book"))
	s.plays("with an encrypted one", s.alice, one(s.bob.Address, 0.5, cell.BeginCell().MustStoreUInt(0x2167da4b, 32).MustStoreUInt(0xfeed, 16).EndCell()),
		is("ton_transfer", "source", s.alice, "destination", s.bob, "value", ton(0.5), "comment", "/u0=", "encrypted", true))
	s.plays("two at once", s.carol, append(one(s.bob.Address, 1, nil), one(s.alice.Address, 2, nil)...),
		is("ton_transfer", "source", s.carol, "destination", s.bob, "value", ton(1)),
		is("ton_transfer", "source", s.carol, "destination", s.alice, "value", ton(2)))
	s.plays("to nobody, who sends it back", s.alice, one(nobody, 1, nil), is("ton_transfer!", "source", s.alice, "destination", nobody, "value", ton(1)),
		bounced(nobody, s.alice))
	stays := one(nobody, 1, nil)
	stays[0].Bounce = false
	s.plays("to nobody, where it stays", s.alice, stays, is("ton_transfer", "source", s.alice, "destination", nobody, "value", ton(1)))
	deploys := one(nobody, 1, contracts.TopUpBody(0))
	deploys[0].StateInit = contracts.Forwarder{ID: 2}.StateInit()
	s.plays("a deployment", s.alice, deploys,
		is("call_contract", "opcode", 0xd372158c, "source", s.alice, "destination", nobody, "value", ton(1)),
		is("contract_deploy", "opcode", 0xd372158c, "source", s.alice, "destination", nobody, "value", ton(1)))

	fails := refusedCall(0x4641494c, s.bob, at, 0.05)
	s.plays("a contract that fails in its code", s.bob, one(at, 0.05, contracts.FailBody(1, contracts.FailCompute, 500)), fails...)
	s.plays("a contract that fails in its actions", s.bob, one(at, 0.05, contracts.FailBody(1, contracts.FailAction, 500)), fails...)
	s.plays("a contract that fails for want of gas", s.bob, one(at, 0.05, contracts.FailBody(1, contracts.FailOutOfGas, 500)), fails[0])
	little := one(at, 0, contracts.FailBody(1, contracts.FailCompute, 500))
	little[0].Value = big.NewInt(10)
	s.plays("too little for any gas", s.bob, little, is("call_contract!", "opcode", 0x4641494c, "source", s.bob, "destination", at, "value", 10))
	plain := one(at, 0, nil)
	plain[0].Value = big.NewInt(10)
	s.plays("too little for any gas, to be sent back", s.bob, plain, is("ton_transfer!", "source", s.bob, "destination", at, "value", 10))
	plain[0].Bounce = false
	s.plays("too little for any gas, which stays", s.bob, plain, is("ton_transfer", "source", s.bob, "destination", at, "value", 10))

	s.plays("more than there is", s.bob, one(s.alice.Address, 1_000_000, nil), is("unknown!"))
	skipped := one(s.alice.Address, 1_000_000, nil)
	skipped[0].Mode |= contracts.ModeIgnoreErrors
	s.plays("more than there is, skipped", s.bob, skipped, is("unknown"))
	s.plays("one of two is skipped", s.bob, append(skipped, one(s.alice.Address, 1, nil)...),
		is("ton_transfer", "source", s.bob, "destination", s.alice, "value", ton(1)))
}

// Wallets of other versions: what they send is the same, and what a highload wallet
// tells itself is a call.
func TestPayoutsOfADevnet(t *testing.T) {
	five, many := newActor(21, contracts.WalletV5R1, 0), newActor(22, contracts.WalletHighloadV3, 0)
	c := newCoins(newActor(4, contracts.WalletV4R2, 0).Address, "Scribe")
	s := newDevnet(t, placed(five.wallet.StateInit(), 0, 1_000), placed(many.wallet.StateInit(), 0, 1_000), placed(c.StateInit(), 0, 1))
	s.mints(c, five.Address, 1_000)
	signed := func(from *actor, seqno uint32, messages ...contracts.Message) []*action.Action {
		t.Helper()
		for i := range messages {
			messages[i].Mode |= contracts.ModeIgnoreErrors
		}
		external, err := from.wallet.External(0, from.key, contracts.Order{Messages: messages, Seqno: seqno, QueryID: seqno, ValidUntil: s.now + 600, CreatedAt: uint64(s.now)})
		if err != nil {
			t.Fatal(err)
		}
		return s.follow(accountOf(from.Address), external)
	}
	sent := func(from *actor, to *actor, tons float64) wanted {
		return is("ton_transfer", "source", from, "destination", to, "value", ton(tons))
	}
	two := func() []contracts.Message { return append(one(s.alice.Address, 1, nil), one(s.bob.Address, 2, nil)...) }
	s.shows("wallet 5", signed(five, 0, two()...), sent(five, s.alice, 1), sent(five, s.bob, 2))
	s.shows("highload", signed(many, 1, two()...), is("call_contract", "opcode", 0xae42e5a4, "source", many, "destination", many, "value", anything{}),
		sent(many, s.alice, 1), sent(many, s.bob, 2))
	wallet := c.walletOf(five.Address)
	order := contracts.JettonTransfer{QueryID: 3, Amount: big.NewInt(5), Destination: s.bob.Address, Response: five.Address}
	s.shows("jettons that wallet 5 cannot pay for", signed(five, 1, one(wallet, 5_000, contracts.JettonTransferBody(order))...),
		is("jetton_transfer!", "asset", c.master, "sender", five, "receiver", s.bob, "sender_jetton_wallet", wallet, "amount", 5, "query_id", 3,
			"response_destination", five, "forward_amount", 0))
	s.shows("one of two, jettons, is skipped", signed(five, 2, append(one(wallet, 5_000, contracts.JettonTransferBody(order)), one(s.bob.Address, 2, nil)...)...), sent(five, s.bob, 2))
}
