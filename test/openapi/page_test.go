package openapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tonscribe/test/browser"
)

// thePageShowsEveryOperationAndSendsRequests: of all documents, and what is
// tried out on it is what the API answers.
func thePageShowsEveryOperationAndSendsRequests(t *testing.T, s *server) {
	b := browser.Start(t)
	p := b.Open(s.base + "/api/docs")
	p.Size(1280, 900, false)
	p.Await(`document.querySelectorAll("#list a").length > 0`)
	for _, layer := range []string{"v2", "v3", "streaming"} {
		s.showsEveryOperation(t, p, layer)
	}
	f := s.learn(t)
	s.triesOut(t, p, f)
	s.followsStreams(t, p)
	for _, problem := range b.Problems() {
		t.Errorf("the browser complains: %.600s", problem)
	}
	s.refusesWithoutKey(t, p)
	look(t, p, s.base)
}

func (s *server) showsEveryOperation(t *testing.T, p *browser.Page, layer string) {
	t.Helper()
	for _, o := range s.documents[layer].Operations() {
		p.Eval(fmt.Sprintf(`location.hash = "#%s/%s"`, layer, o.ID), nil)
		p.Await(fmt.Sprintf(`document.querySelector("#main .path")?.innerText.endsWith(%q) && document.querySelector("#main .verbs [aria-current]").innerText === %q && document.querySelector("#list [aria-current]")`, o.Path, o.Method))
		var fields []string
		p.Eval(`[...document.querySelectorAll("#form .fields label")].map((label) => label.innerText.trim())`, &fields)
		if o.Method == http.MethodGet && len(fields) != len(o.Query) {
			t.Errorf("%s %s shows the parameters %v, has %d", o.Method, o.Path, fields, len(o.Query))
		}
		if shown := p.Text("#main"); !strings.Contains(shown, "Answer") || !strings.Contains(shown, "Errors") || strings.Contains(shown, "undefined") || strings.Contains(shown, "[object") {
			t.Errorf("%s %s shows %.500s", o.Method, o.Path, shown)
		}
	}
}

// triesOut sends requests of several kinds by the form.
func (s *server) triesOut(t *testing.T, p *browser.Page, f facts) {
	t.Helper()
	p.Eval(fmt.Sprintf(`document.getElementById("key").value = %q`, s.key), nil)
	account := f.first(t, "jetton")
	for _, c := range []struct {
		operation string
		fill      string // JavaScript
		want      string // in the answer
	}{
		{"v2/getMasterchainInfo", ``, `"@type": "blocks.masterchainInfo"`},
		{"v2/getTokenData", fmt.Sprintf(`document.getElementById("p-address").value = %q`, account), `"jetton_master"`},
		{"v2/jsonRPC", `document.getElementById("body").value = '{"method":"getConsensusBlock","id":"7"}'`, `"id": "7"`},
		{"v2/runGetMethodStd", `document.getElementById("fill").click()`, `"exit_code": 0`},
		{"v3/transactions", fmt.Sprintf(`document.getElementById("p-limit").value = "1"; document.getElementById("p-account").value = %q; document.getElementById("p-sort").value = "asc"`, account), `"transactions": [`},
	} {
		p.Eval(fmt.Sprintf(`location.hash = "#%s"`, c.operation), nil)
		p.Await(fmt.Sprintf(`document.querySelector("#list [aria-current]")?.hash.startsWith("#%s") && document.getElementById("send")`, c.operation))
		p.Eval(c.fill+`; document.getElementById("send").click()`, nil)
		p.Await(`document.getElementById("status")`)
		if status, answer := p.Text("#status"), p.Text("#answer"); status != "200" || !strings.Contains(answer, c.want) {
			t.Errorf("%s: %s %.500s, want 200 and %s", c.operation, status, answer, c.want)
		}
		if answer := p.Text("#answer"); !json.Valid([]byte(answer)) && !strings.HasSuffix(answer, "…") {
			t.Errorf("%s shows no JSON: %.300s", c.operation, answer)
		}
		if shown := p.Text("#result"); strings.Contains(shown, s.key) {
			t.Errorf("%s shows the API key", c.operation)
		}
	}
}

// followsStreams opens streams in both ways, sees events in them, and leaves them.
func (s *server) followsStreams(t *testing.T, p *browser.Page) {
	t.Helper()
	for _, operation := range []string{"sse", "ws"} {
		p.Eval(fmt.Sprintf(`location.hash = "#streaming/%s"`, operation), nil)
		p.Await(fmt.Sprintf(`document.querySelector("#list [aria-current]")?.hash === "#streaming/%s" && document.getElementById("send")?.innerText === "Open"`, operation))
		p.Eval(`document.getElementById("send").click()`, nil)
		p.Await(`document.querySelectorAll("#events .event").length >= 4`)
		p.Eval(`document.querySelector("#events .event summary").click()`, nil)
		p.Await(`document.querySelector("#events .event pre")?.innerText.includes('"type": "account_state_change"')`)
		if first := p.Text("#events .event:last-child summary"); !strings.HasPrefix(first, "subscribed ") {
			t.Errorf("%s: the first event is %q, want the answer", operation, first)
		}
		if status := p.Text("#status"); status != map[string]string{"sse": "200", "ws": "101"}[operation] {
			t.Errorf("%s: the status is %s", operation, status)
		}
		if shown := p.Text("#result"); strings.Contains(shown, s.key) {
			t.Errorf("%s shows the API key", operation)
		}
		if operation == "ws" {
			p.Eval(`document.getElementById("body").value = '{"operation":"ping","id":"p"}'; document.getElementById("more").click()`, nil)
			p.Await(`[...document.querySelectorAll("#events .event summary")].some((line) => line.innerText.startsWith("pong "))`)
		}
		picture(t, p, "stream-"+operation)
		p.Eval(`document.getElementById("close").click()`, nil)
		p.Await(`document.getElementById("status").innerText === "closed" && !document.getElementById("close") && !document.getElementById("send").disabled`)
	}
}

// picture keeps what the page shows, when asked to.
func picture(t *testing.T, p *browser.Page, name string) {
	t.Helper()
	if *pictures == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(*pictures, name+".png"), p.Screenshot(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// refusesWithoutKey sends a wrong key; the page shows what the API says.
func (s *server) refusesWithoutKey(t *testing.T, p *browser.Page) {
	t.Helper()
	p.Eval(`document.getElementById("key").value = "wrong"; location.hash = "#v2/getConsensusBlock"`, nil)
	p.Await(`document.querySelector("#main .path")?.innerText.endsWith("getConsensusBlock") && !document.getElementById("status")`)
	p.Eval(`document.getElementById("send").click()`, nil)
	p.Await(`document.getElementById("status")`)
	if status, answer := p.Text("#status"), p.Text("#answer"); status != "401" || !strings.Contains(answer, "API key does not exist") {
		t.Errorf("a wrong key: %s %s, want 401", status, answer)
	}
	p.Eval(fmt.Sprintf(`document.getElementById("key").value = %q`, s.key), nil)
}

// look takes pictures for whoever wants to see the page, when asked to.
func look(t *testing.T, p *browser.Page, base string) {
	if *pictures == "" {
		return
	}
	for name, view := range map[string]struct {
		hash          string
		width, height int
		dark          bool
	}{
		"intro": {"v2", 1280, 800, false}, "get": {"v2/getTransactionsStd", 1280, 1300, false}, "post": {"v2/runGetMethod", 1280, 1300, true},
		"v3": {"v3/transactions", 1280, 1500, true}, "narrow": {"v3/messages", 420, 900, false},
	} {
		p.Size(view.width, view.height, view.dark)
		p.Go(base + "/api/docs?" + name + "#" + view.hash)
		p.Await(`document.querySelectorAll("#list a").length > 0 && document.querySelector("#main h2")`)
		p.Eval(`document.getElementById("send")?.click()`, nil)
		p.Await(`!document.getElementById("send") || document.getElementById("status")`)
		picture(t, p, name)
	}
}
