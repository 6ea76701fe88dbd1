package action_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/schema/record"
)

// Anybody can name any number of toncoins, and whomever he likes as their receiver.
func TestToncoinsThatAMessageNamesAndDoesNotBringAreNotThere(t *testing.T) {
	const ok, much, fee = 0xc64370e5, 5_000_000_000_000, 90_000_000
	gave := sends(25, routerY, bobY, bob, nil)
	xt, ty := [2][]byte{routerX, routerTON}, [2][]byte{routerTON, routerY}
	unwrapped := func(value uint64) step {
		s := unwraps(much, routerTON, bob)
		s.then[0].value = value
		return s
	}
	wrapped := func(value uint64, then ...step) step {
		s := wraps(much, routerTON, router, nil, then...)
		s.value = value
		return s
	}
	bidaskPool, wallet := account(0x4e), account(0x63)
	facts := append(known{jettons(wallet, bidaskPool, masterX)}, exchange...)
	ranged := func(then ...step) step {
		return step{to: account(0x61), value: 60, body: order(0x66210c65), then: []step{{to: bidaskPool, value: 50, body: order(0x520e4831), then: then}}}
	}
	for what, sent := range map[string]func(value uint64) step{
		"paid at STON.fi v2": func(value uint64) step {
			return sends(10, aliceX, routerX, router, nil, stonfiV2Swap(poolOne, stonfiV2Pay(ok, bob, router, xt, [2]int64{0, much}, unwrapped(value))))
		},
		"given to STON.fi v2": func(value uint64) step {
			return wrapped(value, stonfiV2Swap(poolOne, stonfiV2Pay(ok, bob, router, ty, [2]int64{0, 25}, gave)))
		},
		"paid at TONCO": func(value uint64) step {
			return sends(10, aliceX, routerX, router, nil, toncoSwap(poolOne, routerX, toncoPays(200, xt, [2]int64{0, much}, unwrapped(value))))
		},
		"given to TONCO": func(value uint64) step {
			return wrapped(value, toncoSwap(poolOne, routerTON, toncoPays(200, ty, [2]int64{0, 25}, gave)))
		},
		"paid at DeDust": func(value uint64) step {
			return sends(10, aliceX, vaultXs, vaultX, nil, dedustFirst(10, nil, dedustEvent(masterX, 10, nil, much),
				dedustPays(0xad4eb6f5, vaultTON, much, dedustProof(nil, masterX), dedustPaysTON(value, bob))))
		},
		"given to DeDust": func(value uint64) step {
			b := dedustStep(addr(coins(order(0x61ee542d).MustStoreRef(dedustVaultProof(nil)), much), alice), nil)
			return step{to: vaultTON, value: value, body: coins(order(0xea06185d), much), then: []step{{to: poolOne, value: 60, body: b, then: []step{
				dedustEvent(nil, much, masterY, 25), dedustPays(0xad4eb6f5, vaultY, 25, dedustProof(nil, masterY), sends(25, vaultYs, bobY, bob, nil))}}}}
		},
		"paid at Swap Coffee": func(value uint64) step {
			return sends(10, aliceX, vaultXs, vaultX, nil, coffeeHop(poolOne, 10, coffeeEvent(masterX, 10, much),
				coffeePays(vaultTON, much, coffeeProof(nil, masterX), coffeePaysTON(value, bob))))
		},
		"given to Swap Coffee": func(value uint64) step {
			return step{to: vaultTON, value: value, body: coins(order(0xc0ffee00), much), then: []step{
				coffeeHop(poolOne, much, coffeeEvent(nil, much, 25), coffeePays(vaultY, 25, coffeeProof(nil, masterY), sends(25, vaultYs, bobY, bob, nil)))}}
		},
		"paid at Bidask": func(value uint64) step {
			return sends(10, aliceX, wallet, bidaskPool, nil, ranged(step{to: bob, value: value, body: coins(order(0x6edd65f0), much).MustStoreBoolBit(false)}))
		},
		"given to Bidask": func(value uint64) step {
			return step{to: bidaskPool, value: value, body: coins(order(0xf2ef6c1b), much), then: []step{ranged(sends(25, wallet, aliceX, bob, nil))}}
		},
	} {
		for value, want := range map[uint64]string{much + fee: "jetton_swap", much - fee: "jetton_swap", much - 2*fee: "jetton_swap!", 1: "jetton_swap!"} {
			list := recognise(t, facts, play(alice, sent(value)))
			if got := strings.Join(summaries(list), ", "); got != want {
				t.Errorf("%s: of %d toncoins a message brings %d: %s, want %s", what, much, value, got, want)
			}
		}
	}
}

func TestToncoinsThatEVAADoesNotGetOrPayAreNotThere(t *testing.T) {
	const much, fee = 5_000_000_000_000, 90_000_000
	rest := step{to: alice, value: 20, body: comment("EVAA")}
	supply := func(value uint64) step {
		return step{to: evaaMaster, value: value, body: word(1).MustStoreUInt(4, 64).MustStoreUInt(3, 2).MustStoreUInt(much, 64).MustStoreAddr(friendly(bob)), then: []step{
			{to: evaaUser, value: 60, body: asset(toUser(0x11, 300, true), tonAsset).MustStoreUInt(much, 64), then: []step{
				{to: evaaMaster, value: 50, body: asset(word(0x11a).MustStoreUInt(4, 64).MustStoreAddr(friendly(bob)), tonAsset).MustStoreUInt(much, 64), then: []step{rest}}}}}}
	}
	withdrawal := func(value uint64) step {
		return step{to: evaaMaster, value: 350, body: asset(word(2).MustStoreUInt(4, 64), tonAsset).MustStoreUInt(1<<63, 64).MustStoreAddr(friendly(bob)), then: []step{
			{to: evaaUser, value: 300, body: asset(toUser(0x21, 6, false), tonAsset), then: []step{
				{to: evaaMaster, value: 250, body: asset(word(0x211).MustStoreUInt(4, 64).MustStoreAddr(friendly(alice)), tonAsset).MustStoreUInt(much, 64), then: []step{
					{to: bob, value: value, body: word(0x211a).MustStoreUInt(4, 64)},
					{to: evaaUser, value: 30, body: toUser(0x211a, 6, false), then: []step{rest}}}}}}}}
	}
	for value, failed := range map[uint64]string{much + fee: "", much - fee: "", much - 2*fee: "!", 1: "!"} {
		wants(t, outermost(t, evaaFacts, play(alice, supply(value))), "evaa_supply"+failed)
		wants(t, outermost(t, evaaFacts, play(alice, withdrawal(value))), "evaa_withdraw"+failed)
	}
}

func TestJettonsThatAnExchangeNamesAreNotThoseOfAMasterThatDoesNotKnowTheirWallets(t *testing.T) {
	// Nobody's wallets, whatever a stranger's contracts say of them.
	dedust := sends(10, aliceX, vaultXs, vaultX, nil, dedustFirst(10, nil, dedustEvent(masterX, 10, masterY, 25),
		dedustPays(0xad4eb6f5, vaultY, 25, dedustProof(masterX, masterY), sends(25, vaultYs, bobY, bob, nil))))
	coffee := sends(10, aliceX, vaultXs, vaultX, nil, coffeeHop(poolOne, 10, coffeeEvent(masterX, 10, 25),
		coffeePays(vaultY, 25, coffeeProof(masterX, masterY), sends(25, vaultYs, bobY, bob, nil))))
	master := func(account []byte) *record.Contract {
		return &record.Contract{Account: account, JettonMaster: &record.JettonMaster{}}
	}
	given, paid := known{jettons(vaultXs, vaultX, masterX)}, known{jettons(vaultYs, vaultY, masterY), jettons(bobY, bob, masterY)}
	both := append(slices.Clone(given), paid...)
	for what, c := range map[string]struct {
		facts known
		swap  bool
	}{
		"nothing is known":                      {known{}, true},
		"wallets and masters":                   {append(slices.Clone(both), master(masterX), master(masterY)), true},
		"the master of what was given":          {append(slices.Clone(paid), master(masterX)), false},
		"the master of what was paid":           {append(slices.Clone(given), master(masterY)), false},
		"the master of what was paid, no other": {known{master(masterY)}, false},
	} {
		for where, sent := range map[string]step{"DeDust": dedust, "Swap Coffee": coffee} {
			list := recognise(t, c.facts, play(alice, sent))
			if got := slices.Contains(summaries(list), "jetton_swap"); got != c.swap {
				t.Errorf("%s, %s: a swap is %v, want %v: %q", where, what, got, c.swap, summaries(list))
			}
		}
	}
}

func TestAWithdrawalFromEVAAIsWhatWasPaidToItsRecipient(t *testing.T) {
	evaaUSDT := addressOf("0:B113A994B5024A16719F69139328EB759596C38A25F59028B146FECDC3621DFE")
	withdrawal := func(id, recipient []byte, paid step) step {
		return step{to: evaaMaster, value: 350, body: asset(word(2).MustStoreUInt(4, 64), id).MustStoreUInt(1<<63, 64).MustStoreAddr(friendly(recipient)), then: []step{
			{to: evaaUser, value: 300, body: asset(toUser(0x21, 6, false), id), then: []step{
				{to: evaaMaster, value: 250, body: asset(word(0x211).MustStoreUInt(4, 64).MustStoreAddr(friendly(alice)), id).MustStoreUInt(417, 64), then: []step{
					{to: evaaUser, value: 30, body: toUser(0x211a, 6, false)}, paid}}}}}}
	}
	jettons := func(amount int64) step {
		return jettonsTo(evaaMaster, bob, evaaWallet, bobWallet, amount, word(0x211a))
	}
	toncoins := step{to: bob, value: 500, body: word(0x211a).MustStoreUInt(4, 64)}
	for what, c := range map[string]struct {
		facts known
		sent  step
		want  string
	}{
		"toncoins":                              {nil, withdrawal(tonAsset, bob, toncoins), "evaa_withdraw"},
		"toncoins, without a recipient":         {nil, withdrawal(tonAsset, nil, toncoins), "evaa_withdraw"},
		"toncoins that somebody else gets":      {nil, withdrawal(tonAsset, carol, toncoins), "evaa_withdraw!"},
		"jettons":                               {evaaFacts, withdrawal(usdtAsset, bob, jettons(417)), "evaa_withdraw"},
		"jettons that somebody else gets":       {evaaFacts, withdrawal(usdtAsset, carol, jettons(417)), "evaa_withdraw!"},
		"fewer jettons":                         {evaaFacts, withdrawal(usdtAsset, bob, jettons(1)), "evaa_withdraw!"},
		"jettons of which nothing is known":     {nil, withdrawal(usdtAsset, bob, jettons(417)), "evaa_withdraw"},
		"jettons of who is no wallet of theirs": {known{{Account: evaaUSDT, JettonMaster: &record.JettonMaster{}}}, withdrawal(usdtAsset, bob, jettons(417)), "call_contract"},
	} {
		list := outermost(t, c.facts, play(alice, c.sent))
		if got := summary(list[0]); got != c.want {
			t.Errorf("%s: %s, want %s", what, got, c.want)
		}
	}
}

func TestASubscriptionIsPaidWithWhatItsMessagesBring(t *testing.T) {
	const much, kept, fee = 5_000_000_000_000, 67_108_864, 90_000_000
	plugin := account(0x46)
	paid := func(named int64, given, reaches uint64) step {
		return step{to: alice, value: 2, body: coins(word(0x706c7567).MustStoreUInt(4, 64), named).MustStoreBoolBit(false), then: []step{
			{to: plugin, value: given, body: word(0xf06c7567).MustStoreUInt(4, 64), then: []step{{to: bob, value: reaches, body: word(0x73756273)}}}}}
	}
	for what, c := range map[string]struct {
		sent step
		want string
	}{
		"paid":                               {paid(much, much, much-kept-fee), "subscribe"},
		"named, not given":                   {paid(much, 1, 1), "subscribe!"},
		"given, and kept by the plugin":      {paid(much, much, 1), "subscribe!"},
		"less given than named":              {paid(much, much-2*fee, much-2*fee), "subscribe!"},
		"a part of it kept by the plugin":    {paid(much, much, much-kept-2*fee), "subscribe!"},
		"the first one, kept by the plugin":  {paid(much, much, 1).then[0], "subscribe!"},
		"the first one, less what it needs":  {paid(much, much, much-kept-fee).then[0], "subscribe"},
		"the first one, of which more comes": {paid(much, much, much+fee).then[0], "subscribe"},
	} {
		list := recognise(t, known{}, play(alice, c.sent))
		if got := summary(list[0]); got != c.want {
			t.Errorf("%s: %s, want %s", what, got, c.want)
		}
	}
}

func TestASupplyToEVAAIsNotMoreJettonsThanItGot(t *testing.T) {
	supply := func(named uint64) step {
		taken := asset(word(0x11a).MustStoreUInt(4, 64).MustStoreAddr(friendly(bob)), usdtAsset).MustStoreUInt(named, 64)
		return jettonsTo(alice, evaaMaster, aliceWallet, evaaWallet, 1000, word(1).MustStoreUInt(3, 2).MustStoreAddr(friendly(bob)), step{
			to: evaaUser, value: 60, body: asset(toUser(0x11, 300, true), usdtAsset).MustStoreUInt(1000, 64), then: []step{{to: evaaMaster, value: 50, body: taken}}})
	}
	for named, want := range map[uint64]string{990: "evaa_supply", 1000: "evaa_supply", 1001: "evaa_supply!"} {
		wants(t, outermost(t, evaaFacts, play(alice, supply(named))), want)
	}
}

func TestWhatIsPaidAtCocoonIsPaidToWhomItNames(t *testing.T) {
	const much, fee = 5_000_000_000_000, 90_000_000
	request := func(owner []byte) step {
		return step{to: cocoonProxy, value: 80, then: []step{cocoonPayout(step{})}, // to bob
			body: word(0x4d725d2c).MustStoreUInt(7, 64).MustStoreAddr(friendly(owner)).MustStoreUInt(2, 2).MustStoreUInt(55, 64).MustStoreBoolBit(false)}
	}
	topUp := func(value uint64) step {
		s := cocoonStart(cocoonClient, 0xf172e6c2, func(b *cell.Builder) *cell.Builder { return addr(coins(b, much), alice) }, cocoonRequest(cocoonProxy, nil))
		s.value = value
		return s
	}
	for what, c := range map[string]struct {
		sent step
		want string
	}{
		"a worker's owner":         {cocoonStart(cocoonWorker, 0xa040ad28, tokens, request(bob)), "cocoon_worker_payout"},
		"somebody else":            {cocoonStart(cocoonWorker, 0xa040ad28, tokens, request(carol)), "cocoon_worker_payout!"},
		"a client, with toncoins":  {topUp(much + fee), "cocoon_client_top_up"},
		"a client, with less":      {topUp(much - 2*fee), "cocoon_client_top_up!"},
		"a client, with one of it": {topUp(1), "cocoon_client_top_up!"},
	} {
		list := outermost(t, known{}, play(alice, c.sent))
		if got := summary(list[0]); got != c.want {
			t.Errorf("%s: %s, want %s", what, got, c.want)
		}
	}
}
