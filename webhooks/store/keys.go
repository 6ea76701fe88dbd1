package store

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"tonscribe/internal/clickhouse"
	"tonscribe/webhooks/signature"
)

// The scopes of keys: what a key may do.
const (
	ScopeTransfers  = "transfers"  // register payments and look them up
	ScopeDeliveries = "deliveries" // read the log of webhooks, and send them again
	ScopeManage     = "manage"     // all the rest: the endpoint, its secrets, keys
)

// Scopes are all of them.
var Scopes = []string{ScopeTransfers, ScopeDeliveries, ScopeManage}

// Key is what is known of a merchant's API key.
type Key struct {
	Hash     Hash
	Merchant ID
	// Prefix is how the key begins, so that its owner recognises it.
	Prefix  string
	Name    string
	Scopes  []string
	Created time.Time
	Used    time.Time // for the last time, some minutes late; zero for never
	Revoked bool

	changed uint64
}

// KeyPrefix is how keys of merchants begin.
const KeyPrefix = "mk_"

// shownOfKey is how much of a key its prefix shows.
const shownOfKey = len(KeyPrefix) + 6

// NewKey makes a key of a merchant; the text is shown once. Nothing is written.
func NewKey(merchant ID, name string, scopes []string) (k Key, secret string) {
	secret, hash := newSecret(KeyPrefix)
	return Key{Hash: hash, Merchant: merchant, Prefix: secret[:shownOfKey], Name: name, Scopes: scopes, Created: time.Now()}, secret
}

// ID names a key without giving it away.
func (k Key) ID() string { return signature.KeyIDOf(k.Hash) }

// RevokedAt is when a key was revoked, zero for one in use.
func (k Key) RevokedAt() time.Time {
	if !k.Revoked {
		return time.Time{}
	}
	return time.UnixMicro(int64(k.changed &^ revokedBit)).UTC()
}

// Keys is the table of merchants' keys.
type Keys struct {
	*Store
	held  *clickhouse.Followed[Hash, Key] // those in use
	used  sync.Map                        // Hash: time.Time, of the last use
	turns turns
}

func newKeys(s *Store) *Keys {
	k := &Keys{Store: s}
	k.held = follow(s, "merchant_keys", func(ctx context.Context, _ map[Hash]Key) (map[Hash]Key, error) {
		all, err := k.read(ctx, "")
		maps.DeleteFunc(all, func(_ Hash, one Key) bool { return one.Revoked })
		return all, err
	})
	s.tasks = append(s.tasks, k.writeUses)
	return k
}

func (k *Keys) read(ctx context.Context, where string) (map[Hash]Key, error) {
	all := map[Hash]Key{}
	var row Key
	var hash, merchant string
	err := k.each(ctx, "SELECT hash, merchant, prefix, name, scopes, created, used, revoked, changed FROM merchant_keys "+where, func() {
		row.Hash, row.Merchant, row.Scopes, row.Used = Hash([]byte(hash)), ID([]byte(merchant)), slices.Clone(row.Scopes), written(row.Used)
		if known, ok := all[row.Hash]; !ok || row.changed > known.changed {
			all[row.Hash] = row
		}
	}, &hash, &merchant, &row.Prefix, &row.Name, &row.Scopes, &row.Created, &row.Used, &row.Revoked, &row.changed)
	return all, err
}

// List is every key of a merchant, the oldest first, revoked ones too.
func (k *Keys) List(ctx context.Context, merchant ID) ([]Key, error) {
	all, err := k.read(ctx, "WHERE merchant = "+unhex(merchant[:]))
	return slices.SortedFunc(maps.Values(all), func(a, b Key) int {
		return cmp.Or(a.Created.Compare(b.Created), slices.Compare(a.Hash[:], b.Hash[:]))
	}), err
}

// Put writes keys that are new.
func (k *Keys) Put(ctx context.Context, keys ...Key) error {
	for _, one := range keys {
		if err := CheckName(one.Name); err != nil {
			return err
		}
	}
	return k.put(ctx, keys)
}

// Add writes the key that more makes of those that a merchant has. Two at a time on one
// replica wait for each other.
func (k *Keys) Add(ctx context.Context, merchant ID, more func(all []Key) (Key, error)) (Key, error) {
	defer k.turns.take(merchant)()
	all, err := k.List(ctx, merchant)
	if err != nil {
		return Key{}, err
	}
	one, err := more(all)
	if err != nil {
		return Key{}, err
	}
	return one, k.Put(ctx, one)
}

// revokedBit makes a revoked key's row win over whatever is written of it later.
const revokedBit = 1 << 63

// put writes rows anew.
func (k *Keys) put(ctx context.Context, keys []Key) error {
	for i := range keys {
		keys[i].changed = k.after(keys[i].changed &^ revokedBit)
		if keys[i].Revoked {
			keys[i].changed |= revokedBit
		}
	}
	return k.insert(ctx, "merchant_keys",
		clickhouse.ColumnOf("hash", keys, func(one *Key) []byte { return one.Hash[:] }),
		clickhouse.ColumnOf("merchant", keys, func(one *Key) []byte { return one.Merchant[:] }),
		clickhouse.ColumnOf("prefix", keys, func(one *Key) string { return one.Prefix }),
		clickhouse.ColumnOf("name", keys, func(one *Key) string { return one.Name }),
		clickhouse.ColumnOf("scopes", keys, func(one *Key) []string { return append([]string{}, one.Scopes...) }),
		clickhouse.ColumnOf("created", keys, func(one *Key) time.Time { return one.Created }),
		clickhouse.ColumnOf("used", keys, func(one *Key) time.Time { return stamp(one.Used) }),
		clickhouse.ColumnOf("revoked", keys, func(one *Key) bool { return one.Revoked }),
		clickhouse.ColumnOf("changed", keys, func(one *Key) uint64 { return one.changed }),
	)
}

// Revoke ends a key of a merchant for ever; id is its ID. It holds here when Revoke
// returns, and on every replica within the time of refresh.
func (k *Keys) Revoke(ctx context.Context, merchant ID, id string) (Key, error) {
	keys, err := k.List(ctx, merchant)
	if err != nil {
		return Key{}, err
	}
	i := slices.IndexFunc(keys, func(one Key) bool { return one.ID() == id })
	if i < 0 {
		return Key{}, ErrNotFound
	}
	if !keys[i].Revoked {
		keys[i].Revoked = true
		if err := k.put(ctx, keys[i:i+1]); err != nil {
			return Key{}, err
		}
	}
	if k.held.Known() {
		err = k.held.Refresh(ctx)
	}
	return keys[i], err
}

// Get returns the key whose text is given, and remembers that it was used.
func (k *Keys) Get(ctx context.Context, secret string) (Key, error) {
	key, err := found(k.held.Get(ctx, HashOf(secret)))
	if err == nil {
		k.used.Store(key.Hash, k.now())
	}
	return key, err
}

const (
	// usesEvery is how often uses are written, and usedAgain the least time between two
	// writings of a key's.
	usesEvery = time.Minute
	usedAgain = 10 * time.Minute
	// usesLimit bounds one writing.
	usesLimit = 5 * time.Second
)

// writeUses writes when keys were used until ctx ends, and then once more.
func (k *Keys) writeUses(ctx context.Context) {
	for ticks := time.Tick(usesEvery); ctx.Err() == nil; {
		select {
		case <-ctx.Done():
		case <-ticks:
		}
		if err := k.writeUsed(context.WithoutCancel(ctx)); err != nil {
			k.notRead(err)
		}
	}
}

func (k *Keys) writeUsed(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, usesLimit)
	defer cancel()
	var due []Key
	var problems error
	k.used.Range(func(hash, used any) bool {
		key, err := k.held.Get(ctx, hash.(Hash))
		switch {
		case errors.Is(err, clickhouse.ErrNoRow): // revoked meanwhile
			k.used.Delete(hash)
		case err != nil:
			problems = err
		case used.(time.Time).Sub(key.Used) >= usedAgain:
			key.Used = used.(time.Time)
			due = append(due, key)
		}
		return problems == nil
	})
	if problems != nil || len(due) == 0 {
		return problems
	}
	return k.put(ctx, due)
}
