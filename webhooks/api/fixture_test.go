package api

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/internal/clickhouse"
	"tonscribe/internal/egress"
	"tonscribe/internal/report"
	"tonscribe/test/support/clienttest"
	"tonscribe/test/support/enginetest"
	"tonscribe/test/support/logtest"
	"tonscribe/test/support/openapitest"
	"tonscribe/ton/address"
	"tonscribe/webhooks/event"
	"tonscribe/webhooks/payment"
	"tonscribe/webhooks/store"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// world is a database, and an API on it whose answers are held against its document.
type world struct {
	testing.TB
	store      *store.Store
	api        *API
	router     *gin.Engine
	client     *clickhouse.Client
	dsn        string
	document   *openapitest.Document
	deliveries *sent
	outcomes   ended
	tokens     jettons
	clock      *clock
	log        *logtest.Book
}

type clock struct {
	mutex sync.Mutex
	ahead time.Duration
}

func (c *clock) now() time.Time {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return time.Now().Add(c.ahead)
}

func (c *clock) pass(d time.Duration) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.ahead += d
}

func newWorld(t testing.TB, change ...func(*Configuration)) *world {
	t.Helper()
	engine := enginetest.Tables(t, "merchants", "merchant_audit", "merchant_endpoints", "merchant_keys", "merchant_sessions", "payments", "events")
	client := clienttest.ClickHouse(t, engine.DSN())
	w := &world{TB: t, client: client, dsn: engine.DSN(), outcomes: ended{}, tokens: jettons{}, clock: &clock{}, log: &logtest.Book{}, deliveries: &sent{of: map[store.ID]map[store.ID]Delivery{}, replays: map[store.ID]store.ID{}}}
	c := store.DefaultConfiguration()
	c.SealKey = store.NewSealKey()
	var err error
	w.store, err = store.New(c, store.Dependencies{Report: report.Silent(), ClickHouse: client, Now: w.clock.now})
	w.must(err)
	w.must(w.store.Start(t.Context()))
	t.Cleanup(func() { w.must(w.store.Stop(context.Background())) })
	w.document, err = openapitest.New(Describe())
	w.must(err)
	w.open(change...)
	return w
}

// open makes the API anew.
func (w *world) open(change ...func(*Configuration)) {
	w.Helper()
	configuration := DefaultConfiguration()
	configuration.Rate, configuration.TransferRate, configuration.ChangeRate, configuration.LookupRate = 0, 0, 0, 0
	for _, f := range change {
		f(&configuration)
	}
	api, err := New(configuration, Dependencies{
		Report: report.Reporter{Log: zerolog.New(w.log), Metrics: prometheus.NewRegistry()}, Store: w.store, Build: build, Tokens: w.tokens, Outcomes: w.outcomes, Deliveries: w.deliveries,
		Reaches: egress.NewGuard().Allows,
	})
	w.must(err)
	w.api = api
	gin.SetMode(gin.ReleaseMode)
	w.router = gin.New()
	w.router.RedirectTrailingSlash = false
	w.router.HandleMethodNotAllowed = true
	api.Mount(w.router)
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// build carries the reference in the body, so that no two are alike.
func build(p store.Payment) (payment.Message, error) {
	if p.Amount.BitLen() > 100 {
		return payment.Message{}, errors.New("this is too much")
	}
	body := cell.BeginCell().MustStoreSlice(p.Reference[:], 128).EndCell()
	if p.Master != nil {
		return payment.Message{To: p.SenderWallet, Amount: p.Amount, Body: body}, nil
	}
	return payment.Message{To: p.Recipient, Amount: p.Amount, Body: body}, nil
}

// jettons are masters that a test knows.
type jettons map[address.Address]Token

func (j jettons) Token(_ context.Context, master address.Address) (Token, error) {
	token, ok := j[master]
	if !ok {
		return token, store.ErrNotFound
	}
	return token, nil
}

func (j jettons) WalletsOf(_ context.Context, master address.Address, owners ...address.Address) ([]address.Address, error) {
	wallets := slices.Clone(owners)
	for n := range wallets {
		for i := 4; i < len(master); i++ {
			wallets[n][i] ^= master[i]
		}
	}
	return wallets, nil
}

// ended are the ends of payments.
type ended map[store.Reference]Outcome

func (e ended) Of(_ context.Context, _ store.ID, references []store.Reference) (map[store.Reference]Outcome, error) {
	found := map[store.Reference]Outcome{}
	for _, r := range references {
		if o, ok := e[r]; ok {
			found[r] = o
		}
	}
	return found, nil
}

// sent is a log of deliveries, by merchant and event.
type sent struct {
	mutex   sync.Mutex
	of      map[store.ID]map[store.ID]Delivery
	replays map[store.ID]store.ID // their merchants
	search  Search                // the last one
	tested  event.Event
	refuse  error
}

func (s *sent) find(merchant, event store.ID) (Delivery, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	d, ok := s.of[merchant][event]
	if !ok {
		return d, store.ErrNotFound
	}
	return d, s.refuse
}

func (s *sent) Search(_ context.Context, merchant store.ID, search Search) ([]Delivery, string, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.search = search
	if search.Cursor == "wrong" {
		return nil, "", ErrCursor
	}
	list := slices.SortedFunc(maps.Values(s.of[merchant]), func(a, b Delivery) int { return slices.Compare(a.Event[:], b.Event[:]) })
	return list, "", nil
}

func (s *sent) attempt() Attempt {
	return Attempt{Number: 1, Kind: "manual", Began: time.Now(), Ended: time.Now(), Total: 1500 * time.Microsecond, Remote: "192.0.2.1:443", Code: 200,
		RequestHeaders: http.Header{"X-Pay-Signature": {"sha256=…"}}, ResponseHeaders: http.Header{"Via": {"a", "b"}}, ResponseBody: []byte("ok\xff")}
}

func (s *sent) Detail(_ context.Context, merchant, event store.ID) (Delivery, []byte, []Attempt, error) {
	d, err := s.find(merchant, event)
	return d, []byte(`{"event":"transfer.completed"}`), []Attempt{s.attempt()}, err
}

func (s *sent) Redeliver(_ context.Context, merchant, event store.ID) (Attempt, error) {
	_, err := s.find(merchant, event)
	return s.attempt(), err
}

func (s *sent) Test(_ context.Context, _ store.ID, e event.Event) (Attempt, error) {
	s.tested = e
	return s.attempt(), s.refuse
}

func (s *sent) CountReplay(_ context.Context, merchant store.ID, _ ReplayRange) (uint64, error) {
	return uint64(len(s.of[merchant])), s.refuse
}

func (s *sent) StartReplay(_ context.Context, merchant store.ID, _ ReplayRange) (Replay, error) {
	id := store.ID(uuid.New())
	s.replays[id] = merchant
	return Replay{ID: id, State: "running", Count: uint64(len(s.of[merchant]))}, s.refuse
}

func (s *sent) FindReplay(_ context.Context, merchant, id store.ID) (Replay, error) {
	if s.replays[id] != merchant {
		return Replay{}, store.ErrNotFound
	}
	return Replay{ID: id, State: "running"}, nil
}

func (s *sent) CancelReplay(ctx context.Context, merchant, id store.ID) (Replay, error) {
	r, err := s.FindReplay(ctx, merchant, id)
	r.State = "cancelled"
	return r, err
}

func (s *sent) Health(_ context.Context, merchant store.ID) (Health, error) {
	rate := 0.5
	return Health{State: "ok", SuccessRate: &rate, P50: time.Millisecond, Queued: uint64(len(s.of[merchant])), OldestUndelivered: time.Minute, LastSuccess: time.Now()}, nil
}

// account is an address by its last byte.
func accountOf(last byte) (a address.Address) {
	a[address.Size-1] = last
	return a
}

// shop is a merchant with everything that one has.
type shop struct {
	store.Merchant
	token, key string
	keyID      string
	cookie     string
	csrf       string
	secret     string // of webhooks
	event      store.ID
	reference  string
	bodyHash   string // base64
	replay     store.ID
}

// newShop makes one; what it has bears its name.
func (w *world) newShop(name string, scopes ...string) *shop {
	w.Helper()
	ctx := w.Context()
	if len(scopes) == 0 {
		scopes = store.Scopes
	}
	s := &shop{}
	s.Merchant, s.token = store.NewMerchant(name)
	s.NativeWallet = w.api.friendly(accountOf(200))
	w.must(w.store.Merchants.Put(ctx, s.Merchant))
	k, secret := store.NewKey(s.ID, "key of "+name, scopes)
	w.must(w.store.Keys.Put(ctx, k))
	s.key, s.keyID = secret, k.ID()
	e, err := w.store.Endpoints.Update(ctx, s.ID, func(e *store.Endpoint) error {
		e.URL, e.Enabled = "https://"+name+".example/hook", true
		return nil
	})
	w.must(err)
	s.secret = e.Secret
	s.event = store.ID(uuid.New())
	w.deliveries.of[s.ID] = map[store.ID]Delivery{s.event: {Event: s.event, Reference: uuid.Must(uuid.NewV7()).String(), Status: event.Success, State: "delivered", Reason: "of " + name, Attempts: 1, LastCode: 200, Happened: time.Now()}}
	s.replay = store.ID(uuid.New())
	w.deliveries.replays[s.replay] = s.ID
	w.signIn(s)
	made := w.ok(s.asks(http.MethodPost, "/create-transfer", map[string]any{"amount": 1.5, "asset": "TON", "senderAddr": accountOf(1).String(), "commentToRecipient": "bought at " + name}))
	s.reference, s.bodyHash = made["reference"].(string), made["bodyBase64Hash"].(string)
	return s
}

func (w *world) signIn(s *shop) {
	w.Helper()
	answer := w.send(request{method: http.MethodPost, path: "/session", body: map[string]any{"token": s.token}})
	var session struct{ CSRF string }
	w.must(json.Unmarshal(answer.Body.Bytes(), &session))
	cookies := answer.Result().Cookies()
	if answer.Code != http.StatusOK || len(cookies) != 1 || session.CSRF == "" {
		w.Fatalf("sign-in of %s: %d %s %v", s.Name, answer.Code, answer.Body, cookies)
	}
	s.cookie, s.csrf = cookies[0].Value, session.CSRF
}

// request is one to be sent.
type request struct {
	method, path string // below Prefix
	body         any    // JSON, or a []byte
	key          string
	cookie, csrf string
	header       http.Header
	gone         bool // the client is not there any more
}

func (s *shop) asks(method, path string, body any) request {
	return request{method: method, path: path, body: body, key: s.key}
}

func (s *shop) clicks(method, path string, body any) request {
	return request{method: method, path: path, body: body, cookie: s.cookie, csrf: s.csrf}
}

// send sends a request and holds the answer against the document.
func (w *world) send(r request) *httptest.ResponseRecorder {
	w.Helper()
	var body []byte
	switch b := r.body.(type) {
	case nil:
	case []byte:
		body = b
	case string:
		body = []byte(b)
	default:
		var err error
		body, err = json.Marshal(b)
		w.must(err)
	}
	target := httptest.NewRequest(r.method, "http://example.com"+Prefix+"/", bytes.NewReader(body))
	path, query, _ := strings.Cut(r.path, "?")
	target.URL.Path, target.URL.RawQuery = Prefix+path, query
	target.Header = r.header.Clone()
	if target.Header == nil {
		target.Header = http.Header{}
	}
	if len(body) > 0 && target.Header["Content-Type"] == nil {
		target.Header.Set("Content-Type", "application/json")
	}
	if r.key != "" {
		target.Header.Set("x-api-key", r.key)
	}
	if r.cookie != "" {
		target.AddCookie(&http.Cookie{Name: cookieName, Value: r.cookie})
	}
	if r.csrf != "" {
		target.Header.Set("X-CSRF-Token", r.csrf)
	}
	if r.gone {
		ctx, cancel := context.WithCancel(target.Context())
		cancel()
		target = target.WithContext(ctx)
	}
	answer := httptest.NewRecorder()
	w.router.ServeHTTP(answer, target)
	where := path
	for _, e := range Endpoints() {
		if _, ok := e.match(strings.Split(path, "/")); ok {
			where = e.Path
			break
		}
	}
	if kind := answer.Header().Get("Content-Type"); strings.HasPrefix(kind, "text/csv") || where == documentPath {
		return answer
	}
	if err := w.document.Check(openapitest.Answer{Method: r.method, Path: Prefix + where, Status: answer.Code, Header: answer.Header(), Text: answer.Body.Bytes()}); err != nil {
		w.Errorf("%s %s: %v", r.method, r.path, err)
	}
	return answer
}

// ok sends a request that must succeed and returns the answer.
func (w *world) ok(r request) map[string]any {
	w.Helper()
	answer := w.send(r)
	if answer.Code != http.StatusOK {
		w.Fatalf("%s %s: %d %s, want 200", r.method, r.path, answer.Code, answer.Body)
	}
	var object map[string]any
	d := json.NewDecoder(bytes.NewReader(answer.Body.Bytes()))
	d.UseNumber()
	w.must(d.Decode(&object))
	return object
}

// refused sends a request that must fail.
func (w *world) refused(what string, r request, status int, code string) {
	w.Helper()
	answer := w.send(r)
	var failure struct {
		Error struct{ Code, Message string }
	}
	err := json.Unmarshal(answer.Body.Bytes(), &failure)
	if answer.Code != status || failure.Error.Code != code || failure.Error.Message == "" || err != nil {
		w.Errorf("%s: %s %s: %d %s, want %d %s", what, r.method, r.path, answer.Code, answer.Body, status, code)
	}
}

// marks are texts by which an answer or a log gives a shop away.
func (s *shop) marks() []string {
	return []string{
		hex.EncodeToString(s.ID[:]), s.Name, s.token, s.key, s.keyID, s.cookie, s.csrf, s.secret, s.secret[len(s.secret)-6:], hex.EncodeToString(s.event[:]), s.reference, s.bodyHash,
		hex.EncodeToString(s.replay[:]), s.cookie[:12],
	}
}

// secrets are those of a shop that belong nowhere but where they are asked for.
func (s *shop) secrets() []string { return []string{s.token, s.key, s.cookie, s.csrf, s.secret} }

// everything is what the tables have of a merchant but sessions and audit.
func (w *world) everything(s *shop) string {
	w.Helper()
	var all strings.Builder
	for _, table := range []string{"merchants", "merchant_keys", "merchant_endpoints", "payments"} {
		var row string
		w.must(clickhouse.Each(w.Context(), w.client.Conn(), fmt.Sprintf("SELECT toString(tuple(*)) AS row FROM %s FINAL WHERE merchant = unhex('%x') ORDER BY row", table, s.ID), nil,
			func() { all.WriteString(row + "\n") }, &row))
	}
	return all.String()
}
