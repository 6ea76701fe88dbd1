package main

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"testing"
	"time"

	"tonscribe/ingest"
	"tonscribe/test/support/harness"
)

// It is alive, and waits.
func TestAStageWhoseEngineIsAwaySaysSo(t *testing.T) {
	nobody := harness.FreeAddress(t)
	for stage, want := range map[string]string{"decode": "log", "ingest": "log", "metadata": "clickhouse", "sink": "clickhouse"} {
		t.Run(stage, func(t *testing.T) {
			at := harness.FreeAddress(t)
			ctx, stop := context.WithCancel(t.Context())
			root := rootCommand()
			arguments := []string{stage, "--listen", at, "--data", t.TempDir()}
			if stage == "ingest" {
				arguments = append(arguments, "--source", "files:"+t.TempDir())
			}
			if stage != "metadata" {
				arguments = append(arguments, "--kafka", nobody)
			}
			if want == "clickhouse" {
				arguments = append(arguments, "--clickhouse", "clickhouse://"+nobody+"/tonscribe")
			}
			root.SetArgs(arguments)
			ended := make(chan error, 1)
			go func() { ended <- execute(ctx, root) }()
			for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
				answer, err := http.Get("http://" + at + "/readyz")
				if err == nil {
					var found struct{ Components []string }
					err = json.NewDecoder(answer.Body).Decode(&found)
					answer.Body.Close()
					if err != nil || answer.StatusCode != http.StatusServiceUnavailable || !slices.Contains(found.Components, want) {
						t.Errorf("/readyz is %d for %v (%v), want 503 for %q", answer.StatusCode, found.Components, err, want)
					}
					break
				}
				if time.Now().After(deadline) {
					t.Fatal(err)
				}
			}
			stop()
			if err := <-ended; err != nil {
				t.Errorf("the end: %v", err)
			}
		})
	}
}

func TestIngestIsReadyWhenItHasWhatTheSourceHas(t *testing.T) {
	for name, c := range map[string]struct {
		status ingest.Status
		ready  bool
	}{
		"at the head":          {ingest.Status{Passed: 100, SourceLast: 100}, true},
		"close to it":          {ingest.Status{Passed: 90, SourceLast: 100}, true},
		"behind":               {ingest.Status{Passed: 89, SourceLast: 100}, false},
		"the source is away":   {ingest.Status{Passed: 100, SourceLast: 100, Waiting: "no lite server answers"}, false},
		"a range that is read": {ingest.Status{Passed: 50, To: 50, SourceLast: 100}, true},
		"the source is close":  {ingest.Status{Passed: 100, SourceLast: 90}, true},
		"the source is behind": {ingest.Status{Passed: 100, SourceLast: 89}, false},
		"a range of old":       {ingest.Status{Passed: 100, To: 50, SourceLast: 50}, true},
	} {
		if err := hasRead(c.status, nearHead); (err == nil) != c.ready {
			t.Errorf("%s: %v", name, err)
		}
	}
}
