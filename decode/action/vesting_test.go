package action_test

import (
	"encoding/base64"
	"testing"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/decode/action"
)

func TestAVestingWalletSendsWhatItIsAsked(t *testing.T) {
	vesting := account(0x53)
	message := cell.BeginCell().MustStoreUInt(0x18, 6).MustStoreAddr(friendly(bob)).MustStoreCoins(77).
		MustStoreUInt(0, 1+4+4+64+32+1+1).EndCell()
	body := word(0xa7733acd).MustStoreUInt(4, 64).MustStoreUInt(3, 8).MustStoreRef(message)
	send := step{to: vesting, value: 9, body: body, then: []step{
		{to: bob, value: 77}, {to: alice, value: 8, body: word(0xf7733acd).MustStoreUInt(4, 64)},
	}}
	list := outermost(t, action.NoFacts{}, play(alice, send))
	wants(t, list, "vesting_send_message", "ton_transfer")
	details(t, list, "vesting_send_message", "query_id", 4, "source", alice, "vesting", vesting, "destination", bob, "amount", 77,
		"message_boc", base64.StdEncoding.EncodeToString(message.ToBOCWithOptions(cell.BOCSerializeOptions{})))
	wants(t, outermost(t, action.NoFacts{}, play(alice, step{to: vesting, value: 9, aborted: true, body: body})), "call_contract!")
	send.body = word(0xa7733acd).MustStoreUInt(4, 64).MustStoreUInt(3, 8).MustStoreRef(cell.BeginCell().MustStoreUInt(3, 2).EndCell())
	wants(t, outermost(t, action.NoFacts{}, play(alice, send)), "call_contract", "ton_transfer", "call_contract")
}

func TestAVestingWalletThatOnlyAnswersHasSentNothing(t *testing.T) {
	vesting := account(0x53)
	answer := step{to: alice, value: 8, body: word(0xf7733acd).MustStoreUInt(4, 64)}
	for what, c := range map[string]struct {
		asked []byte
		sent  []step
		want  string
	}{
		"sent":                        {bob, []step{{to: bob, value: 70}, answer}, "vesting_send_message"},
		"not sent":                    {bob, []step{answer}, "vesting_send_message!"},
		"sent to somebody else":       {bob, []step{{to: carol, value: 77}, answer}, "vesting_send_message!"},
		"not sent to who asked":       {alice, []step{answer}, "vesting_send_message!"},
		"sent to who asked":           {alice, []step{{to: alice, value: 77}, answer}, "vesting_send_message"},
		"another message than was to": {bob, []step{{to: bob, value: 77, body: order(0x5fcc3d14)}, answer}, "vesting_send_message!"},
	} {
		message := cell.BeginCell().MustStoreUInt(0x18, 6).MustStoreAddr(friendly(c.asked)).MustStoreCoins(77).MustStoreUInt(0, 1+4+4+64+32+1+1).EndCell()
		body := word(0xa7733acd).MustStoreUInt(4, 64).MustStoreUInt(3, 8).MustStoreRef(message)
		list := outermost(t, action.NoFacts{}, play(alice, step{to: vesting, value: 9, body: body, then: c.sent}))
		if got := summary(list[0]); got != c.want {
			t.Errorf("%s: %s, want %s", what, got, c.want)
		}
	}
}

func TestAVestingWalletLearnsWhereItMaySend(t *testing.T) {
	vesting := account(0x53)
	whitelist := func(rest *cell.Builder, answers ...step) step {
		return step{to: vesting, value: 9, body: word(0x7258a69b).MustStoreUInt(4, 64).MustStoreBuilder(rest), then: answers}
	}
	answer := step{to: alice, value: 8, body: word(0xf258a69b).MustStoreUInt(4, 64)}
	third := cell.BeginCell().MustStoreAddr(friendly(market)).EndCell()
	second := cell.BeginCell().MustStoreAddr(friendly(carol)).MustStoreRef(third).EndCell()
	list := outermost(t, action.NoFacts{}, play(alice, whitelist(cell.BeginCell().MustStoreAddr(friendly(bob)).MustStoreRef(second), answer)))
	wants(t, list, "vesting_add_whitelist")
	details(t, list, "vesting_add_whitelist", "query_id", 4, "source", alice, "vesting", vesting,
		"accounts_added[0]", bob, "accounts_added[1]", carol, "accounts_added[2]", market)
	wants(t, outermost(t, action.NoFacts{}, play(alice, whitelist(cell.BeginCell().MustStoreAddr(friendly(bob))))), "call_contract")
	wants(t, outermost(t, action.NoFacts{}, play(alice, whitelist(cell.BeginCell(), answer))), "call_contract", "call_contract")
}
