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
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"tonscribe/internal/report"
	"tonscribe/query/cache"
	"tonscribe/query/head"
	"tonscribe/query/list"
	"tonscribe/query/list/contract"
	"tonscribe/query/list/traced"
	"tonscribe/query/memory"
	"tonscribe/query/reader"
)

// errFar says that what the log has is not visible.
var errFar = errors.New("the tables are far behind the log, and only what they have is visible")

// errSilent says that nobody answered in the time of a check.
var errSilent = errors.New("the tables cannot be read: ClickHouse does not answer")

// ErrEmpty says that no bundle is complete in all tables yet.
var ErrEmpty = errors.New("no masterchain block is indexed yet")

// What a store embeds beside the lists of the chain: fields need names of their own.
type (
	contractLists = contract.Lists
	tracedLists   = traced.Lists
)

// Store reads one database.
type Store struct {
	*list.Lists
	*contractLists
	*tracedLists
	*cache.Cache
	configuration  Configuration
	followFailures prometheus.Counter
	reader         *reader.Reader
	filler         *head.Filler
	log            Log         // nil without one
	near           atomic.Bool // the log is to be followed
	asked          atomic.Bool // whether they are was answered once
	following      bool        // the log is followed
	again          time.Time   // before which it is not
	view           atomic.Pointer[head.View]
	shown          atomic.Bool                   // requests see it
	moved          atomic.Pointer[chan struct{}] // closed when requests see a newer one
	newest         uint32                        // bundle that the log gave
	came           time.Time                     // when it did, or following began
	stop           context.CancelFunc
	running        sync.WaitGroup
	failing        zerolog.Logger // of the follower
	ranking        ranking
}

// Log holds the bundles that are complete in the log, of which the tables may not have
// the newest yet: *tail.Tail is one.
type Log interface {
	// Near reports whether the tables, whose newest bundle is one of a time in Unix
	// seconds, are so near to the log's end that it is worth following.
	Near(ctx context.Context, mcSeqno, genUtime uint32) (bool, error)
	// Start follows the log from the bundle after one on.
	Start(after uint32)
	Stop()
	Bundles() memory.Bundles
	// CaughtUp reports whether what the log had at Start is there.
	CaughtUp() bool
	// Changed has a value after each new bundle.
	Changed() <-chan struct{}
	// Trim says up to which bundle the tables are read.
	Trim(upTo uint32)
	// State says why the newest bundles may be missing, nil when none is. It is Err
	// when the log cannot be followed any further from where Start began.
	State() error
	Err() error
}

// New makes a store of the database that the options name, without connecting to
// anything. Their user needs only to read. Without a log it shows what is in the tables.
func New(configuration Configuration, servers clickhouse.Options, log Log, r report.Reporter) (*Store, error) {
	if err := configuration.validate(); err != nil {
		return nil, err
	}
	rows := reader.New(configuration.Configuration, servers, r)
	held := cache.New(rows, configuration.CacheBytes, r)
	chain := list.New(rows, r)
	s := &Store{
		Lists: chain, contractLists: contract.New(rows, held), tracedLists: traced.New(rows, chain), Cache: held,
		configuration: configuration, failing: r.Rarely(), reader: rows, log: log, ranking: ranking{turn: make(chan struct{}, 1)}, filler: head.NewFiller(configuration.Head, rows, r),
		followFailures: r.Meter("query").Counter("follow_failures_total", "Failed reads of the watermark or of the newest bundles."),
	}
	s.moved.Store(new(make(chan struct{})))
	return s, nil
}

// Start begins to follow the watermark.
func (s *Store) Start() {
	ctx, cancel := context.WithCancel(context.Background())
	s.stop, s.came = cancel, time.Now()
	s.running.Go(func() { s.follow(ctx) })
	if s.log != nil {
		s.running.Go(func() { s.awaitLog(ctx) })
	}
}

// Stop ends following and closes the connections.
func (s *Store) Stop() {
	if s.stop != nil {
		s.stop()
	}
	s.running.Wait()
	if s.following {
		s.log.Stop()
	}
	s.reader.Close()
}

// View is the newest view, or ErrEmpty.
func (s *Store) View() (*head.View, error) {
	if v := s.view.Load(); v != nil && s.shown.Load() {
		return v, nil
	}
	return nil, ErrEmpty
}

// Ready is nil when there is a view, the database answers, and the log is followed where
// there is one.
func (s *Store) Ready(ctx context.Context) error {
	if _, err := s.View(); err != nil {
		return err
	}
	if s.log != nil {
		if err := s.log.State(); err != nil {
			return err
		}
		if s.isFar() {
			return errFar
		}
	}
	answer := make(chan error, 1)
	go func() { // whether a server that is silent answers at all is asked after ctx
		_, _, err := s.filler.Watermark(ctx)
		answer <- err
	}()
	select {
	case err := <-answer:
		if err != nil && ctx.Err() != nil {
			return errSilent
		}
		return err
	case <-ctx.Done():
		return errSilent
	}
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
