// Package reader runs the statements of query on ClickHouse.
//
// In: the text of a statement and columns for its result. Out: blocks of rows,
// within the bounds of the request that the statement belongs to. The package must
// never write, and knows nothing of what the tables mean.
package reader

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ClickHouse/ch-go/proto"
	driver "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"tonscribe/internal/clickhouse"
	"tonscribe/internal/report"
	"tonscribe/query/sql"
)

// Configuration says how ClickHouse is read.
type Configuration struct {
	// Connections is the most statements that run at a time.
	Connections int `yaml:"connections"`
	// ClientConnections is the most of them that one client has at a time: an API
	// key, or an address without one.
	ClientConnections int `yaml:"client_connections"`
	// ScanBytes is how much one statement goes through to find the rows of a page,
	// beyond those that the page needs.
	ScanBytes int `yaml:"scan_bytes"`
	// Refuse is an error for a statement whose tables have lost rows, and Suspect
	// is called with what ClickHouse says when one fails as if a file were damaged.
	// Both may be nil.
	Refuse  func(statement string) error `yaml:"-"`
	Suspect func(message string)         `yaml:"-"`
}

// Validate returns an error for what cannot work.
func (c Configuration) Validate() error {
	switch {
	case c.Connections < 2:
		return fmt.Errorf("connections is %d, at least 2 are needed: the watermark is read beside the requests", c.Connections)
	case c.Connections > clickhouse.MaxConnections:
		return fmt.Errorf("connections is %d, it must be at most %d", c.Connections, clickhouse.MaxConnections)
	case c.ClientConnections < 1:
		return fmt.Errorf("client_connections is %d, at least 1 is needed", c.ClientConnections)
	case c.ScanBytes < 64<<10:
		return fmt.Errorf("scan_bytes is %d, at least 64 KiB is needed", c.ScanBytes)
	}
	return nil
}

// Reader runs statements on one database.
type Reader struct {
	configuration Configuration
	pool          *clickhouse.Pool
	slots         chan struct{} // its connections
	clients       *clients      // that have connections
	working       *clients      // whose requests are worked on
	busy          chan struct{} // all of these
	metrics       metrics
	partsRead     time.Time    // by the only caller of CountParts
	parts         atomic.Int64 // of the table that has most of them
}

type metrics struct {
	statements *prometheus.HistogramVec
	rowsRead   *prometheus.CounterVec
	refused    *prometheus.CounterVec
}

// New makes a reader of the database that the options name, without connecting to
// anything. Their user needs only to read.
func New(configuration Configuration, servers driver.Options, r report.Reporter) *Reader {
	return &Reader{
		configuration: configuration, pool: clickhouse.NewPool(servers, configuration.Connections), slots: make(chan struct{}, configuration.Connections),
		clients: newClients(configuration.ClientConnections),
		working: newClients(configuration.ClientConnections), busy: make(chan struct{}, workers*configuration.Connections), metrics: newMetrics(r.Meter("query")),
	}
}

// Close closes the connections.
func (s *Reader) Close() { s.pool.Close() }

func newMetrics(m report.Meter) metrics {
	return metrics{
		statements: m.Histograms("statement_seconds", "Time of statements to ClickHouse, by what they read.", 0.0005, 2, 14, "reads"),
		rowsRead:   m.Counters("rows_read_total", "Rows that ClickHouse went through, by what was read.", "reads"),
		refused:    m.Counters("statements_too_heavy_total", "Statements that ran into a bound of their request, by what they read.", "reads"),
	}
}

// Run runs a statement within the bounds of its request, and counts its time under
// what it reads. each is called with every block of result's columns, which are
// good until it returns.
func (s *Reader) Run(ctx context.Context, reads, statement string, result proto.Results, each func(rows int) error) error {
	request := requestOf(ctx)
	err := request.spend(0)
	if err == nil {
		err = s.runFor(ctx, request, reads, statement, result, each)
	}
	if err != nil {
		return fmt.Errorf("reading %s: %w", reads, err)
	}
	return nil
}

func (s *Reader) runFor(ctx context.Context, request *Request, reads, statement string, result proto.Results, each func(rows int) error) error {
	leave, err := request.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	if refuse := s.configuration.Refuse; refuse != nil {
		if err := refuse(statement); err != nil {
			return fmt.Errorf("%w: %w", clickhouse.ErrDamaged, err)
		}
	}
	began := time.Now()
	if err = enter(ctx, s.slots); err == nil {
		err = s.pool.Do(ctx, statement, request.limits(reads), result, func(rows int) error {
			if err := request.charge(result); err != nil {
				return err
			}
			return each(rows)
		}, func(rows uint64) {
			s.metrics.rowsRead.WithLabelValues(reads).Add(float64(rows))
			if reads != Counting {
				_ = request.spend(rows) // the next statement is refused
			}
		})
		<-s.slots
	}
	s.metrics.statements.WithLabelValues(reads).Observe(time.Since(began).Seconds())
	if errors.Is(err, clickhouse.ErrTooHeavy) {
		s.metrics.refused.WithLabelValues(reads).Inc()
	}
	if suspect := s.configuration.Suspect; suspect != nil && errors.Is(err, clickhouse.ErrDamaged) {
		suspect(err.Error())
	}
	return err
}

// Records runs a statement whose only column is record, each of which unpack
// reads.
func Records[R any](ctx context.Context, s *Reader, reads, statement string, unpack func(raw []byte) (R, error)) ([]R, error) {
	var list []R
	var column proto.ColStr
	err := s.Run(ctx, reads, statement, proto.Results{{Name: "record", Data: &column}}, func(rows int) error {
		for i := range rows {
			Yield(i)
			r, err := unpack(column.RowBytes(i))
			if err != nil {
				return fmt.Errorf("record of %s: %w", reads, err)
			}
			list = append(list, r)
		}
		return nil
	})
	return list, err
}

// Has reports whether a table has a row in a range of its key.
func (s *Reader) Has(ctx context.Context, table string, key ...sql.Condition) (found bool, err error) {
	var one proto.ColUInt8
	statement := fmt.Sprintf("SELECT toUInt8(1) AS one FROM %s WHERE %s LIMIT 1 SETTINGS %s", table, sql.Conditions(key), sql.SmallBlocks(1))
	err = s.Run(ctx, "keys", statement, proto.Results{{Name: "one", Data: &one}}, func(rows int) error {
		found = found || rows > 0
		return nil
	})
	return found, err
}

// Number runs a statement whose only row has the only column n, and returns 0 when
// there is none.
func (s *Reader) Number(ctx context.Context, reads, statement string) (n uint64, err error) {
	var column proto.ColUInt64
	err = s.Run(ctx, reads, statement, proto.Results{{Name: "n", Data: &column}}, func(rows int) error {
		if rows > 0 {
			n = column[0]
		}
		return nil
	})
	return n, err
}

const (
	// partsAge is how often parts are counted.
	partsAge = 5 * time.Second
	// partsLimit bounds that.
	partsLimit = 10 * time.Second
	// partRows and partBytes are how much further a request and a statement that
	// looks for keys may go for each part of the table that has most of them: each
	// part is read by granules of its own, so that many parts make any page dear
	// until they are merged.
	partRows, partBytes = 4096, 128 << 10

	countParts = "SELECT max(parts) AS n FROM (SELECT count() AS parts FROM system.parts WHERE active AND database = currentDatabase() GROUP BY table)"
)

// CountParts keeps in mind how many parts the table has that has most of them. It
// is for one caller, who may call it as often as he likes.
func (s *Reader) CountParts(ctx context.Context) error {
	if time.Since(s.partsRead) < partsAge {
		return nil
	}
	s.partsRead = time.Now()
	ctx, cancel := context.WithTimeout(ctx, partsLimit)
	defer cancel()
	n, err := s.Number(ctx, "parts", countParts)
	if err != nil {
		return fmt.Errorf("count parts: %w", err) // ClickHouse names the grant where it is missing
	}
	s.parts.Store(int64(n))
	return nil
}

// SplitRows is how many scattered rows are worth a statement of their own. They
// cost ClickHouse about 0.1 ms each, one after the other in one statement. When
// nobody else asks, some statements side by side are faster.
const SplitRows = 8

// maxSplits is at most four, and no more than the processors here: each
// statement costs more than ten of its rows.
var maxSplits = max(2, min(runtime.GOMAXPROCS(0), 4))

// Quiet reports whether about nobody else asks: work may be split without taking
// from others what it saves.
func (s *Reader) Quiet() bool { return len(s.slots) <= 1 && cap(s.slots) > maxSplits }

// Splits returns in how many statements so many scattered rows are read; those of
// transactions count twice, as their granules are larger.
func (s *Reader) Splits(rows int) int {
	if !s.Quiet() {
		return 1
	}
	return max(1, min(rows/SplitRows, maxSplits))
}

// Gather reads parts side by side and gives what they have, in no order.
func Gather[P, R any](ctx context.Context, parts []P, read func(ctx context.Context, part P) ([]R, error)) ([]R, error) {
	var mutex sync.Mutex
	var all []R
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(maxSplits)
	for _, part := range parts {
		group.Go(func() error {
			list, err := read(ctx, part)
			mutex.Lock()
			defer mutex.Unlock()
			all = append(all, list...)
			return err
		})
	}
	return all, group.Wait()
}

// MaxNamed is how many keys a statement names at most: its text has a bound.
const MaxNamed = 2000

// Chunks cuts a list of keys into about equal parts, more than parts where one statement
// cannot name so many. Neighbours stay together: they may share what is read.
func Chunks[T any](list []T, parts int, compare func(a, b T) int) [][]T {
	list = slices.SortedFunc(slices.Values(list), compare)
	return slices.Collect(slices.Chunk(list, min(max(1, (len(list)+parts-1)/parts), MaxNamed)))
}
