package action_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/decode/action"
)

var (
	teleport    = account(0x81)
	pegout      = account(0x82)
	coordinator = account(0x83)
	bitcoinHash = append([]byte{1}, bytes.Repeat([]byte{2}, 31)...)
	bitcoinTx   = strings.Repeat("02", 31) + "01"
	keyText     = "1" + strings.Repeat("02", 31)
)

func mintLog() step {
	return step{body: coins(word(0x77a80ef3), 90).MustStoreAddr(friendly(alice)).MustStoreSlice(bitcoinHash, 256)}
}

func TestTgBTCAreMintedAtTheEndOfAChainOfChecks(t *testing.T) {
	mint := coins(word(0x642b7d07).MustStoreUInt(4, 64).MustStoreAddr(friendly(alice)), 5)
	chain := func(start uint64, checks int, last step) step {
		s := step{to: teleport, value: 60, body: word(0xe42a879b), then: []step{mintLog(), {to: master, value: 50, body: mint, then: []step{last}}}}
		for range checks {
			s = step{to: market, value: 70, body: word(0xeffe02da), then: []step{s}}
		}
		return step{to: teleport, value: 80, body: word(start), then: []step{s}}
	}
	got := step{to: aliceWallet, value: 40, body: internalOrder(90, teleport), then: []step{excess()}}
	refused := got
	refused.aborted, refused.then = true, nil
	for what, c := range map[string]struct {
		step step
		want []string
	}{
		"no check":         {chain(0x3f781d24, 0, got), []string{"tgbtc_mint"}},
		"many checks":      {chain(0x3f781d24, 30, got), []string{"tgbtc_mint"}},
		"refused":          {chain(0x3f781d24, 1, refused), []string{"tgbtc_mint!"}},
		"begun otherwise":  {chain(0x3f781d25, 0, got), []string{"call_contract", "call_contract", "tgbtc_mint_fallback", "jetton_mint"}},
		"only told by log": {step{to: teleport, value: 60, body: word(1), then: []step{mintLog()}}, []string{"call_contract", "tgbtc_mint_fallback"}},
	} {
		t.Run(what, func(t *testing.T) {
			list := outermost(t, wallets, play(bob, c.step))
			wants(t, list, c.want...)
			switch len(c.want) {
			case 1:
				details(t, list, c.want[0], "source", bob, "destination", alice, "amount", 90, "asset", master, "bitcoin_tx_id", bitcoinTx,
					"destination_wallet", aliceWallet)
			default:
				details(t, list, "tgbtc_mint_fallback", "source", teleport, "destination", alice, "amount", 90, "asset", nil,
					"bitcoin_tx_id", bitcoinTx, "destination_wallet", nil)
			}
		})
	}
	list := outermost(t, action.NoFacts{}, play(bob, chain(0x3f781d24, 0, got)))
	wants(t, list, "tgbtc_mint")
	details(t, list, "tgbtc_mint", "asset", master, "destination_wallet", aliceWallet)
	broken := step{to: teleport, value: 60, body: word(1), then: []step{{body: word(0x77a80ef3)}}}
	wants(t, outermost(t, wallets, play(bob, broken)), "call_contract")
}

func TestTgBTCAreBurntForAPegout(t *testing.T) {
	log := func(sender []byte) step {
		return step{body: coins(word(0xca444ce6), 80).MustStoreAddr(friendly(sender)).MustStoreAddr(friendly(pegout))}
	}
	deployed := step{to: pegout, value: 5, body: word(0xbe44e7a6), then: []step{{to: coordinator, value: 1, body: word(0x1a84c0e0)}, {to: alice, value: 3}}}
	burn := func(op uint64, then ...step) step {
		return step{to: aliceWallet, value: 9, body: coins(word(0x595f07bc).MustStoreUInt(4, 64), 100).MustStoreAddr(friendly(alice)).MustStoreBoolBit(false),
			then: []step{{to: master, value: 8, body: word(0x7bdd97de), then: []step{{to: teleport, value: 7, body: word(op), then: then}}}}}
	}
	list := outermost(t, wallets, play(alice, burn(0x7bdd97de, log(alice), deployed)))
	wants(t, list, "tgbtc_burn")
	details(t, list, "tgbtc_burn", "source", alice, "source_wallet", aliceWallet, "destination", pegout, "amount", 80, "asset", master)
	wants(t, outermost(t, wallets, play(alice, burn(0x587643a2, log(alice)))), "tgbtc_burn")
	list = outermost(t, wallets, play(alice, burn(0x7bdd97de, log(carol), deployed))) // a log of other fields
	details(t, list, "tgbtc_burn", "amount", 100, "destination", nil)
	wants(t, outermost(t, wallets, play(alice, burn(0x7bdd97de, deployed))), "jetton_burn", "call_contract", "call_contract", "call_contract", "ton_transfer")
	list = outermost(t, wallets, play(alice, step{to: teleport, value: 7, body: word(0x587643a2), then: []step{log(alice)}}))
	wants(t, list, "call_contract", "tgbtc_burn_fallback")
	details(t, list, "tgbtc_burn_fallback", "source", alice, "source_wallet", nil, "destination", pegout, "amount", 80, "asset", nil)
}

func TestTgBTCGetsANewKey(t *testing.T) {
	key := func(b *cell.Builder) *cell.Builder { return b.MustStoreSlice(bitcoinHash, 256) }
	made := step{body: key(word(0x453443a6).MustStoreUInt(1748619032, 64))}
	taken := step{body: key(coins(word(0x27756729), 70)).MustStoreAddr(friendly(pegout))}
	ready := func(then ...step) step { return step{to: teleport, value: 9, body: word(0x690f357a), then: then} }
	list := outermost(t, action.NoFacts{}, play(coordinator, ready(taken), made))
	wants(t, list, "tgbtc_new_key")
	details(t, list, "tgbtc_new_key", "source", coordinator, "pubkey", keyText, "coordinator", teleport, "pegout", pegout, "amount", 70, "asset", nil)
	// What had the coordinator make the key is a part of it, whoever sent that.
	list = outermost(t, action.NoFacts{}, play(alice, step{to: coordinator, value: 10, body: word(0x8e497b8f), then: []step{ready(taken), made}}))
	wants(t, list, "tgbtc_new_key")
	details(t, list, "tgbtc_new_key", "source", coordinator, "coordinator", teleport, "pegout", pegout)
	list = outermost(t, action.NoFacts{}, play(coordinator, ready(), made))
	wants(t, list, "call_contract", "tgbtc_dkg_log_fallback")
	details(t, list, "tgbtc_dkg_log_fallback", "coordinator", coordinator, "pubkey", keyText, "timestamp", 1748619032)
	list = outermost(t, action.NoFacts{}, play(coordinator, ready(taken)))
	wants(t, list, "call_contract", "tgbtc_new_key_fallback")
	details(t, list, "tgbtc_new_key_fallback", "source", nil, "pubkey", keyText, "coordinator", teleport, "pegout", pegout, "amount", 70)
}
