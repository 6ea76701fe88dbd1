package up

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tonscribe/test/support/harness"
	"tonscribe/test/support/realdata"
)

// merchants runs a command on the merchants of a data folder and returns what it prints.
func merchants(t *testing.T, data string, arguments ...string) string {
	t.Helper()
	command := exec.Command(harness.Binary(t), append(append([]string{"merchants"}, arguments...), "--data", data)...)
	var problem strings.Builder
	command.Stderr = &problem
	out, err := command.Output()
	if err != nil {
		t.Fatalf("merchants %v: %v\n%s", arguments, err, problem.String())
	}
	return strings.TrimSpace(string(out))
}

// made is what is shown once.
type made struct{ ID, Name, Key, Token string }

func makes(t *testing.T, data string, arguments ...string) (m made) {
	t.Helper()
	if err := json.Unmarshal([]byte(merchants(t, data, append(arguments, "--json")...)), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// call asks the merchants' API, with a key unless it is empty, and returns the status and
// the answer.
func call(t *testing.T, base, method, path, key string, body any) (int, map[string]any) {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), method, base+"/api/merchant/v1"+path, bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	if key != "" {
		request.Header.Set("x-api-key", key)
	}
	answer, err := (&http.Client{Timeout: time.Minute}).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	var object map[string]any
	if err := json.Unmarshal(raw, &object); err != nil {
		t.Fatalf("%s %s: %d %s: %v", method, path, answer.StatusCode, raw, err)
	}
	return answer.StatusCode, object
}

func TestMerchantsAreAddedBesideARunningUpAndServedByIt(t *testing.T) {
	source := "files:" + realdata.Path(t, "blocks", "mainnet_genesis_mc1-199")
	data, listen := t.TempDir(), harness.FreeAddress(t)
	base := "http://" + listen
	start := func() *harness.Process {
		p := harness.Start(t, nil, "up", "--data", data, "--listen", listen, "--source", source, "--from", "1", "--to", "3", "--serve")
		p.AwaitReady(base, time.Minute)
		return p
	}
	p := start()
	if info, err := os.Stat(filepath.Join(data, "seal-key")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("seal-key: %v %v, want mode 0600", info, err)
	}
	for range 5 { // nor does the general limit count these
		if status, answer := call(t, base, http.MethodGet, "/keys", "", nil); status != http.StatusUnauthorized {
			t.Errorf("a stranger: %d %v, want 401", status, answer)
		}
	}
	lines := strings.Split(merchants(t, data, "add", "shop"), "\n")
	if len(lines) != 2 || !strings.HasPrefix(lines[0], "key mk_") || !strings.HasPrefix(lines[1], "token mt_") {
		t.Fatalf("add prints %q, want a key and a token", lines)
	}
	shop := made{Key: strings.TrimPrefix(lines[0], "key "), Token: strings.TrimPrefix(lines[1], "token ")}
	other := makes(t, data, "add", "other", "--native-wallet", "0:"+strings.Repeat("1", 64))

	want := func(what string, wantStatus int, method, path, key string, body any) map[string]any {
		t.Helper()
		status, answer := call(t, base, method, path, key, body)
		if status != wantStatus {
			t.Errorf("%s: %s %s: %d %v, want %d", what, method, path, status, answer, wantStatus)
		}
		return answer
	}
	endpoint := want("an endpoint", 200, http.MethodPut, "/webhook", shop.Key, map[string]any{"url": "https://shop.example/hook", "enabled": true})
	secret := want("its secret", 200, http.MethodPost, "/webhook/secret/reveal", shop.Key, nil)["secret"]
	if fmt.Sprint(endpoint["secret"]) == "" || secret == nil {
		t.Fatalf("%v %v, want a secret", endpoint, secret)
	}
	if got := want("of another", 200, http.MethodGet, "/webhook", other.Key, nil); got["url"] != "" {
		t.Errorf("another merchant has the endpoint %v", got)
	}
	session := want("the token", 200, http.MethodPost, "/session", "", map[string]any{"token": shop.Token})
	if merchant := session["merchant"].(map[string]any); merchant["name"] != "shop" {
		t.Errorf("signed in as %v", merchant)
	}
	want("a key of the general API", 401, http.MethodGet, "/keys", strings.TrimPrefix(shop.Key, "mk_"), nil)
	if got := status(t, base+"/api/v3/blocks?api_key="+shop.Key); got != http.StatusUnauthorized {
		t.Errorf("a merchant's key at the general API: %d, want 401", got)
	}
	if got := status(t, base+"/api/merchant/v1/openapi.json"); got != http.StatusOK {
		t.Errorf("the document: %d, want 200", got)
	}

	narrow := makes(t, data, "key", "shop", "--scopes", "transfers", "--name", "till")
	want("a key without the scope", 403, http.MethodGet, "/keys", narrow.Key, nil)
	merchants(t, data, "disable", "shop")
	harness.Await(t, time.Minute, func() bool {
		got, _ := call(t, base, http.MethodGet, "/webhook", shop.Key, nil)
		return got == http.StatusForbidden
	},
		func() string { return "a disabled merchant's key is still good" })
	want("the token of a disabled merchant", 401, http.MethodPost, "/session", "", map[string]any{"token": shop.Token})
	merchants(t, data, "enable", "shop")
	harness.Await(t, time.Minute, func() bool {
		got, _ := call(t, base, http.MethodGet, "/webhook", shop.Key, nil)
		return got == http.StatusOK
	},
		func() string { return "an enabled merchant's key is not good" })
	renewed := makes(t, data, "token", "shop")
	harness.Await(t, time.Minute, func() bool {
		got, _ := call(t, base, http.MethodPost, "/session", "", map[string]any{"token": shop.Token})
		return got == http.StatusUnauthorized
	}, func() string { return "a token that was replaced is still good" })
	want("the new token", 200, http.MethodPost, "/session", "", map[string]any{"token": renewed.Token})

	shown := merchants(t, data, "show", "shop")
	for _, text := range []string{"shop", "https://shop.example/hook", "till", "transfers", shop.Key[:9] + "…", "enabled"} {
		if !strings.Contains(shown, text) {
			t.Errorf("show lacks %q:\n%s", text, shown)
		}
	}
	refused := func(arguments ...string) {
		t.Helper()
		out, err := run(t, append(append([]string{"merchants"}, arguments...), "--data", data)...)
		if err == nil || strings.Contains(out, "goroutine") {
			t.Errorf("merchants %v: %v %s, want a failure in plain words", arguments, err, out)
		}
	}
	for _, c := range [][]string{{"add", "other"}, {"add", ""}, {"add", "x", "--native-wallet", "nowhere"}, {"show", "nobody"}, {"disable", "nobody"}, {"key", "shop", "--scopes", "all"}, {"token", "nobody"}} {
		refused(c...)
	}
	secrets := []string{shop.Key, shop.Token, other.Key, other.Token, narrow.Key, renewed.Token, fmt.Sprint(secret)}
	p.Stop()
	for _, text := range secrets {
		if strings.Contains(p.Output(), text) || strings.Contains(shown, text) {
			t.Errorf("%s is in the log or shown again", text)
		}
	}

	p = start() // with the key of before
	if got := want("after another start", 200, http.MethodPost, "/webhook/secret/reveal", shop.Key, nil); got["secret"] != secret {
		t.Errorf("the secret is %v, want %v", got, secret)
	}
	p.Stop()

	// The engine of a stopped one is started for the command.
	var all []struct {
		ID, Name string
		Disabled bool
	}
	if err := json.Unmarshal([]byte(merchants(t, data, "list", "--json")), &all); err != nil || len(all) != 2 || all[0].Name != "shop" || all[1].ID != other.ID {
		t.Errorf("%v %v, want shop and other", all, err)
	}
	refused("add", "other")
}
