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
)

// ErrEmpty says that no bundle is complete in all tables yet.
var ErrEmpty = errors.New("no masterchain block is indexed yet")

// Store reads one database.
type Store struct {
	*list.Lists
	*cache.Cache
	configuration  Configuration
	report         report.Reporter
	followFailures prometheus.Counter
	reader         *reader.Reader
	filler         *head.Filler
	view           atomic.Pointer[head.View]
	stop           context.CancelFunc
	running        sync.WaitGroup
	logged         atomic.Int64 // when a failure of the follower was logged, in Unix nanoseconds
	ranking        ranking
}

// New makes a store of the database that the options name, without connecting to
// anything. Their user needs only to read.
func New(configuration Configuration, servers clickhouse.Options, r report.Reporter) (*Store, error) {
	if err := configuration.validate(); err != nil {
		return nil, err
	}
	rows := reader.New(configuration.Configuration, servers, r.Metrics)
	held := cache.New(rows, configuration.CacheBytes, r.Metrics)
	return &Store{
		Lists: list.New(rows, held.ContractsAt, r.Metrics), Cache: held,
		configuration: configuration, report: r, reader: rows, filler: head.NewFiller(configuration.Head, rows, r.Metrics),
		followFailures: reader.Register(r.Metrics, prometheus.NewCounter(prometheus.CounterOpts{
			Name: "tonscribe_query_follow_failures_total", Help: "Failed reads of the watermark or of the newest bundles.",
		})),
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
	s.reader.Close()
}

// View is the newest view, or ErrEmpty.
func (s *Store) View() (*head.View, error) {
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
func (s *Store) Begin(ctx context.Context, r *reader.Request) context.Context {
	return s.reader.Begin(ctx, r)
}

// Work waits until a request may be worked on: see reader.Reader.Work.
func (s *Store) Work(ctx context.Context, client string) (done func(), err error) {
	return s.reader.Work(ctx, client)
}
