package api

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"tonscribe/webhooks/event"
	"tonscribe/webhooks/payment"
	"tonscribe/webhooks/signature"
	"tonscribe/webhooks/store"
)

func TestSecretsAreMaskedUntilTheyAreRevealedAndRotateByTheAPI(t *testing.T) {
	w := newWorld(t)
	s := w.newShop("shop")
	w.newShop("other")
	shown := func(r request) map[string]any {
		t.Helper()
		answer := w.send(r)
		if answer.Code != http.StatusOK || strings.Contains(answer.Body.String(), s.secret) {
			t.Fatalf("%s %s: %d %s, want a masked secret", r.method, r.path, answer.Code, answer.Body)
		}
		var object map[string]any
		w.must(json.Unmarshal(answer.Body.Bytes(), &object))
		return object["secret"].(map[string]any)
	}
	step := func(name string) map[string]any {
		t.Helper()
		return shown(s.clicks(http.MethodPost, "/webhook/secret/"+name, map[string]any{}))
	}
	ends := func(masked any, secret string) bool { return masked == "whsec_…"+secret[len(secret)-4:] }
	signs := func(of map[string]any, secret string) bool {
		return ends(of["masked"], secret) && of["keyId"] == signature.KeyID(secret)
	}
	if got := shown(s.asks(http.MethodGet, "/webhook", nil)); !signs(got, s.secret) || got["next"] != nil || got["old"] != nil {
		t.Errorf("at first %v", got)
	}
	rotated := step("rotate")
	secrets := w.ok(s.clicks(http.MethodPost, "/webhook/secret/reveal", map[string]any{}))
	next := secrets["next"].(string)
	if secrets["secret"] != s.secret || !strings.HasPrefix(next, "whsec_") || next == s.secret || !signs(rotated["next"].(map[string]any), next) {
		t.Errorf("revealed %v, rotated %v", secrets, rotated)
	}
	at, err := time.Parse(time.RFC3339, rotated["next"].(map[string]any)["switchAt"].(string))
	if until := at.Sub(w.clock.now()); err != nil || until < 23*time.Hour || until > 24*time.Hour {
		t.Errorf("the switch is in %s, %v, want 24h", until, err)
	}
	w.refused("twice", s.clicks(http.MethodPost, "/webhook/secret/rotate", nil), http.StatusConflict, "rotation_open")
	if switched := step("switch"); !signs(switched, next) || !signs(switched["old"].(map[string]any), s.secret) {
		t.Errorf("switched %v", switched)
	}
	w.refused("nothing to switch", s.clicks(http.MethodPost, "/webhook/secret/switch", nil), http.StatusConflict, "no_next_secret")
	if undone := step("undo"); !ends(undone["masked"], s.secret) || !ends(undone["next"].(map[string]any)["masked"], next) {
		t.Errorf("undone %v", undone)
	}
	w.clock.pass(24*time.Hour + time.Second)
	w.signIn(s)
	if later := shown(s.clicks(http.MethodGet, "/webhook", nil)); !ends(later["masked"], next) || later["old"] == nil {
		t.Errorf("after the deadline %v", later)
	}
	w.clock.pass(24*time.Hour + time.Second)
	w.signIn(s)
	w.refused("too late", s.clicks(http.MethodPost, "/webhook/secret/undo", nil), http.StatusConflict, "nothing_to_undo")

	var what []string
	for _, row := range w.ok(s.clicks(http.MethodGet, "/audit", nil))["audit"].([]any) {
		what = append(what, row.(map[string]any)["what"].(string))
	}
	slices.Reverse(what)
	if want := []string{"signed_in", "secret_rotated", "secret_revealed", "secret_switched", "secret_undone", "signed_in", "signed_in"}; !slices.Equal(what, want) {
		t.Errorf("the audit is %v, want %v", what, want)
	}
	for _, secret := range append(s.secrets(), next) {
		if strings.Contains(w.log.String(), secret) || strings.Contains(w.everything(s), secret) {
			t.Errorf("%s is in the log or in a table", secret)
		}
	}
}

func TestAnEndpointNeedsAPublicHTTPSAddress(t *testing.T) {
	w := newWorld(t)
	s := w.newShop("shop")
	for _, bad := range []string{
		"", "x", "http://shop.example/hook", "ftp://shop.example/", "https://", "https:///path", "https:shop.example", "//shop.example/hook", "https://user@shop.example/", "https://user:secret@shop.example/",
		"https://shop.example/#part", "https://shop.example/#", "https://shop.example/a b", "https://shop.example/\n", "https://shop.example:0/", "https://shop.example:/", "https://shop.example:22/", "https://shop.example:99999/",
		"https://127.0.0.1/", "https://10.0.0.1:8443/", "https://[::1]/", "https://169.254.169.254/latest", "https://168.63.129.16/", "https://[::ffff:10.0.0.1]/", "https://100.64.0.1/", "https://0/", "https://2130706433/", "https://0x7f.1/", "https://0177.0.0.1/", "https://127.1/", "https://1.2.3/",
		"https://127.0.0.1./", "https://shop.example/" + strings.Repeat("p", maxURL), "javascript:alert(1)", "https://[fe80::1%25lo]/", "https://./",
		"https://１２７.０.０.１/", "https://⑩.0.0.1/", "https://127。0。0。1/", "https://bücher.example:/", "https://bücher.example:22/", "https://bücher.example/#", "https://user@bücher.example/", "https://b ü.example/", "https://[::ü]/", "https://\u200dü.example/",
		"https://ü.example/" + strings.Repeat("p", maxURL-len("https://ü.example/")),
	} {
		w.refused(bad, s.clicks(http.MethodPut, "/webhook", map[string]any{"url": bad}), http.StatusBadRequest, "bad_url")
	}
	for _, good := range []string{"https://shop.example/hook?shop=1", "https://shop.example:8443", "https://1.1.1.1/hook", "https://[2606:4700:4700::1111]:8443/", "https://xn--bcher-kva.example/é", "https://3com.example"} {
		if got := w.ok(s.clicks(http.MethodPut, "/webhook", map[string]any{"url": good})); got["url"] != good || got["enabled"] != true {
			t.Errorf("%s: %v", good, got)
		}
	}
	for sent, want := range map[string]string{
		"https://bücher.example/":            "https://xn--bcher-kva.example/",
		"https://b%C3%BCcher.example":        "https://xn--bcher-kva.example",
		"https://BÜCHER.example:8443/é?to=ü": "https://xn--bcher-kva.example:8443/é?to=ü",
		"https://１.１.１.１?x":                  "https://1.1.1.1?x",
	} {
		if got := w.ok(s.clicks(http.MethodPut, "/webhook", map[string]any{"url": sent})); got["url"] != want {
			t.Errorf("%s becomes %v, want %s", sent, got["url"], want)
		}
	}
	w.open(func(c *Configuration) { c.AllowHTTP = true })
	if got := w.ok(s.clicks(http.MethodPut, "/webhook", map[string]any{"url": "http://shop.example/hook", "enabled": false})); got["url"] != "http://shop.example/hook" || got["enabled"] != false {
		t.Errorf("where plain http is allowed: %v", got)
	}
	audit := w.send(s.clicks(http.MethodGet, "/audit", nil)).Body.String()
	if !strings.Contains(audit, "url https://1.1.1.1") || strings.Contains(audit, "shop=1") {
		t.Errorf("the audit is %s, want hosts without paths", audit)
	}
}

func TestAMerchantWithoutAURLHasNoSecretsYet(t *testing.T) {
	w := newWorld(t)
	m, token := store.NewMerchant("new")
	w.must(w.store.Merchants.Put(t.Context(), m))
	s := &shop{Merchant: m, token: token}
	w.signIn(s)
	got := w.ok(s.clicks(http.MethodGet, "/webhook", nil))
	if got["url"] != "" || got["enabled"] != false || got["signing"] != "secret" || got["secret"].(map[string]any)["masked"] != "" || got["header"] != signature.Header {
		t.Errorf("at first %v", got)
	}
	w.refused("reveal", s.clicks(http.MethodPost, "/webhook/secret/reveal", nil), http.StatusConflict, "no_secret")
	w.refused("verify", s.clicks(http.MethodPost, "/verify", map[string]any{"body": "{}", "header": "x"}), http.StatusConflict, "no_secret")
	w.refused("enable", s.clicks(http.MethodPut, "/webhook", map[string]any{"enabled": true}), http.StatusConflict, "no_url")
	if h := w.ok(s.clicks(http.MethodGet, "/webhook/health", nil)); h["state"] != "unset" {
		t.Errorf("health %v, want unset", h)
	}
	w.ok(s.clicks(http.MethodPut, "/webhook", map[string]any{"url": "https://new.example/", "enabled": true}))
	w.must(w.store.Endpoints.Disable(t.Context(), m.ID, "it has taken nothing for 5 days"))
	if h := w.ok(s.clicks(http.MethodGet, "/webhook/health", nil)); h["state"] != "disabled" || h["disabledReason"] != "it has taken nothing for 5 days" {
		t.Errorf("health %v, want disabled", h)
	}
	if got := w.ok(s.clicks(http.MethodPut, "/webhook", map[string]any{"enabled": true})); got["enabled"] != true || got["disabledReason"] != nil {
		t.Errorf("enabled again: %v", got)
	}
}

func TestHostileRequestsGetPlainAnswers(t *testing.T) {
	w := newWorld(t)
	s := w.newShop("shop")
	post := func(body any) request { return s.asks(http.MethodPost, "/create-transfer", body) }
	deep := strings.Repeat(`{"a":`, 5000) + "1" + strings.Repeat("}", 5000)
	many := &strings.Builder{}
	for n := range 200 {
		fmt.Fprintf(many, `"m%d":1,`, n)
	}
	for name, body := range map[string]string{
		"no JSON": "amount=1", "an array": "[]", "a text": `"x"`, "a number": "1", "cut": `{"amount":`, "cut behind": `{"amount":1`, "two objects": "{}{}", "junk behind": "{} x",
		"a member twice": `{"amount":1,"amount":2}`, "bytes that are no UTF-8": "{\"commentToSender\":\"\xff\"}", "a BOM": "\ufeff{}", "many members": "{" + many.String() + `"a":1}`, "NUL": "{\x00}", "single quotes": "{'a':1}",
	} {
		w.refused(name, post(body), http.StatusBadRequest, "bad_json")
	}
	w.refused("nested", post(`{"commentToSender":`+deep+`}`), http.StatusBadRequest, "bad_comment_to_sender")
	w.refused("nested too deep", post(`{"commentToSender":`+strings.Repeat("[", 20000)+strings.Repeat("]", 20000)+`}`), http.StatusBadRequest, "bad_json")
	w.refused("an empty body", post(nil), http.StatusBadRequest, "missing_amount")
	w.refused("null", post("null"), http.StatusBadRequest, "missing_amount")
	w.refused("a long body", post(bytes.Repeat([]byte(" "), maxBody+1)), http.StatusRequestEntityTooLarge, "body_too_large")
	packed := post("{}")
	packed.header = http.Header{"Content-Encoding": {"gzip"}}
	w.refused("packed", packed, http.StatusBadRequest, "content_encoding")
	w.refused("a long query", s.asks(http.MethodGet, "/transfers?state="+strings.Repeat("x", maxQuery), nil), http.StatusBadRequest, "query_too_long")
	for _, id := range []string{"x", "..", "%2e%2e%2f", strings.Repeat("0", 31), strings.Repeat("0", 33), strings.Repeat("g", 32), strings.Repeat("a", 5000), "evt_", "'; DROP TABLE payments; --", "\x00", "\xff", "🙂", "replay"} {
		for _, path := range []string{"/deliveries/" + id, "/replays/" + id} {
			if strings.Contains(id, "/") || path == "/deliveries/replay" {
				continue
			}
			w.refused(fmt.Sprintf("%.20q", id), s.asks(http.MethodGet, path, nil), http.StatusNotFound, "not_found")
		}
	}
	for _, query := range []string{"reference=x", "reference=" + strings.Repeat("0", 36), "reference=%7B" + s.reference + "%7D", "reference=urn:uuid:" + s.reference, "reference=' OR 1=1 --"} {
		w.refused(query, s.asks(http.MethodGet, "/transfer?"+query, nil), http.StatusBadRequest, "bad_reference")
	}
	for _, query := range []string{"state=x", "txHash=1", "traceId=zz", "event=1", "code=1000", "code=abc", "from=yesterday", "to=2024", "test=maybe", "limit=1000", "class=" + strings.Repeat("c", 41), "merchant=1"} {
		if answer := w.send(s.asks(http.MethodGet, "/deliveries?"+query, nil)); answer.Code != http.StatusBadRequest {
			t.Errorf("%s: %d %s, want 400", query, answer.Code, answer.Body)
		}
	}
	for path, want := range map[string]int{"/": 404, "/nothing": 404, "//keys": 404, "/keys/a/b": 404, "/transfer/": 404, "/../v3/blocks": 404, "/deliveries/a/redeliver/b": 404} {
		if answer := w.send(s.asks(http.MethodGet, path, nil)); answer.Code != want {
			t.Errorf("%s: %d %s, want %d", path, answer.Code, answer.Body, want)
		}
	}
	for _, method := range []string{http.MethodPatch, http.MethodPut, http.MethodPost, http.MethodHead, http.MethodOptions, "PROPFIND", "FOO"} {
		for path, allow := range map[string]string{"/keys/" + s.keyID: http.MethodDelete, "/webhook": "GET, PUT", documentPath: http.MethodGet} {
			if strings.Contains(allow, method) {
				continue
			}
			answer := w.send(s.asks(method, path, nil))
			if answer.Code != http.StatusMethodNotAllowed || answer.Header().Get("Allow") != allow || !strings.Contains(answer.Body.String(), `"method_not_allowed"`) {
				t.Errorf("%s %s: %d %s, Allow %q, want 405, %s", method, path, answer.Code, answer.Body, answer.Header().Get("Allow"), allow)
			}
		}
		w.refused(method, s.asks(method, "/nothing", nil), http.StatusNotFound, "no_such_path")
	}
	if failures := w.log.String(); failures != "" {
		t.Errorf("the log has\n%s", failures)
	}
}

func TestAMerchantIsLimitedAndNobodyElse(t *testing.T) {
	w := newWorld(t)
	s, other := w.newShop("shop"), w.newShop("other")
	const slow = 0.001
	limited := func(what string, r request, allowed int) {
		t.Helper()
		for n := range allowed {
			if answer := w.send(r); answer.Code != http.StatusOK {
				t.Errorf("%s, request %d: %d %s, want 200", what, n, answer.Code, answer.Body)
			}
		}
		w.refused(what, r, http.StatusTooManyRequests, "too_many_requests")
	}
	transfer := map[string]any{"amount": 1, "asset": "TON", "senderAddr": accountOf(1).String()}
	w.open(func(c *Configuration) { c.Rate, c.Burst = slow, 3 })
	limited("all requests", s.asks(http.MethodGet, "/keys", nil), 3)
	w.refused("by session too", s.clicks(http.MethodGet, "/keys", nil), http.StatusTooManyRequests, "too_many_requests")
	w.ok(other.asks(http.MethodGet, "/keys", nil))
	w.open(func(c *Configuration) { c.TransferRate, c.TransferBurst = slow, 2 })
	limited("registrations", s.asks(http.MethodPost, "/create-transfer", transfer), 2)
	w.ok(s.asks(http.MethodGet, "/transfers", nil))
	w.ok(other.asks(http.MethodPost, "/create-transfer", transfer))
	w.open(func(c *Configuration) { c.ChangeRate, c.ChangeBurst = slow, 2 })
	limited("changes", s.asks(http.MethodPost, "/webhook/secret/reveal", nil), 2)
	w.refused("keys", s.asks(http.MethodPost, "/keys", map[string]any{"name": "one more"}), http.StatusTooManyRequests, "too_many_requests")
	w.ok(s.asks(http.MethodPost, "/create-transfer", transfer))
	w.ok(s.asks(http.MethodGet, "/keys", nil))
	w.open(func(c *Configuration) { c.LookupRate, c.LookupBurst = slow, 2 })
	limited("look-ups without a key", request{method: http.MethodGet, path: "/transfer?bodyHash=" + s.bodyHash}, 2)
	w.refused("sign-ins of the same address", request{method: http.MethodPost, path: "/session", body: map[string]any{"token": s.token}}, http.StatusTooManyRequests, "too_many_requests")
	w.ok(s.asks(http.MethodGet, "/transfer?reference="+s.reference, nil))
	w.api.client = func(context.Context) string { return "another address" }
	w.ok(request{method: http.MethodGet, path: "/transfer?bodyHash=" + s.bodyHash})
}

func TestWhatAnInstallationDoesNotHaveIsSaid(t *testing.T) {
	w := newWorld(t)
	s := w.newShop("shop")
	w.api.build, w.api.tokens, w.api.deliveries, w.api.outcomes = nil, nil, nil, nil
	for _, e := range Endpoints() {
		sample := sampleOf(t, s, e)
		needs := e.Tag == tagDeliveries || slices.Contains([]string{"createTransfer", "testWebhook", "getHealth"}, e.Name)
		if needs {
			w.refused("", s.clicks(e.Method, sample.path, sample.body), http.StatusServiceUnavailable, "not_configured")
		}
	}
	w.api.build = build
	w.refused("a jetton", s.asks(http.MethodPost, "/create-transfer", map[string]any{"amount": 1, "asset": accountOf(9).String(), "senderAddr": accountOf(1).String()}), http.StatusServiceUnavailable, "not_configured")
	if got := w.ok(s.asks(http.MethodGet, "/transfer?reference="+s.reference, nil)); got["status"] != "pending" {
		t.Errorf("without outcomes a payment is %v, want pending", got)
	}
}

func TestATestIsAnEventThatMatchesNoOrder(t *testing.T) {
	w := newWorld(t)
	s := w.newShop("shop")
	schema := w.ok(request{method: http.MethodGet, path: "/event-schema"})
	compiler := jsonschema.NewCompiler()
	w.must(compiler.AddResource("event.json", asAny(t, schema)))
	valid, err := compiler.Compile("event.json")
	w.must(err)
	for _, c := range []struct {
		body map[string]any
		want func(event.Data) bool
	}{
		{map[string]any{}, func(d event.Data) bool { return d.Status == event.Success && d.Asset == "TON" && d.ErrorCode == nil }},
		{map[string]any{"status": "failed", "asset": "token"}, func(d event.Data) bool {
			return d.Status == event.Failed && d.Asset != "TON" && *d.ErrorCode == 37 && d.ErrorMessage == payment.NoFunds.Text
		}},
		{map[string]any{"status": "failed", "fields": map[string]any{"errorCode": 706, "errorMessage": "not enough jettons", "amount": "7"}}, func(d event.Data) bool {
			return *d.ErrorCode == 706 && d.ErrorMessage == "not enough jettons" && d.Amount == "7"
		}},
		{map[string]any{"fields": map[string]any{"commentToRecipient": "<&>\u2028", "amount": nil}}, func(d event.Data) bool { return d.CommentToRecipient == "<&>\u2028" && d.Amount == "10.5" }},
	} {
		w.ok(s.clicks(http.MethodPost, "/webhook/test", c.body))
		e := w.deliveries.tested
		body, err := e.Encode()
		if err != nil || !strings.HasPrefix(e.Data.Reference, "test_") || !c.want(e.Data) {
			t.Errorf("%v: %s, %v", c.body, body, err)
		}
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
		w.must(err)
		if err := valid.Validate(value); err != nil {
			t.Errorf("%s: %v", body, err)
		}
	}
	for _, fields := range []any{map[string]any{"reference": "r"}, map[string]any{"status": "failed"}, map[string]any{"errorCode": 1}, map[string]any{"amount": 5}, map[string]any{"Amount": "5"}, map[string]any{"commentToSender": strings.Repeat("c", 501)}, "x", []string{}} {
		if answer := w.send(s.clicks(http.MethodPost, "/webhook/test", map[string]any{"fields": fields})); answer.Code != http.StatusBadRequest {
			t.Errorf("%v: %d %s, want 400", fields, answer.Code, answer.Body)
		}
	}
	w.refused("a failure without a text", s.clicks(http.MethodPost, "/webhook/test", map[string]any{"status": "failed", "fields": map[string]any{"errorMessage": ""}}), http.StatusBadRequest, "bad_fields")
}

// asAny is a decoded object as jsonschema reads it.
func asAny(t *testing.T, object any) any {
	t.Helper()
	text, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func TestTheLikelyMistakeBehindAWrongSignatureIsNamed(t *testing.T) {
	w := newWorld(t)
	s := w.newShop("shop")
	w.ok(s.asks(http.MethodPost, "/webhook/secret/rotate", nil))
	next := w.ok(s.asks(http.MethodPost, "/webhook/secret/reveal", nil))["next"].(string)
	body := `{"event":"transfer.completed","data":{"b":"<&>","a":1}}`
	sign := func(secret string) string { return signature.Sign([]byte(body), secret) }
	raw, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(s.secret, "whsec_"))
	w.must(err)
	digits := strings.TrimPrefix(sign(s.secret), "sha256=")
	binary, err := hex.DecodeString(digits)
	w.must(err)
	for name, c := range map[string]struct{ body, header, secret, want string }{
		"right":                    {body, sign(s.secret), "", ""},
		"right, a secret given":    {body, sign("s3cret"), "s3cret", ""},
		"no prefix":                {body, digits, "", "lacks sha256="},
		"upper case":               {body, "sha256=" + strings.ToUpper(digits), "", "upper case"},
		"base64":                   {body, "sha256=" + base64.StdEncoding.EncodeToString(binary), "", "base64"},
		"the other header":         {body, signature.Standard("evt_1", time.Now(), []byte(body), s.secret), "", "Standard Webhooks"},
		"spaces":                   {body, " " + sign(s.secret), "", "spaces"},
		"the decoded secret":       {body, sign(string(raw)), "", "what the secret encodes"},
		"the secret, cut":          {body, sign(strings.TrimPrefix(s.secret, "whsec_")), "", "without whsec_"},
		"the next secret":          {body, sign(next), "", "next secret"},
		"another secret is given":  {body, sign(s.secret), "whsec_other", "the secret"},
		"a line feed behind":       {body + "\n", sign(s.secret), "", "white space"},
		"indented":                 {"{\n  \"event\": \"transfer.completed\",\n  \"data\": {\"b\": \"<&>\", \"a\": 1}\n}", sign(s.secret), "", "indented"},
		"escaped":                  {strings.NewReplacer("<", `\u003c`, "&", `\u0026`, ">", `\u003e`).Replace(body), sign(s.secret), "", "escapes"},
		"nothing right":            {body, "sha256=" + strings.Repeat("0", 64), "", "neither"},
		"too short":                {body, "sha256=00", "", "64 hex digits"},
		"something else":           {body, "Bearer x", "", "does not begin"},
		"empty body, right length": {"", "sha256=" + strings.Repeat("0", 64), "", "neither"},
	} {
		sent := map[string]any{"body": c.body, "header": c.header}
		if c.secret != "" {
			sent["secret"] = c.secret
		}
		got := w.ok(s.clicks(http.MethodPost, "/verify", sent))
		mistake, _ := got["mistake"].(string)
		if got["valid"] != (c.want == "") || !strings.Contains(mistake, c.want) || (c.want == "") != (mistake == "") {
			t.Errorf("%s: %v, want %q", name, got, c.want)
		}
		if strings.Contains(mistake, s.secret) || strings.Contains(mistake, digits) {
			t.Errorf("%s: %q shows a secret or a signature", name, mistake)
		}
	}
	w.refused("no body", s.clicks(http.MethodPost, "/verify", map[string]any{"header": "x"}), http.StatusBadRequest, "missing_body")
}

func TestTheDocumentIsServed(t *testing.T) {
	w := newWorld(t)
	answer := w.send(request{method: http.MethodGet, path: documentPath})
	if answer.Code != http.StatusOK || !strings.Contains(answer.Body.String(), `"/api/merchant/v1/create-transfer"`) || answer.Header().Get("Content-Type") != "application/json" {
		t.Errorf("%d %.200s", answer.Code, answer.Body)
	}
	w.must(w.document.Compile())
}

func TestConfigurationsThatCannotWorkAreRefusedByTheNameOfTheKey(t *testing.T) {
	for name, change := range map[string]func(*Configuration){
		"ticker":        func(c *Configuration) { c.Ticker = "" },
		"masters":       func(c *Configuration) { c.Masters = []string{"USDT"} },
		"rate":          func(c *Configuration) { c.Rate = -1 },
		"transfer_rate": func(c *Configuration) { c.TransferRate = 1e9 },
		"change_rate":   func(c *Configuration) { c.ChangeRate = -1 },
		"lookup_rate":   func(c *Configuration) { c.LookupRate = -0.5 },
	} {
		c := DefaultConfiguration()
		change(&c)
		if _, err := New(c, Dependencies{}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
