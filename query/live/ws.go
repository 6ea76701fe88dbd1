package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"tonscribe/query/auth"
	"tonscribe/query/live/events"
)

// serveSocket serves a WebSocket (RFC 6455): operations come in, answers and events go
// out, each a text.
func (c *Component) serveSocket(w http.ResponseWriter, r *http.Request) {
	if !strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		w.Header().Set("Upgrade", "websocket")
		w.Header().Set("Connection", "Upgrade")
		refuse(w, http.StatusUpgradeRequired, nil, errNoUpgrade)
		return
	}
	if !c.begin() {
		refuse(w, http.StatusServiceUnavailable, nil, errStopping)
		return
	}
	end := ends{c.serving.Done}
	defer end.unlessTaken()
	ctx, cancel := c.streamContext()
	end.add(cancel)
	s := &session{c: c, operations: newRateLimiter(c.configuration.Operations), fallbackActions: events.KnownActions(r.Header.Get("X-Actions-Version"))}
	s.answers.Store(true)
	to := &upgrading{ResponseWriter: w, c: c}
	var err error
	s.socket, err = websocket.Accept(to, r, &websocket.AcceptOptions{
		InsecureSkipVerify: true, // keys are no credentials that browsers send by themselves
		OnPingReceived: func(ctx context.Context, _ []byte) bool {
			s.operations.wait(ctx)
			return true
		},
		OnPongReceived: func(context.Context, []byte) { s.answers.Store(true) },
	})
	if err != nil {
		return // it has the answer
	}
	s.wire = to.wire
	end.add(func() { _ = s.socket.CloseNow() })
	s.socket.SetReadLimit(int64(c.configuration.MessageBytes))
	l, streams := c.limitsOf(r.Context())
	client := auth.Client(r.Context())
	s.conn = newConn(ctx, c, auth.Recheck(r.Context()), l)
	all := end.take()
	go func() {
		defer all()
		c.serveSession(ctx, cancel, s, client, streams)
	}()
}

// serveSession serves a WebSocket of a client that may have so many streams.
func (c *Component) serveSession(ctx context.Context, cancel context.CancelFunc, s *session, client string, streams int) {
	err := c.clients.enter(client, streams)
	if err == nil {
		defer c.clients.leave(client)
		if err = c.hub.enter(); err == nil {
			defer c.hub.leave()
		}
	}
	if err != nil {
		_ = s.send(failure(nil, err.Error(), nil)) // the client has gone when this fails
		_ = s.socket.Close(closeCode(err), err.Error())
		return
	}
	defer s.conn.close()
	s.serve(ctx, cancel)
}

var errNoUpgrade = errors.New("a WebSocket is expected: send Upgrade: websocket")

func closeCode(err error) websocket.StatusCode {
	if _, limited := errors.AsType[limitError](err); limited || errors.Is(err, auth.ErrUnknownKey) {
		return websocket.StatusPolicyViolation
	}
	return websocket.StatusTryAgainLater
}

// send sends texts.
func (s *session) send(texts ...[]byte) error {
	p := s.wire.pack()
	for _, raw := range texts {
		p.text(raw)
	}
	return p.done()
}

// session is one WebSocket. Its library reads, and shakes hands; texts, of which most are
// the same for many, are written beside it.
type session struct {
	c               *Component
	conn            *conn
	socket          *websocket.Conn
	wire            *wire
	answers         atomic.Bool // the client answered the last ping
	operations      *rateLimiter
	fallbackActions string
}

// serve works until one side ends it. Reading goes on while the end is told: a read that
// is broken off would break the connection.
func (s *session) serve(ctx context.Context, cancel context.CancelFunc) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.write(ctx)
		cancel()
		_ = s.socket.CloseNow() // reading ends
	}()
	for s.read(ctx) {
	}
	cancel()
	<-ended
}

// quietTimes is how many times a stream of events has a sign of life in the time between
// pings of a WebSocket. A client that does not answer one in the same time has gone, and so
// has one whose message is not whole in that time.
const quietTimes = 4

// write sends what waits until the stream ends, and closes it with the reason.
func (s *session) write(ctx context.Context) {
	alive := time.NewTicker(s.c.configuration.KeepAlive)
	defer alive.Stop()
	for quiet := 0; ; {
		select {
		case <-ctx.Done():
			if errors.Is(context.Cause(ctx), errStopping) {
				_ = s.socket.Close(websocket.StatusGoingAway, errStopping.Error())
			}
			return
		case <-alive.C:
			s.conn.checkKey()
			if quiet++; quiet%quietTimes != 0 {
				continue
			}
			if !s.answers.Swap(false) {
				return
			}
			p := s.wire.pack()
			p.ping()
			if p.done() != nil {
				return
			}
		case <-s.conn.wake:
			if !s.flush() {
				return
			}
		}
	}
}

// flush sends what waits; it is false when that was the last.
func (s *session) flush() bool {
	b := s.conn.take()
	p := s.wire.pack()
	for _, answer := range b.answers {
		p.text(answer)
	}
	for _, i := range b.events {
		p.text(i.raw)
	}
	if b.fault != nil { // the client may not even read this
		at := s.conn.position()
		p.text(failure(nil, b.fault.Error(), &at))
	}
	err := p.done()
	s.conn.sent(b)
	if err != nil {
		return false
	}
	if b.fault != nil {
		text := ""
		if errors.Is(b.fault, errSlow) {
			text = errSlow.Error()
		}
		_ = s.socket.Close(closeCode(b.fault), text) // likewise
	}
	return b.fault == nil
}

// read works on the next operation; it is false at the end.
func (s *session) read(ctx context.Context) bool {
	reading, broken := context.WithCancel(context.Background()) // it ends with the connection
	defer broken()
	_, message, err := s.socket.Reader(reading)
	if err != nil {
		return false
	}
	late := time.AfterFunc(quietTimes*s.c.configuration.KeepAlive, broken)
	within := &bounded{Reader: message, held: &s.c.messages}
	defer within.release()
	raw, err := io.ReadAll(within)
	late.Stop()
	if err != nil {
		if errors.Is(err, errManyMessages) {
			_ = s.socket.Close(closeCode(err), err.Error()) // the client has gone when this fails
		}
		return false
	}
	s.operations.wait(ctx)
	return s.conn.answerTo(s, raw)
}

const (
	// smallMessage is how long a message may be without being counted: most are shorter.
	smallMessage = 4 << 10
	// largeMessages is how much of longer ones is held for all streams, until they are
	// answered.
	largeMessages = 64 << 20
)

var errManyMessages = errors.New("too many large messages are being read, try again later")

// bounded reads a message that counts among what is held of all.
type bounded struct {
	io.Reader
	held        *atomic.Int64
	read, taken int64
}

// Read is io.Reader's.
func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if b.read += int64(n); b.read > smallMessage && n > 0 {
		more := b.read - b.taken
		b.taken = b.read
		if b.held.Add(more) > largeMessages {
			return 0, errManyMessages
		}
	}
	return n, err
}

// release forgets the message.
func (b *bounded) release() { b.held.Add(-b.taken) }

// answerTo does what an operation says. It is false when the client reads no answers.
func (c *conn) answerTo(s *session, raw []byte) bool {
	var envelope struct {
		Operation string  `json:"operation"`
		ID        *string `json:"id"`
	}
	if err := json.Unmarshal(raw, &envelope); err != nil {
		return c.answer(failure(nil, "invalid request envelope: "+err.Error(), nil))
	}
	if err := events.CheckID(envelope.ID); err != nil {
		return c.answer(failure(nil, "invalid request envelope: "+err.Error(), nil))
	}
	var err error
	switch envelope.Operation {
	case "ping":
		return c.pong(envelope.ID)
	case "subscribe":
		var o *events.Order
		if o, err = events.ReadOrder(raw, s.fallbackActions); err != nil {
			err = fmt.Errorf("invalid subscribe request: %w", err)
			break
		}
		var wanted *events.Subscription
		if wanted, err = o.Subscription(&events.WSWords, c.limits); err == nil {
			err = c.subscribe(wanted, func(at events.Position) []byte { return acknowledgement(o.ID, "subscribed", at) })
		}
	case "unsubscribe":
		err = c.unsubscribe(raw, envelope.ID)
	default:
		err = fmt.Errorf("unknown operation: %s", events.Shortened(envelope.Operation))
	}
	return err == nil || !errors.Is(err, errDeaf) && c.answer(failure(envelope.ID, err.Error(), nil))
}

// unsubscribe takes addresses and traces out of the subscription.
func (c *conn) unsubscribe(raw []byte, id *string) error {
	o, err := events.ReadOrder(raw, "")
	if err != nil {
		return fmt.Errorf("invalid unsubscribe request: %w", err)
	}
	addresses, traces, err := o.Names()
	if err != nil {
		return err
	}
	if c.wanted == nil {
		return c.confirm(acknowledgement(id, "unsubscribed", c.position()))
	}
	left := c.wanted.Without(addresses, traces)
	return c.subscribe(left, func(at events.Position) []byte { return acknowledgement(id, "unsubscribed", at) })
}
