package action_test

import (
	"encoding/hex"
	"math/big"
	"testing"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/decode/action"
	"tonscribe/schema/record"
)

var (
	evaaMaster   = account(0x61)
	evaaUser     = account(0x62)
	evaaWallet   = account(0x63) // of the master
	evaaBorrower = bob
	evaaFacts    = known{wallet(aliceWallet, alice), wallet(evaaWallet, evaaMaster), wallet(bobWallet, bob)}
	tonAsset, _  = hex.DecodeString("1a4219fe5e60d63af2a3cc7dce6fec69b45c6b5718497a6148e7c232ac87bd8a")
	usdtAsset, _ = hex.DecodeString("ca9006bd3fb03d355daeeff93b24be90afaa6e3ca0073ff5720f8a852c933278")
	otherAsset   = append(make([]byte, 31), 9)
)

// toUser is a message to a contract of a user, with its header before the opcode.
func toUser(opcode uint64, version int64, code bool) *cell.Builder {
	b := coins(cell.BeginCell(), version).MustStoreBoolBit(code)
	if code {
		b.MustStoreRef(cell.BeginCell().EndCell())
	}
	return b.MustStoreUInt(3, 2).MustStoreUInt(opcode, 32).MustStoreUInt(4, 64)
}

func asset(b *cell.Builder, id []byte) *cell.Builder { return b.MustStoreSlice(id, 256) }

// jettonsTo is a transfer of jettons from one's wallet to another's, with a payload,
// and what the receiver did with it.
func jettonsTo(from, to, fromWallet, toWallet []byte, amount int64, payload *cell.Builder, then ...step) step {
	order := coins(word(0x0f8a7ea5).MustStoreUInt(4, 64), amount).MustStoreAddr(friendly(to)).MustStoreAddr(friendly(from)).MustStoreBoolBit(false)
	order = coins(order, 1).MustStoreBoolBit(true).MustStoreRef(payload.EndCell())
	return step{to: fromWallet, value: 90, body: order, then: []step{
		{to: toWallet, value: 80, body: internalOrder(amount, from), then: []step{
			{to: to, value: 70, body: word(0x7362d09c), then: then},
		}},
	}}
}

func TestASupplyToEVAAIsWhatTheUsersContractTook(t *testing.T) {
	supplied := func(op uint64, amount uint64, s step) step {
		s.to, s.value = evaaMaster, 50
		s.body = asset(word(op).MustStoreUInt(4, 64).MustStoreAddr(friendly(bob)), tonAsset).MustStoreUInt(amount, 64)
		return s
	}
	user := func(id []byte, s step, then ...step) step {
		s.to, s.value, s.then = evaaUser, 60, then
		s.body = asset(toUser(0x11, 300, true), id).MustStoreUInt(1000, 64)
		return s
	}
	toncoins := func(then ...step) step {
		return step{to: evaaMaster, value: 1400, then: then,
			body: word(1).MustStoreUInt(4, 64).MustStoreUInt(3, 2).MustStoreUInt(1000, 64).MustStoreAddr(friendly(bob))}
	}
	jettons := func(to []byte, then ...step) step {
		return jettonsTo(alice, evaaMaster, aliceWallet, evaaWallet, 1000, word(1).MustStoreUInt(3, 2).MustStoreAddr(friendly(to)), then...)
	}
	back := jettonsTo(evaaMaster, bob, evaaWallet, bobWallet, 1000, cell.BeginCell())
	rest := step{to: bob, value: 40, body: comment("EVAA supply.")}
	for what, c := range map[string]struct {
		step step
		want []string
		pair []any
	}{
		"toncoins": {toncoins(user(tonAsset, step{}, supplied(0x11a, 990, step{then: []step{rest}}))), []string{"evaa_supply"},
			[]any{"is_ton", true, "asset", nil, "amount", 990, "source_wallet", nil, "master_jetton_wallet", nil, "recipient_jetton_wallet", nil, "recipient", bob}},
		"toncoins refused": {toncoins(user(tonAsset, step{}, supplied(0x11f, 1000, step{}))), []string{"evaa_supply!"},
			[]any{"is_ton", true, "asset", nil, "amount", 1000, "recipient", bob}},
		"the master does not hear": {toncoins(user(tonAsset, step{}, supplied(0x11a, 1000, step{aborted: true}))), []string{"evaa_supply!"}, nil},
		"jettons for oneself": {jettons(alice, user(usdtAsset, step{}, supplied(0x11a, 1000, step{}))), []string{"evaa_supply"},
			[]any{"is_ton", false, "asset", master, "amount", 1000, "source_wallet", aliceWallet, "master_jetton_wallet", evaaWallet,
				"recipient_jetton_wallet", aliceWallet, "recipient", alice, "sender_jetton_wallet", nil}},
		"jettons for somebody": {jettons(bob, user(usdtAsset, step{}, supplied(0x11a, 1000, step{}))), []string{"evaa_supply"},
			[]any{"recipient_jetton_wallet", nil, "recipient", bob}},
		"jettons refused": {jettons(alice, user(usdtAsset, step{}, supplied(0x11f, 1000, step{then: []step{back}}))),
			[]string{"evaa_supply!", "jetton_transfer"}, []any{"amount", 1000, "recipient_jetton_wallet", aliceWallet}},
		"toncoins, with data for a contract": {toncoins(user(tonAsset, step{}, supplied(0x11a, 990, step{then: []step{{to: bob, value: 40, body: word(0x11ae)}}}))),
			[]string{"evaa_supply"}, []any{"amount", 990}},
		"toncoins returned": {toncoins(user(tonAsset, step{}, supplied(0x11f, 1000, step{then: []step{{to: alice, value: 1040, body: word(0x11ae1)}}}))),
			[]string{"evaa_supply!"}, []any{"amount", 1000}},
		"toncoins that the user's contract cannot take": {toncoins(user(tonAsset, step{}, step{to: evaaMaster, value: 50, body: word(0xf), then: []step{{to: alice, value: 1040}}})),
			[]string{"evaa_supply!", "ton_transfer"}, []any{"amount", 1000}},
		"jettons that the user's contract cannot take": {jettons(alice, user(usdtAsset, step{}, step{to: evaaMaster, value: 50, body: word(0xf), then: []step{back}})),
			[]string{"evaa_supply!", "jetton_transfer"}, []any{"amount", 1000, "asset", master}},
		"jettons returned": {jettons(bob, user(usdtAsset, step{}, back)), []string{"evaa_supply!"}, nil},
		"the user's contract refuses all": {toncoins(user(tonAsset, step{aborted: true, bounce: true}, bounceOf(evaaMaster, word(1)))),
			[]string{"call_contract", "call_contract!", "call_contract"}, nil},
		"something else with the opcode": {toncoins(step{to: evaaUser, value: 60, body: word(0x11)}), []string{"call_contract", "call_contract"}, nil},
	} {
		t.Run(what, func(t *testing.T) {
			list := outermost(t, evaaFacts, play(alice, c.step))
			wants(t, list, c.want...)
			if c.pair != nil {
				details(t, list, c.want[0], append([]any{"master", evaaMaster, "source", alice, "recipient_contract", evaaUser}, c.pair...)...)
			}
		})
	}
}

func TestAWithdrawalFromEVAAIsPaidOrRefusedForAReason(t *testing.T) {
	withdraw := func(id []byte, then ...step) step {
		return step{to: evaaMaster, value: 350, body: asset(word(2).MustStoreUInt(4, 64), id).MustStoreUInt(1<<63, 64).MustStoreAddr(friendly(bob)),
			then: []step{{to: evaaUser, value: 300, body: asset(toUser(0x21, 6, false), id), then: then}}}
	}
	approved := func(then ...step) step {
		return step{to: evaaMaster, value: 250, then: then,
			body: asset(word(0x211).MustStoreUInt(4, 64).MustStoreAddr(friendly(alice)), tonAsset).MustStoreUInt(417, 64)}
	}
	saved := step{to: evaaUser, value: 30, body: toUser(0x211a, 6, false), then: []step{{to: alice, value: 20, body: comment("EVAA withdraw.")}}}
	paid := func(s step) step {
		s.to, s.value, s.body = bob, 500, word(0x211a).MustStoreUInt(4, 64)
		return s
	}
	payout := jettonsTo(evaaMaster, bob, evaaWallet, bobWallet, 417, word(0x211a))
	refusedPayout := payout
	refusedPayout.aborted, refusedPayout.bounce, refusedPayout.then = true, true, []step{bounceOf(evaaMaster, word(0x0f8a7ea5))}
	for what, c := range map[string]struct {
		step step
		want string
		pair []any
	}{
		"toncoins":                      {withdraw(tonAsset, approved(saved, paid(step{}))), "evaa_withdraw", []any{"asset", nil, "amount", 417, "fail_reason", nil, "recipient_jetton_wallet", nil}},
		"toncoins to who does not hear": {withdraw(tonAsset, approved(saved, paid(step{aborted: true}))), "evaa_withdraw", nil},
		"toncoins that come back":       {withdraw(tonAsset, approved(saved, paid(step{aborted: true, bounce: true}))), "evaa_withdraw!", nil},
		"jettons": {withdraw(usdtAsset, approved(saved, payout)), "evaa_withdraw",
			[]any{"asset", master, "amount", 417, "recipient_jetton_wallet", bobWallet, "master_jetton_wallet", evaaWallet,
				"asset_id", "0xca9006bd3fb03d355daeeff93b24be90afaa6e3ca0073ff5720f8a852c933278"}},
		"jettons that are asked for, toncoins that are paid": {withdraw(usdtAsset, approved(saved, paid(step{}))), "", nil},
		"no funds": {withdraw(usdtAsset, approved(step{to: evaaUser, value: 30, body: toUser(0x211f, 6, false), then: []step{
			{to: alice, value: 20, body: word(0x211fe8)}}})), "evaa_withdraw!", []any{"fail_reason", "withdraw_no_funds_excess", "amount", uint64(1 << 63), "asset", nil}},
		"locked":             {withdraw(tonAsset, step{to: alice, value: 20, body: word(0x21e6)}), "evaa_withdraw!", []any{"fail_reason", "withdraw_locked_excess"}},
		"not collateralized": {withdraw(tonAsset, step{to: alice, value: 20, body: word(0x21e7)}), "evaa_withdraw!", []any{"fail_reason", "withdraw_not_collateralized_excess"}},
		"no prices":          {withdraw(tonAsset, step{to: alice, value: 20, body: word(0x21e8)}), "evaa_withdraw!", []any{"fail_reason", "withdraw_missing_prices_excess"}},
		"no funds, and none left": {withdraw(usdtAsset, approved(step{to: evaaUser, value: 30, body: toUser(0x211f, 6, false)})), "evaa_withdraw!",
			[]any{"fail_reason", "withdraw_no_funds_excess"}},
		"not executed": {withdraw(tonAsset, step{to: evaaMaster, value: 20, body: word(0xf), then: []step{{to: alice, value: 10}}}), "evaa_withdraw!",
			[]any{"fail_reason", "unknown", "amount", uint64(1 << 63)}},
		"jettons that the wallet of EVAA refuses": {withdraw(usdtAsset, approved(saved, refusedPayout)), "evaa_withdraw!",
			[]any{"amount", 417, "recipient_jetton_wallet", nil, "master_jetton_wallet", evaaWallet, "fail_reason", nil}},
		"crashed":      {withdraw(tonAsset, step{to: alice, value: 20, body: word(0x21ec)}), "evaa_withdraw!", []any{"fail_reason", "withdraw_execution_crashed"}},
		"not answered": {withdraw(tonAsset), "", nil},
	} {
		t.Run(what, func(t *testing.T) {
			list := outermost(t, evaaFacts, play(alice, c.step))
			if c.want == "" {
				if list[0].Type.Name != "call_contract" {
					t.Errorf("it is a %s", list[0].Type.Name)
				}
				return
			}
			wants(t, list, c.want)
			details(t, list, c.want, append([]any{"master", evaaMaster, "source", alice, "recipient", bob, "owner_contract", evaaUser}, c.pair...)...)
		})
	}
}

func TestAWithdrawalFromEVAANeedsNoFactsOfWallets(t *testing.T) {
	withdraw := func(id []byte, paid step) step {
		approval := step{to: evaaMaster, value: 250, then: []step{{to: evaaUser, value: 30, body: toUser(0x211a, 6, false)}, paid},
			body: asset(word(0x211).MustStoreUInt(4, 64).MustStoreAddr(friendly(alice)), id).MustStoreUInt(417, 64)}
		return step{to: evaaMaster, value: 350, body: asset(word(2).MustStoreUInt(4, 64), id).MustStoreUInt(1<<63, 64).MustStoreAddr(friendly(bob)),
			then: []step{{to: evaaUser, value: 300, body: asset(toUser(0x21, 6, false), id), then: []step{approval}}}}
	}
	list := outermost(t, action.NoFacts{}, play(alice, withdraw(usdtAsset, jettonsTo(evaaMaster, bob, evaaWallet, bobWallet, 417, word(0x211a)))))
	wants(t, list, "evaa_withdraw")
	details(t, list, "evaa_withdraw", "amount", 417, "recipient", bob, "recipient_jetton_wallet", bobWallet, "master_jetton_wallet", evaaWallet,
		"asset", addressOf("0:B113A994B5024A16719F69139328EB759596C38A25F59028B146FECDC3621DFE"))
	onward := step{to: bob, value: 500, body: word(0x211a).MustStoreUInt(4, 64), then: []step{{to: carol, value: 400}}}
	wants(t, outermost(t, action.NoFacts{}, play(alice, withdraw(tonAsset, onward))), "evaa_withdraw", "ton_transfer")
}

func TestAnAssetOfEVAAHasAnotherMasterOnTestnet(t *testing.T) {
	id, _ := hex.DecodeString("b387968236197958ca4ac55e9b5be38e688c7631af84c86756431f49a878ef33")
	ask := asset(word(3).MustStoreUInt(4, 64).MustStoreAddr(friendly(evaaBorrower)), id).MustStoreUInt(5, 64).MustStoreUInt(3, 2).MustStoreUInt(1500, 64)
	trace := play(alice, step{to: evaaMaster, value: 2000, bounce: true, body: ask, then: []step{bounceOf(alice, word(3))}})
	main, test := addressOf("0:729C13B6DF2C07CBF0A06AB63D34AF454F3D320EC1BCD8FB5C6D24D0806A17C2"), addressOf("0:5EE20B5240CC4CE51A4C60BAF8C9D358EF617C26463E89C6571B534972C8EEF1")
	master := func(account []byte) *record.Contract {
		return &record.Contract{Account: account, JettonMaster: &record.JettonMaster{}}
	}
	for _, c := range []struct {
		facts known
		want  []byte
	}{{known{}, main}, {known{master(main)}, main}, {known{master(main), master(test)}, main}, {known{master(test)}, test}} {
		details(t, outermost(t, c.facts, trace), "evaa_liquidate!", "asset", c.want, "is_known_asset", true)
	}
}

func TestALiquidationAtEVAAGivesCollateralForDebt(t *testing.T) {
	ask := func(b *cell.Builder, liquidator bool, amount uint64) *cell.Builder {
		b.MustStoreAddr(friendly(evaaBorrower))
		if liquidator {
			b.MustStoreAddr(friendly(alice))
		}
		return asset(b, usdtAsset).MustStoreUInt(5, 64).MustStoreUInt(3, 2).MustStoreUInt(amount, 64).MustStoreRef(cell.BeginCell().EndCell())
	}
	toncoins := func(then ...step) step {
		return step{to: evaaMaster, value: 2000, bounce: true, body: ask(word(3).MustStoreUInt(4, 64), true, 1500), then: then}
	}
	jettons := func(payload *cell.Builder, then ...step) step {
		return jettonsTo(alice, evaaMaster, aliceWallet, evaaWallet, 1500, payload, then...)
	}
	user := func(then ...step) step {
		return step{to: evaaUser, value: 900, body: toUser(0x31, 6, true), then: then}
	}
	parties := func(op uint64) *cell.Builder {
		return asset(word(op).MustStoreUInt(4, 64).MustStoreAddr(friendly(evaaBorrower)).MustStoreAddr(friendly(alice)), tonAsset)
	}
	satisfied := func(then ...step) step {
		what := asset(cell.BeginCell().MustStoreUInt(1, 64).MustStoreUInt(1400, 64).MustStoreUInt(2, 64).MustStoreUInt(3, 64), otherAsset).
			MustStoreUInt(4, 64).MustStoreUInt(777, 64)
		return step{to: evaaMaster, value: 800, body: parties(0x311).MustStoreRef(what.EndCell()), then: then}
	}
	unsatisfied := func(reason func(*cell.Builder) *cell.Builder, then ...step) step {
		what := asset(cell.BeginCell().MustStoreUInt(1500, 64), usdtAsset).MustStoreUInt(5, 64)
		return step{to: evaaMaster, value: 800, body: parties(0x31f).MustStoreRef(reason(what).EndCell()), then: then}
	}
	saved := step{to: evaaUser, value: 30, body: toUser(0x311a, 6, false), then: []step{{to: alice, value: 20, body: comment("EVAA liquidation.")}}}
	reverted := step{to: evaaUser, value: 30, body: toUser(0x311f, 6, false)}
	report := step{to: alice, value: 700, body: word(0x311d)}
	reward := jettonsTo(evaaMaster, alice, evaaWallet, aliceWallet, 777, word(0x311d))
	refusedReward, otherReward := reward, jettonsTo(evaaMaster, alice, evaaWallet, aliceWallet, 776, word(0x311d))
	refusedReward.aborted, refusedReward.bounce, refusedReward.then = true, true, []step{bounceOf(evaaMaster, word(0x0f8a7ea5))}
	usdt := "0xca9006bd3fb03d355daeeff93b24be90afaa6e3ca0073ff5720f8a852c933278"
	for what, c := range map[string]struct {
		step step
		want string
		pair []any
	}{
		"toncoins of debt": {toncoins(user(satisfied(saved, reward))), "evaa_liquidate",
			[]any{"debt_amount", 1400, "amount", 777, "collateral", "9", "asset_id", "0x9", "asset", nil, "is_known_asset", false, "fail_reason", nil, "borrower_contract", evaaUser}},
		"collateral that the wallet of EVAA refuses": {toncoins(user(satisfied(saved, refusedReward))), "evaa_liquidate!",
			[]any{"debt_amount", 1400, "amount", 777, "fail_reason", nil}},
		"less collateral than is named": {toncoins(user(satisfied(saved, otherReward))), "evaa_liquidate!", []any{"amount", 777, "fail_reason", nil}},
		"a report that comes back": {jettons(ask(word(3), true, 0), user(satisfied(saved, step{to: alice, value: 700, body: word(0x311d), aborted: true, bounce: true}))),
			"evaa_liquidate!", []any{"fail_reason", nil}},
		"jettons of debt":            {jettons(ask(word(3), true, 0), user(satisfied(saved, report))), "evaa_liquidate", []any{"debt_amount", 1400, "amount", 777}},
		"by a request of today":      {jettons(ask(word(3), false, 0), user(satisfied(saved, report))), "evaa_liquidate", nil},
		"by a request with a number": {jettons(ask(word(3).MustStoreUInt(4, 64), true, 0), user(satisfied(saved, report))), "evaa_liquidate", nil},
		"nothing to pay with": {toncoins(user(satisfied(reverted, report))), "evaa_liquidate!",
			[]any{"fail_reason", "master_not_enough_liquidity", "debt_amount", 1500, "amount", 0, "collateral", new(big.Int).SetBytes(usdtAsset), "asset_id", usdt,
				"asset", addressOf("0:B113A994B5024A16719F69139328EB759596C38A25F59028B146FECDC3621DFE"), "is_known_asset", true}},
		"healthy": {toncoins(user(unsatisfied(func(b *cell.Builder) *cell.Builder { return b.MustStoreUInt(0, 64).MustStoreUInt(0x31f2, 32) }, report))),
			"evaa_liquidate!", []any{"fail_reason", "not_liquidatable", "debt_amount", 1500}},
		"too little": {toncoins(user(unsatisfied(func(b *cell.Builder) *cell.Builder { return coins(b, 0).MustStoreUInt(0x31f3, 32).MustStoreUInt(4, 64) }))),
			"evaa_liquidate!", []any{"fail_reason", "min_collateral_not_satisfied"}},
		"for a reason of another version": {jettons(ask(word(3), true, 0), user(unsatisfied(func(b *cell.Builder) *cell.Builder { return b.MustStoreUInt(7, 32) }, reward))),
			"evaa_liquidate!", []any{"fail_reason", "unknown", "debt_amount", 1500}},
		"for a reason of an account in an account": {toncoins(user(unsatisfied(func(b *cell.Builder) *cell.Builder {
			return b.MustStoreUInt(1, 16).MustStoreUInt(0x31f4, 32).MustStoreUInt(4, 64)
		}, report))),
			"evaa_liquidate!", []any{"fail_reason", "user_not_enough_collateral"}},
		"toncoins, and the master crashes": {toncoins(user(satisfied(reverted, step{to: alice, value: 700, body: word(0x31fe)}))), "evaa_liquidate!",
			[]any{"fail_reason", "execution_crashed", "debt_amount", 1500}},
		"jettons, and the master crashes": {jettons(ask(word(3), true, 0), user(satisfied(reverted, jettonsTo(evaaMaster, alice, evaaWallet, aliceWallet, 1500, word(0x31fe))))),
			"evaa_liquidate!", []any{"fail_reason", "execution_crashed", "debt_amount", 1500}},
		"not executed": {toncoins(user(step{to: evaaMaster, value: 800, body: word(0xf), then: []step{{to: alice, value: 700}}})), "evaa_liquidate!",
			[]any{"fail_reason", "unknown", "debt_amount", 1500, "borrower_contract", evaaUser}},
		"jettons rejected": {jettons(ask(word(3), true, 0), reward), "evaa_liquidate!", []any{"fail_reason", "immediate_rejection", "borrower_contract", nil, "debt_amount", 1500}},
		"toncoins with a reason": {toncoins(step{to: alice, value: 1900, body: word(0x30f1).MustStoreUInt(9, 64)}), "evaa_liquidate!",
			[]any{"fail_reason", "immediate_rejection", "borrower_contract", nil, "debt_amount", 1500}},
		"toncoins back for a reason": {toncoins(user(unsatisfied(func(b *cell.Builder) *cell.Builder { return b.MustStoreUInt(0, 64).MustStoreUInt(0x31f5, 32) },
			step{to: alice, value: 700, body: word(0x31f5)}))), "evaa_liquidate!", []any{"fail_reason", "user_liquidating_too_much"}},
		"toncoins rejected":     {toncoins(bounceOf(alice, word(3))), "evaa_liquidate!", []any{"fail_reason", "immediate_rejection", "debt_amount", 1500}},
		"of no known form":      {step{to: evaaMaster, value: 2000, body: word(3).MustStoreUInt(4, 64), then: []step{bounceOf(alice, word(3))}}, "", nil},
		"jettons of no form":    {jettons(word(3), reward), "", nil},
		"nothing comes of them": {toncoins(user()), "", nil},
	} {
		t.Run(what, func(t *testing.T) {
			list := outermost(t, evaaFacts, play(alice, c.step))
			if c.want == "" {
				for _, a := range list {
					if a.Type.Name == "evaa_liquidate" {
						t.Error("it is a liquidation")
					}
				}
				return
			}
			wants(t, list, c.want)
			details(t, list, c.want, append([]any{"source", alice, "borrower", evaaBorrower}, c.pair...)...)
		})
	}
}
