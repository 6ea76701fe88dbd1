package contracts_test

import (
	"math/big"
	"testing"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/ton/jetton"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/contracts"
)

var (
	admin = user(0xaa)
	alice = user(0x01)
	bob   = user(0x02)
)

type jettons struct {
	*world
	minter               contracts.JettonMinter
	master, alice1, bob1 *address.Address
}

// newJettons has a minter and 1000 jettons of alice.
func newJettons(t testing.TB) jettons {
	t.Helper()
	w := newWorld(t)
	minter := contracts.JettonMinter{Admin: admin, Content: contracts.OnchainContent(map[string]string{"name": "Scribe", "symbol": "SCR", "decimals": "6"})}
	j := jettons{world: w, minter: minter, master: minter.Address(0)}
	j.alice1, j.bob1 = minter.Wallet(0, alice).Address(0), minter.Wallet(0, bob).Address(0)
	w.deploy(j.master, minter.StateInit(), ton(1))
	trace := w.send(admin, j.master, ton(0.2), contracts.JettonMintBody(contracts.JettonMint{
		QueryID: 1, Amount: big.NewInt(1000), To: alice, Value: ton(0.1), From: admin, Response: admin, ForwardValue: big.NewInt(1),
	}))
	expect(t, trace, hop{to: j.master, op: 0x642b7d07}, hop{to: j.alice1, op: 0x178d4519}, hop{to: alice, op: 0x7362d09c}, hop{to: admin, op: 0xd53276db})
	return j
}

func (j jettons) jettonsOf(wallet *address.Address) int64 {
	j.t.Helper()
	return intIn(j.t, j.get(wallet, "get_wallet_data")[0]).Int64()
}

func (j jettons) supply() int64 {
	j.t.Helper()
	return intIn(j.t, j.get(j.master, "get_jetton_data")[0]).Int64()
}

func TestMintedJettonsAreInTheWalletOfTheirOwner(t *testing.T) {
	j := newJettons(t)
	expectValues(t, "get_wallet_data", j.get(j.alice1, "get_wallet_data"), 1000, alice, j.master, contracts.Code(contracts.JettonWalletCode))
	expectValues(t, "get_jetton_data", j.get(j.master, "get_jetton_data"), 1000, true, admin, j.minter.Content, contracts.Code(contracts.JettonWalletCode))
	expectValues(t, "get_wallet_address", j.get(j.master, "get_wallet_address", slice(bob)), j.bob1)
}

func TestOldNumberOfMintIsUnderstood(t *testing.T) {
	j := newJettons(t)
	j.send(admin, j.master, ton(0.2), contracts.JettonMintBody(contracts.JettonMint{Amount: big.NewInt(5), To: bob, Value: ton(0.1), Old: true}))
	if got := j.jettonsOf(j.bob1); got != 5 {
		t.Errorf("bob has %d jettons, want 5", got)
	}
}

func TestOnlyTheAdminMints(t *testing.T) {
	j := newJettons(t)
	trace := j.send(bob, j.master, ton(0.2), contracts.JettonMintBody(contracts.JettonMint{Amount: big.NewInt(5), To: bob, Value: ton(0.1)}))
	expect(t, trace, hop{to: j.master, op: 0x642b7d07, fails: true}, hop{to: bob, op: 0xffffffff})
	if trace[0].ExitCode != 73 || j.supply() != 1000 {
		t.Errorf("exit code %d and supply %d, want 73 and 1000", trace[0].ExitCode, j.supply())
	}
}

func TestTransferMovesJettonsAndNotifies(t *testing.T) {
	j := newJettons(t)
	comment := contracts.CommentBody("for the book")
	body := contracts.JettonTransferBody(contracts.JettonTransfer{
		QueryID: 7, Amount: big.NewInt(300), Destination: bob, Response: alice, ForwardValue: ton(0.01), ForwardPayload: comment,
	})
	var parsed jetton.TransferPayload
	if err := tlb.Parse(&parsed, body); err != nil {
		t.Fatal(err)
	}
	expectValues(t, "transfer as tonutils-go reads it",
		[]any{parsed.QueryID, parsed.Amount.Nano(), parsed.Destination, parsed.ResponseDestination, parsed.ForwardTONAmount.Nano(), parsed.ForwardPayload},
		7, 300, bob, alice, 10_000_000, comment)

	trace := j.send(alice, j.alice1, ton(0.1), body)
	expect(t, trace, hop{to: j.alice1, op: 0x0f8a7ea5}, hop{to: j.bob1, op: 0x178d4519}, hop{to: bob, op: 0x7362d09c}, hop{to: alice, op: 0xd53276db})
	if a, b := j.jettonsOf(j.alice1), j.jettonsOf(j.bob1); a != 700 || b != 300 {
		t.Errorf("alice has %d and bob %d jettons, want 700 and 300", a, b)
	}
	var notification jetton.TransferNotification
	if err := tlb.Parse(&notification, trace[2].message.Msg.Payload()); err != nil {
		t.Fatal(err)
	}
	expectValues(t, "notification",
		[]any{notification.QueryID, notification.Amount.Nano(), notification.Sender, notification.ForwardPayload, trace[2].message.AsInternal().Amount.Nano()},
		7, 300, alice, comment, 10_000_000)
	if back := trace[3].message.AsInternal().Amount.Nano(); back.Cmp(ton(0.06)) < 0 {
		t.Errorf("of 0.1 TON %s nanotons come back, want at least 0.06 TON", back)
	}
}

func TestTransferWithoutForwardValueDoesNotNotify(t *testing.T) {
	j := newJettons(t)
	trace := j.send(alice, j.alice1, ton(0.05), contracts.JettonTransferBody(contracts.JettonTransfer{Amount: big.NewInt(1), Destination: bob, Response: alice}))
	expect(t, trace, hop{to: j.alice1, op: 0x0f8a7ea5}, hop{to: j.bob1, op: 0x178d4519}, hop{to: alice, op: 0xd53276db})
}

func TestTransferIsRefused(t *testing.T) {
	for name, one := range map[string]struct {
		from  *address.Address
		value *big.Int
		body  contracts.JettonTransfer
		exit  int64
	}{
		"from another than the owner": {bob, ton(0.1), contracts.JettonTransfer{Amount: big.NewInt(1), Destination: bob}, 705},
		"of more than there is":       {alice, ton(0.1), contracts.JettonTransfer{Amount: big.NewInt(1001), Destination: bob}, 706},
		"with too little value":       {alice, ton(0.02), contracts.JettonTransfer{Amount: big.NewInt(1), Destination: bob, ForwardValue: ton(0.01)}, 709},
		"to the masterchain":          {alice, ton(0.1), contracts.JettonTransfer{Amount: big.NewInt(1), Destination: userOf(-1, 1)}, 333},
	} {
		t.Run(name, func(t *testing.T) {
			j := newJettons(t)
			trace := j.send(one.from, j.alice1, one.value, contracts.JettonTransferBody(one.body))
			if len(trace) != 2 || trace[0].ExitCode != one.exit || trace[1].op() != 0xffffffff {
				t.Errorf("trace is %s\nwant exit code %d and a bounce", text(trace), one.exit)
			}
			if got := j.jettonsOf(j.alice1); got != 1000 {
				t.Errorf("alice has %d jettons, want 1000", got)
			}
		})
	}
}

// A wallet whose code does not know the message bounces it; the jettons come
// back.
func TestBouncedTransferRestoresTheBalance(t *testing.T) {
	j := newJettons(t)
	// In the place of bob's wallet stands something else.
	j.place(j.bob1, &tlb.StateInit{Code: contracts.Code(contracts.NFTItemCode), Data: contracts.NFTItem{Collection: admin}.StateInit().Data}, ton(1))
	trace := j.send(alice, j.alice1, ton(0.1), contracts.JettonTransferBody(contracts.JettonTransfer{Amount: big.NewInt(300), Destination: bob, Response: alice}))
	expect(t, trace, hop{to: j.alice1, op: 0x0f8a7ea5}, hop{to: j.bob1, op: 0x178d4519, fails: true}, hop{to: j.alice1, op: 0xffffffff})
	if got := j.jettonsOf(j.alice1); got != 1000 {
		t.Errorf("alice has %d jettons, want 1000", got)
	}
}

func TestBouncedMintRestoresTheSupply(t *testing.T) {
	j := newJettons(t)
	j.place(j.bob1, &tlb.StateInit{Code: contracts.Code(contracts.NFTItemCode), Data: contracts.NFTItem{Collection: admin}.StateInit().Data}, ton(1))
	trace := j.send(admin, j.master, ton(0.2), contracts.JettonMintBody(contracts.JettonMint{Amount: big.NewInt(50), To: bob, Value: ton(0.1)}))
	expect(t, trace, hop{to: j.master, op: 0x642b7d07}, hop{to: j.bob1, op: 0x178d4519, fails: true}, hop{to: j.master, op: 0xffffffff})
	if got := j.supply(); got != 1000 {
		t.Errorf("supply is %d, want 1000", got)
	}
}

func TestForgedInternalTransferIsRefused(t *testing.T) {
	j := newJettons(t)
	forged := cell.BeginCell().MustStoreUInt(0x178d4519, 32).MustStoreUInt(0, 64).MustStoreBigCoins(big.NewInt(10)).
		MustStoreAddr(bob).MustStoreAddr(nil).MustStoreBigCoins(new(big.Int)).MustStoreBoolBit(false).EndCell()
	trace := j.send(bob, j.alice1, ton(0.1), forged)
	if trace[0].ExitCode != 707 || j.jettonsOf(j.alice1) != 1000 {
		t.Errorf("exit code %d and %d jettons, want 707 and 1000", trace[0].ExitCode, j.jettonsOf(j.alice1))
	}
}

func TestBurnLessensTheSupply(t *testing.T) {
	j := newJettons(t)
	body := contracts.JettonBurnBody(3, big.NewInt(400), alice)
	var parsed jetton.BurnPayload
	if err := tlb.Parse(&parsed, body); err != nil {
		t.Fatal(err)
	}
	trace := j.send(alice, j.alice1, ton(0.1), body)
	expect(t, trace, hop{to: j.alice1, op: 0x595f07bc}, hop{to: j.master, op: 0x7bdd97de}, hop{to: alice, op: 0xd53276db})
	if a, s := j.jettonsOf(j.alice1), j.supply(); a != 600 || s != 600 {
		t.Errorf("alice has %d of %d jettons, want 600 of 600", a, s)
	}
}

func TestWalletAddressIsProvided(t *testing.T) {
	j := newJettons(t)
	trace := j.send(bob, j.master, ton(0.1), contracts.ProvideWalletAddressBody(9, alice, true))
	expect(t, trace, hop{to: j.master, op: 0x2c76b973}, hop{to: bob, op: 0xd1735400})
	answer := trace[1].payload()
	got := []any{answer.MustLoadUInt(64), answer.MustLoadAddr()}
	owner := answer.MustLoadBoolBit()
	got = append(got, owner, answer.MustLoadRef().MustLoadAddr())
	expectValues(t, "take_wallet_address", got, 9, j.alice1, true, alice)

	trace = j.send(bob, j.master, ton(0.1), contracts.ProvideWalletAddressBody(9, userOf(-1, 1), false))
	answer = trace[1].payload()
	answer.MustLoadUInt(64)
	expectValues(t, "for the masterchain", []any{answer.MustLoadAddr(), answer.MustLoadBoolBit()}, none, false)
}

func TestAdminAndContentChange(t *testing.T) {
	j := newJettons(t)
	file := "https://example.com/jetton.json"
	j.send(admin, j.master, ton(0.1), contracts.JettonChangeMetadataBody(1, file))
	expectValues(t, "content", j.get(j.master, "get_jetton_data")[3:4], contracts.OffchainContent(file))
	j.send(admin, j.master, ton(0.1), contracts.JettonChangeContentBody(1, j.minter.Content))
	expectValues(t, "content", j.get(j.master, "get_jetton_data")[3:4], j.minter.Content)
	j.send(admin, j.master, ton(0.1), contracts.JettonChangeAdminBody(1, bob))
	expectValues(t, "admin", j.get(j.master, "get_jetton_data")[1:3], true, bob)
	if trace := j.send(admin, j.master, ton(0.1), contracts.JettonChangeAdminBody(1, admin)); trace[0].ExitCode != 73 {
		t.Errorf("the former admin gets exit code %d, want 73", trace[0].ExitCode)
	}
	j.send(bob, j.master, ton(0.1), contracts.JettonChangeAdminBody(1, nil))
	expectValues(t, "admin", j.get(j.master, "get_jetton_data")[1:3], false, none)
}
