package reader

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/ClickHouse/ch-go"
	"github.com/ClickHouse/ch-go/proto"
	"github.com/ClickHouse/clickhouse-go/v2"
)

// Errors that a caller can tell apart.
var (
	// ErrTooHeavy says that a statement ran into its limit of time or memory.
	ErrTooHeavy = errors.New("the query is too heavy")
	// ErrBusy says that others kept the database or the processors until the time
	// of the request was over. It may be tried again.
	ErrBusy = errors.New("too many requests are being worked on: try again")
	// ErrUnavailable says that ClickHouse does not answer.
	ErrUnavailable = errors.New("the database does not answer")
	// ErrDamaged says that rows of a table are lost or cannot be read: an answer
	// could lack something.
	ErrDamaged = errors.New("a table is damaged")
)

// Codes of ClickHouse's exceptions.
const (
	codeTooManyRows    = 158
	codeTimeout        = 159
	codeTooManySimult  = 202
	codeMemoryLimit    = 241
	codeTooManyBytes   = 307
	codeCancelled      = 394
	codeTooManyRowsSet = 191
)

// damageCodes are what reading a damaged file gives.
var damageCodes = []proto.Error{
	32,  // ATTEMPT_TO_READ_AFTER_EOF
	33,  // CANNOT_READ_ALL_DATA
	40,  // CHECKSUM_DOESNT_MATCH
	89,  // UNKNOWN_COMPRESSION_METHOD
	107, // FILE_DOESNT_EXIST
	246, // CORRUPTED_DATA
	271, // CANNOT_DECOMPRESS
	713, // BROKEN_PROJECTION
}

// statement is what a link is asked.
type statement struct {
	text   string
	id     string
	limits []setting
	result proto.Results
	// each is called with every block of result's columns, which are good until
	// it returns.
	each func(rows int) error
	// read is called with the rows that ClickHouse has gone through.
	read func(rows uint64)
}

// setting is one of ClickHouse's, for a single statement.
type setting struct{ name, value string }

// link is a connection to ClickHouse, for one statement at a time.
type link interface {
	// do may leave the link closed.
	do(ctx context.Context, s statement) error
	close()
	closed() bool
}

// pool is a set of connections, native or of HTTP as the DSN says.
type pool struct {
	addresses []string
	dial      func(ctx context.Context, address string) (link, error)
	next      atomic.Uint32 // the address to dial next
	slots     chan struct{}
	refuse    func(statement string) error // may be nil
	suspect   func(message string)         // may be nil
	mutex     sync.Mutex
	idle      []*connection // last in, first out
	ended     bool
}

type connection struct {
	link
	used bool
}

const clientName = "tonscribe"

// oldAnalyzer plans these statements in two thirds of the time.
const oldAnalyzer = "0"

func newPool(o clickhouse.Options, connections int) *pool {
	p := &pool{addresses: o.Addr, slots: make(chan struct{}, connections), dial: dialNative(o)}
	if o.Protocol == clickhouse.HTTP {
		p.dial = dialHTTP(o)
	}
	return p
}

// take returns an idle connection or a new one.
func (p *pool) take(ctx context.Context) (*connection, error) {
	p.mutex.Lock()
	if n := len(p.idle); n > 0 {
		c := p.idle[n-1]
		p.idle = p.idle[:n-1]
		p.mutex.Unlock()
		return c, nil
	}
	p.mutex.Unlock()
	return p.connect(ctx)
}

// connect tries every address once, another one first each time.
func (p *pool) connect(ctx context.Context) (*connection, error) {
	first := int(p.next.Add(1))
	var failures error
	for i := range p.addresses {
		l, err := p.dial(ctx, p.addresses[(first+i)%len(p.addresses)])
		if err == nil {
			return &connection{link: l}, nil
		}
		failures = errors.Join(failures, err)
	}
	if failures == nil {
		return nil, fmt.Errorf("%w: its DSN names no address", ErrUnavailable)
	}
	return nil, fmt.Errorf("%w: %w", ErrUnavailable, failures)
}

// quiet says that about nobody else asks: work may be split without taking from
// others what it saves.
func (p *pool) quiet() bool { return len(p.slots) <= 1 && cap(p.slots) > maxSplits }

func (p *pool) give(c *connection) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if c.closed() {
		return
	}
	if p.ended {
		c.close()
		return
	}
	c.used = true
	p.idle = append(p.idle, c)
}

func (p *pool) close() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.ended = true
	for _, c := range p.idle {
		c.close()
	}
	p.idle = nil
}

// do runs a statement. each is called with every block of result's columns,
// which are good until it returns. An idle connection that the server has
// closed meanwhile is replaced once.
//
// read is called with the rows that ClickHouse has gone through.
func (p *pool) do(ctx context.Context, text string, limits []setting, result proto.Results, each func(rows int) error, read func(rows uint64)) error {
	if p.refuse != nil {
		if err := p.refuse(text); err != nil {
			return fmt.Errorf("%w: %w", ErrDamaged, err)
		}
	}
	if err := enter(ctx, p.slots); err != nil {
		return err
	}
	defer func() { <-p.slots }()
	for {
		c, err := p.take(ctx)
		if err != nil {
			return classify(ctx, err)
		}
		received := false
		s := statement{text: text, id: nextID(), limits: append(limits, timeOf(ctx)...), result: result, read: read, each: func(rows int) error {
			received = true
			return each(rows)
		}}
		err = c.do(ctx, s)
		stale := c.used && !received && isBroken(err) && !expired(ctx)
		p.give(c)
		if !stale {
			err = classify(ctx, err)
			if p.suspect != nil && errors.Is(err, ErrDamaged) {
				p.suspect(err.Error())
			}
			return err
		}
	}
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

// timeOf returns the limit of a statement's time, none without a deadline: the
// server gives up by itself, a little after the client would.
func timeOf(ctx context.Context) []setting {
	deadline, ok := ctx.Deadline()
	if !ok {
		return nil
	}
	seconds := math.Ceil(time.Until(deadline).Seconds()*10)/10 + 0.1
	return []setting{{"max_execution_time", strconv.FormatFloat(seconds, 'f', 1, 64)}}
}

// IsTooManyRows reports whether a statement was refused because the ranges that it
// reads have more rows than its setting max_rows_to_read allows.
func IsTooManyRows(err error) bool {
	var exception *ch.Exception
	return errors.As(err, &exception) && exception.Code == codeTooManyRows
}

func isException(err error) bool {
	var exception *ch.Exception
	return errors.As(err, &exception)
}

func isBroken(err error) bool {
	var network net.Error
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) || errors.Is(err, ch.ErrClosed) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.As(err, &network)
}

// expired says that the context is over, or so nearly that a connection's own
// deadline may have come before.
func expired(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return ctx.Err() != nil || ok && time.Until(deadline) < 5*time.Millisecond
}

// classify gives an error one of the names a caller can tell apart.
func classify(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	var exception *ch.Exception
	if errors.As(err, &exception) {
		switch exception.Code {
		case codeTooManyBytes:
			return fmt.Errorf("%w: %w", ErrTooManyBytes, err)
		case codeTooManySimult:
			return fmt.Errorf("%w: %w", ErrBusy, err)
		case codeTimeout, codeMemoryLimit, codeTooManyRows, codeCancelled, codeTooManyRowsSet:
			return fmt.Errorf("%w: %w", ErrTooHeavy, err)
		}
		if slices.Contains(damageCodes, exception.Code) {
			return fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		return fmt.Errorf("statement refused: %w", err)
	}
	if expired(ctx) {
		return fmt.Errorf("%w: %w", ErrTooHeavy, err)
	}
	if isBroken(err) {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return err
}
