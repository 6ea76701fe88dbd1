package clickhouse

import (
	"context"
	"errors"
	"net"
	"sync"

	driver "github.com/ClickHouse/clickhouse-go/v2"
)

// inserter is a connection for one insert at a time. What the driver sends before the
// last block waits for the server without an end, whatever its context says, so that the
// connection has to be known: it is closed where nobody waits for the insert any more.
type inserter struct {
	conn   driver.Conn // a pool of one; nil until it is needed
	mu     sync.Mutex
	socket net.Conn // the newest one
}

func (i *inserter) open(options driver.Options) (err error) {
	dial := options.DialContext
	if dial != nil {
		options.DialContext = func(ctx context.Context, address string) (net.Conn, error) {
			socket, err := dial(ctx, address)
			if err == nil {
				i.mu.Lock()
				defer i.mu.Unlock()
				i.socket = socket
			}
			return socket, err
		}
	}
	options.MaxOpenConns, options.MaxIdleConns = 1, 1
	i.conn, err = driver.Open(&options)
	return err
}

func (i *inserter) leave() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.socket != nil {
		i.socket.Close()
	}
}

// inserters are those of a client: as many as it may have connections, each of which is
// made when it is needed.
type inserters struct {
	options driver.Options
	free    chan *inserter
}

func newInserters(options driver.Options) inserters {
	s := inserters{options, make(chan *inserter, options.MaxOpenConns)}
	for range options.MaxOpenConns {
		s.free <- &inserter{}
	}
	return s
}

// take gives a connection until done is called, or ctx ends.
func (s *inserters) take(ctx context.Context) (conn driver.Conn, done func(), err error) {
	var i *inserter
	select {
	case i = <-s.free:
	case <-ctx.Done():
		return nil, nil, context.Cause(ctx)
	}
	if i.conn == nil {
		if err := i.open(s.options); err != nil {
			s.free <- i
			return nil, nil, err
		}
	}
	left := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(left)
		i.leave()
	})
	return i.conn, func() {
		if !stop() {
			<-left
		}
		s.free <- i
	}, nil
}

// close ends the connections that nobody uses.
func (s *inserters) close() (err error) {
	for {
		select {
		case i := <-s.free:
			if i.conn != nil {
				err = errors.Join(err, i.conn.Close())
			}
		default:
			return err
		}
	}
}
