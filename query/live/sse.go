package live

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	"tonscribe/query/auth"
)

// serveEvents serves a stream of events (the living standard HTML, 9.2) for the
// subscription in a request's body.
func (c *Component) serveEvents(w http.ResponseWriter, r *http.Request) {
	if !c.begin() {
		refuse(w, http.StatusServiceUnavailable, nil, errStopping)
		return
	}
	defer c.serving.Done()
	l, streams := c.limitsOf(r.Context())
	o, s, err := c.readBody(w, r, l)
	if err != nil {
		refuse(w, http.StatusBadRequest, o, err)
		return
	}
	client := auth.Client(r.Context())
	if err := c.clients.enter(client, streams); err != nil {
		status := http.StatusTooManyRequests
		if errors.Is(err, errFull) {
			status = http.StatusServiceUnavailable
		}
		refuse(w, status, o, err)
		return
	}
	defer c.clients.leave(client)
	if err := c.hub.enter(); err != nil {
		refuse(w, http.StatusServiceUnavailable, o, err)
		return
	}
	defer c.hub.leave()
	ctx, cancel := c.streamContext(r.Context())
	defer cancel()
	stream := newConn(c, client, l)
	defer stream.close()
	if err := stream.subscribe(ctx, s, func(at Position) []byte { return acknowledgement(o.ID, "subscribed", at) }); err != nil {
		status := http.StatusBadRequest
		if errors.Is(err, errNotYet) {
			status = http.StatusServiceUnavailable
		}
		refuse(w, status, o, err)
		return
	}
	header := w.Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("Cache-Control", "no-cache")
	header.Set("Connection", "keep-alive")
	header.Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	c.sendEvents(ctx, &eventWriter{w: w, control: http.NewResponseController(w), timeout: c.configuration.WriteTimeout}, stream)
}

// readBody reads the subscription of a request.
func (c *Component) readBody(w http.ResponseWriter, r *http.Request, l limits) (*order, *subscription, error) {
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, int64(c.configuration.MessageBytes)))
	if err != nil {
		return nil, nil, errors.New("invalid subscription request: " + plainCause(err))
	}
	o, err := decodeOrder(raw)
	if err != nil {
		return nil, nil, errors.New("invalid subscription request: " + err.Error())
	}
	o.fallbackActions = r.Header.Get("X-Actions-Version")
	if last := r.Header.Get("Last-Event-ID"); last != "" && o.From == nil {
		o.From = &last
	}
	s, err := o.subscription(&sseWords, l)
	return o, s, err
}

func plainCause(err error) string {
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return "the body is larger than " + strconv.FormatInt(tooLarge.Limit, 10) + " bytes"
	}
	return "the body could not be read"
}

// refuse answers with an error.
func refuse(w http.ResponseWriter, status int, o *order, err error) {
	body := failure(o.id(), err.Error(), nil)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client has gone when this fails
}

func (o *order) id() *string {
	if o == nil {
		return nil
	}
	return o.ID
}

// failure is the object of an error.
func failure(id *string, text string, at *Position) []byte {
	f := struct {
		ID       *string `json:"id,omitempty"`
		Error    string  `json:"error"`
		Position string  `json:"position,omitempty"`
	}{ID: id, Error: text}
	if at != nil {
		f.Position = at.String()
	}
	raw, _ := json.Marshal(f) // texts always can be
	return raw
}

// acknowledgement is the object of an operation that was done; what comes next comes
// behind a position.
func acknowledgement(id *string, status string, at Position) []byte {
	raw, _ := json.Marshal(struct {
		ID       *string `json:"id,omitempty"`
		Status   string  `json:"status"`
		Position string  `json:"position"`
	}{id, status, at.String()}) // texts always can be
	return raw
}

// sendEvents sends what waits until the stream ends.
func (c *Component) sendEvents(ctx context.Context, w *eventWriter, stream *conn) {
	alive := time.NewTicker(c.configuration.KeepAlive)
	defer alive.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-alive.C:
			w.comment("keepalive " + stream.position().String())
		case <-stream.wake:
			b := stream.take()
			for _, answer := range b.answers {
				w.event("connected", nil, answer)
			}
			for _, i := range b.events {
				w.event("event", &i.position, i.raw)
			}
			switch {
			case b.slow:
				at := stream.position()
				w.event("error", nil, failure(nil, slowConsumer, &at))
			case b.fault != nil:
				at := stream.position()
				w.event("error", nil, failure(nil, b.fault.Error(), &at))
			}
			if b.slow || b.fault != nil {
				w.flush()
				return
			}
		}
		if w.flush(); w.err != nil {
			return
		}
	}
}

// slowConsumer tells why a stream ends whose client does not keep up.
const slowConsumer = "slow consumer"

// eventWriter writes a stream of events.
type eventWriter struct {
	w       io.Writer
	control *http.ResponseController
	timeout time.Duration
	head    bytes.Buffer
	err     error
}

func (w *eventWriter) comment(text string) { w.write([]byte(": " + text + "\n\n")) }

// event writes an event with the position as its id.
func (w *eventWriter) event(name string, at *Position, data []byte) {
	w.head.Reset()
	w.head.WriteString("event: " + name + "\n")
	if at != nil {
		w.head.WriteString("id: " + at.String() + "\n")
	}
	w.head.WriteString("data: ")
	w.write(w.head.Bytes())
	w.write(data)
	w.write([]byte("\n\n"))
}

func (w *eventWriter) write(raw []byte) {
	if w.err == nil {
		_ = w.control.SetWriteDeadline(time.Now().Add(w.timeout)) // not every writer has one
		_, w.err = w.w.Write(raw)
	}
}

func (w *eventWriter) flush() {
	if w.err == nil {
		w.err = w.control.Flush()
	}
}
