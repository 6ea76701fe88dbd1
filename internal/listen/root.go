// Package listen accepts connections within bounds: in all, by client address,
// and by what is held in memory for them.
//
// In: a TCP listener. Out: its connections. A connection either works, on a
// request of its client, or waits for the client: for the rest of a request, for
// the next one, or for an answer to be taken. When a bound is reached, the
// connection that has waited longest makes room, one of the same address if it is
// that address's bound; connections that work are never closed for others, so a
// newcomer is refused when all do. Clients that hold connections open therefore
// push out each other's, and themselves first. The package must never read what
// is sent.
package listen

import (
	"container/list"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"tonscribe/internal/descriptors"
	"tonscribe/internal/report"
)

// Options of a listener.
type Options struct {
	Name   string // in metrics
	Report report.Reporter
	// Part is the part of the file descriptors that connections may take, of
	// package descriptors.
	Part int
	// Trusted reports whether an address is a proxy's, which may have as many
	// connections as all. May be nil.
	Trusted func(netip.Addr) bool
}

// Listener is a net.Listener whose connections are *Conn.
type Listener struct {
	net.Listener
	configuration   Configuration
	options         Options
	all, perAddress int
	metrics         metrics
	held            atomic.Int64
	turns           chan struct{} // of large bodies
	closed          chan struct{}
	closing         sync.Once

	mu      sync.Mutex
	open    map[*Conn]struct{}
	waiting list.List // of *Conn, the one that waits longest in front
	groups  map[address]*group
	// patient is how many large bodies wait for their turn, patience how many of
	// them are of an address.
	patient  int
	patience map[address]int
}

// address is what counts together: an IPv4 address, or a /64 of IPv6.
type address [16]byte

// group are the connections of an address.
type group struct {
	open    int
	waiting list.List
}

// Listen listens at HOST:PORT.
func Listen(ctx context.Context, network, at string, c Configuration, o Options) (*Listener, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	inner, err := (&net.ListenConfig{}).Listen(ctx, network, at)
	if err != nil {
		return nil, fmt.Errorf("%s cannot listen at %s: %w (choose another address)", o.Name, at, err)
	}
	return newListener(inner, c, o), nil
}

func newListener(inner net.Listener, c Configuration, o Options) *Listener {
	all := descriptors.Share(c.Connections, o.Part)
	l := &Listener{
		Listener: inner, configuration: c, options: o,
		all: all, perAddress: max(min(c.PerAddress, all/2), 1),
		turns:  make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2)),
		closed: make(chan struct{}), open: map[*Conn]struct{}{}, groups: map[address]*group{}, patience: map[address]int{},
	}
	l.metrics = newMetrics(o.Report, o.Name, l)
	return l
}

// Open returns how many connections are open, and how many of them wait.
func (l *Listener) Open() (open, waiting int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.open), l.waiting.Len()
}

// Pauses before a connection is accepted again after a failure.
const (
	acceptPause    = 5 * time.Millisecond
	acceptPauseMax = time.Second
)

// Accept returns the next connection within the bounds. Failures that pass, such
// as too few descriptors, are waited out.
func (l *Listener) Accept() (net.Conn, error) {
	pause := acceptPause
	for {
		inner, err := l.Listener.Accept()
		if err == nil {
			pause = acceptPause
			if c := l.admit(inner); c != nil {
				return c, nil
			}
			_ = inner.Close() // it is refused
			continue
		}
		if !passes(err) {
			return nil, err
		}
		l.metrics.retry.Inc()
		l.makeRoom()
		select {
		case <-l.closed:
			return nil, net.ErrClosed
		case <-time.After(pause):
		}
		pause = min(2*pause, acceptPauseMax)
	}
}

// passes reports whether accept may succeed later.
func passes(err error) bool {
	passing := []syscall.Errno{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.ECONNABORTED, syscall.ECONNRESET, syscall.EINTR}
	var number syscall.Errno
	return errors.As(err, &number) && slices.Contains(passing, number)
}

// Close ends the listening; connections stay.
func (l *Listener) Close() error {
	l.closing.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// admit counts a new connection, which waits; nil when there is no room.
func (l *Listener) admit(inner net.Conn) *Conn {
	remote := remoteOf(inner)
	c := &Conn{Conn: inner, listener: l, from: together(remote)}
	l.mu.Lock()
	select {
	case <-l.closed:
		l.mu.Unlock()
		return nil
	default:
	}
	oldest, bound := l.room(c.from, l.trusts(remote))
	if bound != "" && oldest == nil {
		l.mu.Unlock()
		l.metrics.refused.WithLabelValues(bound).Inc()
		return nil
	}
	if oldest != nil {
		l.remove(oldest)
	}
	l.open[c] = struct{}{}
	g := l.groups[c.from]
	if g == nil {
		g = &group{}
		l.groups[c.from] = g
	}
	g.open++
	l.queue(c)
	l.mu.Unlock()
	l.end(oldest, bound)
	return c
}

func (l *Listener) trusts(remote netip.Addr) bool {
	return l.options.Trusted != nil && l.options.Trusted(remote)
}

// room names the bound that a new connection of an address is over, and the
// connection that can make room, nil for none.
func (l *Listener) room(from address, trusted bool) (*Conn, string) {
	if g := l.groups[from]; g != nil && g.open >= l.perAddress && !trusted {
		return front(&g.waiting), overAddress
	}
	if len(l.open) >= l.all {
		return front(&l.waiting), overAll
	}
	return nil, ""
}

func front(waiting *list.List) *Conn {
	if e := waiting.Front(); e != nil {
		return e.Value.(*Conn)
	}
	return nil
}

// queue puts a connection behind all others that wait. It is called with the
// lock.
func (l *Listener) queue(c *Conn) {
	if c.inAll != nil {
		l.waiting.MoveToBack(c.inAll)
		l.groups[c.from].waiting.MoveToBack(c.inGroup)
		return
	}
	c.inAll = l.waiting.PushBack(c)
	c.inGroup = l.groups[c.from].waiting.PushBack(c)
}

func (l *Listener) unqueue(c *Conn) {
	if c.inAll == nil {
		return
	}
	l.waiting.Remove(c.inAll)
	l.groups[c.from].waiting.Remove(c.inGroup)
	c.inAll, c.inGroup = nil, nil
}

// remove forgets a connection. It is called with the lock.
func (l *Listener) remove(c *Conn) {
	if _, open := l.open[c]; !open {
		return
	}
	delete(l.open, c)
	l.unqueue(c)
	g := l.groups[c.from]
	if g.open--; g.open == 0 {
		delete(l.groups, c.from)
	}
}

// end closes a connection that made room.
func (l *Listener) end(c *Conn, bound string) {
	if c == nil {
		return
	}
	l.metrics.shed.WithLabelValues(bound).Inc()
	_ = c.Close()
}

// makeRoom gives back the descriptor of the connection that has waited longest.
func (l *Listener) makeRoom() {
	l.mu.Lock()
	oldest := front(&l.waiting)
	if oldest != nil {
		l.remove(oldest)
	}
	l.mu.Unlock()
	l.end(oldest, overFiles)
}

// minShed is the least that a connection holds that is closed for its memory.
const minShed = 16 << 10

// shed closes connections until what is held is within its bound: those that have
// waited longest of those that hold something.
func (l *Listener) shed() {
	var ended []*Conn
	l.mu.Lock()
	over := l.held.Load() - l.configuration.HeldBytes
	for e := l.waiting.Front(); e != nil && over > 0; {
		c := e.Value.(*Conn)
		e = e.Next()
		if n := c.held.Load(); n >= minShed {
			over -= n
			l.remove(c)
			ended = append(ended, c)
		}
	}
	l.mu.Unlock()
	for _, c := range ended {
		l.end(c, overBytes)
	}
}

// CloseWaiting closes the connections that wait for their clients, but for those
// in the middle of an answer; CloseAll closes all.
func (l *Listener) CloseWaiting() {
	l.closeThose(func(c *Conn) bool { return c.inAll != nil && !c.writing.Load() })
}

// CloseAll closes the listener and all connections.
func (l *Listener) CloseAll() error {
	err := l.Close()
	l.closeThose(func(*Conn) bool { return true })
	return err
}

func (l *Listener) closeThose(chosen func(*Conn) bool) {
	l.mu.Lock()
	var ended []*Conn
	for c := range l.open {
		if chosen(c) {
			ended = append(ended, c)
		}
	}
	l.mu.Unlock()
	for _, c := range ended {
		_ = c.Close() // the client has gone when this fails
	}
}

func remoteOf(c net.Conn) netip.Addr {
	both, err := netip.ParseAddrPort(c.RemoteAddr().String())
	if err != nil {
		return netip.Addr{}
	}
	return both.Addr().Unmap().WithZone("")
}

func together(a netip.Addr) address {
	full := address(a.As16())
	if a.Is6() {
		binary.BigEndian.PutUint64(full[8:], 0)
	}
	return full
}
