package body_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"math/big"
	"strings"
	"testing"
	"time"

	tonutils "github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/query/api"
	"tonscribe/test/support/costtest"
	"tonscribe/ton/body"
)

// Forms that stand in many bodies.
const (
	aliceJSON = `{"@type":"addr_std","anycast":{"@type":"nothing_from_maybe"},"workchain_id":"0","address":"A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1"}`
	bobJSON   = `{"@type":"addr_std","anycast":{"@type":"nothing_from_maybe"},"workchain_id":"-1","address":"B2B2B2B2B2B2B2B2B2B2B2B2B2B2B2B2B2B2B2B2B2B2B2B2B2B2B2B2B2B2B2B2"}`
	noneJSON  = `{"@type":"addr_none"}`
	nothing   = `{"@type":"nothing_from_maybe"}`
	emptyJSON = `{"@type":"empty_cell"}`
)

var bob = tonutils.NewAddress(0, 255, bytes.Repeat([]byte{0xB2}, 32))

func varUint(size, value string) string {
	return `{"@type":"var_uint","len":"` + size + `","value":"` + value + `"}`
}

func coins(size, value string) string {
	return `{"@type":"nanocoins","amount":` + varUint(size, value) + `}`
}

// plainBoC is how a cell is shown that says nothing.
func plainBoC(c *cell.Cell) string {
	return `"` + base64.StdEncoding.EncodeToString(c.ToBOCWithOptions(cell.BOCSerializeOptions{})) + `"`
}

// code begins a body.
func code(opcode uint64) *cell.Builder { return cell.BeginCell().MustStoreUInt(opcode, 32) }

// query begins one with a query_id.
func query(opcode uint64) *cell.Builder { return code(opcode).MustStoreUInt(7, 64) }

func bytesOf(n int) []byte { return bytes.Repeat([]byte{0x5A}, n) }

func shown(t testing.TB, c *cell.Cell) string {
	t.Helper()
	text, err := newDecoder().Append(nil, c.ToBOC())
	if err != nil {
		return err.Error()
	}
	if !json.Valid(text) {
		t.Errorf("no JSON: %s", text)
	}
	return string(text)
}

type example struct {
	name string
	body *cell.Builder
	want string
}

func check(t *testing.T, examples []example) {
	t.Helper()
	for _, e := range examples {
		if got := shown(t, e.body.EndCell()); got != e.want {
			t.Errorf("%s:\n got %s\nwant %s", e.name, got, e.want)
		}
	}
}

func comment(text string) *cell.Cell { return code(0).MustStoreStringSnake(text).EndCell() }

func TestBodiesOfTheTokenStandards(t *testing.T) {
	text := comment("hi")
	check(t, []example{
		{"TEP-74 transfer",
			query(0x0f8a7ea5).MustStoreCoins(1_000_000_000).MustStoreAddr(alice).MustStoreAddr(nil).MustStoreMaybeRef(nil).MustStoreCoins(1).MustStoreBoolBit(true).MustStoreRef(text),
			`{"@type":"jetton_transfer","query_id":"7","amount":` + varUint("4", "1000000000") + `,"destination":` + aliceJSON + `,"response_destination":` + noneJSON +
				`,"custom_payload":` + nothing + `,"forward_ton_amount":` + varUint("1", "1") +
				`,"forward_payload":{"@type":"second_from_either","value":{"@type":"text_comment","text":"hi"}}}`},
		{"TEP-74 burn",
			query(0x595f07bc).MustStoreCoins(0).MustStoreAddr(bob).MustStoreMaybeRef(cell.BeginCell().MustStoreUInt(5, 3).EndCell()),
			`{"@type":"jetton_burn","query_id":"7","amount":` + varUint("0", "0") + `,"response_destination":` + bobJSON +
				`,"custom_payload":{"@type":"something_from_maybe","value":` + plainBoC(cell.BeginCell().MustStoreUInt(5, 3).EndCell()) + `}}`},
		{"TEP-74 burn notification, more behind it",
			query(0x7bdd97de).MustStoreBigCoins(new(big.Int).Lsh(big.NewInt(1), 119)).MustStoreAddr(alice).MustStoreAddr(bob).MustStoreUInt(3, 9).MustStoreRef(text),
			`{"@type":"jetton_burn_notification","query_id":"7","amount":` + varUint("15", "664613997892457936451903530140172288") + `,"sender":` + aliceJSON + `,"response_destination":` + bobJSON + `}`},
		{"TEP-62 transfer, the payload in the same cell",
			query(0x5fcc3d14).MustStoreAddr(alice).MustStoreAddr(bob).MustStoreMaybeRef(nil).MustStoreCoins(3).MustStoreBoolBit(false).MustStoreBuilder(text.ToBuilder()),
			`{"@type":"nft_transfer","query_id":"7","new_owner":` + aliceJSON + `,"response_destination":` + bobJSON + `,"custom_payload":` + nothing + `,"forward_amount":` + varUint("1", "3") +
				`,"forward_payload":{"@type":"first_from_either","value":{"@type":"text_comment","text":"hi"}}}`},
		{"TEP-62 report_static_data",
			query(0x8b771735).MustStoreBigUInt(new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1)), 256).MustStoreAddr(alice),
			`{"@type":"report_static_data","query_id":"7","index":"115792089237316195423570985008687907853269984665640564039457584007913129639935","collection":` + aliceJSON + `}`},
		{"TEP-66 report_royalty_params",
			query(0xa8cb00ad).MustStoreUInt(5, 16).MustStoreUInt(100, 16).MustStoreAddr(alice),
			`{"@type":"report_royalty_params","query_id":"7","numerator":"5","denominator":"100","destination":` + aliceJSON + `}`},
		{"TEP-85 ownership_proof",
			query(0x0524c7ae).MustStoreUInt(9, 256).MustStoreAddr(alice).MustStoreRef(cell.BeginCell().EndCell()).MustStoreUInt(1, 64).MustStoreMaybeRef(text),
			`{"@type":"ownership_proof","query_id":"7","item_id":"9","owner":` + aliceJSON + `,"data":` + emptyJSON + `,"revoked_at":"1","content":{"@type":"something_from_maybe","value":{"@type":"text_comment","text":"hi"}}}`},
	})
}

func TestRecordsOfNames(t *testing.T) {
	key := strings.Repeat("5A", 32)
	change := func(record *cell.Builder) *cell.Builder {
		return query(0x4eb1f0f9).MustStoreSlice(bytesOf(32), 256).MustStoreRef(record.EndCell())
	}
	of := func(value string) string {
		return `{"@type":"change_dns_record","query_id":"7","key":"` + key + `","value":` + value + `}`
	}
	short := func(n uint64) *cell.Builder { return cell.BeginCell().MustStoreUInt(n, 16) }
	check(t, []example{
		{"a wallet", change(short(0x9fd3).MustStoreAddr(alice).MustStoreUInt(0, 8)),
			of(`{"@type":"dns_smc_address","smc_addr":` + aliceJSON + `,"flags":"0"}`)},
		{"a wallet with what it can do", change(short(0x9fd3).MustStoreAddr(alice).MustStoreUInt(1, 8).MustStoreBoolBit(true).MustStoreUInt(0x2177, 16).MustStoreBoolBit(false)),
			of(`{"@type":"dns_smc_address","smc_addr":` + aliceJSON + `,"flags":"1","cap_list":{"@type":"cap_list_next","item":{"@type":"cap_is_wallet"},"next":{"@type":"cap_list_nil"}}}`)},
		{"a site", change(short(0xad01).MustStoreSlice(bytesOf(32), 256).MustStoreUInt(0, 8)),
			of(`{"@type":"dns_adnl_address","adnl_addr":"` + key + `","flags":"0"}`)},
		{"a text in two chunks", change(short(0x1eda).MustStoreUInt(2, 8).MustStoreUInt(1, 8).MustStoreUInt(0x61, 8).MustStoreRef(cell.BeginCell().MustStoreUInt(1, 8).MustStoreUInt(0x62, 8).EndCell())),
			of(`{"@type":"dns_text","":{"@type":"text","chunks":"2","rest":{"@type":"text_chunk","len":"1","data":"61","next":{"@type":"chunk_ref","ref":{"@type":"text_chunk","len":"1","data":"62","next":{"@type":"chunk_ref_empty"}}}}}}`)},
		{"no record", query(0x4eb1f0f9).MustStoreSlice(bytesOf(32), 256), `{"@type":"delete_dns_record","query_id":"7","key":"` + key + `"}`},
		// The reference is no record, and what is behind the key of a deletion does not matter.
		{"another record", change(short(0xffff)), `{"@type":"delete_dns_record","query_id":"7","key":"` + key + `"}`},
	})
}

func TestComments(t *testing.T) {
	long := strings.Repeat("Привет, ", 40)
	quoted, _ := json.Marshal(long)
	check(t, []example{
		{"in one cell", comment("a\"<b").ToBuilder(), `{"@type":"text_comment","comment":"a\"\u003cb","type":"text_comment"}`},
		{"empty", code(0), `{"@type":"text_comment","comment":"","type":"text_comment"}`},
		{"over some cells", comment(long).ToBuilder(), `{"@type":"text_comment","comment":` + string(quoted) + `,"type":"text_comment"}`},
		{"in a cell of its own", code(0).MustStoreRef(cell.BeginCell().MustStoreSlice([]byte("hi"), 16).EndCell()), `{"@type":"text_comment","comment":"hi","type":"text_comment"}`},
		{"with zeros and bytes that are no text", code(0).MustStoreSlice([]byte("\xff\x00a\xc3"), 32), `{"@type":"text_comment","comment":"` + "\uFFFD\uFFFDa\uFFFD" + `","type":"text_comment"}`},
		{"of no whole bytes", code(0).MustStoreUInt(1, 7), body.ErrUnknown.Error()},
		{"encrypted", code(0x2167da4b).MustStoreSlice(bytesOf(48), 384),
			`{"@type":"encrypted_text_comment","cipher_text":{"":` + plainBoC(cell.BeginCell().MustStoreSlice(bytesOf(48), 384).EndCell()) + `}}`},
	})
	plain, err := newDecoder().AppendPlain(nil, comment("hi").ToBOC())
	if want := `{"@type":"text_comment","text":"hi"}`; string(plain) != want || err != nil {
		t.Errorf("plain: %s, %v, want %s", plain, err, want)
	}
}

func TestBouncedBodies(t *testing.T) {
	// A bounced message has 256 bits of the body that was sent.
	cut := query(0x0f8a7ea5).MustStoreCoins(5).MustStoreAddr(alice).EndCell().MustBeginParse().MustLoadSlice(256)
	payload := cell.BeginCell().MustStoreSlice(cut, 256).EndCell()
	origin := cell.BeginCell().MustStoreCoins(9).MustStoreBoolBit(false).MustStoreUInt(10, 64).MustStoreUInt(11, 32).EndCell()
	check(t, []example{
		{"of a transfer", code(0xffffffff).MustStoreBuilder(payload.ToBuilder()), `{"@type":"bounce","payload":` + plainBoC(payload) + `}`},
		{"of a short body", code(0xffffffff).MustStoreBuilder(query(0xd53276db)), `{"@type":"bounce","payload":{"@type":"excess","query_id":"7"}}`},
		{"of nothing", code(0xffffffff), `{"@type":"bounce","payload":` + emptyJSON + `}`},
		{"in the newer form",
			code(0xfffffffe).MustStoreRef(query(0xd53276db).EndCell()).MustStoreRef(origin).MustStoreUInt(1, 8).MustStoreInt(-14, 32).MustStoreBoolBit(true).MustStoreUInt(100, 32).MustStoreUInt(3, 32),
			`{"@type":"bounce_v2","original_body":{"@type":"excess","query_id":"7"},"original_info":{"@type":"new_bounce_original_info","value":{"@type":"currencies","grams":{"@type":"nanograms","amount":` +
				varUint("1", "9") + `},"other":{"@type":"extra_currencies","dict":{"@type":"hashmap_empty"}}},"created_lt":"10","created_at":"11"},"bounced_by_phase":"1","exit_code":"-14","compute_phase":{"@type":"something_from_maybe","value":{"@type":"new_bounce_compute_phase_info","gas_used":"100","vm_steps":"3"}}}`},
	})
}

func TestOfLayoutsWithAnOpcodeTheFirstThatFitsCounts(t *testing.T) {
	evaa := func() *cell.Builder { // opcode 1: 3 bits are BoolExtended false and the amount
		return query(1).MustStoreUInt(0, 2).MustStoreUInt(5, 64).MustStoreAddr(alice)
	}
	empty := cell.BeginCell().EndCell()
	const supplied = `{"@type":"evaa_supply_master","query_id":"7","include_user_code":{"@type":"bool_false"},"supply_amount":{"amount":"5"},"recipient_address":` + aliceJSON
	check(t, []example{
		{"STON.fi's message", query(0x25938561).MustStoreAddr(alice).MustStoreAddr(bob).MustStoreCoins(1).MustStoreCoins(2).MustStoreBoolBit(false).MustStoreRef(cell.BeginCell().MustStoreAddr(alice).EndCell()),
			`{"@type":"stonfi_swap","query_id":"7","to_address":` + aliceJSON + `,"sender_address":` + bobJSON + `,"jetton_amount":` + varUint("1", "1") + `,"min_out":` + varUint("1", "2") +
				`,"has_ref_address":false,"addrs":{"@type":"swap_addresses","from_user":` + aliceJSON + `}}`},
		{"STON.fi's payload", code(0x25938561).MustStoreAddr(alice).MustStoreCoins(2).MustStoreAddr(bob).MustStoreBoolBit(false),
			`{"@type":"stonfi_swap_forward_payload","token_wallet":` + aliceJSON + `,"min_out":` + varUint("1", "2") + `,"to_address":` + bobJSON + `,"referral_address":` + nothing + `}`},
		{"EVAA's of one form", evaa().MustStoreUInt(6, 64).MustStoreRef(empty), supplied + `,"forward_ton_amount":{"amount":"6"},"custom_response_payload":` + emptyJSON + `}`},
		{"an opcode without fields that fit", code(1), body.ErrUnknown.Error()},
	})
	if name := body.NameOf(1); name != "evaa_supply_master,pyth_update_guardian_set,w4_deploy_install_plugin" {
		t.Errorf("opcode 1 is called %s", name)
	}
	if name := body.NameOf(0xdeadbeef); name != "" {
		t.Errorf("an unknown opcode is called %s", name)
	}
}

func TestAddressesOfAllForms(t *testing.T) {
	const own = 0x79e7c016 // tonstake_controller_pool_set_sudoer
	of := func(a string) string {
		return `{"@type":"tonstake_controller_pool_set_sudoer","query_id":"7","sudoer":` + a + `}`
	}
	check(t, []example{
		{"none", query(own).MustStoreAddr(nil), of(noneJSON)},
		{"external", query(own).MustStoreUInt(1, 2).MustStoreUInt(5, 9).MustStoreUInt(0b10110, 5), of(`{"@type":"addr_external","len":"5","external_address":"B4_"}`)},
		{"anycast", query(own).MustStoreUInt(0b101, 3).MustStoreUInt(3, 5).MustStoreUInt(0b101, 3).MustStoreInt(-1, 8).MustStoreSlice(bytesOf(32), 256),
			of(`{"@type":"addr_std","anycast":{"@type":"something_from_maybe","value":{"@type":"anycast_info","depth":"3","rewrite_pfx":"B_"}},"workchain_id":"-1","address":"` + strings.Repeat("5A", 32) + `"}`)},
		{"of variable length", query(own).MustStoreUInt(0b110, 3).MustStoreUInt(8, 9).MustStoreInt(-5, 32).MustStoreUInt(0xC0, 8), of(`{"@type":"addr_var","anycast":` + nothing + `,"addr_len":"8","workchain_id":"-5","address":"C0"}`)},
		{"anycast too deep", query(own).MustStoreUInt(0b101, 3).MustStoreUInt(31, 5).MustStoreSlice(bytesOf(40), 320), body.ErrUnknown.Error()},
		{"cut off", query(own).MustStoreUInt(0b100, 3).MustStoreSlice(bytesOf(32), 256), body.ErrUnknown.Error()},
	})
}

func TestNumbersOfAllWidths(t *testing.T) {
	minusOne := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 128), big.NewInt(1))
	check(t, []example{
		{"24 bits with a sign", query(0x530b5f2c).MustStoreUInt(1, 64).MustStoreUInt(2, 128).MustStoreInt(-887272, 24).MustStoreInt(8388607, 24),
			`{"@type":"tonco_pool_start_burn","query_id":"7","burned_index":"1","liquidity_to_burn":"2","tick_lower":"-887272","tick_upper":"8388607"}`},
		{"4 bits", query(0xeed236d3).MustStoreUInt(9, 4), `{"@type":"jetton_set_status","query_id":"7","status":"9"}`},
		{"64 bits with a sign", code(0xa43227e1).MustStoreUInt(1<<63, 64), `{"@type":"teleitem_return_bid","query_id":"-9223372036854775808"}`},
		{"Coins", query(0x1690c604).MustStoreCoins(300), `{"@type":"credit","query_id":"7","amount":` + coins("2", "300") + `}`},
		{"160 bits", query(0xa7fb58f8).MustStoreAddr(alice).MustStoreAddr(bob).
			MustStoreRef(cell.BeginCell().MustStoreCoins(1).MustStoreBigUInt(new(big.Int).Lsh(big.NewInt(1), 159), 160).MustStoreCoins(2).EndCell()).
			MustStoreRef(cell.BeginCell().MustStoreAddr(alice).MustStoreCoins(0).MustStoreBoolBit(false).MustStoreCoins(0).MustStoreBoolBit(false).EndCell()),
			`{"@type":"tonco_pool_swap","query_id":"7","owner_address":` + aliceJSON + `,"source_wallet":` + bobJSON +
				`,"swap_params":{"amount":` + varUint("1", "1") + `,"sqrtPriceLimitX96":"730750818665451459101842416358141509827966271488","minOutAmount":` + varUint("1", "2") +
				`},"swap_payloads":{"target_address":` + aliceJSON + `,"ok_forward_amount":` + varUint("0", "0") + `,"ok_forward_payload":` + nothing +
				`,"ret_forward_amount":` + varUint("0", "0") + `,"ret_forward_payload":` + nothing + `}}`},
		{"an opcode that begins with a zero", query(0x0bf3f447), `{"@type":"tonco_account_refund_me","query_id":"7"}`},
		{"a wide VarUInteger", code(0xac392598).MustStoreUInt(16, 5).MustStoreBigUInt(minusOne, 128).MustStoreUInt(0, 5).MustStoreBoolBit(false),
			`{"@type":"scaled_ui_display_multiplier_changed","numerator":` + varUint("16", minusOne.String()) + `,"denominator":` + varUint("0", "0") + `,"comment":` + nothing + `}`},
	})
}

func TestDictionariesAreShownAsTheTreesThatTheyAre(t *testing.T) {
	burn := func(d *cell.Dictionary) *cell.Builder {
		return query(0x73403c43).MustStoreDict(d).MustStoreMaybeRef(nil)
	}
	of := func(dict string) string {
		return `{"@type":"bidask_burn","query_id":"7","tokens_to_burn":` + dict + `,"forward_payload":` + nothing + `}`
	}
	dict := func(keys ...int64) *cell.Dictionary {
		d := cell.NewDict(32)
		for _, key := range keys {
			if err := d.SetIntKey(big.NewInt(key), cell.BeginCell().MustStoreInt(-key, 32).EndCell()); err != nil {
				t.Fatal(err)
			}
		}
		return d
	}
	leaf := func(value string) string { return `"node":{"@type":"hashmap_node_leaf","value":"` + value + `"}}` }
	check(t, []example{
		{"empty", burn(nil), of(`{"@type":"hashmap_empty"}`)},
		{"one key", burn(dict(0)), of(`{"@type":"hashmap_root","root":{"@type":"hashmap_edge","label":{"@type":"hashmap_label_same","v":"0","n":"32"},` + leaf("0") + `}`)},
		{"two keys", burn(dict(0, 5)), of(`{"@type":"hashmap_root","root":{"@type":"hashmap_edge","label":{"@type":"hashmap_label_same","v":"0","n":"29"},"node":{"@type":"hashmap_node_fork","left":` +
			`{"@type":"hashmap_edge","label":{"@type":"hashmap_label_same","v":"0","n":"2"},` + leaf("0") + `,"right":` +
			`{"@type":"hashmap_edge","label":{"@type":"hashmap_label_short","len":{"@type":"unary_succ","x":{"@type":"unary_succ","x":{"@type":"unary_zero"}}},"s":"6_"},` + leaf("-5") + `}}}`)},
		{"a long label", burn(dict(0x55555555)), of(`{"@type":"hashmap_root","root":{"@type":"hashmap_edge","label":{"@type":"hashmap_label_long","n":"32","s":"55555555"},` + leaf("-1431655765") + `}`)},
	})
}

// message is an internal message as wallets send them.
func message(t testing.TB, in *cell.Cell) *cell.Cell {
	t.Helper()
	c, err := tlb.ToCell(&tlb.InternalMessage{IHRDisabled: true, Bounce: true, DstAddr: alice, Amount: tlb.FromNanoTONU(5), Body: in})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestSignedMessagesOfWallets(t *testing.T) {
	const signature = 0x5A
	sent := message(t, comment("hi"))
	signed := func() *cell.Builder { return cell.BeginCell().MustStoreSlice(bytes.Repeat([]byte{signature}, 64), 512) }
	entries := cell.NewDict(16)
	if err := entries.SetIntKey(big.NewInt(0), cell.BeginCell().MustStoreUInt(3, 8).MustStoreRef(sent).EndCell()); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		body *cell.Builder
		want string // what the first member is
	}{
		{"v1, v2", signed().MustStoreUInt(1, 32).MustStoreUInt(2, 32).MustStoreUInt(3, 8).MustStoreRef(sent), "wallet_signed_v1_v2"},
		{"v3 without messages", signed().MustStoreUInt(1, 32).MustStoreUInt(2, 32).MustStoreUInt(3, 32), "wallet_signed_v3"},
		{"v3", signed().MustStoreUInt(1, 32).MustStoreUInt(2, 32).MustStoreUInt(3, 32).MustStoreUInt(3, 8).MustStoreRef(sent).MustStoreUInt(0, 8).MustStoreRef(sent), "wallet_signed_v3"},
		{"v4", signed().MustStoreUInt(1, 32).MustStoreUInt(2, 32).MustStoreUInt(3, 32).MustStoreUInt(0, 8).MustStoreUInt(3, 8).MustStoreRef(sent), "wallet_signed_v4"},
		{"v4 that takes a plugin in", signed().MustStoreUInt(1, 32).MustStoreUInt(2, 32).MustStoreUInt(3, 32).MustStoreUInt(2, 8).MustStoreInt(0, 8).MustStoreSlice(bytesOf(32), 256).MustStoreCoins(5).MustStoreUInt(7, 64), "wallet_signed_v4"},
		{"highload v1", signed().MustStoreUInt(1, 32).MustStoreUInt(2, 32).MustStoreUInt(3, 32).MustStoreRef(entries.AsCell()), "highload_wallet_signed_v1"},
		{"highload v2", signed().MustStoreUInt(1, 32).MustStoreUInt(2, 64).MustStoreDict(entries), "highload_wallet_signed_v2"},
		{"highload v3", signed().MustStoreRef(cell.BeginCell().MustStoreUInt(1, 32).MustStoreRef(sent).MustStoreUInt(3, 8).MustStoreUInt(9, 23).MustStoreUInt(5, 64).MustStoreUInt(3600, 22).EndCell()), "highload_wallet_signed_v3"},
		{"preprocessed v2", signed().MustStoreRef(cell.BeginCell().MustStoreUInt(1, 64).MustStoreUInt(2, 16).MustStoreRef(cell.BeginCell().MustStoreUInt(0x0ec3c86d, 32).MustStoreUInt(3, 8).MustStoreRef(cell.BeginCell().EndCell()).MustStoreRef(sent).EndCell()).EndCell()), "preprocessed_wallet_signed_v2"},
	} {
		got := shown(t, c.body.EndCell())
		if !strings.HasPrefix(got, `{"@type":"`+c.want+`","signature":"`+strings.Repeat("5A", 64)+`"`) || strings.Contains(c.want, "v4") != strings.Contains(got, `"op":`) {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		if c.body.RefsUsed() > 0 && !strings.Contains(got, `{"@type":"text_comment","text":"hi"}`) {
			t.Errorf("%s does not show the message's body: %s", c.name, got)
		}
		if got := shown(t, c.body.MustStoreUInt(0b101, 3).EndCell()); got != body.ErrUnknown.Error() {
			t.Errorf("%s and more: %s, want %v", c.name, got, body.ErrUnknown)
		}
	}
}

func TestActionsOfV5Wallets(t *testing.T) {
	sent := message(t, comment("hi"))
	list := cell.BeginCell().EndCell()
	for range 255 {
		list = cell.BeginCell().MustStoreUInt(0x0ec3c86d, 32).MustStoreUInt(3, 8).MustStoreRef(list).MustStoreRef(sent).EndCell()
	}
	more := cell.BeginCell().MustStoreUInt(4, 8).MustStoreBoolBit(true).EndCell()
	request := query(0x6578746e).MustStoreMaybeRef(list).MustStoreBoolBit(true).MustStoreUInt(2, 8).MustStoreAddr(bob).MustStoreRef(more)
	got := shown(t, request.EndCell())
	if n := strings.Count(got, `"action_send_msg"`); n != 255 {
		t.Errorf("%d actions are shown, want 255: %.300s", n, got)
	}
	const end = `"extended_actions":{"@type":"something_from_maybe","value":{"@type":"extended_list_action","action":{"@type":"add_extension","addr":` + bobJSON +
		`},"prev":{"@type":"extended_list_last","action":{"@type":"set_signature_auth_allowed","allowed":true}}}}}}`
	if !strings.HasSuffix(got, end) {
		t.Errorf("the end is %s, want %s", got[max(0, len(got)-len(end)):], end)
	}
}

func TestBodiesInBodiesAreShownTenDeep(t *testing.T) {
	inner := cell.BeginCell()
	for range 20 {
		inner.MustStoreUInt(0xffffffff, 32)
	}
	got := shown(t, inner.EndCell())
	rest := cell.BeginCell()
	for range 9 {
		rest.MustStoreUInt(0xffffffff, 32)
	}
	if want := strings.Repeat(`{"@type":"bounce","payload":`, 11) + plainBoC(rest.EndCell()) + strings.Repeat("}", 11); got != want {
		t.Errorf(" got %s\nwant %s", got, want)
	}
}

func TestWhatIsEmptyOrShort(t *testing.T) {
	check(t, []example{{"empty", cell.BeginCell(), emptyJSON}, {"unknown", code(0xdeadbeef), body.ErrUnknown.Error()}})
	for _, c := range []*cell.Cell{cell.BeginCell().MustStoreUInt(0, 31).EndCell(), cell.BeginCell().MustStoreRef(comment("hi")).EndCell()} {
		if _, err := newDecoder().Append(nil, c.ToBOC()); !errors.Is(err, body.ErrShort) {
			t.Errorf("%v, want %v", err, body.ErrShort)
		}
	}
	before := []byte("before")
	for what, boc := range map[string][]byte{"nothing": nil, "no bag": []byte("te6ccg"), "two roots": cell.ToBOCWithOptions([]*cell.Cell{comment("a"), comment("b")}, cell.BOCSerializeOptions{}), "a library": library(t).ToBOC()} {
		if text, err := newDecoder().Append(before, boc); err == nil || string(text) != "before" {
			t.Errorf("%s: %q, %v, want an error", what, text, err)
		}
	}
}

// hostile are bodies whose cells are shared so that they stand for much more.
func hostile() map[string]*cell.Cell {
	shared := cell.BeginCell().MustStoreSlice(bytesOf(100), 800).EndCell()
	for range 40 {
		shared = cell.BeginCell().MustStoreRef(shared).MustStoreRef(shared).EndCell()
	}
	three := func(c *cell.Cell) *cell.Cell { // says the same body three times
		return query(0x96e7f528).MustStoreMaybeRef(c).MustStoreMaybeRef(c).MustStoreMaybeRef(c).EndCell()
	}
	wide := comment(strings.Repeat("x", 1000))
	for range 12 {
		wide = three(wide)
	}
	big := cell.BeginCell().MustStoreSlice(bytesOf(127), 1016).EndCell()
	for range 500 {
		big = cell.BeginCell().MustStoreSlice(bytesOf(127), 1016).MustStoreRef(big).EndCell()
	}
	leaves := code(0x0302cd79).MustStoreUInt(7, 64).MustStoreBoolBit(true).MustStoreRef(costtest.SharedDictionary(256, 10, cell.BeginCell().MustStoreRef(big))).EndCell()
	chain := cell.BeginCell().EndCell()
	for range 1000 {
		chain = cell.BeginCell().MustStoreUInt(0x36e6b809, 32).MustStoreUInt(1, 8).MustStoreCoins(1).MustStoreBoolBit(false).MustStoreRef(chain).EndCell()
	}
	settled := code(0x66f6f069).MustStoreBoolBit(true).MustStoreSlice(bytesOf(64), 512).MustStoreUInt(1, 32).MustStoreUInt(2, 128).MustStoreBoolBit(true)
	return map[string]*cell.Cell{
		"two cells that are trees without end": query(0x2508d66a).MustStoreRef(shared).EndCell(),
		"a payload that is one":                query(0x595f07bc).MustStoreCoins(1).MustStoreAddr(alice).MustStoreMaybeRef(shared).EndCell(),
		"bodies that hold three others":        wide,
		"a dictionary of the same body":        settled.MustStoreRef(costtest.SharedDictionary(32, 12, query(0xd53276db))).EndCell(),
		"a dictionary of the same large cell":  leaves,
		"a long list of actions":               query(0xae42e5a4).MustStoreRef(chain).EndCell(),
		"a long text":                          comment(strings.Repeat("\x01", 130_000)),
	}
}

func TestHostileBodiesCostNoMoreThanOthers(t *testing.T) {
	for what, c := range hostile() {
		boc := c.ToBOC()
		d := newDecoder()
		costtest.Check(t, func() {
			text, err := d.Append(nil, boc)
			if len(text) > 5<<20 || err == nil && !json.Valid(text) {
				t.Errorf("%s: %d bytes, %v", what, len(text), err)
			}
		})
	}
}

func TestABudgetIsForAllBodiesTogether(t *testing.T) {
	boc := comment("hi").ToBOC()
	size := len(shown(t, comment("hi")))
	d := body.NewDecoder(body.Budget{Bodies: 10, Reads: 100, Shown: 3 * size}, api.AppendText)
	for i := range 4 {
		_, err := d.Append(nil, boc)
		if full := i == 3; full != errors.Is(err, body.ErrLimit) || full != (d.Spent() && err != nil) {
			t.Errorf("body %d: %v", i, err)
		}
	}
	d.Renew(plenty)
	if text, err := d.Append(nil, boc); err != nil || len(text) != size {
		t.Errorf("with another budget: %s, %v", text, err)
	}
}

// maxTime is what a body may cost.
const maxTime = 50 * time.Millisecond

func FuzzDecoder(f *testing.F) {
	for _, c := range hostile() {
		f.Add(c.ToBOC())
	}
	for _, s := range body.Sections() {
		for _, line := range s.Lines {
			// Zeros, ones and a mixture behind each opcode, with references.
			for _, fill := range []byte{0, 0xFF, 0x5A} {
				c := code(uint64(line.Opcode)).MustStoreSlice(bytes.Repeat([]byte{fill}, 120), 960)
				for range 4 {
					c.MustStoreRef(cell.BeginCell().MustStoreSlice(bytes.Repeat([]byte{fill}, 100), 800).MustStoreRef(comment("x")).EndCell())
				}
				f.Add(c.EndCell().ToBOC())
			}
		}
	}
	f.Add(message(f, comment("hi")).ToBOC())
	d := newDecoder()
	f.Fuzz(func(t *testing.T, boc []byte) {
		var once, plain []byte
		var err, errPlain error
		costtest.Within(t, maxTime, costtest.MaxBytes, func() { once, err = d.Append(nil, boc) })
		costtest.Within(t, maxTime, costtest.MaxBytes, func() { plain, errPlain = d.AppendPlain(nil, boc) })
		if err == nil && !json.Valid(once) || errPlain == nil && (!json.Valid(plain) || err != nil) {
			t.Errorf("%x: %s, %v; plain %s, %v", boc, once, err, plain, errPlain)
		}
		if err != nil && len(once) > 0 {
			t.Errorf("%x: %v and %s", boc, err, once)
		}
	})
}

// BenchmarkDecoder shows each of some bodies: ns and allocations are those of one.
func BenchmarkDecoder(b *testing.B) {
	for _, c := range []struct {
		name string
		body *cell.Cell
	}{
		{"excess", query(0xd53276db).EndCell()},
		{"comment", comment("hello, world")},
		{"jetton_transfer", query(0x0f8a7ea5).MustStoreCoins(1_000_000_000).MustStoreAddr(alice).MustStoreAddr(bob).MustStoreMaybeRef(nil).MustStoreCoins(1).MustStoreBoolBit(true).MustStoreRef(comment("hi")).EndCell()},
		{"wallet_signed_v4", cell.BeginCell().MustStoreSlice(bytesOf(64), 512).MustStoreUInt(1, 32).MustStoreUInt(2, 32).MustStoreUInt(3, 32).MustStoreUInt(0, 8).MustStoreUInt(3, 8).MustStoreRef(message(b, comment("hi"))).EndCell()},
		{"unknown", code(0xdeadbeef).EndCell()},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			boc, d, dst := c.body.ToBOCWithOptions(cell.BOCSerializeOptions{WithCRC32C: true}), newDecoder(), []byte(nil)
			for range b.N {
				dst, _ = d.Append(dst[:0], boc)
			}
		})
	}
}
