package api

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/ton/address"
	"tonscribe/webhooks/event"
	"tonscribe/webhooks/payment"
	"tonscribe/webhooks/store"
)

func TestAmountsAreExactWhateverTheirForm(t *testing.T) {
	for _, c := range []struct {
		text     string
		decimals uint8
		want     string // base units; empty for a refusal
	}{
		{"1.5", 9, "1500000000"}, {"1", 0, "1"}, {"0.000000001", 9, "1"}, {"1e-9", 9, "1"}, {"1E-9", 9, "1"}, {"1.50e2", 6, "150000000"}, {"2e+3", 2, "200000"},
		{"0.1", 9, "100000000"}, {"123456789012345678901.123456789", 9, "123456789012345678901123456789"}, {"9007199254740993", 0, "9007199254740993"},
		{"00012.3400", 2, "1234"}, {"10.500000000000", 9, "10500000000"}, {"0.30000000000000004", 17, "30000000000000004"},
		{payment.MaxAmount.String(), 0, payment.MaxAmount.String()},
		{"0.0000000001", 9, ""}, {"1.5", 0, ""}, {"0.30000000000000004", 9, ""}, {"1e-10", 9, ""}, {new(big.Int).Add(payment.MaxAmount, big.NewInt(1)).String(), 0, ""}, {"1e40", 0, ""}, {"1e999", 9, ""}, {"1e-999", 9, ""},
	} {
		value, ok := readAmount(c.text)
		if !ok {
			t.Errorf("%s is not read", c.text)
			continue
		}
		got, err := value.(amount).base(c.decimals)
		if c.want == "" && err == nil || c.want != "" && (err != nil || got.String() != c.want) {
			t.Errorf("%s with %d decimals: %v, %v, want %q", c.text, c.decimals, got, err, c.want)
		}
		if c.want == "" {
			continue
		}
		again, ok := readAmount(payment.Text(got, c.decimals))
		if back, err := again.(amount).base(c.decimals); !ok || err != nil || back.Cmp(got) != 0 {
			t.Errorf("%s is written as %s, which is %v, %v", c.text, payment.Text(got, c.decimals), back, err)
		}
	}
	for _, text := range []string{"", "0", "0.0", "0e5", "-1", "+1", ".5", "5.", "1e", "1e5000", "1,5", "0x10", "NaN", "Infinity", "1 ", " 1", "1_000", "１", strings.Repeat("1", 81), "1." + strings.Repeat("0", 81)} {
		if value, ok := readAmount(text); ok {
			t.Errorf("%q is read as %v", text, value)
		}
	}
	for _, c := range []struct {
		base     int64
		decimals uint8
		want     string
	}{{1500000000, 9, "1.5"}, {1, 9, "0.000000001"}, {10, 0, "10"}, {1000000000, 9, "1"}, {123, 2, "1.23"}, {100, 3, "0.1"}} {
		if got := payment.Text(big.NewInt(c.base), c.decimals); got != c.want {
			t.Errorf("%d with %d decimals is %s, want %s", c.base, c.decimals, got, c.want)
		}
	}
}

func TestARegisteredPaymentIsBuiltAndLookedUpBothWays(t *testing.T) {
	w := newWorld(t)
	s := w.newShop("shop")
	recipient := accountOf(7)
	written := string(address.AppendFriendly(nil, recipient[:], address.Form{Friendly: true, NonBounceable: true}, base64.URLEncoding))
	master := accountOf(9)
	w.tokens[master] = Token{Decimals: 6, Symbol: "USD₮"}
	for name, c := range map[string]struct {
		body                        string
		amount, raw, asset, ticker  string
		messageAmount, to, received string
	}{
		"native, a number": {`{"amount":1.25,"asset":"TON","recipientAddr":"` + written + `","senderAddr":"` + accountOf(1).String() + `","queryId":5,"commentToSender":"<&>","commentToRecipient":"` + "\u2028" + `😀","later":{"a":[1]}}`,
			"1.25", "1250000000", "TON", "TON", "1250000000", written, written},
		"native, a text, the merchant's wallet": {`{"amount":"123456789.123456789","asset":"TON","senderAddr":"` + accountOf(1).String() + `","recipientAddr":null,"commentToSender":"<&>","commentToRecipient":"` + "\u2028" + `😀"}`,
			"123456789.123456789", "123456789123456789", "TON", "TON", "123456789123456789", w.api.friendly(accountOf(200)), w.api.friendly(accountOf(200))},
		"a jetton": {`{"amount":1e-6,"asset":"` + master.String() + `","recipientAddr":"` + recipient.String() + `","senderAddr":"` + accountOf(1).String() + `","queryId":"18446744073709551615","commentToSender":"<&>","commentToRecipient":"` + "\u2028" + `😀"}`,
			"0.000001", "1", w.api.friendly(master), "USD₮", "1", w.api.friendly(accountOf(1 ^ 9)), recipient.String()},
	} {
		made := w.ok(s.asks(http.MethodPost, "/create-transfer", c.body))
		message := made["message"].(map[string]any)
		boc, err := base64.StdEncoding.DecodeString(message["payload"].(string))
		w.must(err)
		body, err := cell.FromBOC(boc)
		w.must(err)
		hash := base64.StdEncoding.EncodeToString(body.Hash())
		reference, err := uuid.Parse(made["reference"].(string))
		if err != nil || reference.Version() != 7 || made["bodyBase64Hash"] != hash || message["amount"] != c.messageAmount || message["address"] != c.to {
			t.Errorf("%s: %v, want address %s, amount %s, hash %s, a reference of version 7", name, made, c.to, c.messageAmount, hash)
		}
		byReference := w.ok(s.asks(http.MethodGet, "/transfer?reference="+reference.String(), nil))
		byBody := w.ok(request{method: http.MethodGet, path: "/transfer?bodyHash=" + hash}) // as it is, without a key
		if fmt.Sprint(byReference) != fmt.Sprint(byBody) {
			t.Errorf("%s: by reference %v, by body %v", name, byReference, byBody)
		}
		for member, want := range map[string]string{
			"amount": c.amount, "rawAmount": c.raw, "asset": c.asset, "assetTicker": c.ticker, "status": "pending", "senderAddr": accountOf(1).String(), "recipientAddr": c.received,
			"reference": reference.String(), "bodyBase64Hash": hash, "txHash": "", "commentToSender": "<&>", "commentToRecipient": "\u2028😀",
		} {
			if byReference[member] != want {
				t.Errorf("%s: %s is %v, want %q", name, member, byReference[member], want)
			}
		}
	}
	found, err := w.store.Payments.List(t.Context(), s.ID, nil, 1)
	w.must(err)
	if p := found[0]; p.Master != nil && (p.QueryID == nil || *p.QueryID != 1<<64-1 || p.SenderWallet == (address.Address{}) || p.RecipientWallet == (address.Address{})) {
		t.Errorf("the payment in jettons: %+v", p)
	}
}

func TestAnEmptyBodyHashBesideAReferenceIsNone(t *testing.T) {
	w := newWorld(t)
	s := w.newShop("shop")
	got := w.ok(s.asks(http.MethodGet, "/transfer?bodyHash=&reference="+s.reference, nil))
	if got["reference"] != s.reference {
		t.Errorf("reference %v, want %s", got["reference"], s.reference)
	}
	w.refused("without a key", request{method: http.MethodGet, path: "/transfer?bodyHash=&reference=" + s.reference}, http.StatusUnauthorized, "key_wanted")
}

func TestABodyHashIsTakenInEveryFormThatItArrivesIn(t *testing.T) {
	w := newWorld(t)
	s := w.newShop("shop")
	hash := store.Hash{}
	for i := range hash {
		hash[i] = byte(i*7) | 0xf8 // + and / in it
	}
	one := store.Payment{Reference: store.Reference(uuid.Must(uuid.NewV7())), Merchant: s.ID, BodyHash: hash, Amount: big.NewInt(1), Ticker: "TON", Decimals: 9, Created: time.Now()}
	w.must(w.store.Payments.Put(t.Context(), one))
	standard := base64.StdEncoding.EncodeToString(hash[:])
	if !strings.ContainsAny(standard, "+") || !strings.ContainsAny(standard, "/") {
		t.Fatalf("%s has no + or no /", standard)
	}
	digits := hex.EncodeToString(hash[:])
	for name, form := range map[string]string{
		"as it is":        standard,
		"escaped":         strings.NewReplacer("+", "%2B", "/", "%2F", "=", "%3D").Replace(standard),
		"spaces":          strings.ReplaceAll(standard, "+", "%20"),
		"unpadded":        strings.TrimSuffix(standard, "="),
		"url-safe":        base64.URLEncoding.EncodeToString(hash[:]),
		"url-safe, short": base64.RawURLEncoding.EncodeToString(hash[:]),
		"hex":             digits,
		"upper-case hex":  strings.ToUpper(digits),
		"0x":              "0x" + digits,
	} {
		if got := w.ok(request{method: http.MethodGet, path: "/transfer?bodyHash=" + form}); got["bodyBase64Hash"] != standard {
			t.Errorf("%s: %v, want %s", name, got, standard)
		}
	}
	for _, form := range []string{"x", digits[:62], digits + "00", standard[:20], "-" + standard[1:], "%00" + standard[1:], "%" + standard[1:], standard + standard, "%F0%28" + standard[2:]} {
		w.refused("no hash", request{method: http.MethodGet, path: "/transfer?bodyHash=" + form}, http.StatusBadRequest, "bad_body_hash")
	}
	w.refused("nobody's", request{method: http.MethodGet, path: "/transfer?bodyHash=" + strings.Repeat("0", 64)}, http.StatusNotFound, "not_found")
	w.refused("both", request{method: http.MethodGet, path: "/transfer?bodyHash=" + digits + "&reference=" + s.reference}, http.StatusBadRequest, "one_wanted")
	w.refused("neither", s.asks(http.MethodGet, "/transfer", nil), http.StatusBadRequest, "one_wanted")
	w.refused("twice", request{method: http.MethodGet, path: "/transfer?bodyHash=" + digits + "&bodyHash=" + digits}, http.StatusBadRequest, "repeated")
}

func TestTheLogSaysThatTheDecimalsOfAJettonAreAssumed(t *testing.T) {
	w := newWorld(t)
	s := w.newShop("shop")
	order := map[string]any{"amount": "10", "asset": accountOf(9).String(), "senderAddr": accountOf(1).String(), "recipientAddr": accountOf(2).String()}
	for assumed, told := range map[bool]int{false: 0, true: 1} {
		w.tokens[accountOf(9)] = Token{Decimals: 9, Assumed: assumed}
		before := strings.Count(w.log.String(), accountOf(9).String())
		w.ok(s.asks(http.MethodPost, "/create-transfer", order))
		if got := strings.Count(w.log.String(), accountOf(9).String()) - before; got != told {
			t.Errorf("decimals are assumed %t: %d lines name the jetton, want %d", assumed, got, told)
		}
	}
}

func TestNoPaymentIsRegisteredInAJettonWhoseDecimalsAreWaitedFor(t *testing.T) {
	w := newWorld(t)
	s := w.newShop("shop")
	w.tokens[accountOf(9)] = Token{Decimals: 9, Waits: true}
	order := map[string]any{"amount": "10", "asset": accountOf(9).String(), "senderAddr": accountOf(1).String(), "recipientAddr": accountOf(2).String()}
	w.refused("before its document was read", s.asks(http.MethodPost, "/create-transfer", order), http.StatusServiceUnavailable, "asset_waits")
	w.tokens[accountOf(9)] = Token{Decimals: 6, Symbol: "USD"}
	made := w.ok(s.asks(http.MethodPost, "/create-transfer", order))
	if got := w.ok(s.asks(http.MethodGet, "/transfer?reference="+made["reference"].(string), nil)); got["rawAmount"] != "10000000" {
		t.Errorf("10 of it are %s, want 10000000", got["rawAmount"])
	}
}

// A jetton's document may have hundreds of kilobytes, which every payment and its webhook
// would repeat.
func TestASymbolThatIsTooLongIsLeftOut(t *testing.T) {
	w := newWorld(t)
	s := w.newShop("shop")
	for symbol, want := range map[string]any{strings.Repeat("S", maxSymbol): strings.Repeat("S", maxSymbol), strings.Repeat("S", maxSymbol+1): nil} {
		w.tokens[accountOf(9)] = Token{Decimals: 6, Symbol: symbol}
		made := w.ok(s.asks(http.MethodPost, "/create-transfer", map[string]any{"amount": "10", "asset": accountOf(9).String(), "senderAddr": accountOf(1).String()}))
		if got := w.ok(s.asks(http.MethodGet, "/transfer?reference="+made["reference"].(string), nil))["assetTicker"]; got != want {
			t.Errorf("a symbol of %d bytes is told as %v, want %v", len(symbol), got, want)
		}
	}
}

func TestWhatCannotBePaidIsNotRegistered(t *testing.T) {
	w := newWorld(t, func(c *Configuration) { c.Masters = []string{accountOf(9).String(), accountOf(8).String()} })
	s := w.newShop("shop")
	w.tokens[accountOf(9)] = Token{Decimals: 6, Symbol: "USD"}
	w.tokens[accountOf(10)] = Token{Decimals: 6, Symbol: "FAKE"}
	good := func(change map[string]any) map[string]any {
		body := map[string]any{"amount": "1", "asset": "TON", "senderAddr": accountOf(1).String(), "recipientAddr": accountOf(2).String()}
		for name, value := range change {
			if body[name] = value; value == nil {
				delete(body, name)
			}
		}
		return body
	}
	w.ok(s.asks(http.MethodPost, "/create-transfer", good(nil)))
	one := accountOf(1)
	testOnly := string(address.AppendFriendly(nil, one[:], address.Form{Friendly: true, TestOnly: true}, base64.URLEncoding))
	for name, c := range map[string]struct {
		change map[string]any
		code   string
	}{
		"no amount":             {map[string]any{"amount": nil}, "missing_amount"},
		"amount 0":              {map[string]any{"amount": 0}, "bad_amount"},
		"amount below 0":        {map[string]any{"amount": -1}, "bad_amount"},
		"amount true":           {map[string]any{"amount": true}, "bad_amount"},
		"too many decimals":     {map[string]any{"amount": "0.0000000001"}, "bad_amount"},
		"more than a message":   {map[string]any{"amount": "1e30"}, "bad_amount"},
		"more than can be paid": {map[string]any{"amount": "1e25"}, "bad_transfer"},
		"no asset":              {map[string]any{"asset": nil}, "missing_asset"},
		"another ticker":        {map[string]any{"asset": "ton"}, "bad_asset"},
		"a number for an asset": {map[string]any{"asset": 5}, "bad_asset"},
		"a jetton not allowed":  {map[string]any{"asset": accountOf(10).String()}, "asset_refused"},
		"no jetton":             {map[string]any{"asset": accountOf(8).String()}, "bad_asset"},
		"no sender":             {map[string]any{"senderAddr": nil}, "missing_sender_addr"},
		"a bad sender":          {map[string]any{"senderAddr": "0:12"}, "bad_sender_addr"},
		"another workchain":     {map[string]any{"recipientAddr": "7:" + strings.Repeat("0", 64)}, "bad_address"},
		"of the test network":   {map[string]any{"recipientAddr": testOnly}, "bad_address"},
		"a query id too large":  {map[string]any{"queryId": "18446744073709551616"}, "bad_query_id"},
		"a query id below 0":    {map[string]any{"queryId": -1}, "bad_query_id"},
		"a fraction of one":     {map[string]any{"queryId": 1.5}, "bad_query_id"},
		"a long comment":        {map[string]any{"commentToRecipient": strings.Repeat("é", payment.MaxComment/2) + "e"}, "bad_comment_to_recipient"},
		"a long other comment":  {map[string]any{"commentToSender": strings.Repeat("e", payment.MaxComment+1)}, "bad_comment_to_sender"},
		"an object as comment":  {map[string]any{"commentToSender": map[string]any{}}, "bad_comment_to_sender"},
	} {
		w.refused(name, s.asks(http.MethodPost, "/create-transfer", good(c.change)), http.StatusBadRequest, c.code)
	}
	list, err := w.store.Payments.List(t.Context(), s.ID, nil, 100)
	if err != nil || len(list) != 2 { // the shop's first one, and the good one
		t.Errorf("%d payments, %v, want 2", len(list), err)
	}
	bare := w.newShop("bare")
	m, err := w.store.Merchants.Find(t.Context(), "bare")
	w.must(err)
	m.NativeWallet = ""
	w.must(w.store.Merchants.Put(t.Context(), m))
	w.must(w.store.Merchants.Refresh(t.Context()))
	w.refused("no wallet at all", bare.asks(http.MethodPost, "/create-transfer", good(map[string]any{"recipientAddr": nil})), http.StatusBadRequest, "missing_recipient_addr")
}

// ends makes a payment end.
func (w *world) ends(reference string, status event.Status, duplicate bool) event.Data {
	w.Helper()
	e := event.Event{Type: event.TransferCompleted, Data: event.Data{Amount: "1.4", RawAmount: "1400000000", SenderAddr: "from", RecipientAddr: "to", Asset: "TON", Status: status,
		Reference: reference, TxHash: strings.Repeat("ab", 32), TraceID: strings.Repeat("cd", 32), Date: event.Time{Time: time.Unix(1700000000, 0)}}}
	if status == event.Failed {
		code := int64(37)
		e.Data.ErrorCode, e.Data.ErrorMessage = &code, "not enough native coin"
	}
	body, err := e.Encode()
	w.must(err)
	w.outcomes[store.Reference(uuid.MustParse(reference))] = Outcome{Body: body, Duplicate: duplicate}
	return e.Data
}

func TestAPaymentThatHasEndedIsToldAsItsEventTellsIt(t *testing.T) {
	w := newWorld(t)
	s := w.newShop("shop")
	for status, want := range map[event.Status]string{event.Success: "success", event.Failed: "error"} {
		data := w.ends(s.reference, status, false)
		got := w.ok(s.asks(http.MethodGet, "/transfer?reference="+s.reference, nil))
		for member, want := range map[string]string{
			"status": want, "amount": data.Amount, "rawAmount": data.RawAmount, "senderAddr": data.SenderAddr, "recipientAddr": data.RecipientAddr, "txHash": data.TxHash, "traceId": data.TraceID, "date": "2023-11-14T22:13:20.000Z",
		} {
			if got[member] != want {
				t.Errorf("%s: %s is %v, want %q", status, member, got[member], want)
			}
		}
		row := w.ok(s.asks(http.MethodGet, "/transfers", nil))["transfers"].([]any)[0].(map[string]any)
		if row["amount"] != data.Amount || row["rawAmount"] != data.RawAmount {
			t.Errorf("%s: in the list it is %v, %v, want %s, %s", status, row["amount"], row["rawAmount"], data.Amount, data.RawAmount)
		}
		code, message := got["errorCode"], got["errorMessage"]
		if failed := status == event.Failed; failed != (code == json.Number("37")) || failed != (message == "not enough native coin") {
			t.Errorf("%s: error %v %v", status, code, message)
		}
	}
}

func TestPaymentsAreListedByStateAPageAtATime(t *testing.T) {
	w := newWorld(t)
	s, other := w.newShop("shop"), w.newShop("other")
	want := map[string][]string{"pending": {s.reference}, "": {s.reference}}
	for n := range 20 {
		made := w.ok(s.asks(http.MethodPost, "/create-transfer", map[string]any{"amount": 1, "asset": "TON", "senderAddr": accountOf(1).String()}))
		reference := made["reference"].(string)
		state := []string{"pending", "success", "failed", "duplicate"}[n%4]
		switch state {
		case "success", "duplicate":
			w.ends(reference, event.Success, state == "duplicate")
		case "failed":
			w.ends(reference, event.Failed, false)
		}
		want[state], want[""] = append(want[state], reference), append(want[""], reference)
	}
	for state, references := range want {
		var got []string
		cursor := ""
		for pages := 0; ; pages++ {
			if pages > 30 {
				t.Fatal("the pages do not end")
			}
			page := w.ok(s.asks(http.MethodGet, "/transfers?limit=3&state="+state+"&cursor="+cursor, nil))
			for _, row := range page["transfers"].([]any) {
				one := row.(map[string]any)
				if state != "" && one["state"] != state {
					t.Errorf("among those in %s: %v", state, one)
				}
				got = append(got, one["reference"].(string))
			}
			next, more := page["nextCursor"].(string)
			if !more {
				break
			}
			cursor = next
		}
		slices.Reverse(got)
		if !slices.Equal(got, references) {
			t.Errorf("%q: %v, want %v", state, got, references)
		}
	}
	// A cursor of another merchant shows nothing of his.
	page := w.ok(other.asks(http.MethodGet, "/transfers?limit=1", nil))
	if rows := page["transfers"].([]any); len(rows) != 1 || rows[0].(map[string]any)["reference"] != other.reference {
		t.Errorf("the other's payments: %v", rows)
	}
	for _, query := range []string{"limit=0", "limit=101", "limit=-1", "limit=x", "limit=1.5", "limit=99999999999999999999", "state=lost", "cursor=x", "cursor=" + strings.Repeat("A", 22) + "A", "cursor=%00", "cursor=" + strings.Repeat("A", 300), "offset=5", "limit=1&limit=2"} {
		if answer := w.send(s.asks(http.MethodGet, "/transfers?"+query, nil)); answer.Code != http.StatusBadRequest {
			t.Errorf("%s: %d %s, want 400", query, answer.Code, answer.Body)
		}
	}
}
