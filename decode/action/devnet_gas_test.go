package action_test

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	tonutils "github.com/xssnick/tonutils-go/address"

	"tonscribe/decode/action"
	"tonscribe/devnet/contracts"
)

// jettons are those of a wallet.
func (s *devnet) jettons(wallet *tonutils.Address) *big.Int {
	s.Helper()
	init := s.facts.state(accountOf(wallet))
	if init == nil {
		return new(big.Int)
	}
	return init.Data.MustBeginParse().MustLoadBigCoins()
}

// Whatever value a message brings, and wherever that ends, an action succeeds where
// and only where what it says came about.
func TestActionsOfADevnetSucceedWhereTheirEffectIs(t *testing.T) {
	b := newDevnetExchange(t).fills()
	alice, share := b.alice.Address, b.poolX.Share(b.alice.Address)
	b.mints(b.x, b.bob.Address, 1_000)
	aliceX, bobX := b.x.walletOf(alice), b.x.walletOf(b.bob.Address)
	swap := b.swap(1, b.poolX)
	swap.Amount = big.NewInt(10)
	route := b.swap(1, b.cross)
	half := contracts.ExchangeDeposit{QueryID: 1, Pool: b.poolX, Targets: [2]*big.Int{big.NewInt(10), big.NewInt(40)}}
	for _, op := range []struct {
		kind string
		send func(value *big.Int) contracts.Message
		// wallet is where the amount of the action, the detail of that name, is then:
		// more or, for burns, less.
		wallet *tonutils.Address
		amount string
		first  []contracts.Message // sent before
	}{
		{"jetton_transfer", func(value *big.Int) contracts.Message {
			return pays(aliceX, value, contracts.JettonTransferBody(contracts.JettonTransfer{Amount: big.NewInt(7), Destination: b.bob.Address, Response: alice, ForwardValue: ton(0.002)}))
		}, bobX, "amount", nil},
		{"jetton_mint", func(value *big.Int) contracts.Message {
			return pays(b.x.master, ton(0.2), contracts.JettonMintBody(contracts.JettonMint{Amount: big.NewInt(7), To: b.bob.Address, Value: value}))
		}, bobX, "amount", nil},
		{"jetton_burn", func(value *big.Int) contracts.Message {
			return pays(aliceX, value, contracts.JettonBurnBody(1, big.NewInt(7), alice))
		}, aliceX, "amount", nil},
		{"jetton_swap", func(value *big.Int) contracts.Message { return pays(b.native, value, swap.Body()) }, aliceX, "dex_outgoing_transfer.amount", nil},
		{"jetton_swap", func(value *big.Int) contracts.Message {
			return pays(b.y.walletOf(alice), new(big.Int).Add(value, ton(0.1)), contracts.JettonTransferBody(contracts.JettonTransfer{Amount: big.NewInt(10),
				Destination: b.vaultY, Response: alice, ForwardValue: value, ForwardPayload: route.Payload()}))
		}, aliceX, "dex_outgoing_transfer.amount", nil},
		{"dex_withdraw_liquidity", func(value *big.Int) contracts.Message {
			return pays(share, value, contracts.JettonBurnBody(1, big.NewInt(20), alice))
		}, aliceX, "amount_2", nil},
		{"dex_deposit_liquidity", func(value *big.Int) contracts.Message { return b.toncoins(half, 10, float64(value.Int64())/1e9) }, share, "lp_tokens_minted", []contracts.Message{b.gives(b.x, 40, 0.3, half.Payload())}},
	} {
		from := b.alice
		if op.kind == "jetton_mint" {
			from = b.admin
		}
		worked, failed := 0, 0
		for value := 0.0005; value < 0.6; value *= 1.35 {
			if op.first != nil {
				b.act(from, op.first...)
			}
			before := b.jettons(op.wallet)
			list := b.act(from, op.send(ton(value)))
			change := new(big.Int).Sub(b.jettons(op.wallet), before)
			name := fmt.Sprintf("%s with %g TON", op.kind, value)
			at := slices.IndexFunc(list, func(a *action.Action) bool { return a.Type.Name == op.kind })
			if at < 0 || !list[at].Success {
				if failed++; change.Sign() != 0 {
					b.Errorf("%s: actions %q, and yet the wallet has %s more", name, summaries(list), change)
				}
				continue
			}
			worked++
			if got := said(list[at])[op.amount]; got != strings.TrimPrefix(change.String(), "-") || change.Sign() == 0 {
				b.Errorf("%s: %s %s, but the wallet has %s more", name, op.amount, got, change)
			}
		}
		if b.Logf("%s: %d worked, %d did not", op.kind, worked, failed); worked == 0 || failed == 0 {
			b.Errorf("%s: %d worked and %d did not, want some of both", op.kind, worked, failed)
		}
	}
}
