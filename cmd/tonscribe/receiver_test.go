package main

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tonscribe/test/support/harness"
	"tonscribe/webhooks/event"
	"tonscribe/webhooks/signature"
)

// takeWebhooks runs the receiver on files in a folder, sends it a body until it answers,
// and ends it. It returns what was printed.
func takeWebhooks(t *testing.T, dir, secret string, body []byte) string {
	t.Helper()
	at := harness.FreeAddress(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var printed bytes.Buffer
	command := rootCommand()
	command.SetOut(&printed)
	command.SetArgs([]string{"receiver", "--receive-at", at, "--orders", filepath.Join(dir, "orders"), "--journal", filepath.Join(dir, "journal"), "--log-level", "error"})
	ended := make(chan error, 1)
	go func() { ended <- command.ExecuteContext(ctx) }()
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+at, bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set(signature.Header, signature.Sign(body, secret))
		answer, err := http.DefaultClient.Do(request)
		if err == nil {
			answer.Body.Close()
			if answer.StatusCode != http.StatusOK {
				t.Errorf("the webhook is answered by %s", answer.Status)
			}
			break
		}
		select {
		case err := <-ended:
			t.Fatalf("the receiver ended: %v", err)
		case <-time.After(10 * time.Millisecond):
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("the receiver ended with %v", err)
	}
	return printed.String()
}

func TestReceiverPrintsAPaidOrderOnceAlsoAfterItStartsAgain(t *testing.T) {
	secret := signature.NewSecret()
	t.Setenv("TONSCRIBE_RECEIVER_SECRETS", "whsec_another,"+secret)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "orders"), []byte(`{"reference":"r","amount":"2.5"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	e := &event.Event{Type: event.TransferCompleted, Data: event.Data{Amount: "2.5", Asset: "TON", Status: event.Success, Reference: "r"}}
	body, err := e.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if printed := takeWebhooks(t, dir, secret, body); printed != string(body)+"\n" {
		t.Errorf("printed %q, want %s", printed, body)
	}
	if printed := takeWebhooks(t, dir, secret, body); printed != "" {
		t.Errorf("after a new start %q is printed, want nothing", printed)
	}
	journal := filepath.Join(dir, "journal")
	written, err := os.ReadFile(journal)
	if err != nil {
		t.Fatal(err)
	}
	paid, _, _ := strings.Cut(string(written), "\n")
	if err := os.WriteFile(journal, []byte(paid+"\n"), 0o600); err != nil { // as if it had ended before it printed
		t.Fatal(err)
	}
	if printed := takeWebhooks(t, dir, secret, body); printed != string(body)+"\n" {
		t.Errorf("after an end between payment and print %q is printed, want %s", printed, body)
	}
}
