package report

import (
	"bytes"
	"context"
	"errors"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
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

func TestACheckThatPanicsIsOneThatFailsAndIsLoggedOnce(t *testing.T) {
	var log bytes.Buffer
	health := &Health{Log: zerolog.New(&log)}
	health.Add("query", func(context.Context) error { panic("no map") })
	health.Add("sink", func(context.Context) error { return nil })
	for range 2 {
		waiting := health.Waiting(t.Context())
		if len(waiting) != 1 || !strings.Contains(waiting["query"], "no map") {
			t.Errorf("waits for %v, want query, whose check says why", waiting)
		}
	}
	if lines := strings.Count(log.String(), "\n"); lines != 1 || !strings.Contains(log.String(), "TestACheckThatPanics") {
		t.Errorf("the log has %d lines, want one with the stack: %s", lines, log.String())
	}
}

func TestManyWhoAskAtOnceDoNotMakeReadyzSayThatSomethingIsWaitedFor(t *testing.T) {
	const askers, took = 60, 50 * time.Millisecond // one behind another they would take longer than a round may
	health := &Health{}
	health.Add("query", func(ctx context.Context) error {
		time.Sleep(took)
		return ctx.Err()
	})
	var all sync.WaitGroup
	for range askers {
		all.Go(func() {
			if waiting := health.Waiting(t.Context()); len(waiting) > 0 {
				t.Errorf("waits for %v, want nothing", waiting)
			}
		})
	}
	all.Wait()
}

func TestAnAskerWhoHasGoneDoesNotSpoilTheAnswerOfOthers(t *testing.T) {
	health := &Health{}
	asked, goOn := make(chan struct{}), make(chan struct{})
	var once sync.Once
	health.Add("query", func(ctx context.Context) error {
		once.Do(func() { close(asked) })
		<-goOn
		return ctx.Err()
	})
	ctx, leave := context.WithCancel(t.Context())
	var first sync.WaitGroup
	first.Go(func() { health.Waiting(ctx) })
	<-asked
	second := make(chan map[string]string)
	go func() { second <- health.Waiting(t.Context()) }()
	leave()
	close(goOn)
	if waiting := <-second; len(waiting) > 0 {
		t.Errorf("waits for %v, want nothing", waiting)
	}
	first.Wait()
}

func TestACheckThatHangsIsTheOnlyOneThatIsNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		health := &Health{}
		health.Add("hangs", func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		})
		for _, name := range []string{"a", "b", "c", "d", "e"} {
			health.Add(name, func(ctx context.Context) error { return ctx.Err() })
		}
		if waiting := health.Waiting(t.Context()); len(waiting) != 1 || waiting["hangs"] == "" {
			t.Errorf("waits for %v, want for what hangs alone", waiting)
		}
	})
}

func TestACheckThatTakesNoNoticeOfItsTimeIsNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		health, answer := &Health{}, make(chan error)
		var asked atomic.Int32
		health.Add("hangs", func(context.Context) error {
			asked.Add(1)
			return <-answer
		})
		health.Add("ready", func(context.Context) error { return nil })
		for range 3 {
			began := time.Now()
			waiting := health.Waiting(t.Context())
			if len(waiting) != 1 || !strings.Contains(waiting["hangs"], "does not answer") || time.Since(began) >= 3*time.Second {
				t.Errorf("after %s it waits for %v, want for what hangs alone", time.Since(began), waiting)
			}
		}
		if n := asked.Load(); n != 1 {
			t.Errorf("the check was asked %d times at once", n)
		}
		answer <- nil
		synctest.Wait()
		go func() { answer <- nil }()
		if waiting := health.Waiting(t.Context()); len(waiting) > 0 {
			t.Errorf("waits for %v, want nothing", waiting)
		}
	})
}
