package action_test

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/decode/action"
	"tonscribe/schema/record"
)

var (
	dnsRoot = addressOf("0:B774D95EB20543F186C06B371AB88AD704F7E256130CAF96189368A7D0CB6CCF")
	name    = &record.Contract{Account: item, NftItem: &record.NFTItem{Init: true, Index: []byte{5}, Collection: dnsRoot, Owner: alice}}
)

func TestRecordsOfANameAreChangedDeletedAndRenewed(t *testing.T) {
	key, zeros := bytes.Repeat([]byte{0xe8}, 32), make([]byte, 32)
	order := func(key []byte, value *cell.Builder) step {
		b := word(0x4eb1f0f9).MustStoreUInt(1, 64).MustStoreSlice(key, 256)
		if value != nil {
			b.MustStoreRef(value.EndCell())
		}
		return step{to: item, value: 5, body: b}
	}
	b := func(tag uint64) *cell.Builder { return cell.BeginCell().MustStoreUInt(tag, 16) }
	chunks := b(0x1eda).MustStoreUInt(2, 8).MustStoreUInt(2, 8).MustStoreSlice([]byte("ab"), 16).
		MustStoreRef(cell.BeginCell().MustStoreUInt(1, 8).MustStoreSlice([]byte("c"), 8).EndCell())
	for what, c := range map[string]struct {
		step step
		want string
		have []any
	}{
		"renewed": {order(zeros, nil), "renew_dns", nil},
		"deleted": {order(key, nil), "delete_dns", []any{"hash", hex.EncodeToString(key)}},
		"wallet": {order(key, b(0x9fd3).MustStoreAddr(friendly(bob)).MustStoreUInt(0, 8)), "change_dns", []any{"key", hex.EncodeToString(key),
			"value.sum_type", "DNSSmcAddress", "value.dns_smc_address", bob, "value.flags", 0, "value.dns_text", nil}},
		"resolver": {order(key, b(0xba93).MustStoreAddr(friendly(bob))), "change_dns", []any{"value.sum_type", "DNSNextResolver", "value.dns_next_resolver_address", bob,
			"value.flags", nil}},
		"site":    {order(key, b(0xad01).MustStoreSlice(key, 256).MustStoreUInt(1, 8)), "change_dns", []any{"value.sum_type", "DNSAdnlAddress", "value.dns_adnl_address", hex.EncodeToString(key), "value.flags", 1}},
		"storage": {order(key, b(0x7473).MustStoreSlice(key, 256)), "change_dns", []any{"value.sum_type", "DNSStorageAddress", "value.dns_storage_address", hex.EncodeToString(key)}},
		"text":    {order(key, chunks), "change_dns", []any{"value.sum_type", "DNSText", "value.dns_text", "abc", "value.dns_storage_address", nil}},
		"unknown": {order(key, b(0x1234)), "change_dns", []any{"value.sum_type", "Unknown"}},
		"broken":  {order(key, b(0x7473)), "change_dns", []any{"value.sum_type", "Unknown", "value.dns_storage_address", nil}},
	} {
		t.Run(what, func(t *testing.T) {
			list := recognise(t, known{name}, play(alice, c.step))
			wants(t, list, c.want)
			details(t, list, c.want, append(c.have, "source", alice, "asset", item, "nft_collection", dnsRoot)...)
			c.step.aborted = true
			wants(t, recognise(t, known{name}, play(alice, c.step)), c.want+"!")
			c.step.value, c.step.change = 0, skips(record.ComputePhase_NO_GAS)
			wants(t, recognise(t, known{name}, play(alice, c.step)), c.want+"!")
		})
	}
	wants(t, recognise(t, action.NoFacts{}, play(alice, order(zeros, nil))), "call_contract")
	// A Telegram name answers with what is left, which is no part of the change.
	answered := order(key, b(0x9fd3).MustStoreAddr(friendly(bob)).MustStoreUInt(0, 8))
	answered.then = []step{{to: alice, value: 4, body: word(0xa37a0983).MustStoreUInt(7, 64)}}
	wants(t, recognise(t, known{teleitem}, play(alice, answered)), "change_dns", "call_contract")
}

func TestANameIsBoughtAtItsFirstAuctionAndReleased(t *testing.T) {
	filled := step{to: dnsRoot, value: 700, body: word(0x370fec51).MustStoreUInt(8, 64)}
	s := step{to: item, value: 9, body: word(0x1a0b9d51).MustStoreUInt(1, 64), then: []step{filled}}
	list := recognise(t, known{name}, play(bob, s))
	details(t, list, "dns_purchase", "nft_item", item, "nft_collection", dnsRoot, "nft_item_index", 5, "new_owner", bob, "price", 700, "payout_amount", 700, "query_id", 8)
	// Anybody may ask for its data then, and it is alice's.
	asked := step{to: item, value: 9, body: word(0x2fcb26a2).MustStoreUInt(1, 64), then: []step{filled}}
	details(t, recognise(t, known{name}, play(bob, asked)), "dns_purchase", "new_owner", alice, "price", 700)
	// A name that is taken away leaves all that it has.
	taken := step{to: item, value: 9, body: word(0x44beae41).MustStoreUInt(1, 64), then: []step{filled}}
	wants(t, recognise(t, known{name}, play(bob, taken)), "call_contract", "call_contract")
	for _, a := range recognise(t, known{itemFacts}, play(bob, s)) {
		if strings.HasPrefix(a.Type.Name, "dns") {
			t.Errorf("%s of an item that is no name", a.Type.Name)
		}
	}
	list = recognise(t, known{name}, play(carol, step{to: item, value: 11, body: word(0x4ed14b65).MustStoreUInt(8, 64), then: []step{{to: dnsRoot, value: 5, body: word(0x370fec51).MustStoreUInt(8, 64)}}}))
	details(t, list, "dns_release", "query_id", 8, "source", carol, "nft_item", item, "nft_collection", dnsRoot, "nft_item_index", 5, "value", 11)
	list = recognise(t, known{name}, play(bob, step{to: item, value: 80, then: []step{{to: carol, value: 70, body: word(0x557cea20).MustStoreUInt(1, 64)}}}))
	wants(t, list, "auction_bid", "auction_outbid", "call_contract in auction_outbid")
}
