package devnet

import (
	"net/http"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tonscribe/test/support/harness"
)

func TestWhatUpPrintsCanBeOpenedAndRunAsItStandsThere(t *testing.T) {
	data, listen := t.TempDir(), harness.FreeAddress(t)
	base := "http://" + listen
	p := harness.Start(t, nil, "up", "--data", data, "--listen", listen, "--tps", "0", "--interval", "200ms")
	p.AwaitReady(base, startLimit)
	links := regexp.MustCompile(`http://\S+`).FindAllString(printed(t, p), -1)
	for _, link := range []string{base + "/api/docs", base + "/dashboard"} {
		if !slices.Contains(links, link) {
			t.Errorf("printed are %q, want %s too", links, link)
		}
	}
	for _, link := range links {
		if status, answer, err := harness.Get(link); err != nil || status != http.StatusOK {
			t.Errorf("%s: %d, %.100s, %v", link, status, answer, err)
		}
	}
	row := regexp.MustCompile(`(?m)^  a transfer +(.+)$`).FindStringSubmatch(printed(t, p))
	if row == nil {
		t.Fatalf("no transfer is printed: %s", printed(t, p))
	}
	shell := exec.Command("sh", "-c", row[1])
	shell.Dir = harness.Root() // where `up` was started
	if out, err := shell.CombinedOutput(); err != nil || len(strings.TrimSpace(string(out))) != 64 {
		t.Errorf("%s: %v, %s, want the hash of a transaction", row[1], err, out)
	}
}

// printed is what `up` says when it serves.
func printed(t *testing.T, p *harness.Process) string {
	t.Helper()
	_, text, ok := strings.Cut(p.Output(), " Look at\n")
	if !ok {
		t.Fatalf("nothing is printed: %s", p.Output())
	}
	text, _, _ = strings.Cut(text, "\n\n{")
	return text
}
