package store

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"tonscribe/internal/clickhouse"
	"tonscribe/internal/report"
	"tonscribe/test/support/enginetest"
	"tonscribe/ton/address"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// clock is a present that a test sets.
type clock struct {
	mutex sync.Mutex
	time  time.Time
}

func (c *clock) now() time.Time {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.time
}

func (c *clock) pass(d time.Duration) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.time = c.time.Add(d)
}

// world is a database with a store on it, whose clock the test sets.
type world struct {
	testing.TB
	*Store
	clock  *clock
	client *clickhouse.Client
}

func newWorld(t testing.TB) *world {
	t.Helper()
	engine := enginetest.Tables(t)
	configuration := clickhouse.DefaultConfiguration()
	configuration.DSN = engine.DSN()
	client, err := clickhouse.New(configuration, clickhouse.Dependencies{Report: report.Silent()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	w := &world{TB: t, clock: &clock{time: time.Now().UTC().Truncate(time.Microsecond)}, client: client}
	w.Store = w.open(NewSealKey())
	return w
}

// open is another store on the same tables, with a seal key.
func (w *world) open(sealKey string) *Store {
	w.Helper()
	c := DefaultConfiguration()
	c.SealKey = sealKey
	s, err := New(c, Dependencies{Report: enginetest.Report(w), ClickHouse: w.client, Now: w.clock.now})
	if err != nil {
		w.Fatal(err)
	}
	w.must(s.Start(w.Context()))
	w.Cleanup(func() { w.must(s.Stop(context.Background())) })
	return s
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// merchant is a new one, and its token.
func (w *world) merchant(name string) (Merchant, string) {
	w.Helper()
	m, token := NewMerchant(name)
	w.must(w.Merchants.Put(w.Context(), m))
	return m, token
}

func TestMerchantsAreFoundByTheirIDTheirNameAndTheirToken(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	shop, token := w.merchant("shop")
	other, _ := w.merchant("other")
	if got, err := w.Merchants.Get(ctx, shop.ID); err != nil || got.Name != "shop" || got.TokenHash != shop.TokenHash {
		t.Errorf("by id: %+v, %v, want %+v", got, err, shop)
	}
	if got, err := w.Merchants.ByToken(ctx, token); err != nil || got.ID != shop.ID {
		t.Errorf("by token: %+v, %v, want %+v", got, err, shop)
	}
	for _, wrong := range []string{"", "mt_", token[:len(token)-1], strings.ToUpper(token)} {
		if got, err := w.Merchants.ByToken(ctx, wrong); !errors.Is(err, ErrNotFound) {
			t.Errorf("by token %q: %+v, %v, want %v", wrong, got, err, ErrNotFound)
		}
	}
	for text, want := range map[string]ID{"shop": shop.ID, fmt.Sprintf("%x", other.ID): other.ID, fmt.Sprintf("%x", other.ID[:4]): other.ID} {
		if got, err := w.Merchants.Find(ctx, text); err != nil || got.ID != want {
			t.Errorf("find %q: %x, %v, want %x", text, got.ID, err, want)
		}
	}
	if _, err := w.Merchants.Find(ctx, "nobody"); !errors.Is(err, ErrNotFound) {
		t.Errorf("find nobody: %v, want %v", err, ErrNotFound)
	}
	shop, err := w.Merchants.Find(ctx, "shop")
	w.must(err)
	shop.Disabled = true
	w.must(w.Merchants.Put(ctx, shop))
	w.must(w.Merchants.Refresh(ctx))
	if _, err := w.Merchants.ByToken(ctx, token); !errors.Is(err, ErrNotFound) {
		t.Errorf("the token of a disabled merchant: %v, want %v", err, ErrNotFound)
	}
	if got, err := w.Merchants.Get(ctx, shop.ID); err != nil || !got.Disabled {
		t.Errorf("a disabled merchant: %+v, %v", got, err)
	}
	list, err := w.Merchants.List(ctx)
	if err != nil || len(list) != 2 || list[0].ID != shop.ID || !list[0].Disabled || list[1].ID != other.ID {
		t.Errorf("list: %+v, %v", list, err)
	}
	for _, bad := range []string{"", strings.Repeat("n", MaxName+1), "line\nfeed"} {
		if err := w.Merchants.Put(ctx, Merchant{Name: bad}); err == nil {
			t.Errorf("a merchant may have the name %q", bad)
		}
	}
}

func TestARevokedKeyStaysRevokedWhateverIsWrittenOfItLater(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	m, _ := w.merchant("shop")
	key, secret := NewKey(m.ID, "till", []string{ScopeTransfers})
	w.must(w.Keys.Put(ctx, key))
	got, err := w.Keys.Get(ctx, secret)
	if err != nil || got.Merchant != m.ID || got.Name != "till" || !slices.Equal(got.Scopes, key.Scopes) || !got.Used.IsZero() {
		t.Fatalf("%+v, %v, want %+v", got, err, key)
	}
	w.must(w.Keys.writeUsed(ctx))
	list, err := w.Keys.List(ctx, m.ID)
	if err != nil || len(list) != 1 || !list[0].Used.Equal(w.now()) {
		t.Errorf("used: %+v, %v, want %s", list, err, w.now())
	}
	if _, err := w.Keys.Revoke(ctx, ID{1}, key.ID()); !errors.Is(err, ErrNotFound) {
		t.Errorf("another merchant revokes the key: %v, want %v", err, ErrNotFound)
	}
	if _, err := w.Keys.Revoke(ctx, m.ID, key.ID()); err != nil {
		t.Fatal(err)
	}
	if got, err := w.Keys.Get(ctx, secret); !errors.Is(err, ErrNotFound) {
		t.Errorf("after it was revoked: %+v, %v, want %v", got, err, ErrNotFound)
	}
	w.clock.pass(time.Hour)
	stale := list[0]
	stale.Used = w.now()
	w.must(w.Keys.put(ctx, []Key{stale})) // by a replica that does not know yet
	w.must(w.Keys.held.Refresh(ctx))
	if got, err := w.Keys.Get(ctx, secret); !errors.Is(err, ErrNotFound) {
		t.Errorf("after a use was written: %+v, %v, want %v", got, err, ErrNotFound)
	}
}

func TestUsesOfAKeyAreWrittenEveryTenMinutesAtMost(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	m, _ := w.merchant("shop")
	key, secret := NewKey(m.ID, "till", Scopes)
	w.must(w.Keys.Put(ctx, key))
	first := w.now()
	for _, step := range []struct {
		pass time.Duration
		want time.Time
	}{{0, first}, {usedAgain - time.Second, first}, {time.Second, first.Add(usedAgain)}} {
		w.clock.pass(step.pass)
		w.must(w.Keys.held.Refresh(ctx))
		if _, err := w.Keys.Get(ctx, secret); err != nil {
			t.Fatal(err)
		}
		w.must(w.Keys.writeUsed(ctx))
		if list, err := w.Keys.List(ctx, m.ID); err != nil || !list[0].Used.Equal(step.want) {
			t.Errorf("%s later: used %v, %v, want %s", step.pass, list[0].Used, err, step.want)
		}
	}
}

func TestSecretsAreRotatedSwitchedAndTakenBackWithinTheirDeadlines(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	const overlap = 24 * time.Hour
	type state struct{ secret, next, old string }
	type step struct {
		what string
		do   func(ID) (Endpoint, error)
		want state // by the names of secrets
		err  error
	}
	pass := func(d time.Duration) func(ID) (Endpoint, error) {
		return func(id ID) (Endpoint, error) {
			w.clock.pass(d)
			return w.Endpoints.Get(ctx, id)
		}
	}
	rotate := func(id ID) (Endpoint, error) { return w.Endpoints.Rotate(ctx, id) }
	change := func(id ID) (Endpoint, error) { return w.Endpoints.Switch(ctx, id) }
	undo := func(id ID) (Endpoint, error) { return w.Endpoints.Undo(ctx, id) }
	for name, steps := range map[string][]step{
		"by hand": {
			{"rotate", rotate, state{"a", "b", ""}, nil},
			{"rotate again", rotate, state{}, ErrRotating},
			{"switch", change, state{"b", "", "a"}, nil},
			{"switch again", change, state{}, ErrNotRotating},
			{"undo", undo, state{"a", "b", ""}, nil},
			{"undo again", undo, state{"a", "", ""}, nil},
			{"undo once more", undo, state{}, ErrNoUndo},
		},
		"by the deadline": {
			{"rotate", rotate, state{"a", "b", ""}, nil},
			{"before the deadline", pass(overlap - time.Second), state{"a", "b", ""}, nil},
			{"at the deadline", pass(time.Second), state{"b", "", "a"}, nil},
			{"before the old one ends", pass(overlap - time.Second), state{"b", "", "a"}, nil},
			{"when the old one ends", pass(time.Second), state{"b", "", ""}, nil},
			{"undo", undo, state{}, ErrNoUndo},
		},
		"both deadlines while nobody looks": {
			{"rotate", rotate, state{"a", "b", ""}, nil},
			{"much later", pass(3 * overlap), state{"b", "", ""}, nil},
			{"rotate", rotate, state{"b", "c", ""}, nil},
		},
		"a deadline, then undo": {
			{"rotate", rotate, state{"a", "b", ""}, nil},
			{"at the deadline", pass(overlap), state{"b", "", "a"}, nil},
			{"undo", undo, state{"a", "b", ""}, nil},
			{"the next deadline is a new one", pass(overlap - time.Second), state{"a", "b", ""}, nil},
			{"it passes", pass(time.Second), state{"b", "", "a"}, nil},
		},
		"rotate while the old one may come back": {
			{"rotate", rotate, state{"a", "b", ""}, nil},
			{"switch", change, state{"b", "", "a"}, nil},
			{"rotate", rotate, state{"b", "c", "a"}, nil},
			{"switch", change, state{"c", "", "b"}, nil},
		},
	} {
		m, _ := w.merchant(strings.ReplaceAll(name, ",", ""))
		first, err := w.Endpoints.Update(ctx, m.ID, func(*Endpoint) error { return nil })
		w.must(err)
		names := map[string]string{"": "", first.Secret: "a"}
		nameOf := func(secret string) string {
			if _, ok := names[secret]; !ok {
				names[secret] = string(rune('a' + len(names) - 1))
			}
			return names[secret]
		}
		for _, s := range steps {
			got, err := s.do(m.ID)
			if s.err != nil {
				if !errors.Is(err, s.err) {
					t.Errorf("%s, %s: %v, want %v", name, s.what, err, s.err)
				}
				continue
			}
			shown := state{nameOf(got.Secret), nameOf(got.Next), nameOf(got.Old)}
			if err != nil || shown != s.want {
				t.Errorf("%s, %s: %+v, %v, want %+v", name, s.what, shown, err, s.want)
			}
			again, err := w.Endpoints.Newest(ctx, m.ID)
			if err != nil || again.Secret != got.Secret || again.Next != got.Next || again.Old != got.Old || !again.SwitchAt.Equal(got.SwitchAt) || !again.UndoUntil.Equal(got.UndoUntil) {
				t.Errorf("%s, %s: the table has %+v, %v, want %+v", name, s.what, again, err, got)
			}
		}
	}
}

// everything is all that the tables of merchants have, as text.
func (w *world) everything() string {
	w.Helper()
	var all strings.Builder
	for _, table := range []string{"merchants", "merchant_keys", "merchant_endpoints", "merchant_sessions", "merchant_audit"} {
		var row string
		w.must(clickhouse.Each(w.Context(), w.client.Conn(), "SELECT toString(tuple(*)) FROM "+table, nil, func() { all.WriteString(row + "\n") }, &row))
	}
	return all.String()
}

func TestNoSecretKeyTokenOrCookieIsInATable(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	m, token := w.merchant("shop")
	key, secret := NewKey(m.ID, "till", Scopes)
	w.must(w.Keys.Put(ctx, key))
	_, err := w.Endpoints.Update(ctx, m.ID, func(e *Endpoint) error {
		e.URL, e.Signing, e.Key, e.KeyHash = "https://shop.example/hook", SignedByKey, secret, key.Hash
		return nil
	})
	w.must(err)
	_, err = w.Endpoints.Rotate(ctx, m.ID)
	w.must(err)
	_, err = w.Endpoints.Switch(ctx, m.ID)
	w.must(err)
	e, err := w.Endpoints.Rotate(ctx, m.ID)
	w.must(err)
	if e.Current() != secret || e.Secret == "" || e.Next == "" || e.Old == "" {
		t.Errorf("current %q, secret %q, next %q, old %q", e.Current(), e.Secret, e.Next, e.Old)
	}
	cookie, _, err := w.Sessions.Open(ctx, m.ID)
	w.must(err)
	all := w.everything()
	if !strings.Contains(all, "https://shop.example/hook") {
		t.Fatalf("the tables lack the endpoint:\n%s", all)
	}
	for name, text := range map[string]string{"token": token, "key": secret, "secret": e.Secret, "next": e.Next, "old": e.Old, "cookie": cookie} {
		for _, part := range []string{text, text[len(text)/2:]} {
			if text == "" || strings.Contains(all, part) {
				t.Errorf("%s is in a table: %s", name, part)
			}
		}
	}
}

func TestASealedTextOpensForItsMerchantItsColumnAndItsKeyOnly(t *testing.T) {
	key := NewSealKey()
	s, err := newSealer(key)
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := s.seal("whsec_text", ID{1}, "secret")
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := s.seal("whsec_text", ID{1}, "secret"); again == sealed {
		t.Error("the same text is sealed in the same way twice")
	}
	if got, err := s.open(sealed, ID{1}, "secret"); got != "whsec_text" || err != nil {
		t.Errorf("%q, %v, want whsec_text", got, err)
	}
	other, _ := newSealer(NewSealKey())
	altered := []byte(sealed)
	altered[len(altered)-1] ^= 1
	for name, open := range map[string]func() (string, error){
		"another merchant": func() (string, error) { return s.open(sealed, ID{2}, "secret") },
		"another column":   func() (string, error) { return s.open(sealed, ID{1}, "old_secret") },
		"another key":      func() (string, error) { return other.open(sealed, ID{1}, "secret") },
		"altered":          func() (string, error) { return s.open(string(altered), ID{1}, "secret") },
		"cut":              func() (string, error) { return s.open(sealed[:5], ID{1}, "secret") },
	} {
		if got, err := open(); !errors.Is(err, ErrSealKey) {
			t.Errorf("%s: %q, %v, want %v", name, got, err, ErrSealKey)
		}
	}
	for _, bad := range []string{"short", strings.Repeat("a", 31), key + key} {
		if _, err := newSealer(bad); err == nil || strings.Contains(err.Error(), bad) {
			t.Errorf("seal key %q: %v, want an error that does not repeat it", bad, err)
		}
	}
	if _, err := newSealer(strings.Repeat("0f", sealKeySize)); err != nil {
		t.Errorf("a key in hex: %v", err)
	}
}

func TestTheFirstOfSeveralSealKeysSealsAndAllOpen(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	old, next := NewSealKey(), NewSealKey()
	m, _ := w.merchant("shop")
	before := w.open(old)
	made, err := before.Endpoints.Rotate(ctx, m.ID)
	w.must(err)
	same := func(what string, keys string) {
		t.Helper()
		got, err := w.open(keys).Endpoints.Newest(ctx, m.ID)
		if err != nil || got.Secret != made.Secret || got.Next != made.Next || got.Secret == "" || got.Next == "" {
			t.Errorf("%s: secrets %q and %q, %v, want %q and %q", what, got.Secret, got.Next, err, made.Secret, made.Next)
		}
	}
	same("before", old)
	same("with both", next+", "+old)
	n, err := w.open(next + "\n" + old + "\n").Endpoints.Reseal(ctx)
	if n != 1 || err != nil {
		t.Errorf("%d merchants are sealed anew, %v, want 1", n, err)
	}
	same("with the next one alone", next)
	if n, err := w.open(old).Endpoints.Reseal(ctx); n != 0 || !errors.Is(err, ErrSealKey) {
		t.Errorf("with the old one alone %d merchants are sealed anew, %v, want %v", n, err, ErrSealKey)
	}
	same("after that", next)
}

func TestWithoutTheRightSealKeyNoSecretIsOverwritten(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	m, _ := w.merchant("shop")
	set := func(s *Store, url string) error {
		_, err := s.Endpoints.Update(ctx, m.ID, func(e *Endpoint) error {
			e.URL = url
			return nil
		})
		return err
	}
	w.must(set(w.Store, "https://one.example"))
	before, err := w.Endpoints.Newest(ctx, m.ID)
	w.must(err)
	if err := set(w.open(""), "https://two.example"); !errors.Is(err, ErrNoSealKey) {
		t.Errorf("without a key: %v, want %v", err, ErrNoSealKey)
	}
	if err := set(w.open(NewSealKey()), "https://two.example"); !errors.Is(err, ErrSealKey) {
		t.Errorf("with another key: %v, want %v", err, ErrSealKey)
	}
	if after, err := w.Endpoints.Newest(ctx, m.ID); err != nil || after.Secret != before.Secret || after.URL != before.URL {
		t.Errorf("the endpoint is %+v, %v, want %+v", after, err, before)
	}
}

func TestSessionsEndByThemselvesByHandAndWhenThereAreTooMany(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	m, _ := w.merchant("shop")
	other, _ := w.merchant("other")
	foreign, _, err := w.Sessions.Open(ctx, other.ID)
	w.must(err)
	var cookies []string
	var last Session
	for range MaxSessions + 1 {
		w.clock.pass(time.Second)
		cookie, s, err := w.Sessions.Open(ctx, m.ID)
		w.must(err)
		cookies, last = append(cookies, cookie), s
	}
	for i, cookie := range cookies {
		_, err := w.Sessions.Get(ctx, cookie)
		if want := i == 0; errors.Is(err, ErrNotFound) != want {
			t.Errorf("session %d of %d: %v, ended %v", i, len(cookies), err, want)
		}
	}
	w.must(w.Sessions.End(ctx, last))
	if _, err := w.Sessions.Get(ctx, cookies[MaxSessions]); !errors.Is(err, ErrNotFound) {
		t.Errorf("an ended session: %v, want %v", err, ErrNotFound)
	}
	w.must(w.Sessions.EndAll(ctx, m.ID))
	if _, err := w.Sessions.Get(ctx, cookies[5]); !errors.Is(err, ErrNotFound) {
		t.Errorf("after all were ended: %v, want %v", err, ErrNotFound)
	}
	if got, err := w.Sessions.Get(ctx, foreign); err != nil || got.Merchant != other.ID {
		t.Errorf("the session of another merchant: %+v, %v", got, err)
	}
	w.clock.pass(w.configuration.Session)
	if _, err := w.Sessions.Get(ctx, foreign); !errors.Is(err, ErrNotFound) {
		t.Errorf("when its time is over: %v, want %v", err, ErrNotFound)
	}
}

// payment is one of a merchant, whose fields follow from n.
func payment(merchant ID, n byte) Payment {
	account := func(last byte) (a address.Address) {
		a[address.Size-1], a[0] = last, n
		return a
	}
	p := Payment{
		Reference: Reference(uuid.Must(uuid.NewV7())), Merchant: merchant, BodyHash: Hash{n, 1}, Amount: big.NewInt(int64(n)), Sender: account(1), Recipient: account(2),
		SenderText: "sender", RecipientText: "recipient ✓", CommentToSender: "<&>", CommentToRecipient: "order \u2028 " + string(rune('0'+n)), Ticker: "TON", Decimals: 9,
		Created: time.Now().UTC().Truncate(time.Microsecond),
	}
	if n%2 == 1 {
		master, query := account(3), uint64(1)<<63+uint64(n)
		p.Master, p.QueryID, p.SenderWallet, p.RecipientWallet = &master, &query, account(4), account(5)
		p.Amount = new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1))
	}
	return p
}

func (w *world) same(what string, got, want Payment) {
	w.Helper()
	if g, s := fmt.Sprintf("%+v", flat(got)), fmt.Sprintf("%+v", flat(want)); g != s {
		w.Errorf("%s:\n%s, want\n%s", what, g, s)
	}
}

// flat is a payment without pointers.
func flat(p Payment) (values []any) {
	if p.Master != nil {
		values = append(values, *p.Master)
	}
	if p.QueryID != nil {
		values = append(values, *p.QueryID)
	}
	amount, created := p.Amount.String(), p.Created.UTC()
	p.Master, p.QueryID, p.Amount, p.Created = nil, nil, nil, time.Time{}
	return append(values, amount, created, p)
}

func TestPaymentsAreFoundByReferenceByBodyAndByMerchant(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	shop, other := ID{1}, ID{2}
	var all []Payment
	for n := byte(1); n <= 9; n++ {
		one := payment(shop, n)
		if n == 5 {
			one.Merchant = other
		}
		all = append(all, one)
		w.must(w.Payments.Put(ctx, one))
	}
	var references []Reference
	var bodies []Hash
	for _, one := range all {
		references, bodies = append(references, one.Reference), append(bodies, one.BodyHash)
	}
	found, err := w.Payments.Find(ctx, append(references, Reference{9}))
	if err != nil || len(found) != len(all) {
		t.Fatalf("%d payments, %v, want %d", len(found), err, len(all))
	}
	byBody, err := w.Payments.ByBody(ctx, append(bodies, Hash{99}))
	if err != nil || len(byBody) != len(all) {
		t.Fatalf("%d payments by body, %v, want %d", len(byBody), err, len(all))
	}
	for _, one := range all {
		w.same("by reference", found[one.Reference], one)
		w.same("by body", byBody[one.BodyHash], one)
	}
	var pages []Payment
	for before := (*Reference)(nil); ; {
		page, err := w.Payments.List(ctx, shop, before, 3)
		w.must(err)
		if len(page) == 0 {
			break
		}
		pages = append(pages, page...)
		before = &page[len(page)-1].Reference
	}
	slices.Reverse(pages)
	want := slices.Delete(slices.Clone(all), 4, 5)
	if len(pages) != len(want) {
		t.Fatalf("%d payments of the merchant, want %d", len(pages), len(want))
	}
	for i := range want {
		w.same("in the list", pages[i], want[i])
	}
	if none, err := w.Payments.Find(ctx, nil); err != nil || len(none) != 0 {
		t.Errorf("nothing is asked for: %v, %v", none, err)
	}
}

func TestPaymentsOfYearsAreListedInTheirOrder(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	var want []Reference
	for _, ago := range []time.Duration{0, time.Minute, 2 * time.Hour, 25 * time.Hour, 30 * 24 * time.Hour, 700 * 24 * time.Hour, 20000 * 24 * time.Hour} {
		one := payment(ID{1}, 2)
		first := firstOf(w.now().Add(-ago))
		copy(one.Reference[:6], first[:6])
		want = append(want, one.Reference)
		w.must(w.Payments.Put(ctx, one))
	}
	for limit := 1; limit <= len(want)+1; limit++ {
		var got []Reference
		for before := (*Reference)(nil); ; {
			page, err := w.Payments.List(ctx, ID{1}, before, limit)
			w.must(err)
			for _, one := range page {
				got = append(got, one.Reference)
			}
			if len(page) < limit {
				break
			}
			before = &page[limit-1].Reference
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d at a time: %x, want %x", limit, got, want)
		}
	}
}

func TestPaymentsOfOneMomentShareAnInsert(t *testing.T) {
	w := newWorld(t)
	const n = 200
	var running sync.WaitGroup
	problems := make(chan error, n)
	for range n {
		running.Go(func() { problems <- w.Payments.Put(t.Context(), payment(ID{1}, 2)) })
	}
	running.Wait()
	close(problems)
	for err := range problems {
		w.must(err)
	}
	var rows, parts uint64
	w.must(w.client.Conn().QueryRow(t.Context(), "SELECT uniqExact(reference), uniqExact(_part) FROM payments").Scan(&rows, &parts))
	if rows != n || parts > n/4 {
		t.Errorf("%d payments in %d parts, want %d in a few", rows, parts, n)
	}
}

func TestAPaymentOfAStoppedStoreIsRefused(t *testing.T) {
	w := newWorld(t)
	stopped, err := New(DefaultConfiguration(), Dependencies{Report: report.Silent(), ClickHouse: w.client})
	w.must(err)
	w.must(stopped.Stop(t.Context()))
	if err := stopped.Payments.Put(t.Context(), payment(ID{1}, 1)); !errors.Is(err, ErrStopped) {
		t.Errorf("%v, want %v", err, ErrStopped)
	}
}

func TestTheAuditIsOfOneMerchantTheNewestFirst(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	for _, e := range []Entry{{ID{1}, time.Time{}, "key_made", ByOperator, "till"}, {ID{2}, time.Time{}, "key_made", ByOperator, "other"}, {ID{1}, time.Time{}, "secret_revealed", "session 1", ""}} {
		w.clock.pass(time.Second)
		w.must(w.Audit.Put(ctx, e))
	}
	list, err := w.Audit.List(ctx, ID{1}, time.Time{}, 10)
	if err != nil || len(list) != 2 || list[0].What != "secret_revealed" || list[1].Detail != "till" || !list[0].At.Equal(w.now()) {
		t.Errorf("%+v, %v", list, err)
	}
	older, err := w.Audit.List(ctx, ID{1}, list[0].At, 10)
	if err != nil || len(older) != 1 || older[0] != list[1] {
		t.Errorf("before the newest: %+v, %v, want %+v", older, err, list[1:])
	}
}

func TestATableThatIsMissingIsNamed(t *testing.T) {
	engine := enginetest.ClickHouse(t)
	configuration := clickhouse.DefaultConfiguration()
	configuration.DSN = engine.DSN()
	client, err := clickhouse.New(configuration, clickhouse.Dependencies{Report: report.Silent()})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	s, err := New(DefaultConfiguration(), Dependencies{Report: report.Silent(), ClickHouse: client})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Merchants.List(t.Context()); !errors.Is(err, ErrNoTable) {
		t.Errorf("%v, want %v", err, ErrNoTable)
	}
}
