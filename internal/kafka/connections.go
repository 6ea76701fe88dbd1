package kafka

import (
	"context"
	"net"
	"sync"

	"github.com/segmentio/kafka-go"
)

// connections are those of a dialer, which can be closed together: a group asks without a
// context.
type connections struct {
	dialer *kafka.Dialer

	mutex  sync.Mutex
	open   map[*connection]struct{}
	closed bool
}

type connection struct {
	net.Conn
	of *connections
}

func newConnections(like *kafka.Dialer) *connections {
	c := &connections{dialer: new(*like), open: map[*connection]struct{}{}}
	dial := like.DialFunc
	if dial == nil {
		dial = (&net.Dialer{Timeout: like.Timeout, KeepAlive: like.KeepAlive}).DialContext
	}
	c.dialer.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return c.add(conn)
	}
	return c
}

func (c *connections) add(conn net.Conn) (net.Conn, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.closed {
		conn.Close()
		return nil, net.ErrClosed
	}
	one := &connection{conn, c}
	c.open[one] = struct{}{}
	return one, nil
}

// close closes all connections, and those that are made later.
func (c *connections) close() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.closed = true
	for one := range c.open {
		one.Conn.Close()
	}
}

// Close is part of net.Conn.
func (c *connection) Close() error {
	c.of.mutex.Lock()
	delete(c.of.open, c)
	c.of.mutex.Unlock()
	return c.Conn.Close()
}
