package send

import (
	"fmt"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"tonscribe/internal/report"
	"tonscribe/schema/record"
)

// processorTime is what this process and the engine have used.
func (h *house) processorTime() (own, engine time.Duration) {
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
func (h *house) quietly(change func(*Configuration)) *Component {
	h.Helper()
	d := h.dependencies()
	d.Report = report.Reporter{Log: report.Silent().Log, Metrics: prometheus.NewRegistry()}
	c, err := New(h.configuration(change), d)
	if err != nil {
		h.Fatal(err)
	}
	if err := c.Start(h.Context()); err != nil {
		h.Fatal(err)
	}
	h.Cleanup(func() { h.stop(c) })
	return c
}

// BenchmarkDeliveries is how many deliveries a second go to receivers by HTTPS on this
// machine, each with its rows in ClickHouse; receivers and engine share the processors.
func BenchmarkDeliveries(b *testing.B) {
	h := newHouse(b)
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
		if err := h.tables.Conn().QueryRow(b.Context(), "SELECT uniqExact(event) FROM deliveries WHERE state = 'delivered'").Scan(&delivered); err != nil {
			b.Fatal(err)
		}
	}
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "deliveries/s")
	ownNow, engineNow := h.processorTime()
	b.ReportMetric(float64((ownNow-own).Microseconds())/float64(b.N), "µs-own/op")
	b.ReportMetric(float64((engineNow-engine).Microseconds())/float64(b.N), "µs-engine/op")
	runtime.KeepAlive(events)
}
