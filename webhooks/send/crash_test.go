package send

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"tonscribe/internal/clickhouse"
	"tonscribe/internal/kafka"
	"tonscribe/internal/report"
	"tonscribe/schema/record"
	kafkatest "tonscribe/test/support/kafka"
)

// childVariable holds what a sender in a process of its own is told.
const childVariable = "TONSCRIBE_SEND_CHILD"

type child struct {
	DSN, Log, Epoch, CAFile string
	URLs                    map[string]string // by merchant, hex
}

// childMain is the sender that is killed.
func childMain() {
	var c child
	if err := json.Unmarshal([]byte(os.Getenv(childVariable)), &c); err != nil {
		panic(err)
	}
	tc := clickhouse.DefaultConfiguration()
	tc.DSN = c.DSN
	tables, err := clickhouse.New(tc, clickhouse.Dependencies{Report: report.Silent()})
	if err != nil {
		panic(err)
	}
	lc := kafka.DefaultConfiguration()
	lc.Brokers, lc.Partitions = []string{c.Log}, testPartitions
	log, err := kafka.New(lc, kafka.Dependencies{Report: report.Silent(), Epoch: c.Epoch, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "tcp", c.Log)
	}})
	if err != nil {
		panic(err)
	}
	at := newEndpoints()
	for merchant, url := range c.URLs {
		raw, err := hex.DecodeString(merchant)
		if err != nil {
			panic(err)
		}
		at.set(ID(raw), toURL(url))
	}
	configuration := DefaultConfiguration()
	configuration.AllowNetworks, configuration.CAFile = []string{"127.0.0.0/8"}, c.CAFile
	sender, err := New(configuration, Dependencies{Report: report.Silent(), ClickHouse: tables, Log: log, Endpoints: at, Version: "test"})
	if err != nil {
		panic(err)
	}
	if err := sender.Start(context.Background()); err != nil {
		panic(err)
	}
	go func() { // it ends with its parent
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(1)
	}()
	<-sender.Done()
	fmt.Fprintln(os.Stderr, sender.Err())
	os.Exit(1)
}

// spawn starts a sender as a process.
func (h *fixture) spawn(c child) *exec.Cmd {
	h.Helper()
	told, err := json.Marshal(c)
	must(h, err)
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), childVariable+"="+string(told))
	command.Stderr = os.Stderr
	if _, err := command.StdinPipe(); err != nil {
		h.Fatal(err)
	}
	must(h, command.Start())
	h.Cleanup(func() { command.Process.Kill(); command.Wait() })
	return command
}

// bridge lets other processes reach the embedded log.
func (h *fixture) bridge() string {
	h.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(h, err)
	h.Cleanup(func() { l.Close() })
	go func() {
		for {
			outer, err := l.Accept()
			if err != nil {
				return
			}
			inner, err := h.kafka.Dial(context.Background(), "", "")
			if err != nil {
				outer.Close()
				continue
			}
			go func() { io.Copy(inner, outer); inner.Close() }()
			go func() { io.Copy(outer, inner); outer.Close() }()
		}
	}()
	return l.Addr().String()
}

// kills is how often the sender is killed, and how many events come for each time.
func kills() (times, events int) {
	if os.Getenv("TONSCRIBE_TEST_LONG") != "" {
		return 100, 100
	}
	return 2, 50
}

// However often the sender is killed, every event is taken, or has four logged failures; what a
// receiver gets more often than it should was under way at a kill, and is logged so.
func TestKillsLoseNothingAndRepeatOnlyWhatWasUnderWay(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	const merchants = 10
	times, perKill := kills()
	s := newShop(t, func(w http.ResponseWriter, r *http.Request, n int) {
		time.Sleep(time.Duration(rand.IntN(150)) * time.Millisecond)
		switch body := r.URL.Path; {
		case strings.HasSuffix(body, "/0"): // takes nothing
			w.WriteHeader(http.StatusInternalServerError)
		case strings.HasSuffix(body, "/1") && n == 0: // takes the second
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	c := child{DSN: h.engine.DSN(), Log: h.bridge(), Epoch: h.kafka.Epoch(), CAFile: h.caFile, URLs: map[string]string{}}
	for m := range merchants {
		id := named(fmt.Sprint(m))
		c.URLs[hex.EncodeToString(id[:])] = fmt.Sprintf("%s/%d", s.URL, m)
	}
	var events []*record.TransferEvent
	batch := func(n int) {
		t.Helper()
		first := len(events)
		for range n {
			events = append(events, transfer(fmt.Sprint(random.IntN(merchants)), fmt.Sprint(len(events)), fmt.Sprint(random.IntN(1<<20))))
		}
		h.publish(events[first:]...)
	}
	sender := h.spawn(c)
	batch(perKill)
	<-s.arrived
	for n := range times {
		time.Sleep(time.Duration(random.IntN(200)) * time.Millisecond)
		must(t, sender.Process.Kill())
		sender.Wait()
		for drained := false; !drained; {
			select {
			case <-s.arrived:
			default:
				drained = true
			}
		}
		sender = h.spawn(c)
		batch(perKill)
		<-s.arrived // it works again
		t.Logf("kill %d, %d events, %d requests", n+1, len(events), s.count())
	}
	repeated, interrupted := 0, 0
	for n, e := range events {
		var d Delivery
		var attempts []Attempt
		l := NewLog(h.configuration(nil), h.tables)
		for {
			var err error
			if d, _, attempts, err = l.Detail(t.Context(), ID(e.Merchant), ID(e.Id)); err != nil && !isNotFound(err) {
				t.Fatal(err)
			}
			if d.State == Delivered || d.State == Exhausted {
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
		number, taken, cut := 0, 0, 0
		for _, a := range attempts {
			switch {
			case a.Kind == KindInterrupted:
				cut++
				if a.Number != number+1 {
					t.Errorf("event %d: an interrupted attempt has number %d after %d", n, a.Number, number)
				}
			case a.Number != number+1 || a.Ended.IsZero():
				t.Errorf("event %d: attempt number %d of kind %s ended %s, after number %d", n, a.Number, a.Kind, a.Ended, number)
			default:
				number++
				if a.Succeeded() {
					taken++
				}
			}
		}
		if taken == 0 && (number != 4 || d.State != Exhausted) || taken > 0 && (taken != 1 || d.State != Delivered) || d.Attempts != number {
			t.Errorf("event %d is %s with %d of %d attempts taken: %+v", n, d.State, taken, number, d)
		}
		requests := len(s.of(fmt.Sprint(n)))
		if requests < number || requests > number+cut {
			t.Errorf("event %d: %d requests with %d attempts and %d interrupted ones", n, requests, number, cut)
		}
		repeated, interrupted = repeated+requests-number, interrupted+cut
	}
	t.Logf("%d events, %d kills: %d attempts were interrupted, %d requests repeated", len(events), times, interrupted, repeated)
}

func TestOnApacheKafkaAStandByHasTheMerchantsOfASenderThatWasKilled(t *testing.T) {
	brokers := kafkatest.Apache(t)
	h := newFixtureOn(t, logOf(t, brokers[0], nil, ""))
	s := newShop(t, nil)
	c := child{DSN: h.engine.DSN(), Log: brokers[0], CAFile: h.caFile, URLs: map[string]string{}}
	const merchants = 10
	for m := range merchants {
		id := named(fmt.Sprint(m))
		h.at.set(id, toURL(s.URL))
		c.URLs[hex.EncodeToString(id[:])] = s.URL
	}
	publish := func(round string) {
		t.Helper()
		var events []*record.TransferEvent
		for m := range merchants {
			events = append(events, transfer(fmt.Sprint(m), fmt.Sprint(round, m), round))
		}
		h.publish(events...)
	}
	await := func(round string) {
		t.Helper()
		for m := range merchants {
			h.await(fmt.Sprint(m), fmt.Sprint(round, m), hasState(Delivered))
			if n := len(s.of(fmt.Sprint(round, m))); n != 1 {
				t.Errorf("event %s of merchant %d was posted %d times, want 1", round, m, n)
			}
		}
	}
	first := h.spawn(c)
	publish("before")
	await("before")
	h.start(nil)
	publish("shared")
	await("shared")
	must(t, first.Process.Kill())
	killed := time.Now()
	publish("after")
	await("after")
	t.Logf("everything was delivered %s after the kill", time.Since(killed).Round(time.Millisecond))
}
