package store

import (
	"errors"
	"strings"
	"testing"
	"time"

	"tonscribe/internal/clickhouse"
)

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

func TestWhatIsChangedWhileSecretsAreSealedAnewStaysAndSealingIsNoChange(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	m, _ := w.merchant("shop")
	_, err := w.Endpoints.Update(ctx, m.ID, func(*Endpoint) error { return nil })
	w.must(err)
	read, err := w.Endpoints.read(ctx, "")
	w.must(err)
	w.clock.pass(time.Hour)
	changed, err := w.Endpoints.Rotate(ctx, m.ID)
	w.must(err)
	w.clock.pass(time.Hour)
	w.must(w.Endpoints.reseal(ctx, read[m.ID]))
	_, err = w.Endpoints.Reseal(ctx)
	w.must(err)
	after, err := w.Endpoints.Newest(ctx, m.ID)
	w.must(err)
	if after.Next != changed.Next || after.Secret != changed.Secret {
		t.Errorf("the next secret is %q, want %q", after.Next, changed.Next)
	}
	if late := after.ChangedAt().Sub(changed.ChangedAt()); late > time.Millisecond {
		t.Errorf("the endpoint was changed %s later, want at the same time", late)
	}
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
