package action_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/decode/action"
)

// changed is a step of which every message is as the function makes it.
func changed(s step, change func(*step)) step {
	then := slices.Clone(s.then)
	for i := range then {
		then[i] = changed(then[i], change)
	}
	s.then = then
	change(&s)
	return s
}

// dropping is a change that drops the messages that begin with an opcode and lead to
// nothing.
func dropping(opcode uint64) func(*step) {
	return func(s *step) {
		s.then = slices.DeleteFunc(slices.Clone(s.then), func(c step) bool {
			if c.body == nil || len(c.then) > 0 {
				return false
			}
			r := c.body.EndCell().MustBeginParse()
			return r.BitsLeft() >= 32 && r.MustLoadUInt(32) == opcode
		})
	}
}

// unnumbered has query_id 0.
func unnumbered(s *step) {
	if s.body == nil {
		return
	}
	r := s.body.EndCell().MustBeginParse()
	if r.BitsLeft() < 96 {
		return
	}
	if op := r.MustLoadUInt(32); op != 0 && op>>16 != 0xffff {
		r.MustLoadUInt(64)
		s.body = word(op).MustStoreUInt(0, 64).MustStoreBuilder(r.MustToCell().ToBuilder())
	}
}

// NFTs and their sales are recognised whatever the order of messages is, whoever begins, and
// without what may be missing.
func TestNFTsAreRecognisedInWhateverShapeTheyCome(t *testing.T) {
	config := coins(coins(cell.BeginCell().MustStoreAddr(friendly(carol)), 7), 900).MustStoreUInt(5, 8).MustStoreUInt(60, 32).MustStoreUInt(3600, 32).EndCell()
	won := word(0x05138d91).MustStoreUInt(6, 64).MustStoreAddr(nil).MustStoreBoolBit(false).MustStoreBuilder(coins(word(0x38127de1), 70).MustStoreUInt(9, 32))
	given := func() step {
		return sentOn(market, step{to: saleAccount, value: 3, deployed: true, init: stateInit(cell.BeginCell().EndCell(), cell.BeginCell().EndCell()), body: word(1)},
			step{to: item, value: 2, body: moveItem(saleAccount), then: []step{assigned(saleAccount)}})
	}
	sale, auction := known{itemFacts, onSale()}, known{itemFacts, onAuction()}
	payout, fee, royalty := step{to: alice, value: 34, body: comment("Profit")}, step{to: market, value: 4}, step{to: carol, value: 2}
	notice := comment("Your bid has been outbid by another user.")
	for name, c := range map[string]struct {
		facts known
		from  []byte
		step  step
		want  string
	}{
		"transfer":               {known{itemFacts}, alice, sentOn(bob), "nft_transfer"},
		"purchase":               {sale, bob, step{to: saleAccount, value: 50, then: []step{payout, royalty, fee, sentOn(bob)}}, "nft_purchase"},
		"purchase by an opcode":  {sale, bob, step{to: saleAccount, value: 50, body: word(2).MustStoreUInt(1, 64), then: []step{payout, royalty, fee, sentOn(bob)}}, "nft_purchase"},
		"sale cancelled":         {sale, alice, step{to: saleAccount, value: 5, body: word(3).MustStoreUInt(1, 64), then: []step{sentOn(alice)}}, "nft_cancel_sale"},
		"sale cancelled, word":   {sale, alice, step{to: saleAccount, value: 5, body: comment("cancel"), then: []step{sentOn(alice)}}, "nft_cancel_sale"},
		"put on sale":            {sale, alice, given(), "nft_put_on_sale"},
		"put on auction":         {auction, alice, given(), "nft_put_on_auction"},
		"new price":              {sale, alice, step{to: saleAccount, value: 5, body: coins(coins(coins(word(0x6c6c2080).MustStoreUInt(1, 64), 60), 6), 3)}, "nft_update_sale"},
		"bid":                    {auction, bob, step{to: saleAccount, value: 55, then: []step{{to: carol, value: 44, body: notice}}}, "auction_outbid"},
		"bid at the top":         {auction, bob, step{to: saleAccount, value: 95, then: []step{{to: carol, value: 44, body: notice}, fee, royalty, payout, sentOn(bob)}}, "nft_purchase"},
		"auction finished":       {auction, carol, step{to: saleAccount, value: 5, body: comment("finish"), then: []step{fee, royalty, payout, sentOn(bob)}}, "nft_finish_auction"},
		"auction finished, v4":   {auction, carol, step{to: saleAccount, value: 5, body: word(0xf373ace5).MustStoreUInt(1, 64), then: []step{fee, royalty, payout, sentOn(bob)}}, "nft_finish_auction"},
		"auction without a bid":  {auction, carol, step{to: saleAccount, value: 5, body: comment("stop"), then: []step{sentOn(alice)}}, "nft_finish_auction"},
		"auction cancelled":      {auction, alice, step{to: saleAccount, value: 5, body: comment("cancel"), then: []step{{to: carol, value: 44, body: comment("Auction has been cancelled.")}, sentOn(alice)}}, "nft_cancel_auction"},
		"Telegram, bid":          {known{teleitem}, bob, step{to: item, value: 80, then: []step{{to: carol, value: 70, body: word(0x557cea20).MustStoreUInt(1, 64)}}}, "auction_outbid"},
		"Telegram, bid at top":   {known{teleitem}, bob, step{to: item, value: 80, then: []step{{to: market, value: 3, body: word(0x370fec51).MustStoreUInt(1, 64)}, {to: carol, value: 67, body: word(0x370fec51).MustStoreUInt(1, 64)}, {to: bob, body: won}}}, "nft_transfer"},
		"Telegram, auction":      {known{teleitem}, alice, step{to: item, value: 5, body: word(0x487a8e81).MustStoreUInt(1, 64).MustStoreRef(config), then: []step{{to: alice, value: 1, body: word(0xa37a0983).MustStoreUInt(1, 64)}}}, "teleitem_start_auction"},
		"Telegram, no auction":   {known{teleitem}, alice, step{to: item, value: 5, body: word(0x371638ae).MustStoreUInt(1, 64), then: []step{{to: alice, value: 1, body: word(0xa37a0983).MustStoreUInt(1, 64)}}}, "teleitem_cancel_auction"},
		"mint":                   {known{itemFacts}, alice, step{to: collection, body: word(1).MustStoreUInt(1, 64), value: 9, then: []step{{to: item, value: 5, deployed: true, body: word(9)}}}, "nft_mint"},
		"data":                   {known{itemFacts}, alice, step{to: item, value: 9, body: word(0x2fcb26a2).MustStoreUInt(1, 64), then: []step{{to: alice, value: 8, body: word(0x8b771735).MustStoreUInt(1, 64).MustStoreUInt(5, 256).MustStoreAddr(friendly(collection))}}}, "nft_discovery"},
		"jettons buy, version 4": {known{itemFacts, onSale(), wallet(aliceWallet, alice), wallet(bobWallet, bob), wallet(account(0x1c), saleAccount)}, bob, step{to: bobWallet, value: 9, body: transferOrder(44, saleAccount), then: []step{{to: account(0x1c), value: 8, body: internalOrder(44, bob), then: []step{{to: saleAccount, value: 7, body: word(0x7362d09c).MustStoreUInt(1, 64), then: []step{{to: account(0x1c), value: 4, body: transferOrder(44, alice), then: []step{{to: aliceWallet, value: 3, body: internalOrder(44, saleAccount)}}}, sentOn(bob)}}}}}}, "nft_transfer"},
	} {
		kinds := func(list []*action.Action) []string {
			texts := summaries(list)
			slices.Sort(texts)
			return texts
		}
		plain := kinds(recognise(t, c.facts, play(c.from, c.step)))
		if !slices.ContainsFunc(plain, func(s string) bool { return strings.HasPrefix(s, c.want) }) {
			t.Errorf("%s: %q, want %s", name, plain, c.want)
		}
		shapes := map[string]step{
			"sent the other way round": changed(c.step, func(s *step) { slices.Reverse(s.then) }),
			"without excesses":         changed(c.step, dropping(0xd53276db)),
			"without notifications":    changed(c.step, dropping(0x05138d91)),
			"without query_id":         changed(c.step, unnumbered),
		}
		for shape, s := range shapes {
			if strings.HasPrefix(name, "Telegram") && shape == "without notifications" {
				continue // the notification is all that tells
			}
			if got := kinds(recognise(t, c.facts, play(c.from, s))); !slices.Equal(got, plain) {
				t.Errorf("%s, %s: %q, want %q", name, shape, got, plain)
			}
		}
		with := func(more ...string) []string {
			list := append(more, plain...)
			slices.Sort(list)
			return list
		}
		called := play(carol, step{to: c.from, value: 100, body: word(0x706c7567), then: []step{c.step}})
		if got := kinds(recognise(t, c.facts, called)); !slices.Equal(got, with("call_contract")) {
			t.Errorf("%s, by a wallet that is called: %q, want %q", name, got, plain)
		}
		paid := play(carol, step{to: c.from, value: 100, then: []step{c.step}})
		if got := kinds(recognise(t, c.facts, paid)); !slices.Equal(got, with("ton_transfer")) {
			t.Errorf("%s, by a contract that is paid: %q, want %q", name, got, plain)
		}
		twice := play(c.from, c.step, c.step)
		want := append(slices.Clone(plain), plain...)
		slices.Sort(want)
		if got := kinds(recognise(t, c.facts, twice)); !slices.Equal(got, want) {
			t.Errorf("%s, twice: %q, want %q", name, got, want)
		}
	}
}
