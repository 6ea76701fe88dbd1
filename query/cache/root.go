// Package cache holds rows in memory that are asked for again.
//
// In: keys of accounts, contracts, names and codes, and views. Out: their newest
// rows, at least as new as the newest view. All that is held is in one cache, bounded
// in bytes, which holds what was asked for last and most often; what it does not hold
// is read from ClickHouse, all that a request wants of a table at once. What a bundle
// changes in a table is read once, and goes before anybody sees the bundle. The package
// must never write, and knows nothing of HTTP.
package cache

import (
	"encoding/binary"
	"sync"
	"sync/atomic"
	"time"

	"github.com/maypok86/otter/v2"
	"github.com/prometheus/client_golang/prometheus"

	"tonscribe/internal/report"
	"tonscribe/query/head"
	"tonscribe/query/reader"
	"tonscribe/query/sql"
)

// Cache holds rows of one database.
type Cache struct {
	reader  *reader.Reader
	held    *otter.Cache[key, value] // nil holds nothing
	lookUps *prometheus.CounterVec

	states    rows[sql.AccountKey, packed]
	contracts rows[sql.AccountKey, packed]
	accounts  rows[sql.AccountKey, accountCodes]
	names     rows[sql.AccountKey, items]
	codes     rows[Hash, *Code]
	bocs      rows[Hash, BoC]

	newest   atomic.Pointer[head.View] // that may be seen, or will be at once
	turn     sync.Mutex                // of those who advance
	upTo     atomic.Uint32             // the bundle; 0 before the first
	reread   uint32                    // the bundle of the last second reading
	first    uint32                    // the oldest bundle then
	dropping sync.RWMutex              // held while what bundles have changed goes
	// named are the accounts that the record wallet of some DNS item names: hardly any
	// account of an address book is one.
	named map[sql.AccountKey]struct{}
}

// key names a value: what it is, and of which account or code. An account key is the
// first bytes of id.
type key struct {
	kind      kind
	workchain int32
	id        [32]byte
}

// kind is a kind of values.
type kind uint8

const (
	states kind = iota
	contracts
	accounts
	names
	codes
	bocs
)

// kindNames are those of metrics.
var kindNames = [...]string{states: "states", contracts: "contracts", accounts: "accounts", names: "names", codes: "codes", bocs: "bocs"}

func accountKey(of kind, a sql.AccountKey) key {
	k := key{kind: of, workchain: a.Workchain}
	binary.BigEndian.PutUint64(k.id[:], a.Prefix)
	return k
}

func hashKey(of kind, h Hash) key { return key{kind: of, id: h} }

// value is what is held of a key. Its bytes are negative when it is not to be held.
type value interface{ bytes() int }

// absent is held of a key that has no row, until a time in Unix nanoseconds: much is
// sent to where nothing is. A replica may have the row later, so that it does not last.
type absent int64

func (absent) bytes() int { return 0 }

const (
	absentFor = 10 * time.Second
	// overhead is about what a value takes besides its bytes.
	overhead = 130
)

// New makes an empty cache of at most about so many bytes; 0 holds nothing.
func New(r *reader.Reader, bytes int, reporter report.Reporter) *Cache {
	meter := reporter.Meter("query_cache")
	c := &Cache{reader: r, named: map[sql.AccountKey]struct{}{}, lookUps: meter.Counters("look_ups_total",
		"Rows looked up by their keys, by what they are of and whether they were held in memory.", "of", "held")}
	if bytes > 0 {
		c.held = otter.Must(&otter.Options[key, value]{
			MaximumWeight: uint64(bytes), Weigher: func(_ key, v value) uint32 { return uint32(overhead + v.bytes()) },
		})
	}
	meter.GaugeOf("bytes", "Memory of rows that are held.", func() float64 {
		if c.held == nil {
			return 0
		}
		return float64(c.held.WeightedSize())
	})
	c.states = rowsOf(c, states, accountKey, sql.AccountKey.Compare, c.readStates)
	c.contracts = rowsOf(c, contracts, accountKey, sql.AccountKey.Compare, c.readContracts)
	c.accounts = rowsOf(c, accounts, accountKey, sql.AccountKey.Compare, c.readAccountCodes)
	c.names = rowsOf(c, names, accountKey, sql.AccountKey.Compare, c.readNames)
	c.codes = rowsOf(c, codes, hashKey, CompareHashes, c.readCodes)
	c.bocs = rowsOf(c, bocs, hashKey, CompareHashes, c.readBoCs)
	return c
}
