package match

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"tonscribe/devnet/contracts"
	"tonscribe/internal/clickhouse"
	"tonscribe/internal/engine"
	"tonscribe/internal/kafka"
	"tonscribe/internal/report"
	"tonscribe/internal/stage"
	"tonscribe/schema"
	"tonscribe/schema/migrations"
	"tonscribe/schema/record"
	"tonscribe/test/support/enginetest"
	"tonscribe/test/support/harness"
	kafkatest "tonscribe/test/support/kafka"
	"tonscribe/webhooks/send"
	"tonscribe/webhooks/store"
)

func TestMain(m *testing.M) {
	if os.Getenv(partVariable) != "" {
		partMain()
		return
	}
	enginetest.Main(m)
}

// partVariable holds what a part of the way in a process of its own is told.
const partVariable = "TONSCRIBE_MATCH_PART"

// The parts that are killed.
const (
	detectorPart = "detector"
	senderPart   = "sender"
	enginePart   = "engine"
	brokerPart   = "broker"
)

// part is what such a process needs to know.
type part struct {
	Name, DSN, Dir, SealKey string
	Brokers                 []string
}

const killPartitions = 2

func (p part) log() (*kafka.Client, error) {
	c := kafka.DefaultConfiguration()
	c.Brokers, c.Partitions = p.Brokers, killPartitions
	return kafka.New(c, kafka.Dependencies{Report: report.Silent()})
}

func (p part) tables() (*clickhouse.Client, error) {
	c := clickhouse.DefaultConfiguration()
	c.DSN = p.DSN
	return clickhouse.New(c, clickhouse.Dependencies{Report: report.Silent()})
}

func (p part) merchants(tables *clickhouse.Client) (*store.Store, error) {
	c := store.DefaultConfiguration()
	c.SealKey = p.SealKey
	return store.New(c, store.Dependencies{Report: report.Silent(), ClickHouse: tables})
}

// sending is the sender's configuration for a receiver of this machine.
func sending() send.Configuration {
	c := send.DefaultConfiguration()
	c.AllowHTTP, c.AllowNetworks = true, []string{"127.0.0.0/8"}
	return c
}

// endpoints are the merchants' for the sender.
type endpoints struct{ *store.Endpoints }

func (e endpoints) Get(ctx context.Context, merchant send.ID) (send.Endpoint, error) {
	one, err := e.Endpoints.Get(ctx, merchant)
	return send.Endpoint{URL: one.URL, Enabled: one.Enabled, Secret: one.Secret}, err
}

func (e endpoints) Newest(ctx context.Context, merchant send.ID) (send.Endpoint, error) {
	one, err := e.Endpoints.Newest(ctx, merchant)
	return send.Endpoint{URL: one.URL, Enabled: one.Enabled, Secret: one.Secret}, err
}

// partMain is the detector or the sender, until it is killed or its parent ends.
func partMain() {
	var p part
	err := json.Unmarshal([]byte(os.Getenv(partVariable)), &p)
	if err == nil {
		err = p.run()
	}
	fmt.Fprintln(os.Stderr, p.Name, "ended:", err)
	os.Exit(1)
}

func (p part) run() error {
	log, err := p.log()
	if err != nil {
		return err
	}
	tables, err := p.tables()
	if err != nil {
		return err
	}
	merchants, err := p.merchants(tables)
	if err != nil {
		return err
	}
	ctx := context.Background()
	if err := merchants.Start(ctx); err != nil {
		return err
	}
	var running interface {
		Start(ctx context.Context) error
		Done() <-chan struct{}
		Err() error
	}
	if p.Name == detectorPart {
		c := DefaultConfiguration()
		c.Dir = p.Dir
		running, err = New(c, Dependencies{Report: report.Silent(), Kafka: log, Payments: merchants.Payments})
	} else {
		running, err = send.New(sending(), send.Dependencies{Report: report.Silent(), ClickHouse: tables, Endpoints: endpoints{merchants.Endpoints}, Log: log, Version: "test"})
	}
	if err != nil {
		return err
	}
	if err := running.Start(ctx); err != nil {
		return err
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(1)
	}()
	<-running.Done()
	return running.Err()
}

// ledger is what the receiver got, by the id of the event.
type ledger struct {
	mutex sync.Mutex
	of    map[string][]posted
}

type posted struct {
	body []byte
	code int
}

// ServeHTTP takes nothing at /0, and nothing at first at /1. It thinks for a while, so that
// attempts are under way at any time.
func (l *ledger) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // its sender was killed while it wrote: this was no request yet
	}
	id := r.Header.Get("webhook-id")
	l.mutex.Lock()
	code := http.StatusOK
	switch {
	case r.URL.Path == "/0":
		code = http.StatusInternalServerError
	case r.URL.Path == "/1" && len(l.of[id]) == 0:
		code = http.StatusServiceUnavailable
	}
	l.of[id] = append(l.of[id], posted{body, code})
	l.mutex.Unlock()
	time.Sleep(time.Duration(rand.IntN(150)) * time.Millisecond)
	w.WriteHeader(code)
}

func (l *ledger) got(e *record.TransferEvent) []posted {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return slices.Clone(l.of[send.EventID(send.ID(e.Id))])
}

// road is the whole way of payments: a chain whose bundles are in the log, the detector,
// the sender, their engines, and a receiver. What must be told of the chain is worked out
// beside it by a detector that nobody kills.
type road struct {
	*town
	part      part
	engine    *engine.ClickHouse
	cluster   *kafkatest.Cluster
	log       *kafka.Client
	tables    *clickhouse.Client
	store     *store.Store
	merchants []store.ID
	ledger    *ledger
	running   map[string]*exec.Cmd
	published int // of the town's bundles
	events    []*record.TransferEvent
	cuts      []time.Time // until when attempts were made that a kill of the sender, or of its broker, may cut
	takeovers int         // detectors that were killed
}

func newRoad(t *testing.T) *road {
	t.Helper()
	r := &road{cluster: kafkatest.Start(t, kafkatest.Options{}), town: newTown(t), ledger: &ledger{of: map[string][]posted{}}, running: map[string]*exec.Cmd{}}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	var err error
	// Its folder is not the engine's own, since others of the process are not to be killed.
	r.engine, err = engine.StartClickHouse(t.Context(), engine.ClickHouseOptions{Dir: t.TempDir(), MaxMemory: 1 << 30, Volatile: true, Report: report.Silent()})
	must(err)
	t.Cleanup(func() { must(r.engine.Stop(context.Background())) })
	must(migrations.Up(t.Context(), r.engine.DSN(), migrations.Options{}))
	r.part = part{DSN: r.engine.DSN(), Dir: t.TempDir(), SealKey: store.NewSealKey(), Brokers: r.cluster.Brokers()}
	r.log, err = r.part.log()
	must(err)
	t.Cleanup(r.log.Close)
	must(r.log.EnsureTopics(t.Context(), schema.Topics))
	r.tables, err = r.part.tables()
	must(err)
	t.Cleanup(func() { must(r.tables.Close()) })
	r.store, err = r.part.merchants(r.tables)
	must(err)
	must(r.store.Start(t.Context()))
	t.Cleanup(func() { must(r.store.Stop(context.Background())) })
	receiver := httptest.NewServer(r.ledger)
	t.Cleanup(receiver.Close)
	const merchants = 5
	for n := range merchants {
		m, _ := store.NewMerchant(fmt.Sprint("merchant ", n))
		must(r.store.Merchants.Put(t.Context(), m))
		_, err := r.store.Endpoints.Update(t.Context(), m.ID, func(e *store.Endpoint) error {
			e.URL, e.Enabled = fmt.Sprintf("%s/%d", receiver.URL, n), true
			return nil
		})
		must(err)
		r.merchants = append(r.merchants, m.ID)
	}
	r.publish()
	r.spawn(detectorPart)
	r.spawn(senderPart)
	return r
}

// publish puts the bundles into the log that are not in it.
func (r *road) publish() {
	r.Helper()
	for _, b := range r.bundles[r.published:] {
		transactions := stage.NewPages(b, killPartitions, 1<<20, func(batch *record.TransactionBatch) *record.Record {
			return &record.Record{Content: &record.Record_Transactions{Transactions: batch}}
		})
		traces := stage.NewPages(b, killPartitions, 1<<20, func(batch *record.TraceBatch) *record.Record {
			return &record.Record{Content: &record.Record_Traces{Traces: batch}}
		})
		for _, content := range b.Records {
			for _, tx := range content.GetTransactions().GetTransactions() {
				transactions.Add(schema.PartitionOf(schema.AccountID(tx.Account), killPartitions), tx.SizeVT(), func(batch *record.TransactionBatch) { batch.Transactions = append(batch.Transactions, tx) })
			}
			for _, step := range content.GetTraces().GetTraces() {
				traces.Add(schema.PartitionOf(step.Trace.Id, killPartitions), step.SizeVT(), func(batch *record.TraceBatch) { batch.Traces = append(batch.Traces, step) })
			}
		}
		for topic, out := range map[string]stage.Output{schema.Transactions.Name: transactions.Seal(), schema.Traces.Name: traces.Seal()} {
			for p, records := range out.Records {
				if err := r.log.Publish(r.Context(), topic, p, records); err != nil {
					r.Fatal(err)
				}
			}
		}
		r.published++
	}
}

// spawn starts the detector or the sender as a process.
func (r *road) spawn(name string) {
	r.Helper()
	p := r.part
	p.Name = name
	if name == detectorPart {
		p.Dir = filepath.Join(r.part.Dir, name)
	}
	told, err := json.Marshal(p)
	if err != nil {
		r.Fatal(err)
	}
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), partVariable+"="+string(told))
	command.Stderr = os.Stderr
	if _, err := command.StdinPipe(); err != nil {
		r.Fatal(err)
	}
	if err := command.Start(); err != nil {
		r.Fatal(err)
	}
	r.Cleanup(func() { command.Process.Kill(); command.Wait() })
	r.running[name] = command
}

// kill kills a part with signal 9, and starts it again.
func (r *road) kill(name string, random *rand.Rand) {
	r.Helper()
	switch name {
	case detectorPart, senderPart:
		killed := r.running[name]
		standBy := name == detectorPart && r.takeovers%2 == 0
		if standBy { // it is there before, whether it has joined the group or not, and has a folder of its own
			r.part.Dir = r.TempDir()
			r.spawn(name)
			time.Sleep(time.Duration(random.IntN(4000)) * time.Millisecond)
		}
		if name == detectorPart {
			r.takeovers++
		}
		if err := killed.Process.Kill(); err != nil {
			r.Fatal(err)
		}
		killed.Wait()
		if name == senderPart {
			r.cuts = append(r.cuts, time.Now())
		}
		if !standBy {
			r.spawn(name)
		}
	case enginePart:
		pid := r.engine.Pid()
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			r.Fatal(err)
		}
		harness.Await(r, time.Minute, func() bool { return r.engine.Pid() != pid }, func() string { return "the engine does not come back" })
	case brokerPart:
		r.cluster.Kill9(0)
		r.cluster.Restart(0)
		// Until a heartbeat tells it, a sender goes on in a group that is no more.
		r.cuts = append(r.cuts, time.Now().Add(heartbeats))
	}
}

// heartbeats is longer than a member of a group waits between two of them.
const heartbeats = 5 * time.Second

// pay lets two wallets pay ten payments of all merchants, of which one fails.
func (r *road) pay() []*record.TransferEvent {
	r.Helper()
	var payers, fives []contracts.Message
	for n := range 10 {
		from, list := r.payer, &payers
		if n >= 4 {
			from, list = r.five, &fives
		}
		jetton, amount := n%2 == 1, ton(0.01)
		switch {
		case n == 8:
			amount = ton(1e6) // more than there is
		case jetton:
			amount = big.NewInt(1)
		}
		p, m := r.registers(from, jetton, amount, "")
		p.Merchant = r.merchants[n%len(r.merchants)]
		r.payments[p.Reference] = p
		p.Created = time.Now()
		harness.Await(r, time.Minute, func() bool { return r.store.Payments.Put(r.Context(), p) == nil }, func() string { return "a payment cannot be registered" })
		message := asked(m, true)
		if from == r.five {
			message.Mode |= contracts.ModeIgnoreErrors
		}
		*list = append(*list, message)
	}
	told := r.step(r.external(r.payer, payers...), r.external(r.five, fives...))
	for range 8 {
		told = append(told, r.step()...)
	}
	if len(told) != 10 {
		r.Fatalf("the detector that nobody kills tells of %d payments, want 10", len(told))
	}
	r.events = append(r.events, told...)
	r.publish()
	return told
}

// kills is how often something is killed.
func kills() int {
	if os.Getenv("TONSCRIBE_TEST_LONG") != "" {
		return 100
	}
	return 4
}

// Whatever is killed when, every payment that ended is told as if nothing had been killed,
// and is taken, or has four logged failures; what a receiver got more often than it should
// was under way when its sender was killed; and the tables say of each event what its
// receiver says.
func TestKillsOfAnyPartLoseNoPaymentAndRepeatOnlyWhatWasUnderWay(t *testing.T) {
	t.Parallel()
	r := newRoad(t)
	const seed = 20
	random := rand.New(rand.NewPCG(seed, 1))
	parts := []string{detectorPart, senderPart, enginePart, brokerPart}
	r.await(r.pay())
	killed := map[string]int{}
	for n := range kills() {
		if n%len(parts) == 0 { // each as often as any other, in an order of its own
			random.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
		}
		r.pay()
		time.Sleep(time.Duration(random.IntN(400)) * time.Millisecond)
		name := parts[n%len(parts)]
		r.kill(name, random)
		killed[name]++
		newest := r.pay()
		if random.IntN(3) > 0 { // else the next one is killed before all works again
			r.await(newest)
		}
		t.Logf("kill %d, of the %s: %d events", n+1, name, len(r.events))
	}
	r.audit()
	t.Logf("killed: %v", killed)
}

// await waits until the receiver has got something of some events.
func (r *road) await(events []*record.TransferEvent) {
	r.Helper()
	harness.Await(r, 3*time.Minute, func() bool {
		return slices.ContainsFunc(events, func(e *record.TransferEvent) bool { return len(r.ledger.got(e)) > 0 })
	}, func() string { return fmt.Sprintf("nothing of %d events arrives", len(events)) })
}

// audit waits for all events to have ended, and compares what the receiver and the tables
// have of them.
func (r *road) audit() {
	r.Helper()
	log := send.NewLog(sending(), r.tables)
	var told uint64
	requests, repeated, cut, exhausted := 0, 0, 0, 0
	cutAt := map[int]int{} // by kill
	for n, e := range r.events {
		var d send.Delivery
		var body []byte
		var attempts []send.Attempt
		harness.Await(r, 3*time.Minute, func() (ended bool) {
			var err error
			d, body, attempts, err = log.Detail(r.Context(), send.ID(e.Merchant), send.ID(e.Id))
			if err != nil && !errors.Is(err, send.ErrNotFound) {
				r.Fatal(err)
			}
			return d.State == send.Delivered || d.State == send.Exhausted
		}, func() string { return fmt.Sprintf("event %d of %d is %+v", n, len(r.events), d) })
		got := r.ledger.got(e)
		taken, refused := 0, 0
		for _, one := range got {
			if !bytes.Equal(one.body, e.Body) {
				r.Errorf("event %d: the receiver got %s, want %s", n, one.body, e.Body)
			}
			if one.code == http.StatusOK {
				taken++
			} else {
				refused++
			}
		}
		ended, interrupted, succeeded := 0, 0, 0
		for _, a := range attempts {
			if a.Kind == send.KindInterrupted {
				interrupted++
				at := slices.IndexFunc(r.cuts, func(kill time.Time) bool { return kill.After(a.Began) })
				if at < 0 {
					r.Errorf("event %d: the attempt of %s was interrupted, though neither its sender nor the broker was killed after it", n, a.Began)
				}
				cutAt[at]++
				continue
			}
			if ended++; a.Number != ended || a.Ended.IsZero() {
				r.Errorf("event %d: attempt %d has number %d and ended %s", n, ended, a.Number, a.Ended)
			}
			if a.Succeeded() {
				succeeded++
			}
		}
		switch {
		case !bytes.Equal(body, e.Body):
			r.Errorf("event %d: the tables have %s, want %s", n, body, e.Body)
		case d.State == send.Exhausted && (ended != 4 || succeeded > 0), d.State == send.Delivered && succeeded != 1, d.Attempts != ended:
			r.Errorf("event %d is %s after %d attempts (%d of them logged, %d taken)", n, d.State, d.Attempts, ended, succeeded)
		case len(got) < ended || len(got) > ended+interrupted || taken < succeeded || taken > succeeded+interrupted || refused < ended-succeeded:
			r.Errorf("event %d: the receiver took %d of %d requests; the log has %d taken of %d attempts, and %d interrupted", n, taken, len(got), succeeded, ended, interrupted)
		}
		requests, repeated, cut = requests+len(got), repeated+len(got)-ended, cut+interrupted
		if d.State == send.Exhausted {
			exhausted++
		}
	}
	if err := r.tables.Conn().QueryRow(r.Context(), "SELECT uniqExact(event) FROM events").Scan(&told); err != nil {
		r.Fatal(err)
	}
	if int(told) != len(r.events) || len(r.ledger.of) != len(r.events) {
		r.Errorf("the tables have %d events and the receiver %d, want %d", told, len(r.ledger.of), len(r.events))
	}
	most := len(r.merchants) * sending().EndpointMax
	for at, n := range cutAt {
		if n > most {
			r.Errorf("%d attempts were interrupted by kill %d of sender or broker, which makes %d at once at most", n, at, most)
		}
	}
	r.Logf("%d events, %d exhausted, %d requests: %d repeated, %d attempts interrupted by %d kills of sender or broker", len(r.events), exhausted, requests, repeated, cut, len(r.cuts))
}
