// Package store reads what the sink wrote.
//
// In: filters and addresses. Out: pages of lists (query/list), and what is known of
// accounts, codes, names and documents, as of a view. What is asked for again is
// held in memory, and so are the newest bundles (query/head). The package must never
// write, and knows nothing of HTTP.
package store

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/prometheus/client_golang/prometheus"

	"tonscribe/internal/report"
	"tonscribe/query/cache"
	"tonscribe/query/head"
	"tonscribe/query/list"
	"tonscribe/query/reader"
	"tonscribe/query/sql"
	"tonscribe/schema"
	"tonscribe/schema/record"
)

// ErrEmpty says that no bundle is complete in all tables yet.
var ErrEmpty = errors.New("no masterchain block is indexed yet")

// Store reads one database.
type Store struct {
	*list.Lists
	configuration Configuration
	report        report.Reporter
	metrics       metrics
	reader        *reader.Reader
	filler        *head.Filler
	view          atomic.Pointer[View]
	names         *cache.Names
	contracts     *cache.Rows[*record.Contract]
	accounts      *cache.Rows[*record.Account]
	stop          context.CancelFunc
	running       sync.WaitGroup
	logged        atomic.Int64 // when a failure of the follower was logged, in Unix nanoseconds
	holding       atomic.Bool  // is being read for the first time
	held          atomic.Bool  // was read, as far as it fits
	codes         *cache.Codes
	codeHashes    *cache.CodeHashes
	ranking       ranking
}

// New makes a store of the database that the options name, without connecting to
// anything. Their user needs only to read.
func New(configuration Configuration, servers clickhouse.Options, r report.Reporter) (*Store, error) {
	if err := configuration.validate(); err != nil {
		return nil, err
	}
	rows := reader.New(configuration.Configuration, servers, r.Metrics)
	s := &Store{
		configuration: configuration, report: r, metrics: newMetrics(r.Metrics), reader: rows, codes: cache.NewCodes(rows), filler: head.NewFiller(configuration.Head, rows, r.Metrics),
	}
	held := func(table string) prometheus.Gauge { return s.metrics.held.WithLabelValues(table) }
	s.contracts = cache.NewRows(rows, "contracts", "mc_seqno", configuration.HeldContractBytes, held("contracts"), func() *record.Contract { return new(record.Contract) })
	s.accounts = cache.NewRows(rows, "accounts", "version", configuration.HeldAccountBytes, held("accounts"), func() *record.Account { return new(record.Account) })
	s.codeHashes = cache.NewCodeHashes(rows, configuration.DirectoryAccounts, s.metrics.directory)
	s.names = cache.NewNames(rows, s.contractsAt)
	s.Lists = list.New(rows, s.contractsAt, r.Metrics)
	return s, nil
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
	s.reader.Close()
	s.contracts.Release()
	s.accounts.Release()
}

// View is the newest view, or ErrEmpty.
func (s *Store) View() (*View, error) {
	if v := s.view.Load(); v != nil {
		return v, nil
	}
	return nil, ErrEmpty
}

// watermark is that of the newest view, 0 before the first.
func (s *Store) watermark() uint32 {
	if v := s.view.Load(); v != nil {
		return v.Watermark
	}
	return 0
}

// Ready is nil when there is a view and the database answers.
func (s *Store) Ready(ctx context.Context) error {
	if _, err := s.View(); err != nil {
		return err
	}
	_, _, err := s.filler.Watermark(ctx)
	return err
}

// MaxOffset is the largest offset of a page.
func (s *Store) MaxOffset() int { return s.configuration.MaxOffset }

// Begin makes the statements that are run with the context those of a request.
func (s *Store) Begin(ctx context.Context, r *Request) context.Context { return s.reader.Begin(ctx, r) }

// Work waits until a request may be worked on: see reader.Reader.Work.
func (s *Store) Work(ctx context.Context, client string) (done func(), err error) {
	return s.reader.Work(ctx, client)
}

// contractsAt are the newest facts of the accounts with some keys; contracts that are
// nothing any more are left out.
func (s *Store) contractsAt(ctx context.Context, keys []sql.AccountKey) (map[Address]*record.Contract, error) {
	rows, err := s.contracts.At(ctx, s.watermark(), keys)
	if err != nil {
		return nil, err
	}
	newest := make(map[Address]*record.Contract, len(rows))
	for _, c := range rows {
		if schema.RolesOf(c) != 0 {
			newest[Address(c.Account)] = c
		}
	}
	return newest, nil
}

// Entry is what an address book says of an account.
type Entry struct {
	// Known says that the account is or was on the chain.
	Known bool
	// Code is nil when it has none.
	Code *Code
}

// Directory has an entry for every account of the list.
func (s *Store) Directory(ctx context.Context, v *View, list []Address) (map[Address]Entry, error) {
	codes, err := s.codeHashes.Of(ctx, v.Watermark, list)
	if err != nil {
		return nil, err
	}
	wanted := make([]Hash, 0, len(codes))
	for _, h := range codes {
		if h != cache.NoCode && h != cache.NotKnown {
			wanted = append(wanted, h)
		}
	}
	known, err := s.codes.Get(ctx, wanted)
	if err != nil {
		return nil, err
	}
	entries := make(map[Address]Entry, len(codes))
	for a, h := range codes {
		entries[a] = Entry{Known: h != cache.NotKnown, Code: known[h]}
	}
	return entries, nil
}

// Domains are the shortest names of those of the accounts that own a name whose
// record wallet is the account.
func (s *Store) Domains(ctx context.Context, v *View, list []Address) (map[Address]string, error) {
	return s.names.Domains(ctx, v, list)
}

// Codes are those with the hashes, each once.
func (s *Store) Codes(ctx context.Context, hashes []Hash) (map[Hash]*Code, error) {
	return s.codes.Get(ctx, hashes)
}

// CodeBoCs are the codes themselves, as bags of cells; those that are not there
// are missing.
func (s *Store) CodeBoCs(ctx context.Context, hashes []Hash) (map[Hash][]byte, error) {
	return s.codes.BoCs(ctx, hashes)
}
