package report

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/rs/zerolog"
	"golang.org/x/sync/singleflight"
)

// Health gathers the checks of all components of a process.
type Health struct {
	Log zerolog.Logger

	mu       sync.Mutex
	checks   map[string]Check
	panicked map[string]bool // components whose check did; the log tells of each once
	asked    map[string]bool // components whose check has not ended
	rounds   singleflight.Group
}

// Check is nil when its component is ready, and says what it waits for otherwise.
type Check func(ctx context.Context) error

const (
	// checkTimeout bounds one round of checks.
	checkTimeout = 2 * time.Second
	// checkGrace is how much longer a check may take to say what it did not get in time.
	checkGrace = 500 * time.Millisecond
)

// errHangs is said of a check that takes no notice of its time.
var errHangs = fmt.Errorf("what its check asks does not answer within %s", checkTimeout)

// Add registers the check of a component.
func (h *Health) Add(component string, check Check) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.checks == nil {
		h.checks = map[string]Check{}
	}
	h.checks[component] = check
}

// Waiting is what each component that is not ready waits for. Anybody may ask, any number
// of times: whoever does while a round of checks is under way gets what that finds.
func (h *Health) Waiting(ctx context.Context) map[string]string {
	found, _, _ := h.rounds.Do("", func() (any, error) { return h.round(context.WithoutCancel(ctx)), nil })
	return found.(map[string]string)
}

// round runs all checks at once: one that hangs takes no other's time. It is not waited for
// much longer than it may take, and asked again when it has ended.
func (h *Health) round(ctx context.Context) map[string]string {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	found := map[string]error{}
	var running sync.WaitGroup
	h.mu.Lock()
	if h.asked == nil {
		h.asked = map[string]bool{}
	}
	checks := maps.Clone(h.checks)
	for name, check := range checks {
		if h.asked[name] {
			continue
		}
		h.asked[name] = true
		running.Go(func() {
			err := h.try(ctx, name, check)
			h.mu.Lock()
			defer h.mu.Unlock()
			delete(h.asked, name)
			found[name] = err
		})
	}
	h.mu.Unlock()
	ended := make(chan struct{})
	go func() {
		running.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(checkTimeout + checkGrace):
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	waiting := map[string]string{}
	for name := range checks {
		if err, ok := found[name]; !ok {
			waiting[name] = errHangs.Error()
		} else if err != nil {
			waiting[name] = err.Error()
		}
	}
	return waiting
}

// try makes a check that panics one that fails.
func (h *Health) try(ctx context.Context, name string, check Check) (err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("its check failed: %v", reason)
			if h.firstPanic(name) {
				h.Log.Error().Str("check", name).Interface("reason", reason).Bytes("stack", debug.Stack()).Msg("a check of /readyz panicked")
			}
		}
	}()
	return check(ctx)
}

func (h *Health) firstPanic(component string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.panicked[component] {
		return false
	}
	if h.panicked == nil {
		h.panicked = map[string]bool{}
	}
	h.panicked[component] = true
	return true
}

// Handler serves GET /healthz (alive), /readyz (every check passes, else 503
// with the reasons) and /metrics (Prometheus).
func Handler(health *Health, metrics prometheus.Gatherer) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, map[string]any{"ok": true})
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		waiting := health.Waiting(r.Context())
		if len(waiting) == 0 {
			writeJSON(w, http.StatusOK, map[string]any{"ok": true})
			return
		}
		writeJSON(w, http.StatusServiceUnavailable, map[string]any{"ok": false, "waiting": waiting, "components": slices.Sorted(maps.Keys(waiting))})
	})
	mux.Handle("GET /metrics", promhttp.HandlerFor(metrics, promhttp.HandlerOpts{}))
	return mux
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the client has gone when this fails
}
