package store

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tonscribe/internal/report"
	"tonscribe/test/support/clienttest"
	"tonscribe/test/support/enginetest"
)

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
	if _, err := w.Merchants.Find(ctx, "nobody"); !errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), "`tonscribe merchants list`") {
		t.Errorf("find nobody: %v, want %v, and where the merchants are listed", err, ErrNotFound)
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

func TestSessionsThatBeginAtOnceAreNoMoreThanAMerchantHas(t *testing.T) {
	w := newWorld(t)
	m, _ := w.merchant("shop")
	cookies := make([]string, 2*MaxSessions)
	var running sync.WaitGroup
	for i := range cookies {
		running.Go(func() {
			cookie, _, err := w.Sessions.Open(t.Context(), m.ID)
			if cookies[i] = cookie; err != nil {
				t.Error(err)
			}
		})
	}
	running.Wait()
	open := 0
	for _, cookie := range cookies {
		if _, err := w.Sessions.Get(t.Context(), cookie); err == nil {
			open++
		}
	}
	if open != MaxSessions {
		t.Errorf("%d sessions are open, want %d", open, MaxSessions)
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
	client := clienttest.ClickHouse(t, engine.DSN())
	s, err := New(DefaultConfiguration(), Dependencies{Report: report.Silent(), ClickHouse: client})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Merchants.List(t.Context()); !errors.Is(err, ErrNoTable) {
		t.Errorf("%v, want %v", err, ErrNoTable)
	}
}
