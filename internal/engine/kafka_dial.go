package engine

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"syscall"

	"github.com/rs/zerolog"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
	"golang.org/x/sys/unix"
)

// listener is what the broker believes to be its port. Its connections are
// socket pairs made by dial, which are faster than TCP and which no stranger can
// open.
type listener struct {
	connections chan net.Conn
	closed      chan struct{}
	closeOnce   sync.Once
}

func newListener() *listener {
	return &listener{connections: make(chan net.Conn), closed: make(chan struct{})}
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.connections:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *listener) Close() error {
	l.closeOnce.Do(func() { close(l.closed) })
	return nil
}

func (l *listener) Addr() net.Addr { return inProcess{} }

// inProcess is the address that the broker tells clients.
type inProcess struct{}

func (inProcess) Network() string { return "tcp" }
func (inProcess) String() string  { return "embedded:9092" }

// dial makes a socket pair and gives its far end to the broker.
func (l *listener) dial(ctx context.Context) (net.Conn, error) {
	near, far, err := socketPair()
	if err != nil {
		return nil, fmt.Errorf("connect to the embedded log: %w", err)
	}
	select {
	case l.connections <- &guarded{Conn: far}:
		return near, nil
	case <-l.closed:
		err = errStopped
	case <-ctx.Done():
		err = fmt.Errorf("gave up: %w", ctx.Err())
	}
	near.Close()
	far.Close()
	return nil, fmt.Errorf("connect to the embedded log: %w", err)
}

// errStopped looks like a refused connection, which clients retry.
var errStopped = &net.OpError{Op: "dial", Net: "embedded", Err: syscall.ECONNREFUSED}

func socketPair() (near, far net.Conn, err error) {
	// The lock keeps a child process from inheriting the sockets.
	syscall.ForkLock.RLock()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err == nil {
		unix.CloseOnExec(fds[0])
		unix.CloseOnExec(fds[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, nil, err
	}
	if near, err = connection(fds[0]); err != nil {
		unix.Close(fds[1])
		return nil, nil, err
	}
	if far, err = connection(fds[1]); err != nil {
		near.Close()
		return nil, nil, err
	}
	return near, far, nil
}

func connection(fd int) (net.Conn, error) {
	f := os.NewFile(uintptr(fd), "embedded-log")
	defer f.Close() // FileConn has its own copy
	return net.FileConn(f)
}

// maxRequestBytes bounds what a client can make the broker allocate.
const maxRequestBytes = 64 << 20

// guarded is a connection on which the broker sees only requests that it
// survives: a kind of request it does not know would end the whole process.
type guarded struct {
	net.Conn
	head []byte // of the current request, up to its kind
	left int    // bytes of the current request after the head
}

var errForeign = errors.New("not a Kafka request")

// Read passes on at most one request, or what has come of it.
func (g *guarded) Read(p []byte) (int, error) {
	if g.left > 0 && len(p) > g.left {
		p = p[:g.left]
	}
	if g.left == 0 && len(p) > headBytes-len(g.head) {
		p = p[:headBytes-len(g.head)]
	}
	n, err := g.Conn.Read(p)
	if g.left > 0 {
		g.left -= n
		return n, err
	}
	g.head = append(g.head, p[:n]...)
	if len(g.head) < headBytes {
		return n, err
	}
	size := binary.BigEndian.Uint32(g.head)
	kind := int16(binary.BigEndian.Uint16(g.head[4:]))
	if size < 8 || size > maxRequestBytes || kmsg.RequestForKey(kind) == nil {
		return 0, errForeign
	}
	g.left = int(size) - (headBytes - 4)
	g.head = g.head[:0]
	return n, err
}

// headBytes are the length and the kind at the start of a request.
const headBytes = 6

// brokerLog passes on what the broker warns of.
type brokerLog struct{ log zerolog.Logger }

func (b brokerLog) Logf(level kfake.LogLevel, format string, arguments ...any) {
	switch level {
	case kfake.LogLevelError:
		b.log.Error().Msgf(format, arguments...)
	case kfake.LogLevelWarn:
		b.log.Warn().Msgf(format, arguments...)
	}
}
