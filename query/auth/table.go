package auth

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/ClickHouse/ch-go/proto"

	"tonscribe/internal/clickhouse"
)

// Errors of a table's methods.
var (
	ErrNotFound = errors.New("no such key")
	ErrNoTable  = errors.New("the database has no table of API keys: run `tonscribe migrate up`")
)

// Table is the keys in ClickHouse, with their usage.
type Table struct{ client *clickhouse.Client }

// NewTable reads and writes through the client; a user that may only read is
// enough for reading.
func NewTable(client *clickhouse.Client) *Table { return &Table{client} }

func (t *Table) mark(ctx context.Context) (m clickhouse.Mark, err error) {
	err = t.client.Conn().QueryRow(ctx, "SELECT count(), sum(changed) FROM api_keys").Scan(&m.Rows, &m.Changed)
	return m, named(err)
}

func named(err error) error {
	if clickhouse.IsCode(err, proto.ErrUnknownTable) {
		return ErrNoTable
	}
	return err
}

// List is every key, the oldest first, revoked ones too.
func (t *Table) List(ctx context.Context) ([]Key, error) {
	rows, err := t.client.Conn().Query(ctx, "SELECT hash, prefix, name, networks, rate, burst, streams, stream_addresses, created, revoked, changed FROM api_keys")
	if err != nil {
		return nil, named(err)
	}
	defer rows.Close()
	newest := map[Hash]Key{}
	for rows.Next() {
		var k Key
		var hash string
		if err := rows.Scan(&hash, &k.Prefix, &k.Name, &k.Networks, &k.Rate, &k.Burst, &k.Streams.Connections, &k.Streams.Addresses, &k.Created, &k.Revoked, &k.changed); err != nil {
			return nil, err
		}
		copy(k.Hash[:], hash)
		if known, ok := newest[k.Hash]; !ok || k.changed > known.changed {
			newest[k.Hash] = k
		}
	}
	keys := slices.SortedFunc(maps.Values(newest), func(a, b Key) int {
		return cmp.Or(a.Created.Compare(b.Created), slices.Compare(a.Hash[:], b.Hash[:]))
	})
	return keys, rows.Err()
}

// Find is the one key with that id or name, or whose id begins so. Keys in use
// come before revoked ones of the same name.
func (t *Table) Find(ctx context.Context, text string) (Key, error) {
	keys, err := t.List(ctx)
	if err != nil {
		return Key{}, err
	}
	const minIDLength = 4
	var exact, begin []Key
	for _, k := range keys {
		switch id := k.ID(); {
		case id == text, k.Name == text && !k.Revoked:
			exact = append(exact, k)
		case k.Name == text, len(text) >= minIDLength && len(text) <= len(id) && id[:len(text)] == text:
			begin = append(begin, k)
		}
	}
	for _, found := range [][]Key{exact, begin} {
		switch len(found) {
		case 0:
		case 1:
			return found[0], nil
		default:
			return Key{}, fmt.Errorf("%d keys are named %q: say the id (`tonscribe keys list`)", len(found), text)
		}
	}
	return Key{}, fmt.Errorf("%q: %w (`tonscribe keys list`)", text, ErrNotFound)
}

// Get is the key with the hash, or ErrNotFound.
func (t *Table) Get(ctx context.Context, hash Hash) (Key, error) {
	keys, err := t.List(ctx)
	if err != nil {
		return Key{}, err
	}
	if i := slices.IndexFunc(keys, func(k Key) bool { return k.Hash == hash }); i >= 0 {
		return keys[i], nil
	}
	return Key{}, ErrNotFound
}

// Put writes a key, new or changed.
func (t *Table) Put(ctx context.Context, k Key) error {
	if err := CheckRate(k.Rate); err != nil {
		return err
	}
	if err := CheckBurst(k.Burst); err != nil {
		return err
	}
	k.changed = max(uint64(time.Now().UnixMicro()), k.changed+1)
	return named(t.client.Insert(ctx, clickhouse.Insert{
		Table: "api_keys",
		Token: k.ID() + "-" + strconv.FormatUint(k.changed, 10),
		Columns: []clickhouse.Column{
			{Name: "hash", Values: [][]byte{k.Hash[:]}},
			{Name: "prefix", Values: []string{k.Prefix}},
			{Name: "name", Values: []string{k.Name}},
			{Name: "networks", Values: [][]string{append([]string{}, k.Networks...)}},
			{Name: "rate", Values: []float64{k.Rate}},
			{Name: "burst", Values: []uint32{k.Burst}},
			{Name: "streams", Values: []uint32{k.Streams.Connections}},
			{Name: "stream_addresses", Values: []uint32{k.Streams.Addresses}},
			{Name: "created", Values: []time.Time{k.Created}},
			{Name: "revoked", Values: []bool{k.Revoked}},
			{Name: "changed", Values: []uint64{k.changed}},
		},
	}))
}
