package report

import (
	"context"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

func TestReadyzNamesWhatIsWaitedForUntilItIsThere(t *testing.T) {
	var behind error = errors.New("the watermark is at 3 of 60")
	health := &Health{}
	health.Add("query", func(context.Context) error { return behind })
	server := httptest.NewServer(Handler(health, prometheus.NewRegistry()))
	defer server.Close()

	ask := func(path string) (int, string) {
		t.Helper()
		answer, err := server.Client().Get(server.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		text := make([]byte, 500)
		n, _ := answer.Body.Read(text)
		return answer.StatusCode, string(text[:n])
	}
	if status, text := ask("/readyz"); status != 503 || !strings.Contains(text, "3 of 60") {
		t.Errorf("behind: got %d %s, want 503 with the reason", status, text)
	}
	if status, text := ask("/healthz"); status != 200 {
		t.Errorf("alive: got %d %s, want 200", status, text)
	}
	behind = nil
	if status, text := ask("/readyz"); status != 200 {
		t.Errorf("caught up: got %d %s, want 200", status, text)
	}
}
