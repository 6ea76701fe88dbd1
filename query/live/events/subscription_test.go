package events

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"

	"tonscribe/decode/action"
	"tonscribe/query/pending"
	"tonscribe/schema/record"
	"tonscribe/ton/address"
)

func account(n byte) address.Address { return address.Address{3: 0, 35: n} }

func rawAddress(n byte) string { return fmt.Sprintf("0:%064X", n) }

// subscriptionOf is what an order asks for.
func subscriptionOf(t *testing.T, text string) *Subscription {
	t.Helper()
	o, err := ReadOrder([]byte(text), "")
	if err != nil {
		t.Fatal(err)
	}
	s, err := o.Subscription(&SSEWords, Limits{Addresses: 100})
	if err != nil {
		t.Fatal(text, err)
	}
	return s
}

func TestAHashIsReadInEveryForm(t *testing.T) {
	var want Hash
	for i := range want {
		want[i] = byte(0xf8 + i) // both alphabets differ
	}
	standard := base64.StdEncoding.EncodeToString(want[:])
	digits := hex.EncodeToString(want[:])
	for _, text := range []string{standard, strings.TrimRight(standard, "="), base64.URLEncoding.EncodeToString(want[:]), base64.RawURLEncoding.EncodeToString(want[:]),
		digits, strings.ToUpper(digits), "0x" + digits, "0X" + digits, " " + standard + " "} {
		if got, err := parseHash(text); err != nil || got != want {
			t.Errorf("%q is %x, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "AA==", digits[:62], digits + "00", standard + "AAAA", strings.Repeat("z", 64)} {
		if got, err := parseHash(text); err == nil {
			t.Errorf("%q is read as %x", text, got)
		}
	}
}

func TestAddressesCountOnceInWhateverForm(t *testing.T) {
	named := account(1)
	friendly := string(address.AppendFriendly(nil, named[:], address.Form{}, base64.URLEncoding))
	s := subscriptionOf(t, `{"types":["actions"],"addresses":["`+rawAddress(1)+`","`+strings.ToLower(rawAddress(1))+`","`+friendly+`"],"jettons":["`+rawAddress(2)+`"],"collections":["`+rawAddress(3)+`"]}`)
	if len(s.addresses) != 1 || len(s.tokens) != 2 || s.Size() != 3 {
		t.Errorf("%d addresses, %d tokens, size %d; want 1, 2, 3", len(s.addresses), len(s.tokens), s.Size())
	}
}

func TestWhatAnOrderLeavesOutIsTheDefault(t *testing.T) {
	s := subscriptionOf(t, `{"types":["transactions","actions"],"addresses":["`+rawAddress(1)+`"],"min_finality":null,"action_types":[],"supported_action_types":[],"from":"","id":null,"what":1}`)
	if s.Min != FinalizedLevel || s.actionTypes != nil || s.supported != latest || s.From != nil || s.Recent || s.opcodes != nil || s.bodyHash != nil || s.style != (style{}) || s.everything {
		t.Errorf("the defaults are %+v", s)
	}
}

func TestTakingAwayLeavesTheRest(t *testing.T) {
	s := subscriptionOf(t, `{"types":["transactions","trace"],"addresses":["`+rawAddress(1)+`","`+rawAddress(2)+`"],"jettons":["`+rawAddress(1)+`"],"trace_external_hash_norms":["`+strings.Repeat("0a", 32)+`"],"replay_existing":true}`)
	left := s.Without(map[address.Address]struct{}{account(1): {}, account(9): {}}, map[Hash]struct{}{{1}: {}})
	var keys []Key
	left.Keys(func(k Key) { keys = append(keys, k) })
	slices.SortFunc(keys, func(a, b Key) int { return int(a.Of) - int(b.Of) })
	want := []Key{{OfAccount, account(2)}, TraceKey(Hash(slices.Repeat([]byte{10}, 32)))}
	if !slices.Equal(keys, want) || left.Recent {
		t.Errorf("%v is left (recent: %v), want %v", keys, left.Recent, want)
	}
	if s.Size() != 4 {
		t.Errorf("the subscription itself has %d names after it, want 4", s.Size())
	}
}

func TestOrdersAreRefusedInTheContractsWords(t *testing.T) {
	for _, c := range []struct{ order, sse, ws string }{
		{`{}`, "types are required for subscription", "types are required"},
		{`{"types":["trace_invalidated"]}`, "types are required for subscription", "types are required"},
		{`{"types":["gap"],"addresses":["` + rawAddress(1) + `"]}`, `gap requires type "jettons_change"`, `gap requires type "jettons_change"`},
		{`{"types":["actions"]}`, "addresses are required for subscription", "addresses are required"},
		{`{"types":["trace"]}`, "trace_external_hash_norms are required for trace subscription", "trace_external_hash_norms are required for trace subscription"},
		{`{"types":["actions"],"addresses":["` + rawAddress(1) + `","` + rawAddress(2) + `"]}`, "too many addresses: 2 > max 1", "address limit exceeded: current 0 + new 2 > max 1"},
		{`{"types":["transactions"],"addresses":["` + rawAddress(1) + `"],"opcodes":["transfer"]}`, "invalid opcode: transfer", "invalid opcode: transfer"},
		{`{"types":["transactions"],"addresses":["` + rawAddress(1) + `"],"opcodes":["00000010"]}`, "invalid opcode: 00000010", "invalid opcode: 00000010"},
		{`{"types":["transactions"],"addresses":["` + rawAddress(1) + `"],"opcodes":["0b11"]}`, "invalid opcode: 0b11", "invalid opcode: 0b11"},
		{`{"types":["transactions"],"addresses":["` + rawAddress(1) + `"],"opcodes":["0x100000000"]}`, "invalid opcode: 0x100000000", "invalid opcode: 0x100000000"},
		{`{"types":["transactions"],"addresses":["` + rawAddress(1) + `"],"opcodes":["1_0"]}`, "invalid opcode: 1_0", "invalid opcode: 1_0"},
		{`{"types":["trace"],"trace_external_hash_norms":["x"]}`, "invalid trace_external_hash_norm: x", "invalid trace_external_hash_norm: x"},
	} {
		for w, want := range map[*Words]string{&SSEWords: c.sse, &WSWords: c.ws} {
			o, err := ReadOrder([]byte(c.order), "")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := o.Subscription(w, Limits{Addresses: 1}); err == nil || err.Error() != want {
				t.Errorf("%s is answered by %v, want %s", c.order, err, want)
			}
		}
	}
}

func TestSetsOfActionTypesAreWhatTheContractNames(t *testing.T) {
	for _, label := range []string{"v1", "v2", "v3", "v4", "latest", "staking", "jettons", "nft", "dns", "multisig", "vesting", "evaa", "jvault", "coffee", "tgbtc", "layerzero", "cocoon"} {
		if got := supportedBy([]string{label}).types; len(got) == 0 {
			t.Errorf("%s is no action", label)
		}
	}
	if first, last := action.Expand([]string{"v1"}), latest.types; len(last) <= len(first) {
		t.Errorf("the latest set has %d types, the first one %d", len(last), len(first))
	}
}

// What the document names is what is read.
func TestTheDocumentNamesEveryMemberOfAnOrder(t *testing.T) {
	var named []string
	for _, p := range Fields() {
		named = append(named, p.Name)
	}
	if read := membersOf(Order{}); !slices.Equal(slices.Sorted(slices.Values(named)), slices.Sorted(slices.Values(read))) {
		t.Errorf("the document names\n%q, read are\n%q", named, read)
	}
}

// Actions concern accounts that have no transaction, such as who gets jettons without being
// notified.
func TestActionsOfATraceMayConcernAnyAccount(t *testing.T) {
	account := account(1)
	trace := &pending.Trace{Transactions: []*record.Transaction{{Account: account[:]}}}
	for types, want := range map[string]bool{`"transactions"`: false, `"account_state_change"`: false, `"actions"`: true, `"transactions","actions"`: true} {
		if got := subscriptionOf(t, `{"types":[`+types+`],"addresses":["`+rawAddress(2)+`"]}`).MayWant(trace); got != want {
			t.Errorf("%s of another account: %v, want %v", types, got, want)
		}
		if !subscriptionOf(t, `{"types":["transactions"],"addresses":["`+rawAddress(1)+`"]}`).MayWant(trace) {
			t.Error("the trace is not wanted of an account that has a transaction in it")
		}
	}
}
