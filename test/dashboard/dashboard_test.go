// Package dashboard proves the merchant's dashboard in a real browser, against a running
// `up` with a merchant and a shop that takes webhooks.
package dashboard

import (
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"tonscribe/test/browser"
	"tonscribe/test/support/harness"
	"tonscribe/webhooks/signature"
)

var (
	pictures = flag.String("pictures", "", "`FOLDER` for screenshots of every page")
	running  = flag.String("server", "", "`URL` of a running server, rather than one that the test starts")
	given    = flag.String("token", "", "token of a merchant of that server")
)

// startLimit is for an `up` until it is ready.
const startLimit = 3 * time.Minute

// toLoopback lets deliveries go to this machine, without TLS.
var toLoopback = []string{"TONSCRIBE_WEBHOOKS_SEND_ALLOW_NETWORKS=127.0.0.1/32", "TONSCRIBE_WEBHOOKS_SEND_ALLOW_HTTP=true"}

// dashboard is a page on a server.
type dashboard struct {
	*browser.Page
	t     *testing.T
	base  string
	token string
	shop  *shop
}

func TestDashboard(t *testing.T) {
	d := &dashboard{t: t, base: *running, token: *given, shop: openShop(t)}
	if d.base == "" {
		d.base, d.token = startWithMerchant(t)
	}
	b := browser.Start(t)
	d.Page = b.Open(d.base + "/dashboard")
	d.Size(1280, 900, false)
	d.signsInByKeyboard()
	d.setsTheAddressAndSendsATest()
	d.findsTheDeliveryAndSendsItAgain()
	d.showsARefusalOfWhatWasDeliveredAsOne()
	d.replaysARange()
	d.changesTheSecretAndGoesBack()
	d.makesAndRevokesAKey()
	d.saysWhetherASignatureIsRight()
	d.showsEveryPage()
	d.saysThatTheServerIsAway()
	d.findsTheSessionOnceTheServerAnswers()
	d.goesOnAfterTheSessionHasEnded()
	d.signsOut()
	for _, problem := range b.Problems() {
		// Browsers note that whoever is not signed in is told so, and what offline means.
		excused := []string{"status of 401", "ERR_INTERNET_DISCONNECTED", "ERR_BLOCKED_BY_CLIENT"}
		if !slices.ContainsFunc(excused, func(text string) bool { return strings.Contains(problem, text) }) {
			t.Errorf("the browser complains: %.600s", problem)
		}
	}
}

func startWithMerchant(t *testing.T) (base, token string) {
	if _, err := os.Stat(filepath.Join(harness.Root(), "web", "site", "built", "index.html")); err != nil {
		t.Skip("the dashboard is not built: make build")
	}
	data, listen := t.TempDir(), harness.FreeAddress(t)
	base = "http://" + listen
	p := harness.Start(t, toLoopback, "up", "--data", data, "--listen", listen)
	t.Cleanup(p.Stop) // its engine ends before the folder does
	p.AwaitReady(base, startLimit)
	isOpenToAnybody(t, base)
	out, err := exec.Command(harness.Binary(t), "merchants", "add", "--data", data, "shop").CombinedOutput()
	found := regexp.MustCompile(`\bmt_[\w-]+`).Find(out)
	if err != nil || found == nil {
		t.Fatalf("merchants add shows no token: %s (%v)", out, err)
	}
	return base, string(found)
}

// isOpenToAnybody: what is for a merchant only comes from the API, after signing in.
func isOpenToAnybody(t *testing.T, base string) {
	t.Helper()
	for _, key := range []string{"", "wrong"} {
		for range 5 { // more than a second's worth for an address without a key
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+"/dashboard", nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("X-API-Key", key)
			answer, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			body, _ := io.ReadAll(answer.Body)
			answer.Body.Close()
			if answer.StatusCode != http.StatusOK || !strings.Contains(string(body), "<html") || answer.Header.Get("Access-Control-Allow-Origin") != "" {
				t.Fatalf("with the key %q: %d, origins %q, %.200s; want 200 and the page, for this origin only", key, answer.StatusCode, answer.Header.Get("Access-Control-Allow-Origin"), body)
			}
		}
	}
}

// shop takes webhooks and answers 200, unless it refuses.
type shop struct {
	*httptest.Server
	came    chan request
	refuses atomic.Bool // answers 500 instead
}

type request struct {
	header http.Header
	body   []byte
}

const shopAnswer = "the shop thanks"

func openShop(t *testing.T) *shop {
	s := &shop{came: make(chan request, 64)}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.came <- request{r.Header, body}
		if s.refuses.Load() {
			w.WriteHeader(http.StatusInternalServerError)
		}
		_, _ = io.WriteString(w, shopAnswer)
	}))
	t.Cleanup(s.Close)
	return s
}

// next is the next webhook that comes.
func (d *dashboard) next() request {
	d.t.Helper()
	select {
	case r := <-d.shop.came:
		return r
	case <-time.After(startLimit):
		d.t.Fatal("no webhook comes to the shop")
		return request{}
	}
}

// to goes to a page by its link in the menu.
func (d *dashboard) to(path, title string) {
	d.t.Helper()
	d.click(fmt.Sprintf(`#menu a[href="/dashboard%s"]`, path))
	d.Await(fmt.Sprintf(`document.querySelector("#main h1")?.innerText === %q`, title))
}

func (d *dashboard) click(selector string) {
	d.t.Helper()
	d.Await(fmt.Sprintf(`document.querySelector(%q) && !document.querySelector(%q).disabled`, selector, selector))
	d.Eval(fmt.Sprintf(`document.querySelector(%q).click()`, selector), nil)
}

func (d *dashboard) fill(selector, text string) {
	d.t.Helper()
	d.Await(fmt.Sprintf(`document.querySelector(%q)`, selector))
	d.Eval(fmt.Sprintf(`document.querySelector(%q).focus()`, selector), nil)
	d.Type(text)
}

// choose takes an option of a list.
func (d *dashboard) choose(selector, value string) {
	d.t.Helper()
	d.Eval(fmt.Sprintf(`{ const list = document.querySelector(%q); list.value = %q; list.dispatchEvent(new Event("change")) }`, selector, value), nil)
}

func (d *dashboard) says(selector, text string) {
	d.t.Helper()
	d.Await(fmt.Sprintf(`[...document.querySelectorAll(%q)].some((e) => e.innerText.includes(%q))`, selector, text))
}

func (d *dashboard) signsInByKeyboard() {
	d.Await(`document.activeElement?.id === "token"`)
	d.Type("wrong")
	d.Press("Enter")
	d.Await(`document.querySelector(".sign-in [role=alert]")?.innerText`)
	d.picture("sign-in")
	d.Eval(`document.getElementById("token").focus()`, nil)
	d.Type(d.token)
	d.Press("Enter")
	d.Await(`document.querySelector("#main h1")?.innerText === "Webhooks" && document.getElementById("url")`)
	if kept := d.keptInThePage(); strings.Contains(kept, d.token) {
		d.t.Errorf("the page keeps the token: %s", kept)
	}
}

// keptInThePage is what a script of the page can read of what outlives it.
func (d *dashboard) keptInThePage() (kept string) {
	d.Eval(`JSON.stringify([document.cookie, {...localStorage}, {...sessionStorage}])`, &kept)
	return kept
}

func (d *dashboard) setsTheAddressAndSendsATest() {
	d.fill("#url", d.shop.URL+"/webhooks")
	d.click("#save")
	d.says(".toast", "Saved.")
	d.saysNothingOfTheSaveBefore()
	d.click("#reveal")
	d.Await(`document.querySelector("[data-secret=secret] code").innerText.startsWith("whsec_") && !document.querySelector("[data-secret=secret] code").innerText.includes("…")`)
	secret := d.Text("[data-secret=secret] code")
	d.choose("#test-status", "failed")
	d.click("#send-test")
	d.says("#test-result", shopAnswer)
	d.picture("test-send")
	got := d.next()
	if !signature.Verify(got.body, got.header.Get(signature.Header), secret) {
		d.t.Errorf("the test is not signed with the secret that is shown: %v %s", got.header, got.body)
	}
	if text := string(got.body); !strings.Contains(text, `"reference":"test_`) || !strings.Contains(text, `"status":"failed"`) {
		d.t.Errorf("the test is %s, want a failed transfer whose reference begins with test_", text)
	}
	if shown := d.Text("#test-result"); !strings.Contains(shown, "200") || !strings.Contains(shown, got.header.Get(signature.Header)) {
		d.t.Errorf("the result is %s, want 200 and the signature %s", shown, got.header.Get(signature.Header))
	}
}

// saysNothingOfTheSaveBefore beside one that has failed.
func (d *dashboard) saysNothingOfTheSaveBefore() {
	d.Offline(true)
	d.click("#save")
	d.says("#main form [role=alert]", "does not answer")
	var said string
	if d.Eval(`document.querySelector(".toast").innerText`, &said); said != "" {
		d.t.Errorf("beside a save that has failed the page says %q", said)
	}
	d.Offline(false)
	d.click("#save")
	d.says(".toast", "Saved.")
}

func (d *dashboard) findsTheDeliveryAndSendsItAgain() {
	d.to("/deliveries", "Deliveries")
	d.choose("#f-test", "true")
	d.Await(`location.search.includes("test=true") && document.querySelectorAll("#main tbody tr").length > 0`)
	d.Eval(`document.querySelector("#main tbody a").focus()`, nil)
	d.Press("Enter")
	d.says("#attempts", shopAnswer)
	d.click("#redeliver")
	d.says(".toast", "Sent once more. The answer is 200.")
	again := d.next()
	d.Await(`document.querySelectorAll("#attempts .try").length === 2`)
	var shown string
	d.click(`#main .card [role=switch]`)
	d.Eval(`document.querySelector("#main pre").innerText`, &shown)
	if shown != string(again.body) {
		d.t.Errorf("the page shows the body\n%s\nthe shop got\n%s", shown, again.body)
	}
}

func (d *dashboard) showsARefusalOfWhatWasDeliveredAsOne() {
	d.shop.refuses.Store(true)
	d.click("#redeliver")
	d.says(".toast", "The answer is 500.")
	d.shop.refuses.Store(false)
	d.next()
	d.to("/deliveries", "Deliveries")
	d.says("#main tbody .badge.good", "delivered")
	d.says("#main tbody .badge.bad", "500")
}

func (d *dashboard) replaysARange() {
	d.to("/deliveries", "Deliveries")
	d.click("#replay")
	d.Await(`document.querySelector("dialog[open]")`)
	d.choose("#r-state", "delivered")
	d.click("#replay-next")
	d.says("#replay-count", "sent again")
	d.countsOnlyWhatIsChosen()
	d.picture("replay")
	d.Press("Escape")
	d.Await(`!document.querySelector("dialog")`)
}

// countsOnlyWhatIsChosen also where something else is chosen before the answer comes.
func (d *dashboard) countsOnlyWhatIsChosen() {
	d.choose("#r-state", "")
	d.Eval(`{ const real = window.fetch; window.fetch = (...asked) => new Promise((go) => (window.letGo = go)).then(() => real(...asked)).finally(() => (window.fetch = real)) }`, nil)
	d.click("#replay-next")
	d.Await(`window.letGo`)
	d.choose("#r-state", "delivered")
	d.Eval(`letGo()`, nil)
	d.Await(`document.getElementById("replay-next").innerText !== "One moment…"`)
	if counted := d.Text("#replay-count"); counted != "" {
		d.t.Errorf("what was counted before another state was chosen is said of that: %q", counted)
	}
	d.click("#replay-next")
	d.says("#replay-count", "to be sent again")
}

func (d *dashboard) changesTheSecretAndGoesBack() {
	d.to("/webhooks", "Webhooks")
	const typed = "/typed-and-not-saved"
	d.fill("#url", typed)
	d.click("#rotate")
	d.click("dialog .primary")
	d.Await(`document.querySelector("[data-secret=next]") && !document.querySelector("dialog")`)
	var url string
	if d.Eval(`document.getElementById("url").value`, &url); !strings.Contains(url, typed) {
		d.t.Errorf("after another secret was made the field of the URL has %q, want what was typed there too, %q", url, typed)
	}
	d.click("#reveal")
	d.Await(`document.querySelector("[data-secret=next] code").innerText.startsWith("whsec_") && !document.querySelector("[data-secret=next] code").innerText.includes("…")`)
	d.picture("rotation")
	old, next := d.Text("[data-secret=secret] code"), d.Text("[data-secret=next] code")
	d.click("#switch")
	d.click("dialog .primary")
	d.Await(`document.querySelector("[data-secret=old]") && !document.querySelector("dialog")`)
	d.signsTestsWith(next)
	d.click("#undo")
	d.click("dialog .primary")
	d.Await(`!document.querySelector("[data-secret=old]") && !document.querySelector("dialog")`)
	d.signsTestsWith(old)
}

func (d *dashboard) signsTestsWith(secret string) {
	d.t.Helper()
	d.click("#send-test")
	got := d.next()
	d.says("#test-result", got.header.Get(signature.Header))
	if !signature.Verify(got.body, got.header.Get(signature.Header), secret) {
		d.t.Errorf("the signature %s is not by %s", got.header.Get(signature.Header), secret)
	}
}

func (d *dashboard) makesAndRevokesAKey() {
	d.to("/keys", "API keys")
	d.fill("#key-name", "till")
	d.Press("Enter")
	d.Await(`document.querySelector("dialog #new-key")?.innerText`)
	key := d.Text("#new-key")
	d.picture("new-key")
	d.Press("Escape")
	d.Await(`!document.querySelector("dialog")`)
	var shown string
	d.Eval(`document.documentElement.outerHTML`, &shown)
	if strings.Contains(shown, key) {
		d.t.Errorf("the key is still in the page after its dialog was closed")
	}
	d.says("#main tbody", "till")
	d.click(`button[aria-label="Revoke till"]`)
	d.click("dialog .primary")
	d.says("#main tbody tr", "revoked")
}

func (d *dashboard) saysWhetherASignatureIsRight() {
	d.to("/verify", "Verify")
	const body, secret = `{"a":"<&>"}`, "whsec_QQ=="
	d.fill("#v-body", body)
	d.fill("#v-secret", secret)
	d.fill("#v-header", signature.Sign([]byte(body), secret))
	d.click("#check")
	d.says("#verdict", "right")
	d.fill("#v-header", strings.ToUpper(signature.Sign([]byte(body), secret)))
	d.click("#check")
	d.says("#verdict", "wrong")
	d.picture("verdict")
	d.Eval(`document.getElementById("tab-0").focus()`, nil)
	for _, language := range []string{"createHmac", "hmac.new", "hash_hmac", "hmac.New"} {
		d.Press("ArrowRight")
		d.says("#snippet", language)
	}
}

// showsEveryPage looks at each for what everybody needs who does not see it, and for
// values that are none.
func (d *dashboard) showsEveryPage() {
	for _, page := range []struct{ path, title string }{
		{"/webhooks", "Webhooks"}, {"/deliveries", "Deliveries"}, {"/keys", "API keys"}, {"/transfers", "Transfers"}, {"/verify", "Verify"}, {"/audit", "Audit"},
	} {
		d.to(page.path, page.title)
		d.Await(`!document.querySelector("[aria-busy=true]")`)
		d.isFit(page.title)
		d.picture(strings.Trim(page.path, "/"))
		if page.title == "API keys" {
			d.saysWhatKeysCanDo()
		}
	}
	d.Go(d.base + "/dashboard/deliveries?test=true") // a page may be opened by its address
	d.click("#main tbody a")
	d.Await(`document.querySelector("#attempts .try")`)
	d.isFit("Delivery")
	d.picture("delivery")
}

// saysWhatKeysCanDo by a link to what describes the API that takes them.
func (d *dashboard) saysWhatKeysCanDo() {
	var described string
	d.Eval(`fetch(document.querySelector("#main .lead a").href).then((r) => r.text())`, &described)
	if !strings.Contains(described, "/create-transfer") {
		d.t.Errorf("what keys can do is said to be in %.200s, want the description of the merchants' API", described)
	}
}

func (d *dashboard) isFit(title string) {
	d.t.Helper()
	var faults []string
	d.Eval(`[
		...[...document.querySelectorAll("a, button, input, select, textarea, [role=region]")]
			.filter((e) => !(e.innerText?.trim() || e.getAttribute("aria-label") || e.labels?.length))
			.map((e) => "no name: " + e.outerHTML.slice(0, 120)),
		...[...document.querySelectorAll("[id]")].filter((e) => document.querySelectorAll("#" + CSS.escape(e.id)).length > 1).map((e) => "twice: #" + e.id),
		...[...document.querySelectorAll("h1")].slice(1).map(() => "a second h1"),
		...[...document.querySelectorAll("[tabindex]")].filter((e) => e.tabIndex > 0).map((e) => "out of order: " + e.outerHTML.slice(0, 120)),
		...[document.body.innerText.match(/.*(\b(undefined|NaN|null)\b|\[object|Invalid Date).*/)?.[0]].filter(Boolean).map((word) => "shows " + word),
		...(document.documentElement.scrollWidth > innerWidth ? ["wider than the window"] : []),
	]`, &faults)
	for _, fault := range faults {
		d.t.Errorf("page %s: %s", title, fault)
	}
}

// picture keeps the page as it is seen, for whoever wants to look.
func (d *dashboard) picture(name string) {
	d.t.Helper()
	if *pictures == "" {
		return
	}
	if err := os.MkdirAll(*pictures, 0o750); err != nil {
		d.t.Fatal(err)
	}
	for _, view := range []struct {
		name          string
		width, height int
		dark          bool
	}{{"light", 1280, 1300, false}, {"dark", 1280, 1300, true}, {"narrow", 400, 1600, false}} {
		d.Size(view.width, view.height, view.dark)
		if err := os.WriteFile(filepath.Join(*pictures, name+"-"+view.name+".png"), d.Screenshot(), 0o600); err != nil {
			d.t.Fatal(err)
		}
		d.isFit(name + " " + view.name)
	}
	d.Size(1280, 900, false)
}

// saysThatTheServerIsAway, with what to do, and keeps what is there.
func (d *dashboard) saysThatTheServerIsAway() {
	d.to("/audit", "Audit")
	d.Await(`document.querySelectorAll("#main tbody tr").length > 0`)
	d.Offline(true)
	d.click("#main .title button")
	d.says("#main [role=alert]", "does not answer")
	d.picture("away")
	if rows := d.Text("#main tbody"); rows == "" {
		d.t.Error("the rows are gone with the server")
	}
	d.Offline(false)
	d.click("#main [role=alert] button")
	d.Await(`!document.querySelector("#main [role=alert]")`)
}

// findsTheSessionOnceTheServerAnswers: whoever opened a page before that is signed in still.
func (d *dashboard) findsTheSessionOnceTheServerAnswers() {
	d.Block("*/session")
	d.Go(d.base + "/dashboard/keys")
	d.says(".sign-in [role=alert]", "does not answer")
	d.Block()
	d.click(".sign-in [role=alert] button")
	d.Await(`document.querySelector("#main h1")?.innerText === "API keys" && document.querySelector("#main tbody tr")`)
}

// goesOnAfterTheSessionHasEnded where it was, when the merchant has signed in again.
func (d *dashboard) goesOnAfterTheSessionHasEnded() {
	d.to("/transfers", "Transfers")
	d.Eval(`fetch("/api/merchant/v1/session").then((r) => r.json()).then((s) => fetch("/api/merchant/v1/session", {method: "DELETE", headers: {"X-CSRF-Token": s.csrf}}))`, nil)
	d.click(`#menu a[href="/dashboard/keys"]`)
	d.says(".sign-in", "The session has ended.")
	d.fill("#token", d.token)
	d.Press("Enter")
	d.Await(`document.querySelector("#main h1")?.innerText === "API keys" && document.querySelector("#main tbody tr")`)
}

func (d *dashboard) signsOut() {
	d.click("#sign-out")
	d.Await(`document.getElementById("token")`)
	d.Go(d.base + "/dashboard/keys")
	d.Await(`document.getElementById("token") && location.search.includes("next=/keys")`)
}
