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

	"github.com/ClickHouse/ch-go/proto"
	"github.com/ClickHouse/clickhouse-go/v2"

	"tonscribe/internal/report"
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
	names         names
	contracts     *shelf[*record.Contract]
	accounts      *shelf[*record.Account]
	stop          context.CancelFunc
	running       sync.WaitGroup
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

// New makes a store of the database that the options name, without connecting to
// anything. Their user needs only to read.
func New(configuration Configuration, servers clickhouse.Options, r report.Reporter) (*Store, error) {
	if err := configuration.validate(); err != nil {
		return nil, err
	}
	s := &Store{
		configuration: configuration, report: r, metrics: newMetrics(r.Metrics), reader: reader.New(configuration.Configuration, servers, r.Metrics),
		contracts: &shelf[*record.Contract]{table: "contracts", version: "mc_seqno", most: configuration.HeldContractBytes, make: func() *record.Contract { return new(record.Contract) }},
		accounts:  &shelf[*record.Account]{table: "accounts", version: "version", most: configuration.HeldAccountBytes, make: func() *record.Account { return new(record.Account) }},
	}
	s.filler = head.NewFiller(configuration.Head, s.reader, r.Metrics)
	s.Lists = list.New(s.reader, s.contractsAt, r.Metrics)
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
	rows, err := s.contracts.at(ctx, s, keys)
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

// accountKeys runs a statement that selects keys of accounts.
func accountKeys(ctx context.Context, r *reader.Reader, statement string) (keys []sql.AccountKey, err error) {
	var workchain proto.ColInt32
	var prefix proto.ColUInt64
	result := proto.Results{{Name: "workchain", Data: &workchain}, {Name: "account_prefix", Data: &prefix}}
	err = r.Run(ctx, "contract keys", statement, result, func(rows int) error {
		for i := range rows {
			keys = append(keys, sql.AccountKey{Workchain: workchain[i], Prefix: prefix[i]})
		}
		return nil
	})
	return keys, err
}
