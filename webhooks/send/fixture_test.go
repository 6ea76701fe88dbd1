package send

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/binary"
	"encoding/pem"
	"flag"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"tonscribe/internal/clickhouse"
	"tonscribe/internal/engine"
	"tonscribe/internal/kafka"
	"tonscribe/internal/lifetime/lifetimetest"
	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/test/support/clienttest"
	"tonscribe/test/support/enginetest"
	"tonscribe/webhooks/event"
)

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) != "" {
		childMain()
		return
	}
	// Parallel tests wait for the retries of their events, all at the same time.
	flag.Parse()
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	enginetest.Main(m)
}

// fixture is the two engines, the endpoints, and what was published.
type fixture struct {
	testing.TB
	engine  *engine.ClickHouse
	kafka   *engine.Kafka
	tables  *clickhouse.Client
	log     *kafka.Client
	at      *endpoints
	caFile  string
	mcSeqno uint32
}

const testPartitions = 2

func newFixture(t testing.TB) *fixture {
	t.Helper()
	k := enginetest.Kafka(t)
	h := newFixtureOn(t, logOf(t, k.Address(), k.Dial, k.Epoch()))
	h.kafka = k
	return h
}

// newFixtureOn is one with a log of its own.
func newFixtureOn(t testing.TB, log *kafka.Client) *fixture {
	t.Helper()
	h := &fixture{TB: t, engine: enginetest.Tables(t, "merchants", "events", "deliveries", "delivery_attempts", "replays", "progress"), log: log, at: newEndpoints(), caFile: authority(t).file(t)}
	h.tables = clienttest.ClickHouse(t, h.engine.DSN())
	must(t, h.log.EnsureTopics(t.Context(), []schema.Topic{schema.Transfers}))
	return h
}

func logOf(t testing.TB, address string, dial func(context.Context, string, string) (net.Conn, error), epoch string) *kafka.Client {
	t.Helper()
	c := kafka.DefaultConfiguration()
	c.Brokers, c.Partitions = []string{address}, testPartitions
	client, err := kafka.New(c, kafka.Dependencies{Report: enginetest.Report(t), Dial: dial, Epoch: epoch})
	must(t, err)
	t.Cleanup(client.Close)
	return client
}

// endpoints are those of merchants, in memory.
type endpoints struct {
	mutex    sync.Mutex
	of       map[ID]Endpoint
	before   map[ID]Endpoint // what Get still returns of some
	disabled map[ID]string
}

func newEndpoints() *endpoints {
	return &endpoints{of: map[ID]Endpoint{}, before: map[ID]Endpoint{}, disabled: map[ID]string{}}
}

func (e *endpoints) Get(ctx context.Context, merchant ID) (Endpoint, error) {
	e.mutex.Lock()
	before, is := e.before[merchant]
	e.mutex.Unlock()
	if is {
		return before, nil
	}
	return e.Newest(ctx, merchant)
}

func (e *endpoints) Newest(_ context.Context, merchant ID) (Endpoint, error) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if endpoint, is := e.of[merchant]; is {
		return endpoint, nil
	}
	return Endpoint{}, clickhouse.ErrNoRow
}

func (e *endpoints) Disable(_ context.Context, merchant ID, reason string) error {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	e.disabled[merchant] = reason
	return nil
}

func (e *endpoints) set(merchant ID, endpoint Endpoint) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	e.of[merchant] = endpoint
}

const testSecret = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="

// toURL is an endpoint that takes events.
func toURL(url string) Endpoint { return Endpoint{URL: url, Enabled: true, Secret: testSecret} }

// configuration is one for receivers of this machine.
func (h *fixture) configuration(change func(*Configuration)) Configuration {
	c := DefaultConfiguration()
	c.AllowNetworks, c.CAFile = []string{"127.0.0.0/8"}, h.caFile
	if change != nil {
		change(&c)
	}
	return c
}

// start starts a sender that ends with the test.
func (h *fixture) start(change func(*Configuration)) *Component {
	h.Helper()
	c, err := New(h.configuration(change), h.dependencies())
	must(h, err)
	lifetimetest.Run(h, c)
	return c
}

func (h *fixture) dependencies() Dependencies {
	reporter := enginetest.Report(h)
	reporter.Metrics = prometheus.NewRegistry()
	return Dependencies{Report: reporter, ClickHouse: h.tables, Log: h.log, Endpoints: h.at, Version: "test"}
}

func (h *fixture) stop(c *Component) {
	h.Helper()
	if err := c.Stop(context.Background()); err != nil {
		h.Error(err)
	}
}

func (h *fixture) manual() *Manual {
	h.Helper()
	m, err := NewManual(h.configuration(nil), h.dependencies())
	must(h, err)
	lifetimetest.Run(h, m)
	return m
}

// named makes an id of a name.
func named(name string) (id ID) {
	sum := sha256.Sum256([]byte(name))
	copy(id[:], sum[:])
	return id
}

// transfer is an event of a merchant.
func transfer(merchant, name, reference string) *record.TransferEvent {
	id, of, r := named("event "+name), named(merchant), named("reference "+reference)
	sum := sha256.Sum256([]byte(name))
	e := event.Event{Type: event.TransferCompleted, Timestamp: event.Time{Time: time.Unix(1_780_000_000, 0)}, Data: event.Data{
		Amount: "1", RawAmount: "1000000000", Asset: "TON", Status: event.Success, Reference: referenceText(r, false), CommentToSender: "<&> " + name}}
	body, err := e.Encode()
	if err != nil {
		panic(err)
	}
	return &record.TransferEvent{Id: id[:], Merchant: of[:], Reference: r[:], BodyHash: sum[:], TxHash: sum[:], TraceId: sum[:], Body: body, Happened: 1_780_000_000}
}

// publish writes a bundle with events to the log.
func (h *fixture) publish(events ...*record.TransferEvent) {
	h.Helper()
	h.mcSeqno++
	for p := range testPartitions {
		batch := &record.TransferBatch{}
		for _, e := range events {
			if schema.PartitionOf(e.Merchant, testPartitions) == p {
				e.McSeqno = h.mcSeqno
				batch.Transfers = append(batch.Transfers, e)
			}
		}
		records := []*record.Record{{Content: &record.Record_Transfers{Transfers: batch}}, {Index: 1, Content: &record.Record_Seal{Seal: &record.Seal{Rows: uint64(len(batch.Transfers))}}}}
		for _, r := range records {
			r.McSeqno, r.PrevMcSeqno = h.mcSeqno, h.mcSeqno-1
		}
		must(h, h.log.Publish(h.Context(), schema.Transfers.Name, p, records))
	}
}

// await waits for the delivery of an event to end, or to be as told.
func (h *fixture) await(merchant, name string, is func(*Delivery) bool) (d Delivery, attempts []Attempt) {
	h.Helper()
	l := NewLog(h.configuration(nil), h.tables)
	// Who waits for retries must not keep the engine busy.
	for ctx, pause := h.Context(), 10*time.Millisecond; ; pause = min(2*pause, 160*time.Millisecond) {
		d, _, attempts, err := l.Detail(ctx, named(merchant), named("event "+name))
		switch {
		case err == nil && is(&d):
			return d, attempts
		case err != nil && !isNotFound(err):
			h.Fatalf("%s: %v", name, err)
		}
		select {
		case <-ctx.Done():
			h.Fatalf("%s: %+v, %v", name, d, err)
		case <-time.After(pause):
		}
	}
}

func isNotFound(err error) bool { return err == ErrNotFound } //nolint:errorlint // it is not wrapped

func hasState(state State) func(*Delivery) bool {
	return func(d *Delivery) bool { return d.State == state }
}

// shop is a receiver that writes down what it got.
type shop struct {
	*httptest.Server
	mutex    sync.Mutex
	requests []request
	arrived  chan struct{}
}

type request struct {
	header http.Header
	body   []byte
}

// newShop starts one whose answers are made by a function, 200 for none, of the number of
// requests with the same id before.
func newShop(t testing.TB, answer func(w http.ResponseWriter, r *http.Request, n int)) *shop {
	t.Helper()
	s := &shop{arrived: make(chan struct{}, 1<<16)}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		n := s.note(request{r.Header, body})
		if answer != nil {
			answer(w, r, n)
		}
	}))
	s.Config.ErrorLog = quiet()
	s.TLS = &tls.Config{Certificates: []tls.Certificate{authority(t).issue(t, certificate{})}}
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

func (s *shop) note(r request) (before int) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for _, other := range s.requests {
		if other.header.Get("webhook-id") == r.header.Get("webhook-id") {
			before++
		}
	}
	s.requests = append(s.requests, r)
	select {
	case s.arrived <- struct{}{}:
	default:
	}
	return before
}

// of are the requests for an event.
func (s *shop) of(name string) (list []request) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for _, r := range s.requests {
		if r.header.Get("webhook-id") == EventID(named("event "+name)) {
			list = append(list, r)
		}
	}
	return list
}

func (s *shop) count() int {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return len(s.requests)
}

// issuer is a certificate authority of the tests.
type issuer struct {
	key         *ecdsa.PrivateKey
	certificate *x509.Certificate
}

// farOff is until when certificates are valid. It is no distance from now: in a bubble with
// a clock of its own now is a day of 2000.
var farOff = time.Date(2100, time.January, 1, 0, 0, 0, 0, time.UTC)

var (
	authorityOnce sync.Once
	authorityMade *issuer
)

func authority(t testing.TB) *issuer {
	t.Helper()
	authorityOnce.Do(func() {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		must(t, err)
		template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, NotBefore: time.Unix(0, 0), NotAfter: farOff,
			IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
		der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
		must(t, err)
		made, err := x509.ParseCertificate(der)
		must(t, err)
		authorityMade = &issuer{key, made}
	})
	return authorityMade
}

// file is that of its certificate, until the end of the test.
func (i *issuer) file(t testing.TB) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "ca.pem")
	must(t, os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: i.certificate.Raw}), 0o600))
	return file
}

// certificate is what a receiver shows: one for 127.0.0.1 that is valid, but for what is set.
type certificate struct {
	name       string
	expired    bool
	selfSigned bool
}

var serial atomic.Uint64

func (i *issuer) issue(t testing.TB, c certificate) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	template := &x509.Certificate{SerialNumber: new(big.Int).SetBytes(binary.BigEndian.AppendUint64(nil, 1+serial.Add(1))), NotBefore: time.Unix(0, 0), NotAfter: farOff,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	if c.name != "" {
		template.IPAddresses, template.DNSNames = nil, []string{c.name}
	}
	if c.expired {
		template.NotAfter = time.Unix(1_700_000_000, 0)
	}
	parent, signer := i.certificate, i.key
	if c.selfSigned {
		parent, signer = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	must(t, err)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// newBlackBox is a receiver by HTTPS that keeps nothing.
func newBlackBox(t testing.TB, answer http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(answer)
	s.Config.ErrorLog = quiet()
	s.TLS = &tls.Config{Certificates: []tls.Certificate{authority(t).issue(t, certificate{})}}
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
