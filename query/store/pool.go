package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
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
	// ErrUnavailable says that ClickHouse does not answer.
	ErrUnavailable = errors.New("the database does not answer")
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

// pool is a set of native connections. The driver below clickhouse-go is used
// directly: it hands out columns as they came over the wire, and a statement
// costs a third less.
type pool struct {
	options []ch.Options
	next    atomic.Uint32 // the address to dial next
	slots   chan struct{}
	mutex   sync.Mutex
	idle    []*connection // last in, first out
	closed  bool
}

type connection struct {
	*ch.Client
	used bool
}

func newPool(o clickhouse.Options, connections int) *pool {
	base := ch.Options{
		Database:    o.Auth.Database,
		User:        o.Auth.Username,
		Password:    o.Auth.Password,
		ClientName:  "tonscribe",
		DialTimeout: o.DialTimeout,
		ReadTimeout: ch.NoTimeout, // every statement has a deadline of its own
		TLS:         o.TLS,
	}
	if o.Compression != nil && o.Compression.Method != clickhouse.CompressionNone {
		base.Compression = ch.CompressionLZ4
	}
	for name, value := range o.Settings {
		base.Settings = append(base.Settings, ch.Setting{Key: name, Value: fmt.Sprint(value)})
	}
	// The old analyzer plans these statements in two thirds of the time.
	base.Settings = append(base.Settings, ch.Setting{Key: "enable_analyzer", Value: "0"})
	p := &pool{slots: make(chan struct{}, connections)}
	for _, address := range o.Addr {
		options := base
		options.Address = address
		if options.TLS != nil {
			options.TLS = options.TLS.Clone()
		}
		p.options = append(p.options, options)
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
	return p.dial(ctx)
}

// dial tries every address once, another one first each time.
func (p *pool) dial(ctx context.Context) (*connection, error) {
	first := int(p.next.Add(1))
	var failures error
	for i := range p.options {
		client, err := ch.Dial(ctx, p.options[(first+i)%len(p.options)])
		if err == nil {
			return &connection{Client: client}, nil
		}
		failures = errors.Join(failures, err)
	}
	return nil, fmt.Errorf("%w: %w", ErrUnavailable, failures)
}

// quiet says that about nobody else asks: work may be split without taking from
// others what it saves.
func (p *pool) quiet() bool { return len(p.slots) <= 1 && cap(p.slots) > mostSplits }

func (p *pool) give(c *connection) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if c.IsClosed() {
		return
	}
	if p.closed {
		c.Close()
		return
	}
	c.used = true
	p.idle = append(p.idle, c)
}

func (p *pool) close() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.closed = true
	for _, c := range p.idle {
		c.Close()
	}
	p.idle = nil
}

// do runs a statement. each is called with every block of result's columns,
// which are good until it returns. An idle connection that the server has
// closed meanwhile is replaced once.
//
// read is called with the rows that ClickHouse has gone through.
func (p *pool) do(ctx context.Context, statement string, result proto.Results, each func(rows int) error, read func(rows uint64)) error {
	select {
	case p.slots <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("%w: no connection was free in time", ErrTooHeavy)
	}
	defer func() { <-p.slots }()
	for {
		c, err := p.take(ctx)
		if err != nil {
			return classify(ctx, err)
		}
		received := false
		q := query(ctx, statement, result, func(rows int) error {
			received = true
			return each(rows)
		})
		q.OnProgress = func(_ context.Context, p proto.Progress) error {
			read(p.Rows)
			return nil
		}
		err = c.Do(ctx, q)
		stale := c.used && !received && isBroken(err) && !expired(ctx)
		if err != nil && !isException(err) {
			c.Close()
		}
		p.give(c)
		if !stale {
			return classify(ctx, err)
		}
	}
}

var queryNumber atomic.Uint64

func query(ctx context.Context, statement string, result proto.Results, each func(rows int) error) ch.Query {
	q := ch.Query{
		Body: statement,
		// Told apart by number: an id from random bytes costs more than it tells.
		QueryID: "tonscribe-" + strconv.FormatInt(started, 36) + "-" + strconv.FormatUint(queryNumber.Add(1), 36),
		Result:  result,
		OnResult: func(_ context.Context, block proto.Block) error {
			return each(block.Rows)
		},
	}
	if deadline, ok := ctx.Deadline(); ok {
		// The server gives up by itself, a little after the client would.
		limit := math.Ceil(time.Until(deadline).Seconds()*10)/10 + 0.1
		q.Settings = []ch.Setting{{Key: "max_execution_time", Value: strconv.FormatFloat(limit, 'f', 1, 64)}}
	}
	return q
}

var started = time.Now().UnixNano()

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
		case codeTimeout, codeMemoryLimit, codeTooManyRows, codeTooManyBytes, codeTooManySimult, codeCancelled, codeTooManyRowsSet:
			return fmt.Errorf("%w: %w", ErrTooHeavy, err)
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
