package up

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tonscribe/test/support/harness"
	"tonscribe/test/support/realdata"
)

// status asks without a key of the harness's own.
func status(t *testing.T, url string) int {
	t.Helper()
	answer, err := harness.Client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	return answer.StatusCode
}

// keys runs a command on the keys of a data folder and returns what it prints.
func keys(t *testing.T, data string, arguments ...string) string {
	t.Helper()
	command := exec.Command(harness.Binary(t), append(append([]string{"keys"}, arguments...), "--data", data)...)
	var problem strings.Builder
	command.Stderr = &problem
	out, err := command.Output()
	if err != nil {
		t.Fatalf("keys %v: %v\n%s", arguments, err, problem.String())
	}
	return strings.TrimSpace(string(out))
}

func TestTheOwnersKeyIsMadeOnceAndHasNoLimits(t *testing.T) {
	source := "files:" + realdata.Path(t, "blocks", "mainnet_genesis_mc1-199")
	data := t.TempDir()
	var key string
	for start := range 2 {
		listen := harness.FreeAddress(t)
		p := harness.Start(t, nil, "up", "--data", data, "--listen", listen, "--source", source, "--from", "1", "--to", "3", "--serve")
		p.AwaitReady("http://"+listen, time.Minute)
		path := filepath.Join(data, "api-key")
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("api-key: %v %v, want mode 0600", info, err)
		}
		if start == 0 {
			key = strings.TrimSpace(string(text))
		} else if got := strings.TrimSpace(string(text)); got != key {
			t.Errorf("another start, another key: %s and %s", key, got)
		}
		for range 30 {
			if got := status(t, "http://"+listen+"/api/v3/masterchainInfo?api_key="+key); got != http.StatusOK {
				t.Errorf("with the owner's key: %d, want 200", got)
			}
		}
		p.Stop()
		if n := strings.Count(p.Output(), key); n != 0 {
			t.Errorf("start %d prints the key %d times where no terminal is:\n%s", start, n, p.Output())
		}
		if !strings.Contains(p.Output(), path) {
			t.Errorf("start %d does not name %s:\n%s", start, path, p.Output())
		}
	}
}

func TestKeysAreMadeListedShownAndRevokedBesideARunningUp(t *testing.T) {
	source := "files:" + realdata.Path(t, "blocks", "mainnet_genesis_mc1-199")
	data, listen := t.TempDir(), harness.FreeAddress(t)
	p := harness.Start(t, []string{"TONSCRIBE_AUTH_USAGE=500ms"}, "up", "--data", data, "--listen", listen, "--source", source, "--from", "1", "--to", "3", "--serve")
	base := "http://" + listen
	p.AwaitReady(base, time.Minute)

	shop := keys(t, data, "add", "shop", "--rate", "0.001", "--burst", "3", "--networks", "mainnet,testnet")
	other := keys(t, data, "add", "other", "--networks", "testnet")
	var got []int
	for range 4 {
		got = append(got, status(t, base+"/api/v3/blocks?api_key="+shop))
	}
	if want := []int{200, 200, 200, 429}; !slices.Equal(got, want) {
		t.Errorf("a key with a burst of 3: %v, want %v", got, want)
	}
	if got := status(t, base+"/api/v3/blocks?api_key="+other); got != http.StatusForbidden {
		t.Errorf("a key for another network: %d, want 403", got)
	}

	list := keys(t, data, "list")
	for _, want := range []string{"owner", "no limit", "shop", shop[:6] + "…", "mainnet, testnet", "0.001/s, 3 at once", "other"} {
		if !strings.Contains(list, want) {
			t.Errorf("the list lacks %q:\n%s", want, list)
		}
	}
	if strings.Contains(list, shop) || strings.Contains(list, other) {
		t.Errorf("the list shows keys:\n%s", list)
	}
	type view struct {
		ID, Name string
		Revoked  bool
		Usage    []struct {
			Method            string
			Requests, Limited int
		}
	}
	var shown view
	harness.Await(t, time.Minute, func() bool { // usage is written now and then
		if err := json.Unmarshal([]byte(keys(t, data, "show", "shop", "--json")), &shown); err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(shown.Usage) == "[{v3/blocks 4 1}]"
	}, func() string {
		return fmt.Sprintf("usage of the key: %v, want 4 requests of v3/blocks, one over the limit", shown.Usage)
	})

	keys(t, data, "revoke", "shop", shown.ID)
	harness.Await(t, time.Minute, func() bool { return status(t, base+"/api/v3/blocks?api_key="+shop) == http.StatusUnauthorized },
		func() string { return "a revoked key is still good" })
	if list := keys(t, data, "list"); strings.Contains(list, "shop") {
		t.Errorf("a revoked key is listed as in use:\n%s", list)
	}
	refused := func(arguments ...string) {
		t.Helper()
		out, err := run(t, append(append([]string{"keys"}, arguments...), "--data", data)...)
		if err == nil || strings.Contains(out, "goroutine") {
			t.Errorf("keys %v: %v %s, want a failure in plain words", arguments, err, out)
		}
	}
	for _, c := range [][]string{{"add", "other"}, {"add", "x", "--rate", "-1"}, {"add", "x", "--networks", "moon"}, {"add", ""}, {"show", "nobody"}, {"revoke", "nobody"}} {
		refused(c...)
	}
	p.Stop()
	if out := p.Output(); strings.Contains(out, shop) || strings.Contains(out, other) {
		t.Errorf("keys are in the log:\n%s", out)
	}

	// The engine of a stopped one is started for the command.
	var all []view
	if err := json.Unmarshal([]byte(keys(t, data, "list", "--all", "--json")), &all); err != nil || len(all) != 3 {
		t.Errorf("%v %v, want 3 keys", all, err)
	}
	refused("add", "other")
}
