package v2

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"testing"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/chain"
	"tonscribe/query/node"
	own "tonscribe/ton/address"
)

// channelData is ChanData (block.tlb) of parties 0:0101… and -1:0202….
func channelData(phase *cell.Builder) *cell.Cell {
	party := func(workchain byte, fill byte) *cell.Cell {
		return cell.BeginCell().MustStoreAddr(address.NewAddress(0, workchain, bytes.Repeat([]byte{fill}, 32))).EndCell()
	}
	config := cell.BeginCell().MustStoreUInt(10, 32).MustStoreUInt(20, 32).
		MustStoreSlice(bytes.Repeat([]byte{0xaa}, 32), 256).MustStoreSlice(bytes.Repeat([]byte{0xbb}, 32), 256).
		MustStoreRef(party(0, 1)).MustStoreRef(party(255, 2)).MustStoreUInt(77, 64).MustStoreCoins(3)
	return cell.BeginCell().MustStoreRef(config.EndCell()).MustStoreRef(phase.EndCell()).EndCell()
}

// terms are the fields that two phases of a channel have behind their tag.
func terms(tag uint64) *cell.Builder {
	return cell.BeginCell().MustStoreUInt(tag, 3).MustStoreUInt(0b10, 2).MustStoreCoins(5).MustStoreCoins(0).MustStoreUInt(600, 32).
		MustStoreCoins(1000).MustStoreCoins(70_000)
}

func TestRestrictedWalletsAndPaymentChannelsHaveTheirOwnForms(t *testing.T) {
	initial := contractWith(0x20, "30", channelData(terms(0)))
	closing := contractWith(0x21, "30", channelData(terms(1)))
	paid := contractWith(0x22, "30", channelData(cell.BeginCell().MustStoreUInt(2, 3).MustStoreCoins(1).MustStoreCoins(256)))
	longer := contractWith(0x23, "30", channelData(terms(0).MustStoreBoolBit(true)))

	wallet, err := written(contractState, extended{contract: &node.RestrictedWallet{
		ID: 4_000_000_000, Seqno: 7, Unlocked: 42, StartAt: 1_700_000_000, Limits: []node.RestrictedLimit{{Seconds: -32768, Value: 900}, {Seconds: 92, Value: 800}},
	}})
	w := newTown(t, 2, 0, initial, closing, paid, longer)
	state := func(a chain.Account) any {
		return w.get("getExtendedAddressInformation", "address="+rawOf(a))
	}
	alice, bob := own.New(0, bytes.Repeat([]byte{1}, 32)), own.New(-1, bytes.Repeat([]byte{2}, 32))
	channel := map[string]any{
		"revision": -1.0, "account_state.@type": "pchan.accountState", "account_state.config.@type": "pchan.config",
		"account_state.config.alice_address.account_address": bounceable(&alice), "account_state.config.bob_address.account_address": bounceable(&bob),
		"account_state.config.init_timeout": 10.0, "account_state.config.close_timeout": 20.0, "account_state.config.channel_id": 77.0,
	}
	amount := func(name string, length int, value int64) string {
		return fmt.Sprintf(" %s:(nanograms amount:(var_uint len:%d value:%d))", name, length, value)
	}
	described := func(name, minA, minB string) string {
		return "(" + name + " signed_A:1 signed_B:0" + amount(minA, 1, 5) + amount(minB, 0, 0) + " expire_at:600" + amount("A", 2, 1000) + amount("B", 3, 70_000) + ")"
	}
	for _, c := range []struct {
		name  string
		state any
		want  map[string]any
	}{
		{"a restricted wallet", map[string]any{"account_state": encoded(t, wallet, err)}, map[string]any{
			"account_state.@type": "rwallet.accountState", "account_state.wallet_id": 4_000_000_000.0, "account_state.seqno": 7.0,
			"account_state.unlocked_balance": 42.0, "account_state.config.@type": "rwallet.config", "account_state.config.start_at": 1_700_000_000.0,
			"account_state.config.limits.0.@type": "rwallet.limit", "account_state.config.limits.0.seconds": -32768.0, "account_state.config.limits.0.value": 900.0,
			"account_state.config.limits.1.seconds": 92.0,
		}},
		{"a channel", state(initial), channel},
		{"a channel that opens", state(initial), map[string]any{
			"account_state.state.@type": "pchan.stateInit", "account_state.state.signed_A": true, "account_state.state.signed_B": false,
			"account_state.state.min_A": 5.0, "account_state.state.min_B": 0.0, "account_state.state.expire_at": 600.0,
			"account_state.state.A": 1000.0, "account_state.state.B": 70_000.0, "account_state.description": described("chan_state_init", "min_A", "min_B"),
		}},
		{"a channel that closes", state(closing), map[string]any{
			"account_state.state.@type": "pchan.stateClose", "account_state.state.min_A": 5.0, "account_state.description": described("chan_state_close", "promise_A", "promise_B"),
		}},
		{"a channel that has paid", state(paid), map[string]any{
			"account_state.state.@type": "pchan.statePayout", "account_state.state.A": 1.0, "account_state.state.B": 256.0,
			"account_state.description": "(chan_state_payout" + amount("A", 1, 1) + amount("B", 2, 256) + ")",
		}},
		{"data that is longer than a channel's", state(longer), map[string]any{"revision": 0.0, "account_state.@type": "raw.accountState"}},
	} {
		for path, want := range c.want {
			if got := at(c.state, path); got != want {
				t.Errorf("%s: %s is %v, want %v", c.name, path, got, want)
			}
		}
	}
	key, err := base64.URLEncoding.DecodeString(at(state(initial), "account_state.config.alice_public_key").(string))
	if err != nil || len(key) != 36 || !bytes.Equal(key[2:34], bytes.Repeat([]byte{0xaa}, 32)) {
		t.Errorf("Alice's key is %x (%v)", key, err)
	}
}

func TestSizesOfQueuesHaveTwoNames(t *testing.T) {
	w := newTown(t, 2, 0)
	if got, want := w.get("getOutMsgQueueSizes", ""), w.get("getOutMsgQueueSize", ""); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestSignaturesAreIgnoredInAnyForm(t *testing.T) {
	w := newTown(t, 2, 0)
	order := w.transfer(0, w.alice.address(), 1, "x")
	gas := map[string]any{}
	spoilt := cell.BeginCell().MustStoreSlice(make([]byte, 64), 512).MustStoreBuilder(afterSignature(t, order)).EndCell()
	for _, form := range []string{"true", "1", "false", "0"} {
		r := w.post("estimateFee", fmt.Sprintf(`{"address":"%s","body":"%s","ignore_chksig":%s}`, w.alice.address(), text64(spoilt.ToBOC()), form))
		gas[form] = at(w.result(r, form), "source_fees.gas_fee")
	}
	if gas["true"] != gas["1"] || gas["false"] != gas["0"] || gas["true"] == gas["false"] || gas["false"] != 0.0 {
		t.Errorf("gas by ignore_chksig: %v, want the same of true and 1, and none of false and 0", gas)
	}
	for _, form := range []string{"2", `"true"`, "1.0", "[]"} {
		w.post("estimateFee", fmt.Sprintf(`{"address":"%s","body":"%s","ignore_chksig":%s}`, w.alice.address(), text64(spoilt.ToBOC()), form)).
			refusal(t, form, 422, "failed to parse ignore_chksig")
	}
}

// afterSignature is what Alice signed.
func afterSignature(t *testing.T, external *cell.Cell) *cell.Builder {
	t.Helper()
	body := bodyOf(t, external)
	s := body.MustBeginParse()
	s.MustLoadSlice(512)
	return s.MustToCell().ToBuilder()
}
