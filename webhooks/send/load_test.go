package send

import (
	"encoding/hex"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"tonscribe/internal/lifetime/lifetimetest"
	"tonscribe/internal/report"
	"tonscribe/schema/record"
)

// processorTime is what this process and the engine have used.
func (h *fixture) processorTime() (own, engine time.Duration) {
	h.Helper()
	of := func(pid int) time.Duration {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			return 0
		}
		fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		user, _ := strconv.Atoi(fields[11])
		system, _ := strconv.Atoi(fields[12])
		const tick = 10 * time.Millisecond
		return time.Duration(user+system) * tick
	}
	return of(os.Getpid()), of(h.engine.Pid())
}

// quietly is a sender that logs nothing.
func (h *fixture) quietly(change func(*Configuration)) *Component {
	h.Helper()
	d := h.dependencies()
	d.Report = report.Reporter{Log: report.Silent().Log, Metrics: prometheus.NewRegistry()}
	c, err := New(h.configuration(change), d)
	must(h, err)
	lifetimetest.Run(h, c)
	return c
}

// BenchmarkDeliveries is how many deliveries a second go to receivers by HTTPS on this
// machine, each with its rows in ClickHouse; receivers and engine share the processors.
func BenchmarkDeliveries(b *testing.B) {
	h := newFixture(b)
	var got atomic.Int64
	done := make(chan struct{})
	s := newBlackBox(b, func(http.ResponseWriter, *http.Request) {
		if got.Add(1) == int64(b.N)+1 {
			close(done)
		}
	})
	const merchants = 40
	for m := range merchants {
		h.at.set(named(fmt.Sprint(m)), toURL(s.URL))
	}
	h.quietly(nil)
	h.publish(transfer("0", "first", "first"))
	h.await("0", "first", hasState(Delivered))
	events := make([]*record.TransferEvent, b.N)
	for n := range events {
		events[n] = transfer(fmt.Sprint(n%merchants), fmt.Sprint(n), fmt.Sprint(n))
	}
	own, engine := h.processorTime()
	b.ResetTimer()
	for part := range slices.Chunk(events, 500) {
		h.publish(part...)
	}
	<-done
	for delivered := uint64(0); delivered < uint64(b.N)+1; time.Sleep(5 * time.Millisecond) {
		must(b, h.tables.Conn().QueryRow(b.Context(), "SELECT uniqExact(event) FROM deliveries WHERE state = 'delivered'").Scan(&delivered))
	}
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "deliveries/s")
	ownNow, engineNow := h.processorTime()
	b.ReportMetric(float64((ownNow-own).Microseconds())/float64(b.N), "µs-own/op")
	b.ReportMetric(float64((engineNow-engine).Microseconds())/float64(b.N), "µs-engine/op")
	runtime.KeepAlive(events)
}

// BenchmarkFirstAttempts is how long events are on their way from the log to the receivers of
// the healthy half of 200 endpoints, at 500 events a second, while the other half answers and
// while it never does. It is for one round each (-benchtime 1x).
func BenchmarkFirstAttempts(b *testing.B) {
	for name, silent := range map[string]bool{"all answer": false, "half never answer": true} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				took := firstAttempts(b, 500, silent)
				b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "ms-p50")
				b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "ms-p99")
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

// firstAttempts are the times from the log to the first attempts of the healthy half of 200
// endpoints, at so many events a second, sorted. The first seconds do not count.
func firstAttempts(t testing.TB, rate int, silent bool) []time.Duration {
	t.Helper()
	h := newFixture(t)
	var mutex sync.Mutex
	sent, took := map[string]time.Time{}, []time.Duration{}
	healthy := newBlackBox(t, func(_ http.ResponseWriter, r *http.Request) {
		mutex.Lock()
		defer mutex.Unlock()
		if at, is := sent[r.Header.Get("webhook-id")]; is {
			took = append(took, time.Since(at))
			delete(sent, r.Header.Get("webhook-id"))
		}
	})
	ending := make(chan struct{})
	black := newBlackBox(t, func(_ http.ResponseWriter, r *http.Request) {
		if silent {
			select {
			case <-r.Context().Done():
			case <-ending:
			}
		}
	})
	defer close(ending)
	const merchants, seconds, warmUp = 200, 30, 10
	for m := range merchants {
		to := healthy
		if m%2 == 1 {
			to = black
		}
		h.at.set(named(fmt.Sprint(m)), toURL(to.URL))
	}
	c := h.quietly(nil)
	h.publish(transfer("0", "first", "first"))
	h.await("0", "first", hasState(Delivered))
	began, n := time.Now(), 0
	for n < rate*seconds {
		var events []*record.TransferEvent
		for due := int(time.Since(began).Seconds() * float64(rate)); n < min(due, rate*seconds); n++ {
			e := transfer(fmt.Sprint(n%merchants), fmt.Sprint(n), fmt.Sprint(n))
			events = append(events, e)
			if n > rate*warmUp && n%2 == 0 {
				mutex.Lock()
				sent[EventID(ID(e.Id))] = time.Now()
				mutex.Unlock()
			}
		}
		if len(events) > 0 {
			h.publish(events...)
		}
		time.Sleep(100 * time.Millisecond) // bundles come no faster
	}
	for left := 1; left > 0; time.Sleep(10 * time.Millisecond) {
		mutex.Lock()
		left = len(sent)
		mutex.Unlock()
	}
	h.stop(c)
	slices.Sort(took)
	return took
}

func TestTwoThousandOpenAttemptsFitInto300MB(t *testing.T) {
	if os.Getenv("TONSCRIBE_TEST_LONG") == "" {
		t.Skip("TONSCRIBE_TEST_LONG is not set")
	}
	h := newFixture(t)
	var open atomic.Int64
	reached, ending := make(chan struct{}), make(chan struct{})
	const merchants, each, want = 256, 8, 1900 // partitions have not quite the same share
	s := newBlackBox(t, func(_ http.ResponseWriter, r *http.Request) {
		if open.Add(1) == want {
			close(reached)
		}
		<-ending
	})
	defer close(ending)
	c := child{DSN: h.engine.DSN(), Log: h.bridge(), Epoch: h.kafka.Epoch(), CAFile: h.caFile, URLs: map[string]string{}}
	var events []*record.TransferEvent
	for m := range merchants {
		id := named(fmt.Sprint(m))
		c.URLs[hex.EncodeToString(id[:])] = s.URL
		for n := range each {
			events = append(events, transfer(fmt.Sprint(m), fmt.Sprint(m, n), fmt.Sprint(n)))
		}
	}
	h.publish(events...)
	sender := h.spawn(c)
	<-reached
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", sender.Process.Pid))
	must(t, err)
	_, after, _ := strings.Cut(string(text), "VmHWM:")
	kilobytes, err := strconv.Atoi(strings.Fields(after)[0])
	must(t, err)
	t.Logf("%d open attempts: %d MB", want, kilobytes>>10)
	if kilobytes > 300<<10 {
		t.Errorf("the sender has taken %d MB, want 300 at most", kilobytes>>10)
	}
}
