package listen

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"sync/atomic"
	"time"
)

// maxHeaderBytes lets a query string of 1 MiB get the API's own answer.
const maxHeaderBytes = 2 << 20

// drainTime is how long a stop waits for answers that are on their way.
const drainTime = 5 * time.Second

// Server serves HTTP on a listener.
type Server struct {
	listener *Listener
	http     *http.Server
	ended    chan error
}

// Serve serves a handler until Stop, which calls drain first: it ends answers that have no
// end by themselves.
func (l *Listener) Serve(handler http.Handler, drain ...func()) *Server {
	s := &Server{listener: l, ended: make(chan error, 1)}
	s.http = &http.Server{
		Handler:           l.bodies(handler),
		ReadHeaderTimeout: l.configuration.HeaderTimeout,
		IdleTimeout:       l.configuration.IdleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ConnState:         follow,
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, connKey{}, c)
		},
		ErrorLog: log.New(io.Discard, "", 0), // what clients do wrong is counted
	}
	s.http.RegisterOnShutdown(l.CloseWaiting)
	for _, end := range drain {
		s.http.RegisterOnShutdown(end)
	}
	go func() { s.ended <- s.http.Serve(pacing{l}) }()
	return s
}

// Stop ends the listening, closes what waits for its clients and lets answers
// that are on their way be finished.
func (s *Server) Stop(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, drainTime)
	defer cancel()
	err := s.http.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = s.http.Close()
	}
	if e := <-s.ended; !errors.Is(e, http.ErrServerClosed) {
		err = errors.Join(err, e)
	}
	return err
}

// pacing is a listener whose connections have the deadlines of HTTP answers.
type pacing struct{ *Listener }

// Accept is net.Listener's.
func (p pacing) Accept() (net.Conn, error) {
	conn, err := p.Listener.Accept()
	if err == nil {
		conn.(*Conn).paced = true
	}
	return conn, err
}

type connKey struct{}

// follow is http.Server's ConnState.
func follow(conn net.Conn, state http.ConnState) {
	c := conn.(*Conn)
	switch state {
	case http.StateActive: // the headers are read
		c.Work()
	case http.StateIdle:
		c.release()
		c.Wait()
	case http.StateHijacked: // what comes now is no request
		c.release()
		c.streams.Store(true)
		if tcp, ok := c.Conn.(*net.TCPConn); ok {
			_ = tcp.SetWriteBuffer(streamBuffer) // the client has gone when this fails
		}
	}
}

// streamBuffer is how much the system holds of what a client does not read of a
// connection that was taken over, of which there are many.
const streamBuffer = 64 << 10

const (
	// largeBody is the size from which on requests take turns, one for every two
	// processors: to take a body apart keeps one busy for many milliseconds, for
	// which what is small would wait.
	largeBody = 128 << 10
	// maxWaiting is how many wait for their turn, bodies in hand, and
	// maxWaitingOfOne how many of them are of one address; more are refused.
	maxWaiting, maxWaitingOfOne = 16, 4
)

// ErrBusy is what reading a large body ends with when too many others wait for
// their turn. The client may try again.
var ErrBusy = errors.New("too many large requests are being worked on: try again")

// bodies gives bodies of requests their deadline, and large ones their turn; a
// connection waits while its request's body is read.
func (l *Listener) bodies(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, ok := r.Context().Value(connKey{}).(*Conn)
		if !ok || r.Body == nil || r.Body == http.NoBody {
			next.ServeHTTP(w, r)
			return
		}
		_ = c.SetReadDeadline(time.Now().Add(l.configuration.BodyTimeout)) // fails when the client has gone
		c.Wait()
		b := &body{ReadCloser: r.Body, conn: c, ctx: r.Context()}
		defer b.done()
		own := *r // the server asks the body of its own whether the client waits to be told to send it
		own.Body = b
		next.ServeHTTP(answer{w, b}, &own)
		if !b.over.Load() {
			c.Wait() // the server reads the rest of a body that the handler left
		}
	})
}

// body is one that is read from a client.
type body struct {
	io.ReadCloser
	conn *Conn
	ctx  context.Context
	size int
	turn atomic.Bool // taken
	over atomic.Bool
}

// Read is io.Reader's. The deadline is for the body alone: the server goes on
// reading, to notice when the client leaves.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && b.over.CompareAndSwap(false, true) {
		b.conn.Work() // also while it waits for its turn: its client has done its part
		switch {
		case errors.Is(err, io.EOF):
			_ = b.conn.SetReadDeadline(time.Time{}) // fails when the client has gone
			if b.size+n > largeBody {
				if refusal := b.take(); refusal != nil {
					err = refusal
				}
			}
		case errors.Is(err, os.ErrDeadlineExceeded):
			b.conn.listener.metrics.bodiesLate.Inc()
		}
	}
	b.size += n
	return n, err
}

// take waits for the turn of a large body.
func (b *body) take() error {
	l := b.conn.listener
	if !l.stand(b.conn) {
		return ErrBusy
	}
	defer l.leave(b.conn)
	select {
	case l.turns <- struct{}{}:
		b.turn.Store(true)
		return nil
	case <-b.ctx.Done():
		return b.ctx.Err()
	}
}

// done gives the turn to the next one.
func (b *body) done() {
	if b.turn.CompareAndSwap(true, false) {
		<-b.conn.listener.turns
	}
}

// stand counts a connection among those that wait for their turn, if it may. A
// proxy has many clients.
func (l *Listener) stand(c *Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.patient >= maxWaiting || l.patience[c.from] >= maxWaitingOfOne && !l.trusts(remoteOf(c.Conn)) {
		return false
	}
	l.patient++
	l.patience[c.from]++
	return true
}

func (l *Listener) leave(c *Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.patient--
	if l.patience[c.from]--; l.patience[c.from] == 0 {
		delete(l.patience, c.from)
	}
}

// answer ends the turn of its request where it begins: the client may take its
// time to read it.
type answer struct {
	http.ResponseWriter
	body *body
}

// WriteHeader is http.ResponseWriter's.
func (a answer) WriteHeader(status int) {
	a.body.done()
	a.ResponseWriter.WriteHeader(status)
}

// Write is http.ResponseWriter's.
func (a answer) Write(b []byte) (int, error) {
	a.body.done()
	return a.ResponseWriter.Write(b)
}

// Flush is http.Flusher's.
func (a answer) Flush() {
	a.body.done()
	_ = http.NewResponseController(a.ResponseWriter).Flush() // fails when the client has gone
}

// Hijack is http.Hijacker's.
func (a answer) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	a.body.done()
	return http.NewResponseController(a.ResponseWriter).Hijack()
}

// Unwrap is what http.ResponseController looks for.
func (a answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }
