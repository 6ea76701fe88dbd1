package listen

import (
	"container/list"
	"errors"
	"net"
	"os"
	"sync/atomic"
	"time"
)

// Conn is a connection within the bounds of its listener. A new one waits.
type Conn struct {
	net.Conn
	listener *Listener
	from     address
	paced    bool         // writes have the deadlines of an HTTP answer
	streams  atomic.Bool  // it was taken over: whoever did that bounds what comes and goes
	held     atomic.Int64 // bytes of its request and of its answer
	writing  atomic.Bool
	ended    atomic.Bool

	inAll, inGroup *list.Element // with the listener's lock; nil when it works
}

// Wait reports whether the connection waits for its client from now on, and reports
// whether it did before.
func (c *Conn) Wait() (before bool) {
	l := c.listener
	l.mu.Lock()
	defer l.mu.Unlock()
	before = c.inAll != nil
	if _, open := l.open[c]; open {
		l.queue(c)
	}
	return before
}

// Work says that the client waits for the connection.
func (c *Conn) Work() {
	c.listener.mu.Lock()
	defer c.listener.mu.Unlock()
	c.listener.unqueue(c)
}

// Read is net.Conn's. What arrives is held until release.
func (c *Conn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 && c.paced && !c.streams.Load() {
		c.hold(int64(n))
	}
	return n, err
}

func (c *Conn) hold(n int64) {
	c.held.Add(n)
	over := c.listener.held.Add(n) > c.listener.configuration.HeldBytes
	switch {
	case c.ended.Load():
		c.release()
	case over:
		c.listener.shed()
	}
}

// release forgets what was held, of a request that is answered.
func (c *Conn) release() { c.listener.held.Add(-c.held.Swap(0)) }

// writeStep is how much of an answer has a deadline of its own.
const writeStep = 64 << 10

// Write is net.Conn's. A long answer has a deadline for each of its steps, so
// that slow clients get all of it and those that stand do not.
func (c *Conn) Write(b []byte) (written int, err error) {
	if !c.paced || c.streams.Load() {
		return c.Conn.Write(b)
	}
	if len(b) > writeStep { // shorter ones are in buffers anyway
		waited := c.Wait()
		c.writing.Store(true)
		c.hold(int64(len(b)))
		defer func() {
			c.writing.Store(false)
			if !waited {
				c.Work()
			}
		}()
	}
	for written < len(b) || len(b) == 0 {
		if err := c.Conn.SetWriteDeadline(time.Now().Add(c.listener.configuration.WriteTimeout)); err != nil {
			return written, err
		}
		n, err := c.Conn.Write(b[written:min(len(b), written+writeStep)])
		written += n
		if err != nil || len(b) == 0 {
			if errors.Is(err, os.ErrDeadlineExceeded) {
				c.listener.metrics.answersLate.Inc()
			}
			return written, err
		}
	}
	return written, nil
}

// Close is net.Conn's.
func (c *Conn) Close() error {
	c.listener.mu.Lock()
	c.listener.remove(c)
	c.listener.mu.Unlock()
	c.ended.Store(true)
	c.release()
	return c.Conn.Close()
}
