// Package store reads what the sink wrote.
//
// In: filters and a page. Out: records of schema/record, in the order of the
// contract, each once, of bundles at or below the watermark only. ClickHouse
// tables find candidates by 64-bit prefixes and may hold a row twice before a
// merge; every answer is therefore checked against the records themselves. The
// newest bundles are held in memory. The package must never write, and knows
// nothing of HTTP.
package store

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"tonscribe/internal/report"
	"tonscribe/schema/record"
	"tonscribe/ton/address"
)

// Address is that of an account.
type Address = address.Address

// Hash is a 256-bit value.
type Hash = [32]byte

// Range is a range of times or lts, both ends included.
type Range struct {
	From, To uint64
	Given    bool // one of the ends was given, be it 0
}

// Everything is the range without ends.
var Everything = Range{To: ^uint64(0)}

func (r Range) has(n uint64) bool { return n >= r.From && n <= r.To }

// ErrEmpty says that no bundle is complete in all tables yet.
var ErrEmpty = errors.New("no masterchain block is indexed yet")

// Store reads one database.
type Store struct {
	configuration Configuration
	report        report.Reporter
	metrics       metrics
	pool          *pool
	clients       *clients      // that have connections
	working       *clients      // whose requests are worked on
	busy          chan struct{} // all of these
	view          atomic.Pointer[View]
	names         names
	contracts     *shelf[*record.Contract]
	accounts      *shelf[*record.Account]
	stop          context.CancelFunc
	running       sync.WaitGroup
	firstRead     time.Time    // the follower's own
	partsRead     time.Time    // the follower's own
	parts         atomic.Int64 // of the table that has most of them
	told          atomic.Int64 // when a failure of the follower was logged, in Unix nanoseconds
	holding       atomic.Bool  // is being read for the first time
	held          atomic.Bool  // was read, as far as it fits
	directory     directory
	ranking       ranking
	codesMutex    sync.Mutex
	codes         map[Hash]*Code
	bocs          map[Hash][]byte // of some codes
	bocBytes      int
}

// View is what one request sees: the watermark and what is held of the head.
// It does not change.
type View struct {
	// Watermark is the newest masterchain block whose bundle is complete.
	Watermark uint32
	// GenUtime is its time.
	GenUtime uint32
	// First and Last are the oldest and the newest visible masterchain block.
	First, Last *record.Block
	head        head
}

// New makes a store of the database that the options name, without connecting to
// anything. Their user needs only to read.
func New(configuration Configuration, servers clickhouse.Options, r report.Reporter) (*Store, error) {
	if err := configuration.validate(); err != nil {
		return nil, err
	}
	p := newPool(servers, configuration.Connections)
	p.refuse, p.suspect = configuration.Refuse, configuration.Suspect
	return &Store{
		configuration: configuration, report: r, metrics: newMetrics(r.Metrics), pool: p, clients: newClients(configuration.ClientConnections),
		working: newClients(configuration.ClientConnections), busy: make(chan struct{}, workers*configuration.Connections),
		contracts: &shelf[*record.Contract]{table: "contracts", version: "mc_seqno", most: configuration.HeldContractBytes, make: func() *record.Contract { return new(record.Contract) }},
		accounts:  &shelf[*record.Account]{table: "accounts", version: "version", most: configuration.HeldAccountBytes, make: func() *record.Account { return new(record.Account) }},
	}, nil
}

// Start begins to follow the watermark.
func (s *Store) Start() {
	ctx, cancel := context.WithCancel(context.Background())
	s.stop = cancel
	s.running.Go(func() { s.follow(ctx) })
}

// Stop ends following and closes the connections.
func (s *Store) Stop() {
	if s.stop != nil {
		s.stop()
	}
	s.running.Wait()
	s.pool.close()
	s.contracts.release()
	s.accounts.release()
}

// View is the newest view, or ErrEmpty.
func (s *Store) View() (*View, error) {
	if v := s.view.Load(); v != nil {
		return v, nil
	}
	return nil, ErrEmpty
}

// Ready is nil when there is a view and the database answers.
func (s *Store) Ready(ctx context.Context) error {
	if _, err := s.View(); err != nil {
		return err
	}
	_, _, err := s.watermark(ctx)
	return err
}
