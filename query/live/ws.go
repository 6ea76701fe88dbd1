package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/coder/websocket"

	"tonscribe/query/auth"
)

// serveSocket serves a WebSocket (RFC 6455): operations come in, answers and events go
// out, each a text.
func (c *Component) serveSocket(w http.ResponseWriter, r *http.Request) {
	if !strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		w.Header().Set("Upgrade", "websocket")
		w.Header().Set("Connection", "Upgrade")
		refuse(w, http.StatusUpgradeRequired, nil, errors.New("a WebSocket is expected: send Upgrade: websocket"))
		return
	}
	if !c.begin() {
		refuse(w, http.StatusServiceUnavailable, nil, errStopping)
		return
	}
	defer c.serving.Done()
	ctx, cancel := c.streamContext(r.Context())
	defer cancel()
	operations := newPace(c.configuration.Operations)
	socket, err := websocket.Accept(w, r, &websocket.AcceptOptions{
		InsecureSkipVerify: true, // keys are no credentials that browsers send by themselves
		OnPingReceived: func(ctx context.Context, _ []byte) bool {
			operations.wait(ctx, time.Now())
			return true
		},
	})
	if err != nil {
		return // it has the answer
	}
	defer func() { _ = socket.CloseNow() }()
	socket.SetReadLimit(int64(c.configuration.MessageBytes))
	l, streams := c.limitsOf(r.Context())
	client := auth.Client(r.Context())
	err = c.clients.enter(client, streams)
	if err == nil {
		defer c.clients.leave(client)
		if err = c.hub.enter(); err == nil {
			defer c.hub.leave()
		}
	}
	if err != nil {
		_ = c.send(ctx, socket, failure(nil, err.Error(), nil)) // the client has gone when this fails
		_ = socket.Close(closeCode(err), err.Error())
		return
	}
	stream := newConn(c, client, l)
	defer stream.close()
	s := &session{c: c, conn: stream, socket: socket, operations: operations, fallbackActions: r.Header.Get("X-Actions-Version")}
	s.serve(ctx, r.Context(), cancel)
}

func closeCode(err error) websocket.StatusCode {
	var limit limitError
	if errors.As(err, &limit) {
		return websocket.StatusPolicyViolation
	}
	return websocket.StatusTryAgainLater
}

func (c *Component) send(ctx context.Context, socket *websocket.Conn, raw []byte) error {
	ctx, cancel := context.WithTimeout(ctx, c.configuration.WriteTimeout)
	defer cancel()
	return socket.Write(ctx, websocket.MessageText, raw)
}

// session is one WebSocket.
type session struct {
	c               *Component
	conn            *conn
	socket          *websocket.Conn
	operations      *pace
	fallbackActions string
}

// serve works until one side ends it. Reading goes on while the end is told: a read that
// is broken off would break the connection.
func (s *session) serve(ctx, reading context.Context, cancel context.CancelFunc) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.write(ctx)
		cancel()
		_ = s.socket.CloseNow() // reading ends
	}()
	for s.read(ctx, reading) {
	}
	cancel()
	<-ended
}

// socketPing is the time between pings of the server: a client that does not answer one
// in the same time has gone.
const socketPing = 20 * time.Second

// write sends what waits until the stream ends, and closes it with the reason.
func (s *session) write(ctx context.Context) {
	alive := time.NewTicker(socketPing)
	defer alive.Stop()
	pings := make(chan error, 1)
	waiting := false
	for {
		select {
		case <-ctx.Done():
			if errors.Is(context.Cause(ctx), errStopping) {
				_ = s.socket.Close(websocket.StatusGoingAway, errStopping.Error())
			}
			return
		case <-alive.C:
			if !waiting {
				waiting = true
				go func() {
					ctx, cancel := context.WithTimeout(ctx, socketPing)
					defer cancel()
					pings <- s.socket.Ping(ctx)
				}()
			}
		case err := <-pings:
			if waiting = false; err != nil {
				return
			}
		case <-s.conn.wake:
			if !s.flush(ctx) {
				return
			}
		}
	}
}

// flush sends what waits; it is false when that was the last.
func (s *session) flush(ctx context.Context) bool {
	b := s.conn.take()
	for _, answer := range b.answers {
		if s.c.send(ctx, s.socket, answer) != nil {
			return false
		}
	}
	for _, i := range b.events {
		if s.c.send(ctx, s.socket, i.raw) != nil {
			return false
		}
	}
	at := s.conn.position()
	switch {
	case b.slow:
		_ = s.c.send(ctx, s.socket, failure(nil, slowConsumer, &at)) // the client may not even read this
		_ = s.socket.Close(websocket.StatusTryAgainLater, slowConsumer)
	case b.fault != nil:
		_ = s.c.send(ctx, s.socket, failure(nil, b.fault.Error(), &at))
		_ = s.socket.Close(websocket.StatusTryAgainLater, "")
	default:
		return true
	}
	return false
}

// read works on the next operation; it is false at the end.
func (s *session) read(ctx, reading context.Context) bool {
	_, raw, err := s.socket.Read(reading)
	if err != nil {
		return false
	}
	if s.operations.wait(ctx, time.Now()) && !s.conn.answer(failure(nil, fmt.Sprintf("too many operations: more than %g a second wait", s.c.configuration.Operations), nil)) {
		return false
	}
	return s.conn.answerTo(ctx, s, raw)
}

// answerTo does what an operation says. It is false when the client reads no answers.
func (c *conn) answerTo(ctx context.Context, s *session, raw []byte) bool {
	var envelope struct {
		Operation string  `json:"operation"`
		ID        *string `json:"id"`
	}
	if err := json.Unmarshal(raw, &envelope); err != nil {
		return c.answer(failure(nil, "invalid request envelope: "+err.Error(), nil))
	}
	var err error
	switch envelope.Operation {
	case "ping":
		return c.answer(acknowledgement(envelope.ID, "pong", c.position()))
	case "subscribe":
		var o *order
		if o, err = decodeOrder(raw); err != nil {
			err = fmt.Errorf("invalid subscribe request: %w", err)
			break
		}
		o.fallbackActions = s.fallbackActions
		var wanted *subscription
		if wanted, err = o.subscription(&wsWords, c.limits); err == nil {
			err = c.subscribe(ctx, wanted, func(at Position) []byte { return acknowledgement(o.ID, "subscribed", at) })
		}
	case "unsubscribe":
		err = c.unsubscribe(ctx, raw, envelope.ID)
	default:
		err = fmt.Errorf("unknown operation: %s", shortened(envelope.Operation))
	}
	return err == nil || c.answer(failure(envelope.ID, err.Error(), nil))
}

// unsubscribe takes addresses and traces out of the subscription.
func (c *conn) unsubscribe(ctx context.Context, raw []byte, id *string) error {
	o, err := decodeOrder(raw)
	if err != nil {
		return fmt.Errorf("invalid unsubscribe request: %w", err)
	}
	if len(o.Addresses)+len(o.Jettons)+len(o.Collections)+len(o.Traces) == 0 {
		return errors.New("addresses or trace_external_hash_norms are required")
	}
	gone := &subscription{types: [kinds]bool{traceKind: true}}
	if err := o.readAddresses(gone, &wsWords); err != nil {
		return err
	}
	if err := o.readTraces(gone, &wsWords); err != nil {
		return err
	}
	for a := range gone.tokens {
		gone.addresses[a] = struct{}{}
	}
	if c.wanted == nil {
		c.answer(acknowledgement(id, "unsubscribed", c.position()))
		return nil
	}
	left := c.wanted.without(gone.addresses, gone.traces)
	left.resumes = c.subscription() == nil // it was not up to the present yet
	return c.subscribe(ctx, left, func(at Position) []byte { return acknowledgement(id, "unsubscribed", at) })
}
