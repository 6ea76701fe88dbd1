package multisig

import (
	"encoding/base64"
	"encoding/json"
	"math/big"
	"strings"
	"testing"

	tonutils "github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/ton/address"
)

var (
	alice, bob = tonutils.NewAddress(0, 0, bytesOf(0xA1)), tonutils.NewAddress(0, 255, bytesOf(0xB2))
	rawAlice   = "0:" + strings.Repeat("A1", 32)
	rawBob     = "-1:" + strings.Repeat("B2", 32)
)

func bytesOf(b byte) []byte {
	out := make([]byte, 32)
	for i := range out {
		out[i] = b
	}
	return out
}

// Actions of an order.
const (
	tagSend   = 0xf1381e5b
	tagUpdate = 0x1d0cfbd3
)

func op(code uint64) *cell.Builder    { return cell.BeginCell().MustStoreUInt(code, 32) }
func query(code uint64) *cell.Builder { return op(code).MustStoreUInt(7, 64) }

// messageWith is an internal message to bob with a body in a reference.
func messageWith(body *cell.Cell) *cell.Cell {
	return cell.BeginCell().MustStoreUInt(0b0110, 4).MustStoreAddr(nil).MustStoreAddr(bob).MustStoreBigCoins(big.NewInt(5)).
		MustStoreBoolBit(false).MustStoreCoins(0).MustStoreCoins(0).MustStoreUInt(0, 96).MustStoreBoolBit(false).
		MustStoreBoolBit(true).MustStoreRef(body).EndCell()
}

func sendOf(body *cell.Cell) *cell.Cell {
	return op(tagSend).MustStoreUInt(3, 8).MustStoreRef(messageWith(body)).EndCell()
}

func orderOf(t *testing.T, actions ...*cell.Cell) []byte {
	t.Helper()
	dict := cell.NewDict(8)
	for i, action := range actions {
		if err := dict.SetIntKey(big.NewInt(int64(i)), cell.BeginCell().MustStoreRef(action).EndCell()); err != nil {
			t.Fatal(err)
		}
	}
	root, err := dict.ToCell()
	if err != nil {
		t.Fatal(err)
	}
	return root.ToBOC()
}

func bocOf(c *cell.Cell) string { return `"` + base64.StdEncoding.EncodeToString(c.ToBOC()) + `"` }

// The table of contract 3.25, row by row.
func TestBodiesAreTakenApartAsTheContractHasThem(t *testing.T) {
	comment := op(0).MustStoreSlice([]byte("hi"), 16).EndCell()
	hidden := op(0x2167da4b).MustStoreSlice([]byte{1, 2, 3}, 24).EndCell()
	swap := op(0x25938561).MustStoreAddr(bob).MustStoreCoins(9).MustStoreAddr(alice).EndCell()
	payload := cell.BeginCell().MustStoreUInt(0xABCD, 16).EndCell()
	internal := query(0x178d4519).MustStoreCoins(8).EndCell()
	status := query(0xeed236d3).MustStoreUInt(2, 4).EndCell()
	other := query(0x01020304).EndCell()
	transfer := func(tail func(*cell.Builder) *cell.Builder) *cell.Cell {
		return tail(query(0x0f8a7ea5).MustStoreCoins(100).MustStoreAddr(alice).MustStoreAddr(nil).MustStoreMaybeRef(payload).MustStoreCoins(1)).EndCell()
	}
	transferred := func(comment, hidden, payload, kind, swap string) string {
		return `{"query_id":7,"amount":"100","destination":"` + rawAlice + `","response":null,"custom_payload":` + bocOf(cell.BeginCell().MustStoreUInt(0xABCD, 16).EndCell()) +
			`,"forward_amount":"1","comment":"` + comment + `","encrypted_comment":` + hidden + `,"forward_payload":` + payload + `,"payload_sum_type":"` + kind + `","stonfi_swap_body":` + swap + `}`
	}
	inReference := func(c *cell.Cell) func(*cell.Builder) *cell.Builder {
		return func(b *cell.Builder) *cell.Builder { return b.MustStoreBoolBit(true).MustStoreRef(c) }
	}
	for _, c := range []struct {
		what       string
		body       *cell.Cell
		kind, want string
	}{
		{"nothing", cell.BeginCell().EndCell(), "ton_transfer", `{"comment":"","encrypted":false}`},
		{"fewer than 32 bits", payload, "ton_transfer", `{"comment":"","encrypted":false}`},
		{"a comment", comment, "ton_transfer", `{"comment":"hi","encrypted":false}`},
		{"an encrypted comment", hidden, "ton_transfer", `{"comment":"AQID","encrypted":true}`},
		{"a jetton transfer with a comment", transfer(inReference(comment)), "jetton_transfer", transferred("hi", "false", bocOf(comment), "TextComment", "null")},
		{"… with an encrypted one", transfer(inReference(hidden)), "jetton_transfer", transferred("AQID", "true", bocOf(hidden), "EncryptedTextComment", "null")},
		{"… that swaps", transfer(inReference(swap)), "jetton_transfer",
			transferred("", "false", bocOf(swap), "StonfiSwap", `{"jetton_wallet":"`+rawBob+`","min_amount":"9","user_address":"`+rawAlice+`"}`)},
		{"… with something else", transfer(inReference(other)), "jetton_transfer", transferred("", "false", bocOf(other), "Unknown", "null")},
		{"… without a payload", transfer(func(b *cell.Builder) *cell.Builder { return b.MustStoreBoolBit(false) }), "jetton_transfer", transferred("", "false", "null", "", "null")},
		{"a jetton burn", query(0x595f07bc).MustStoreCoins(4).MustStoreAddr(alice).EndCell(), "jetton_burn",
			`{"query_id":7,"amount":"4","response_destination":"` + rawAlice + `"}`},
		{"a jetton mint", query(0x642b7d07).MustStoreAddr(alice).MustStoreCoins(6).MustStoreRef(internal).EndCell(), "jetton_mint",
			`{"opcode":1680571655,"query_id":7,"to_address":"` + rawAlice + `","ton_amount":"6","master_msg_query_id":7,"master_msg_jetton_amount":"8"}`},
		{"an NFT transfer", query(0x5fcc3d14).MustStoreAddr(alice).MustStoreAddr(bob).MustStoreBoolBit(false).MustStoreCoins(2).MustStoreBoolBit(true).MustStoreRef(payload).EndCell(), "nft_transfer",
			`{"query_id":7,"new_owner":"` + rawAlice + `","response_destination":"` + rawBob + `","custom_payload":null,"forward_amount":"2","forward_payload":` + bocOf(payload) + `}`},
		{"a top-up", query(0x00009fd3).EndCell(), "jetton_top_up", `{"query_id":7}`},
		{"another admin", query(0x6501f354).MustStoreAddr(alice).EndCell(), "jetton_change_admin", `{"query_id":7,"new_admin_address":"` + rawAlice + `"}`},
		{"an admin's claim", query(0xfb88e119).EndCell(), "jetton_claim_admin", `{"query_id":7}`},
		{"another content", query(0xcb862902).MustStoreSlice([]byte("https://a.site"), 112).EndCell(), "jetton_change_content", `{"query_id":7,"new_metadata_url":"https://a.site"}`},
		{"a call", query(0x235caf52).MustStoreAddr(alice).MustStoreCoins(3).MustStoreRef(status).EndCell(), "jetton_call_to",
			`{"query_id":7,"to_address":"` + rawAlice + `","ton_amount":"3","action_type":"JettonSetStatus","action_data":` + bocOf(status) + `}`},
		{"a call of something else", query(0x235caf52).MustStoreAddr(alice).MustStoreCoins(3).MustStoreRef(other).EndCell(), "jetton_call_to",
			`{"query_id":7,"to_address":"` + rawAlice + `","ton_amount":"3","action_type":"Unknown","action_data":` + bocOf(other) + `}`},
		{"a status", status, "jetton_set_status", `{"query_id":7,"new_status":2}`},
		{"a withdrawal", query(0x00001000).MustStoreCoins(11).EndCell(), "single_nominator_withdraw", `{"query_id":7,"coins":"11"}`},
		{"another validator", query(0x00001001).MustStoreAddr(bob).EndCell(), "single_nominator_change_validator", `{"query_id":7,"validator_address":"` + rawBob + `"}`},
		{"a message of a vesting wallet", query(0x75097f5d).MustStoreUInt(1, 8).MustStoreRef(messageWith(comment)).EndCell(), "vesting_internal_transfer",
			`{"query_id":7,"send_mode":1,"destination":"` + rawBob + `","value":"5","message_body":` + bocOf(comment) + `,"comment":"hi"}`},
		{"what nobody knows", other, "unknown", `{"opcode":16909060,"data":` + bocOf(other) + `}`},
		{"a body that ends early", op(0x0f8a7ea5).EndCell(), "unknown", `{"opcode":260734629,"data":` + bocOf(op(0x0f8a7ea5).EndCell()) + `}`},
	} {
		want := `[{"destination":"` + rawBob + `","value":"5","body_raw":` + bocOf(c.body) + `,"parsed":true,"error":null,"parsed_body":` + c.want +
			`,"parsed_body_type":"` + c.kind + `","send_mode":3}]`
		left := MaxAnswerBytes
		got := string(Actions(orderOf(t, sendOf(c.body)), &left, func([]byte) {}))
		if got != want {
			t.Errorf("%s:\n%s\nwant\n%s", c.what, got, want)
		}
		if !json.Valid([]byte(got)) {
			t.Errorf("%s: no JSON: %s", c.what, got)
		}
	}
}

func TestAnActionThatIsNoMessageHasNoneAndOneThatCannotBeReadSaysSo(t *testing.T) {
	members := func(list ...*tonutils.Address) *cell.Cell {
		dict := cell.NewDict(8)
		for i, a := range list {
			if err := dict.SetIntKey(big.NewInt(int64(i)), cell.BeginCell().MustStoreAddr(a).EndCell()); err != nil {
				t.Fatal(err)
			}
		}
		root, err := dict.ToCell()
		if err != nil {
			t.Fatal(err)
		}
		return root
	}
	update := op(tagUpdate).MustStoreUInt(2, 8).MustStoreRef(members(alice, bob)).MustStoreMaybeRef(members(bob)).EndCell()
	const unreadable = `{"destination":null,"value":null,"body_raw":null,"parsed":false,"error":"the action cannot be read","parsed_body":null,"parsed_body_type":"unknown","send_mode":0}`
	for what, c := range map[string]struct {
		order []byte
		want  string
	}{
		"other members": {orderOf(t, update), `[{"destination":null,"value":null,"body_raw":null,"parsed":true,"error":null,"parsed_body":{"new_threshold":2,"new_signers":["` + rawAlice + `","` + rawBob +
			`"],"new_proposers":["` + rawBob + `"]},"parsed_body_type":"multisig_update_params","send_mode":0}]`},
		"no proposers": {orderOf(t, op(tagUpdate).MustStoreUInt(1, 8).MustStoreRef(members(alice)).MustStoreBoolBit(false).EndCell()),
			`[{"destination":null,"value":null,"body_raw":null,"parsed":true,"error":null,"parsed_body":{"new_threshold":1,"new_signers":["` + rawAlice +
				`"],"new_proposers":null},"parsed_body_type":"multisig_update_params","send_mode":0}]`},
		"one that cannot be read beside one that can": {orderOf(t, op(5).EndCell(), op(tagUpdate).EndCell()), "[" + unreadable + "," + unreadable + "]"},
		"no dictionary": {cell.BeginCell().MustStoreUInt(1, 1).EndCell().ToBOC(),
			`[{"destination":null,"value":null,"body_raw":null,"parsed":false,"error":"the order is not a dictionary of actions","parsed_body":null,"parsed_body_type":"unknown","send_mode":0}]`},
	} {
		var book []string
		left := MaxAnswerBytes
		got := string(Actions(c.order, &left, func(a []byte) { book = append(book, string(address.AppendRaw(nil, a))) }))
		if got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", what, got, c.want)
		}
		for _, raw := range []string{rawAlice, rawBob} {
			if strings.Contains(got, raw) && !strings.Contains(strings.Join(book, " "), raw) {
				t.Errorf("%s: %s is not told of", what, raw)
			}
		}
	}
}
