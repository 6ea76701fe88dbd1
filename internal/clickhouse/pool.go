package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/ClickHouse/ch-go"
	"github.com/ClickHouse/ch-go/proto"
	driver "github.com/ClickHouse/clickhouse-go/v2"
)

// Errors that a caller can tell apart.
var (
	// ErrTooHeavy says that a statement ran into its own limit of time or memory.
	ErrTooHeavy = errors.New("the query is too heavy")
	// ErrBusy says that others have all memory of the database, or kept it or the
	// processors until the time of the request was over. It may be tried again.
	ErrBusy = errors.New("too many requests are being worked on: try again")
	// ErrUnavailable says that ClickHouse does not answer.
	ErrUnavailable = errors.New("the database does not answer")
	// ErrDamaged says that rows of a table are lost or cannot be read: an answer
	// could lack something.
	ErrDamaged = errors.New("a table is damaged")
)

// Setting is one of ClickHouse's, for a single statement.
type Setting struct{ Name, Value string }

// statement is what a protocol is asked.
type statement struct {
	text   string
	id     string
	limits []Setting
	result proto.Results
	// each is called with every block of result's columns, which are good until
	// it returns.
	each func(rows int) error
	// read is called with the rows that ClickHouse has gone through.
	read func(rows uint64)
}

// Pool runs statements that read, with columns as they come over the wire. It is
// safe for use by many goroutines, and has as many connections as there are
// statements at a time.
type Pool struct {
	protocol protocol

	asking   sync.Mutex
	asked    time.Time // when it was asked last whether anybody answers
	answered bool
}

type protocol interface {
	do(ctx context.Context, s statement) error
	close()
}

const clientName = "tonscribe"

// planning are settings by which statements that look for some keys are planned in half
// of the time: the old analyser, and an index that is searched by halves of its ranges.
var planning = []Setting{{"enable_analyzer", "0"}, {"merge_tree_coarse_index_granularity", "2"}}

// NewPool makes a pool, native or over HTTP as the options say, which keeps so many
// connections and makes none yet.
func NewPool(o driver.Options, connections int) *Pool {
	if o.Protocol == driver.HTTP {
		return &Pool{protocol: newOverHTTP(o, connections)}
	}
	return &Pool{protocol: newOverNative(o)}
}

// Close closes the connections that nobody uses; the others are closed after use.
func (p *Pool) Close() { p.protocol.close() }

// Do runs a statement within limits; it ends in the server when ctx does. each is
// called with every block of result's columns, which are good until it returns,
// read with the rows that ClickHouse has gone through. Errors that a caller can
// tell apart are ErrTooHeavy, ErrBusy, ErrUnavailable and ErrDamaged.
func (p *Pool) Do(ctx context.Context, text string, limits []Setting, result proto.Results, each func(rows int) error, read func(rows uint64)) error {
	err := p.protocol.do(ctx, statement{text, nextID(), append(limits, timeOf(ctx)...), result, each, read})
	named := classify(ctx, err)
	if errors.Is(named, errLate) && !errors.Is(ctx.Err(), context.Canceled) && !p.answers() {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return named
}

// pingLimit is for a statement that costs nothing, and how long its answer counts.
const pingLimit = time.Second

// answers reports whether a server answers at all: one that does not says nothing of the
// statement that it was asked. Those who ask at once ask together.
func (p *Pool) answers() bool {
	p.asking.Lock()
	defer p.asking.Unlock()
	if time.Since(p.asked) > pingLimit {
		ctx, cancel := context.WithTimeout(context.Background(), pingLimit)
		defer cancel()
		err := p.protocol.do(ctx, statement{
			text: "SELECT 1 AS one", id: nextID(), result: proto.Results{{Name: "one", Data: new(proto.ColUInt8)}},
			each: func(int) error { return nil }, read: func(uint64) {},
		})
		p.asked, p.answered = time.Now(), err == nil || ch.IsException(err)
	}
	return p.answered
}

// rotation is the addresses of a database, another one first each time.
type rotation struct {
	addresses []string
	next      atomic.Uint32
}

func newRotation(addresses []string) *rotation { return &rotation{addresses: addresses} }

// connect dials every address once until one answers.
func connect[C any](r *rotation, dial func(address string) (C, error)) (c C, err error) {
	first := int(r.next.Add(1))
	failures := errors.New("its DSN names no address")
	for i := range r.addresses {
		if c, err = dial(r.addresses[(first+i)%len(r.addresses)]); err == nil {
			return c, nil
		}
		if i == 0 {
			failures = nil
		}
		failures = errors.Join(failures, err)
	}
	return c, fmt.Errorf("%w: %w", ErrUnavailable, failures)
}

var (
	started         = time.Now().UnixNano()
	statementNumber atomic.Uint64
)

// nextID tells statements apart by number: an id from random bytes costs more
// than it tells.
func nextID() string {
	return clientName + "-" + strconv.FormatInt(started, 36) + "-" + strconv.FormatUint(statementNumber.Add(1), 36)
}

// ErrTooManyBytes is the ErrTooHeavy of a statement that went through more than a
// page should need.
var ErrTooManyBytes = fmt.Errorf("%w: too many rows were gone through", ErrTooHeavy)

// errLate is the ErrTooHeavy of a statement that nobody answered in its time. It may be a
// light one that others kept waiting.
var errLate error = late{}

type late struct{}

func (late) Error() string { return "no answer came in its time" }
func (late) Unwrap() error { return ErrTooHeavy }

// timeOf returns the limit of a statement's time, none without a deadline: the
// server gives up by itself, a little after the client would.
func timeOf(ctx context.Context) []Setting {
	deadline, ok := ctx.Deadline()
	if !ok {
		return nil
	}
	seconds := math.Ceil(time.Until(deadline).Seconds()*10)/10 + 0.1
	return []Setting{{"max_execution_time", strconv.FormatFloat(seconds, 'f', 1, 64)}}
}

// IsTooManyRows reports whether a statement was refused because the ranges that it
// reads have more rows than its setting max_rows_to_read allows.
func IsTooManyRows(err error) bool {
	return ch.IsErr(err, proto.ErrTooManyRows)
}

// IsBroken reports whether an error is that of a connection: the server did not answer.
func IsBroken(err error) bool {
	var network net.Error
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) || errors.Is(err, ch.ErrClosed) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.As(err, &network)
}

// expired reports whether the context is over, or so nearly that a connection's own
// deadline may have come before.
func expired(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return ctx.Err() != nil || ok && time.Until(deadline) < 5*time.Millisecond
}

// ofShard reports whether a server says that another one of its cluster did not answer it,
// or not to the end.
func ofShard(e *ch.Exception) bool {
	switch e.Code {
	case proto.ErrAllConnectionTriesFailed, proto.ErrNoFreeConnection, proto.ErrNetworkError, proto.ErrSocketTimeout:
		return true
	case proto.ErrAttemptToReadAfterEOF: // also of a damaged file
		return strings.Contains(e.Message, "while receiving packet from ")
	}
	return false
}

// ofOthers reports whether a server ran into a limit of memory that statements share.
func ofOthers(e *ch.Exception) bool {
	return e.Code == proto.ErrMemoryLimitExceeded &&
		slices.ContainsFunc([]string{"(total)", "(for user)", "User memory limit"}, func(limit string) bool { return strings.Contains(e.Message, limit) })
}

// classify gives an error one of the names a caller can tell apart.
func classify(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, ErrUnavailable) { // nobody took the statement
		return err
	}
	if exception, is := errors.AsType[*ch.Exception](err); is {
		if ofShard(exception) {
			return fmt.Errorf("%w: %w", ErrUnavailable, err)
		}
		if ofOthers(exception) {
			return fmt.Errorf("%w: %w", ErrBusy, err)
		}
		switch exception.Code {
		case proto.ErrTooManyBytes:
			return fmt.Errorf("%w: %w", ErrTooManyBytes, err)
		case proto.ErrTooManySimultaneousQueries:
			return fmt.Errorf("%w: %w", ErrBusy, err)
		case proto.ErrTimeoutExceeded, proto.ErrMemoryLimitExceeded, proto.ErrTooManyRows, proto.ErrQueryWasCancelled, proto.ErrSetSizeLimitExceeded:
			return fmt.Errorf("%w: %w", ErrTooHeavy, err)
		case proto.ErrAttemptToReadAfterEOF, proto.ErrCannotReadAllData, proto.ErrChecksumDoesntMatch, proto.ErrUnknownCompressionMethod,
			proto.ErrFileDoesntExist, proto.ErrCorruptedData, proto.ErrCannotDecompress, proto.ErrBrokenProjection: // of a damaged file
			return fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		return fmt.Errorf("statement refused: %w", err)
	}
	switch {
	case expired(ctx):
		return fmt.Errorf("%w: %w", errLate, err)
	case IsBroken(err):
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return err
}
