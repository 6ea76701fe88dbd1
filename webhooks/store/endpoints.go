package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"tonscribe/internal/clickhouse"
	"tonscribe/webhooks/signature"
)

// What signs webhooks.
const (
	SignedBySecret = "secret"
	SignedByKey    = "key" // an API key of the merchant
)

// Endpoint is where webhooks of a merchant go, and what signs them.
type Endpoint struct {
	Merchant       ID
	URL            string // empty when none was set
	Enabled        bool
	DisabledReason string // why, where nobody has asked for it
	Signing        string
	// Secret is the current one. Next, if any, becomes it at SwitchAt at the latest; Old,
	// if any, was it before and may come back until UndoUntil.
	Secret, Next, Old   string
	SwitchAt, UndoUntil time.Time
	// Key is the API key that signs where Signing is SignedByKey, KeyHash its SHA-256.
	Key     string
	KeyHash Hash
	// Locked is why its secrets cannot be opened, ErrNoSealKey or ErrSealKey: they are
	// empty then.
	Locked error

	changed uint64
}

// Current is what signs now.
func (e *Endpoint) Current() string {
	if e.Signing == SignedByKey {
		return e.Key
	}
	return e.Secret
}

// ChangedAt is when the endpoint was last written, zero for one that never was.
func (e *Endpoint) ChangedAt() time.Time {
	if e.changed == 0 {
		return time.Time{}
	}
	return time.UnixMicro(int64(e.changed)).UTC()
}

// Errors of steps of a rotation.
var (
	ErrRotating    = errors.New("a next secret waits for its switch already: switch to it, or undo")
	ErrNotRotating = errors.New("there is no next secret: rotate first")
	ErrNoUndo      = errors.New("there is nothing to undo: no next secret, and no old one that may come back")
)

// at is the endpoint at a moment: a next secret whose time has come is the current one,
// an old one whose time is over is gone.
func (e Endpoint) at(now time.Time, overlap time.Duration) Endpoint {
	if e.Next != "" && !now.Before(e.SwitchAt) {
		e.change(e.SwitchAt, overlap)
	}
	if e.Old != "" && !now.Before(e.UndoUntil) {
		e.Old, e.UndoUntil = "", time.Time{}
	}
	return e
}

// change makes the next secret the current one.
func (e *Endpoint) change(at time.Time, overlap time.Duration) {
	e.Old, e.Secret, e.Next = e.Secret, e.Next, ""
	e.SwitchAt, e.UndoUntil = time.Time{}, at.Add(overlap)
}

// Endpoints is the table of endpoints.
type Endpoints struct {
	*Store
	held  *clickhouse.Followed[ID, Endpoint]
	turns turns
	whole time.Time // when all of the table was last read
}

func newEndpoints(s *Store) *Endpoints {
	e := &Endpoints{Store: s}
	e.held = follow(s, "merchant_endpoints", e.readChanged)
	return e
}

const (
	// wholeEvery is how often all of the table is read: whoever restores an older one need
	// not tell.
	wholeEvery = 10 * time.Minute
	// replicaLag is longer than a row takes from one replica to another, and than their
	// clocks differ.
	replicaLag = time.Hour
)

// readChanged reads what has changed since old was read: with every secret to be opened,
// one merchant who changes his endpoint again and again would cost as much as all of them.
func (e *Endpoints) readChanged(ctx context.Context, old map[ID]Endpoint) (map[ID]Endpoint, error) {
	if now := time.Now(); old == nil || now.Sub(e.whole) >= wholeEvery {
		all, err := e.read(ctx, "")
		if err == nil {
			e.whole = now
		}
		return all, err
	}
	var newest uint64
	for _, one := range old {
		newest = max(newest, one.changed)
	}
	from := newest - min(newest, uint64(replicaLag.Microseconds()))
	fresh, err := e.read(ctx, "WHERE changed >= "+strconv.FormatUint(from, 10))
	if err != nil {
		return nil, err
	}
	all := maps.Clone(old)
	maps.Copy(all, fresh)
	return all, nil
}

// read opens the secrets of the newest rows. One that cannot be opened does not keep
// others from being read: its merchant has none then.
func (e *Endpoints) read(ctx context.Context, where string) (map[ID]Endpoint, error) {
	all := map[ID]Endpoint{}
	var row Endpoint
	var merchant, hash string
	err := e.each(ctx, `SELECT merchant, url, enabled, disabled_reason, signing, secret, next_secret, old_secret, signing_key, key_hash, switch_at, undo_until, changed
		FROM merchant_endpoints `+where, func() {
		row.Merchant, row.KeyHash = ID([]byte(merchant)), Hash([]byte(hash))
		if known, ok := all[row.Merchant]; !ok || row.changed > known.changed {
			all[row.Merchant] = row
		}
	}, &merchant, &row.URL, &row.Enabled, &row.DisabledReason, &row.Signing, &row.Secret, &row.Next, &row.Old, &row.Key, &hash, &row.SwitchAt, &row.UndoUntil, &row.changed)
	if err != nil {
		return nil, err
	}
	for id, one := range all {
		one.SwitchAt, one.UndoUntil = written(one.SwitchAt), written(one.UndoUntil)
		for column, text := range one.secrets() {
			if *text, err = e.sealer.open(*text, id, column); err != nil {
				if !errors.Is(err, ErrNoSealKey) {
					e.notRead(err)
				}
				*text, one.Locked = "", err
			}
		}
		all[id] = one
	}
	return all, nil
}

// secrets are the columns that are sealed.
func (e *Endpoint) secrets() map[string]*string {
	return map[string]*string{"secret": &e.Secret, "next_secret": &e.Next, "old_secret": &e.Old, "signing_key": &e.Key}
}

// Get returns the endpoint of a merchant as it is now: one without a URL where none was
// set.
func (e *Endpoints) Get(ctx context.Context, merchant ID) (Endpoint, error) {
	one, err := found(e.held.Get(ctx, merchant))
	return e.present(merchant, one, err)
}

// Newest is Get, but asks the table.
func (e *Endpoints) Newest(ctx context.Context, merchant ID) (Endpoint, error) {
	all, err := e.read(ctx, "WHERE merchant = "+unhex(merchant[:]))
	if one, ok := all[merchant]; ok || err != nil {
		return e.present(merchant, one, err)
	}
	return e.present(merchant, Endpoint{}, ErrNotFound)
}

func (e *Endpoints) present(merchant ID, one Endpoint, err error) (Endpoint, error) {
	if errors.Is(err, ErrNotFound) {
		return Endpoint{Merchant: merchant, Signing: SignedBySecret}, nil
	}
	return one.at(e.now(), e.configuration.Overlap), err
}

// Hold calls a function with the endpoint of a merchant, which nobody on this replica
// changes meanwhile.
func (e *Endpoints) Hold(ctx context.Context, merchant ID, do func(Endpoint) error) error {
	defer e.turns.take(merchant)()
	one, err := e.Newest(ctx, merchant)
	if err != nil {
		return err
	}
	return do(one)
}

// Update changes the endpoint of a merchant. Two at a time on one replica wait for each
// other; of two replicas the later one wins. The first update makes the secret. It holds
// here when Update returns, and everywhere within the time of refresh.
func (e *Endpoints) Update(ctx context.Context, merchant ID, change func(*Endpoint) error) (Endpoint, error) {
	if e.sealer.isEmpty() {
		return Endpoint{}, ErrNoSealKey
	}
	defer e.turns.take(merchant)()
	one, err := e.Newest(ctx, merchant)
	if err != nil {
		return Endpoint{}, err
	}
	if one.Locked != nil { // what cannot be read is not overwritten
		return Endpoint{}, one.Locked
	}
	if one.Secret == "" {
		one.Secret = signature.NewSecret()
	}
	if err := change(&one); err != nil {
		return Endpoint{}, err
	}
	one.changed = e.after(one.changed)
	if err := e.put(ctx, one); err != nil {
		return Endpoint{}, err
	}
	if e.held.Known() {
		err = e.held.Refresh(ctx)
	}
	return one, err
}

func (e *Endpoints) put(ctx context.Context, one Endpoint) error {
	sealed := one
	for column, text := range sealed.secrets() {
		var err error
		if *text, err = e.sealer.seal(*text, one.Merchant, column); err != nil {
			return err
		}
	}
	return e.insert(ctx, "merchant_endpoints",
		clickhouse.Column{Name: "merchant", Values: [][]byte{one.Merchant[:]}},
		clickhouse.Column{Name: "url", Values: []string{one.URL}},
		clickhouse.Column{Name: "enabled", Values: []bool{one.Enabled}},
		clickhouse.Column{Name: "disabled_reason", Values: []string{one.DisabledReason}},
		clickhouse.Column{Name: "signing", Values: []string{one.Signing}},
		clickhouse.Column{Name: "secret", Values: []string{sealed.Secret}},
		clickhouse.Column{Name: "next_secret", Values: []string{sealed.Next}},
		clickhouse.Column{Name: "old_secret", Values: []string{sealed.Old}},
		clickhouse.Column{Name: "signing_key", Values: []string{sealed.Key}},
		clickhouse.Column{Name: "key_hash", Values: [][]byte{one.KeyHash[:]}},
		clickhouse.Column{Name: "switch_at", Values: []time.Time{stamp(one.SwitchAt)}},
		clickhouse.Column{Name: "undo_until", Values: []time.Time{stamp(one.UndoUntil)}},
		clickhouse.Column{Name: "changed", Values: []uint64{one.changed}},
	)
}

// Rotate makes the next secret, which waits for its switch.
func (e *Endpoints) Rotate(ctx context.Context, merchant ID) (Endpoint, error) {
	return e.Update(ctx, merchant, func(one *Endpoint) error {
		if one.Next != "" {
			return ErrRotating
		}
		one.Next, one.SwitchAt = signature.NewSecret(), e.now().Add(e.configuration.Overlap)
		return nil
	})
}

// Switch makes the next secret the current one; the old one may come back for a while.
func (e *Endpoints) Switch(ctx context.Context, merchant ID) (Endpoint, error) {
	return e.Update(ctx, merchant, func(one *Endpoint) error {
		if one.Next == "" {
			return ErrNotRotating
		}
		one.change(e.now(), e.configuration.Overlap)
		return nil
	})
}

// Undo takes back the last step of a rotation: a next secret is given up; without one
// the old secret is the current one again, and what replaced it is the next one.
func (e *Endpoints) Undo(ctx context.Context, merchant ID) (Endpoint, error) {
	return e.Update(ctx, merchant, func(one *Endpoint) error {
		switch {
		case one.Next != "":
			one.Next, one.SwitchAt = "", time.Time{}
		case one.Old != "":
			one.Secret, one.Next, one.Old = one.Old, one.Secret, ""
			one.SwitchAt, one.UndoUntil = e.now().Add(e.configuration.Overlap), time.Time{}
		default:
			return ErrNoUndo
		}
		return nil
	})
}

// Reseal writes all secrets anew, sealed with the first of the keys, and returns how many
// merchants have some. The errors are of merchants whose secrets stay as they are.
func (e *Endpoints) Reseal(ctx context.Context) (resealed int, err error) {
	all, err := e.read(ctx, "")
	if err != nil {
		return 0, err
	}
	var problems []error
	for _, merchant := range slices.SortedFunc(maps.Keys(all), func(a, b ID) int { return slices.Compare(a[:], b[:]) }) {
		if err := e.reseal(ctx, all[merchant]); err != nil {
			problems = append(problems, fmt.Errorf("merchant %x: %w", merchant, err))
			continue
		}
		resealed++
	}
	return resealed, errors.Join(problems...)
}

// reseal writes the row of an endpoint anew, right behind the one that was read: what was
// changed since, by whatever process, stays.
func (e *Endpoints) reseal(ctx context.Context, one Endpoint) error {
	if one.Locked != nil {
		return one.Locked
	}
	one.changed++
	return e.put(ctx, one)
}

// Disable ends the sending to an endpoint, for a reason that the merchant is told.
func (e *Endpoints) Disable(ctx context.Context, merchant ID, reason string) error {
	_, err := e.Update(ctx, merchant, func(one *Endpoint) error {
		one.Enabled, one.DisabledReason = false, reason
		return nil
	})
	return err
}

// stamp is a time as the tables have it, which know none before 1900; written is the
// way back.
func stamp(t time.Time) time.Time {
	if t.IsZero() {
		return time.Unix(0, 0)
	}
	return t
}

func written(t time.Time) time.Time {
	if t.Unix() == 0 {
		return time.Time{}
	}
	return t
}
