package store

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"tonscribe/internal/clickhouse"
)

// Merchant is who registers payments.
type Merchant struct {
	ID   ID
	Name string
	// TokenHash is the SHA-256 of the token that opens the dashboard.
	TokenHash Hash
	// NativeWallet is the recipient of payments that name none, as text; empty for none.
	NativeWallet string
	Created      time.Time
	Disabled     bool

	changed uint64
}

// TokenPrefix is how tokens of the dashboard begin.
const TokenPrefix = "mt_"

// NewMerchant makes a merchant and the token of the dashboard. Nothing is written.
func NewMerchant(name string) (m Merchant, token string) {
	m.Name, m.Created = name, time.Now()
	_, _ = rand.Read(m.ID[:]) // never fails
	return m, m.NewToken()
}

// NewToken gives a merchant another token for the dashboard.
func (m *Merchant) NewToken() (token string) {
	token, m.TokenHash = newSecret(TokenPrefix)
	return token
}

// MaxName is how long names of merchants and keys are, in bytes.
const MaxName = 100

// CheckName returns an error for what is no name of a merchant or a key.
func CheckName(name string) error {
	if name == "" || len(name) > MaxName || strings.ContainsFunc(name, func(r rune) bool { return !strconv.IsPrint(r) }) {
		return fmt.Errorf("a name of 1 to %d printable characters is wanted", MaxName)
	}
	return nil
}

// Merchants is the table of merchants.
type Merchants struct {
	*Store
	held *clickhouse.Followed[merchantKey, Merchant]
}

// merchantKey is what a merchant is found by: its id, or the hash of its token, which one
// that is disabled does not have.
type merchantKey struct {
	id    ID
	token Hash
}

func newMerchants(s *Store) *Merchants {
	m := &Merchants{Store: s}
	m.held = follow(s, "merchants", func(ctx context.Context, _ map[merchantKey]Merchant) (map[merchantKey]Merchant, error) {
		all, err := m.read(ctx)
		keyed := make(map[merchantKey]Merchant, 2*len(all))
		for _, one := range all {
			keyed[merchantKey{id: one.ID}] = one
			if !one.Disabled {
				keyed[merchantKey{token: one.TokenHash}] = one
			}
		}
		return keyed, err
	})
	return m
}

func (m *Merchants) read(ctx context.Context) (map[ID]Merchant, error) {
	all := map[ID]Merchant{}
	var row Merchant
	var id, token string
	err := m.each(ctx, "SELECT merchant, name, token_hash, native_wallet, created, disabled, changed FROM merchants", func() {
		row.ID, row.TokenHash = ID([]byte(id)), Hash([]byte(token))
		if known, ok := all[row.ID]; !ok || row.changed > known.changed {
			all[row.ID] = row
		}
	}, &id, &row.Name, &token, &row.NativeWallet, &row.Created, &row.Disabled, &row.changed)
	return all, err
}

// List is every merchant, the oldest first.
func (m *Merchants) List(ctx context.Context) ([]Merchant, error) {
	all, err := m.read(ctx)
	return slices.SortedFunc(maps.Values(all), func(a, b Merchant) int {
		return cmp.Or(a.Created.Compare(b.Created), slices.Compare(a.ID[:], b.ID[:]))
	}), err
}

// Find is the one merchant with that id or name, or whose id begins so.
func (m *Merchants) Find(ctx context.Context, text string) (Merchant, error) {
	all, err := m.List(ctx)
	if err != nil {
		return Merchant{}, err
	}
	const minID = 4
	var exact, begin []Merchant
	for _, one := range all {
		switch id := hex.EncodeToString(one.ID[:]); {
		case id == text, one.Name == text:
			exact = append(exact, one)
		case len(text) >= minID && strings.HasPrefix(id, text):
			begin = append(begin, one)
		}
	}
	for _, some := range [][]Merchant{exact, begin} {
		switch len(some) {
		case 0:
		case 1:
			return some[0], nil
		default:
			return Merchant{}, fmt.Errorf("%d merchants are meant by %q: say the id (`tonscribe merchants list`)", len(some), text)
		}
	}
	return Merchant{}, fmt.Errorf("merchant %q: %w (`tonscribe merchants list`)", text, ErrNotFound)
}

// Put writes a merchant, new or changed.
func (m *Merchants) Put(ctx context.Context, one Merchant) error {
	if err := CheckName(one.Name); err != nil {
		return err
	}
	return m.insert(ctx, "merchants",
		clickhouse.Column{Name: "merchant", Values: [][]byte{one.ID[:]}},
		clickhouse.Column{Name: "name", Values: []string{one.Name}},
		clickhouse.Column{Name: "token_hash", Values: [][]byte{one.TokenHash[:]}},
		clickhouse.Column{Name: "native_wallet", Values: []string{one.NativeWallet}},
		clickhouse.Column{Name: "created", Values: []time.Time{one.Created}},
		clickhouse.Column{Name: "disabled", Values: []bool{one.Disabled}},
		clickhouse.Column{Name: "changed", Values: []uint64{m.after(one.changed)}},
	)
}

// Refresh returns when what is held in memory is as the table has it.
func (m *Merchants) Refresh(ctx context.Context) error { return m.held.Refresh(ctx) }

// Get returns a merchant, also one that is disabled.
func (m *Merchants) Get(ctx context.Context, id ID) (Merchant, error) {
	return found(m.held.Get(ctx, merchantKey{id: id}))
}

// ByToken returns the merchant whom a token lets into the dashboard.
func (m *Merchants) ByToken(ctx context.Context, token string) (Merchant, error) {
	return found(m.held.Get(ctx, merchantKey{token: HashOf(token)}))
}
