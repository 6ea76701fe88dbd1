package action_test

import (
	"encoding/base64"
	"math/big"
	"slices"
	"testing"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/decode/action"
	"tonscribe/schema/record"
)

var wallets = known{wallet(aliceWallet, alice), wallet(bobWallet, bob)}

func coins(b *cell.Builder, n int64) *cell.Builder { return b.MustStoreBigCoins(big.NewInt(n)) }

// transferOrder is TEP-74 transfer, with a comment.
func transferOrder(amount int64, to []byte) *cell.Builder {
	b := coins(word(0x0f8a7ea5).MustStoreUInt(4, 64), amount).MustStoreAddr(friendly(to)).MustStoreAddr(friendly(alice)).MustStoreBoolBit(false)
	return coins(b, 1).MustStoreBoolBit(true).MustStoreRef(comment("thanks").EndCell())
}

func internalOrder(amount int64, from []byte) *cell.Builder {
	return coins(coins(word(0x178d4519).MustStoreUInt(4, 64), amount).MustStoreAddr(friendly(from)).MustStoreAddr(friendly(alice)), 2).MustStoreBoolBit(false)
}

func excess() step { return step{to: alice, value: 1, body: word(0xd53276db).MustStoreUInt(4, 64)} }

func bounceOf(to []byte, body *cell.Builder) step {
	return step{to: to, value: 1, bounced: true, body: word(0xffffffff).MustStoreBuilder(body)}
}

func TestJettonsAreTransferredWhenTheReceivingWalletGotThem(t *testing.T) {
	order := transferOrder(100, bob)
	for what, c := range map[string]struct {
		facts action.Facts
		step  step
		want  []string
	}{
		"delivered, heard, the rest returned": {wallets, step{body: order, value: 9, then: []step{{to: bobWallet, value: 8, body: internalOrder(100, alice),
			then: []step{{to: bob, value: 1, body: word(0x7362d09c)}, excess()}}}}, []string{"jetton_transfer"}},
		"delivered, the rest sent back": {wallets, step{body: order, value: 9, then: []step{{to: bobWallet, value: 8, body: internalOrder(100, alice),
			then: []step{{to: alice, value: 5, bounce: true, aborted: true, body: word(0xd53276db), then: []step{
				{to: bobWallet, value: 4, bounced: true, aborted: true, body: word(0xffffffff)}}}}}}}, []string{"jetton_transfer"}},
		"not heard": {wallets, step{body: order, then: []step{{to: bobWallet, value: 8, body: internalOrder(100, alice),
			then: []step{{to: bob, value: 1, aborted: true, body: word(0x7362d09c)}}}}}, []string{"jetton_transfer"}},
		"to a new wallet": {wallets, step{body: order, then: []step{{to: bobWallet, value: 8, deployed: true, body: internalOrder(100, alice)}}},
			[]string{"jetton_transfer", "contract_deploy"}},
		"refused by the receiver's wallet": {wallets, step{body: order, then: []step{{to: bobWallet, value: 8, bounce: true, aborted: true, body: internalOrder(100, alice),
			then: []step{bounceOf(aliceWallet, internalOrder(100, alice))}}}}, []string{"jetton_transfer!"}},
		"refused by the sender's wallet": {wallets, step{body: order, value: 9, bounce: true, aborted: true,
			then: []step{bounceOf(alice, order)}}, []string{"call_contract!", "call_contract"}},
		"to a wallet of nobody": {known{wallet(aliceWallet, alice)}, step{body: order, value: 9,
			then: []step{{to: bobWallet, value: 8, body: internalOrder(100, alice)}}}, []string{"call_contract", "call_contract"}},
		"to a wallet that cannot be made": {known{wallet(aliceWallet, alice)}, step{body: order, value: 9,
			then: []step{{to: bobWallet, value: 8, bounce: true, aborted: true, change: ends(record.AccountStatus_ACCOUNT_UNINIT), body: internalOrder(100, alice),
				then: []step{bounceOf(aliceWallet, internalOrder(100, alice))}}}}, []string{"jetton_transfer!"}},
		"from a wallet of nobody": {action.NoFacts{}, step{body: order, value: 9,
			then: []step{{to: bobWallet, value: 8, deployed: true, body: internalOrder(100, alice)}}}, []string{"call_contract", "call_contract", "contract_deploy"}},
		"an order that ends early": {wallets, step{body: word(0x0f8a7ea5).MustStoreUInt(4, 64), value: 9,
			then: []step{{to: bobWallet, value: 8, body: internalOrder(100, alice)}}}, []string{"call_contract", "call_contract"}},
	} {
		t.Run(what, func(t *testing.T) {
			c.step.to = aliceWallet
			wants(t, recognise(t, c.facts, play(alice, c.step)), c.want...)
		})
	}
}

func TestATransferSaysWhatWasMoved(t *testing.T) {
	list := recognise(t, wallets, play(alice, step{to: aliceWallet, value: 9, body: transferOrder(100, carol),
		then: []step{{to: bobWallet, value: 8, body: internalOrder(90, alice)}}}))
	details(t, list, "jetton_transfer", "asset", master, "sender", alice, "receiver", bob, "sender_jetton_wallet", aliceWallet,
		"receiver_jetton_wallet", bobWallet, "amount", 90, "forward_amount", 2, "comment", "thanks", "is_encrypted_comment", false,
		"query_id", 4, "response_destination", alice, "custom_payload", nil)
}

func TestATransferToAWalletThatIsNewIsOfTheSendersJetton(t *testing.T) {
	list := recognise(t, known{wallet(aliceWallet, alice)}, play(alice, step{to: aliceWallet, value: 9, body: transferOrder(100, bob),
		then: []step{{to: bobWallet, value: 8, deployed: true, body: internalOrder(90, alice)}}}))
	wants(t, list, "jetton_transfer", "contract_deploy")
	details(t, list, "jetton_transfer", "asset", master, "sender", alice, "receiver", bob, "sender_jetton_wallet", aliceWallet,
		"receiver_jetton_wallet", bobWallet, "amount", 90, "forward_amount", 2)
}

func TestATransferOfWhichAWalletTellsSomebodyElseIsHeardByItsReceiver(t *testing.T) {
	other := step{to: carol, value: 1, body: word(0x7362d09c)}
	heard := step{to: bob, value: 1, body: word(0x7362d09c)}
	for _, told := range [][]step{{other, heard}, {heard, other}} {
		list := recognise(t, wallets, play(alice, step{to: aliceWallet, value: 9, body: transferOrder(100, bob),
			then: []step{{to: bobWallet, value: 8, body: internalOrder(100, alice), then: told}}}))
		wants(t, list, "jetton_transfer", "call_contract")
		details(t, list, "call_contract", "destination", carol)
	}
	// Nobody who owns the wallet.
	wants(t, recognise(t, wallets, play(alice, step{to: aliceWallet, value: 9, body: transferOrder(100, bob),
		then: []step{{to: bobWallet, value: 8, body: internalOrder(100, alice), then: []step{other}}}})), "jetton_transfer")
}

func TestATransferOfWhichAWalletGivesSomebodyElseAShareIsThatToItsReceiver(t *testing.T) {
	facts := append(slices.Clone(wallets), wallet(carol, market))
	share := step{to: carol, value: 2, body: internalOrder(10, alice)}
	rest := step{to: bobWallet, value: 8, body: internalOrder(90, alice), then: []step{excess()}}
	for _, sent := range [][]step{{share, rest}, {rest, share}} {
		list := recognise(t, facts, play(alice, step{to: aliceWallet, value: 19, body: transferOrder(100, bob), then: sent}))
		wants(t, list, "jetton_transfer", "call_contract")
		details(t, list, "jetton_transfer", "receiver", bob, "receiver_jetton_wallet", bobWallet, "amount", 90)
	}
	// Nobody whom it names.
	list := recognise(t, facts, play(alice, step{to: aliceWallet, value: 19, body: transferOrder(100, carol), then: []step{share, rest}}))
	details(t, list, "jetton_transfer", "receiver", market, "amount", 10)
}

func TestWrappedToncoinsMoveWithoutAnInternalTransfer(t *testing.T) {
	pTon := addressOf("0:671963027F7F85659AB55B821671688601CDCF1EE674FC7FBBB1A776A18D34A3")
	facts := known{{Account: aliceWallet, JettonWallet: &record.JettonWallet{Owner: market, Master: pTon}}}
	s := step{to: aliceWallet, value: 9, body: transferOrder(100, market), then: []step{{to: market, value: 8, body: word(0x7362d09c)}}}
	list := recognise(t, facts, play(alice, s))
	wants(t, list, "jetton_transfer")
	details(t, list, "jetton_transfer", "asset", pTon, "sender_jetton_wallet", nil, "receiver_jetton_wallet", nil, "amount", 100, "forward_amount", 1)
	wants(t, recognise(t, wallets, play(alice, s)), "call_contract", "call_contract") // of another master
	// They come with the notification, and go back with it.
	s.then[0].aborted = true
	wants(t, recognise(t, facts, play(alice, s)), "jetton_transfer")
	s.then[0].bounce, s.then[0].then = true, []step{bounceOf(aliceWallet, word(0x7362d09c))}
	wants(t, recognise(t, facts, play(alice, s)), "jetton_transfer!")
}

func TestJettonsAreBurntUnlessTheMasterRefuses(t *testing.T) {
	burn := func() *cell.Builder {
		return coins(word(0x595f07bc).MustStoreUInt(4, 64), 70).MustStoreAddr(friendly(alice)).MustStoreBoolBit(false)
	}
	notification := step{to: master, value: 8, body: word(0x7bdd97de), then: []step{excess()}}
	refused := step{to: master, value: 8, aborted: true, body: word(0x7bdd97de), then: []step{bounceOf(aliceWallet, word(0x7bdd97de))}}
	list := recognise(t, wallets, play(alice, step{to: aliceWallet, value: 9, body: burn(), then: []step{notification}}))
	wants(t, list, "jetton_burn")
	details(t, list, "jetton_burn", "owner", alice, "owner_jetton_wallet", aliceWallet, "asset", master, "amount", 70)
	wants(t, recognise(t, wallets, play(alice, step{to: aliceWallet, value: 9, body: burn(), then: []step{refused}})), "jetton_burn!")
	for _, c := range []struct {
		to     []byte
		amount int64
		want   string
	}{{aliceWallet, 70, "jetton_burn!"}, {aliceWallet, 69, "jetton_burn"}, {bobWallet, 70, "jetton_burn"}} { // minted anew by the master
		notification.then = []step{{to: c.to, value: 7, body: internalOrder(c.amount, master)}}
		wants(t, recognise(t, wallets, play(alice, step{to: aliceWallet, value: 9, body: burn(), then: []step{notification}})), c.want, "call_contract")
	}
	notification.then = []step{excess()}
	wants(t, recognise(t, action.NoFacts{}, play(alice, step{to: aliceWallet, value: 9, body: burn(), then: []step{notification}})),
		"call_contract", "call_contract", "call_contract")
}

func TestAMintIsDoneWhenAWalletGotWhatItMakes(t *testing.T) {
	for _, op := range []uint64{0x642b7d07, 0x15} {
		mint := func() *cell.Builder {
			return coins(word(op).MustStoreUInt(4, 64).MustStoreAddr(friendly(bob)), 33).MustStoreRef(internalOrder(50, nil).EndCell())
		}
		got := step{to: bobWallet, value: 7, body: internalOrder(50, nil), then: []step{excess()}}
		list := recognise(t, wallets, play(alice, step{to: master, value: 9, body: mint(), then: []step{got}}))
		wants(t, list, "jetton_mint")
		details(t, list, "jetton_mint", "asset", master, "receiver", bob, "receiver_jetton_wallet", bobWallet, "amount", 50, "ton_amount", 33)

		told := got
		told.then = []step{{to: bob, value: 1, aborted: true, body: word(0x7362d09c)}}
		wants(t, recognise(t, wallets, play(alice, step{to: master, value: 9, body: mint(), then: []step{told}})), "jetton_mint")

		got.aborted = true
		wants(t, recognise(t, wallets, play(alice, step{to: master, value: 9, body: mint(), then: []step{got}})), "jetton_mint!")
		list = recognise(t, wallets, play(alice, step{to: master, value: 9, aborted: true, body: mint()}))
		wants(t, list, "jetton_mint!")
		details(t, list, "jetton_mint!", "asset", master, "receiver", bob, "receiver_jetton_wallet", nil, "amount", 50)
		// A new wallet of a master that is known.
		got.aborted, got.deployed = false, true
		minter := known{{Account: master, JettonMaster: &record.JettonMaster{}}}
		list = recognise(t, minter, play(alice, step{to: master, value: 9, body: mint(), then: []step{got}}))
		wants(t, list, "jetton_mint", "contract_deploy")
		details(t, list, "jetton_mint", "asset", master, "receiver", bob, "receiver_jetton_wallet", bobWallet, "amount", 50)
		wants(t, recognise(t, action.NoFacts{}, play(alice, step{to: master, value: 9, body: mint(), then: []step{got}})), "jetton_mint!", "contract_deploy")
		// The opcode of somebody else's message.
		other := coins(word(op).MustStoreUInt(4, 64).MustStoreAddr(friendly(bob)), 33)
		wants(t, recognise(t, wallets, play(alice, step{to: carol, value: 9, body: other})), "call_contract")
	}
}

// relaxed is a message as a wallet is told to send it.
func relaxed(to []byte, body *cell.Builder) *cell.Cell {
	return cell.BeginCell().MustStoreUInt(0b0110, 4).MustStoreAddr(nil).MustStoreAddr(friendly(to)).MustStoreCoins(5).MustStoreBoolBit(false).
		MustStoreCoins(0).MustStoreCoins(0).MustStoreUInt(0, 96).MustStoreBoolBit(false).MustStoreBoolBit(true).MustStoreRef(body.EndCell()).EndCell()
}

func TestTransfersThatARejectedMessageAskedForAreShownAsFailed(t *testing.T) {
	signature := func() *cell.Builder { return cell.BeginCell().MustStoreSlice(make([]byte, 64), 512) }
	head := func(b *cell.Builder) *cell.Builder {
		return b.MustStoreUInt(1, 32).MustStoreUInt(2, 32).MustStoreUInt(3, 32)
	}
	order := relaxed(aliceWallet, transferOrder(100, bob))
	empty := cell.BeginCell().EndCell()
	action5 := cell.BeginCell().MustStoreUInt(0x0ec3c86d, 32).MustStoreUInt(3, 8).MustStoreRef(empty).MustStoreRef(order).EndCell()
	for what, body := range map[string]*cell.Builder{
		"version 3":       head(signature()).MustStoreUInt(3, 8).MustStoreRef(order),
		"version 4":       head(signature()).MustStoreUInt(0, 8).MustStoreUInt(3, 8).MustStoreRef(order),
		"version 5":       head(word(0x7369676e)).MustStoreBoolBit(true).MustStoreRef(action5).MustStoreBoolBit(false).MustStoreSlice(make([]byte, 64), 512),
		"Telegram's, one": head(signature().MustStoreUInt(0x63896e75, 32)).MustStoreUInt(3, 8).MustStoreRef(order),
		"Telegram's, many": head(signature().MustStoreUInt(0x73896e75, 32)).MustStoreUInt(1, 8).MustStoreBoolBit(true).
			MustStoreRef(cell.BeginCell().MustStoreBoolBit(false).MustStoreUInt(3, 8).MustStoreRef(order).EndCell()),
	} {
		transactions := play(alice)
		transactions[0].InMsg.Body = boc(body.EndCell())
		list := recognise(t, wallets, transactions)
		t.Run(what, func(t *testing.T) {
			wants(t, list, "jetton_transfer!")
			details(t, list, "jetton_transfer!", "sender", alice, "receiver", bob, "sender_jetton_wallet", aliceWallet, "receiver_jetton_wallet", nil,
				"amount", 100, "asset", master)
		})
	}
	// The first message of a wallet, which is deployed with it.
	first := play(alice)
	first[0].OrigStatus, first[0].InMsg.Body = record.AccountStatus_ACCOUNT_UNINIT, boc(head(signature()).MustStoreUInt(3, 8).MustStoreRef(order).EndCell())
	wants(t, recognise(t, wallets, first), "contract_deploy", "jetton_transfer!")
	other := play(alice)
	other[0].InMsg.Body = boc(head(signature()).MustStoreUInt(3, 8).MustStoreRef(relaxed(bob, comment("hi"))).EndCell())
	wants(t, recognise(t, wallets, other), "unknown")
}

func TestAnEmptyPayloadOfATransferIsNone(t *testing.T) {
	for what, c := range map[string]struct {
		payload func(*cell.Builder) *cell.Builder
		want    any
	}{
		"in place": {func(b *cell.Builder) *cell.Builder { return b.MustStoreBoolBit(false) }, nil},
		"in a cell": {func(b *cell.Builder) *cell.Builder {
			return b.MustStoreBoolBit(true).MustStoreRef(cell.BeginCell().EndCell())
		}, nil},
		"left out":      {func(b *cell.Builder) *cell.Builder { return b }, nil},
		"some in place": {func(b *cell.Builder) *cell.Builder { return b.MustStoreBoolBit(false).MustStoreUInt(5, 8) }, base64.StdEncoding.EncodeToString(boc(cell.BeginCell().MustStoreUInt(5, 8).EndCell()))},
	} {
		t.Run(what, func(t *testing.T) {
			body := c.payload(coins(coins(word(0x0f8a7ea5).MustStoreUInt(4, 64), 100).MustStoreAddr(friendly(bob)).MustStoreAddr(friendly(alice)).MustStoreBoolBit(false), 1))
			list := recognise(t, wallets, play(alice, step{to: aliceWallet, value: 9, body: body, then: []step{{to: bobWallet, value: 8, body: internalOrder(100, alice)}}}))
			details(t, list, "jetton_transfer", "forward_payload", c.want)
		})
	}
}

func TestToncoinsAreWrappedByTheMastersOfEachNetwork(t *testing.T) {
	for _, text := range []string{
		"EQCM3B12QK1e4yZSf8GtBRT0aLMNyEsBc_DhVfRRtOEffLez", "EQBnGWMCf3-FZZq1W4IWcWiGAc3PHuZ0_H-7sad2oY00o83S",
		"kQAcOvXSnnOhCdLYc6up2ECYwtNNTzlmOlidBeCs5cFPV7AM", "kQACS30DNoUQ7NfApPvzh7eBmSZ9L4ygJ-lkNWtba8TQT-Px",
	} {
		facts := known{jettons(routerTON, router, addressOf(text))}
		list := recognise(t, facts, play(alice, step{to: routerTON, value: 9, body: transferOrder(100, bob), then: []step{{to: bob, value: 1, body: word(0x7362d09c)}}}))
		wants(t, list, "jetton_transfer")
		details(t, list, "jetton_transfer", "asset", addressOf(text), "sender_jetton_wallet", nil)
	}
}
