package live

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"tonscribe/query/auth"
	"tonscribe/query/live/events"
)

// serveEvents serves a stream of events (the living standard HTML, 9.2) for the
// subscription in a request's body.
func (c *Component) serveEvents(w http.ResponseWriter, r *http.Request) {
	if !c.begin() {
		refuse(w, http.StatusServiceUnavailable, nil, errStopping)
		return
	}
	end := ends{c.serving.Done}
	defer end.unlessTaken()
	l, streams := c.limitsOf(r.Context())
	o, s, err := c.readBody(w, r, l)
	if err != nil {
		status := http.StatusBadRequest
		if errors.Is(err, errCoding) {
			status = http.StatusUnsupportedMediaType
		}
		refuse(w, status, o, err)
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
	end.add(func() { c.clients.leave(client) })
	if err := c.hub.enter(); err != nil {
		refuse(w, http.StatusServiceUnavailable, o, err)
		return
	}
	end.add(c.hub.leave)
	ctx, cancel := c.streamContext()
	end.add(cancel)
	stream := newConn(ctx, c, auth.Recheck(r.Context()), l)
	end.add(stream.close)
	if err := stream.subscribe(s, func(at events.Position) []byte { return acknowledgement(o.ID, "subscribed", at) }); err != nil {
		status := http.StatusBadRequest
		if errors.Is(err, errNotYet) {
			status = http.StatusServiceUnavailable
		}
		refuse(w, status, o, err)
		return
	}
	header := w.Header().Clone()
	connection, _, err := c.takeOver(w)
	if err != nil {
		refuse(w, http.StatusHTTPVersionNotSupported, o, errNoTakeOver)
		return
	}
	end.add(func() { connection.Close() })
	events := &eventWriter{to: connection, chunked: r.ProtoAtLeast(1, 1)}
	all := end.take()
	go func() {
		defer all()
		if events.begin(header) == nil {
			go drain(connection, cancel)
			c.sendEvents(ctx, events, stream)
		}
	}()
}

// ends are what is to be done at the end of a stream, the last first.
type ends []func()

func (e *ends) add(end func()) { *e = append(*e, end) }

// take hands them over to whoever serves the stream on.
func (e *ends) take() func() {
	all := *e
	*e = nil
	return all.run
}

func (e *ends) unlessTaken() { e.run() }

func (e ends) run() {
	for _, end := range slices.Backward(e) {
		end()
	}
}

// drain reads what a client sends that has nothing to say, until it goes, or says too much.
func drain(connection io.Reader, gone func()) {
	defer gone()
	const most = 64 << 10
	var raw [64]byte
	for said := 0; said < most; {
		n, err := connection.Read(raw[:])
		if err != nil {
			return
		}
		said += n
	}
}

// readBody reads the subscription of a request.
func (c *Component) readBody(w http.ResponseWriter, r *http.Request, l events.Limits) (*events.Order, *events.Subscription, error) {
	if coding := r.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return nil, nil, errCoding
	}
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, int64(c.configuration.MessageBytes)))
	if err != nil {
		return nil, nil, errors.New("invalid subscription request: " + plainCause(err))
	}
	o, err := events.ReadOrder(raw, r.Header.Get("X-Actions-Version"))
	if err != nil {
		return nil, nil, errors.New("invalid subscription request: " + err.Error())
	}
	if last := r.Header.Get("Last-Event-ID"); last != "" {
		o.From = &last
	}
	s, err := o.Subscription(&events.SSEWords, l)
	return o, s, err
}

var errCoding = errors.New("invalid subscription request: Content-Encoding is not supported")

func plainCause(err error) string {
	if tooLarge, is := errors.AsType[*http.MaxBytesError](err); is {
		return "the body is larger than " + strconv.FormatInt(tooLarge.Limit, 10) + " bytes"
	}
	return "the body could not be read"
}

// refuse answers with an error.
func refuse(w http.ResponseWriter, status int, o *events.Order, err error) {
	body := failure(idOf(o), err.Error(), nil)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client has gone when this fails
}

func idOf(o *events.Order) *string {
	if o == nil {
		return nil
	}
	return o.ID
}

// failure is the object of an error.
func failure(id *string, text string, at *events.Position) []byte {
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
func acknowledgement(id *string, status string, at events.Position) []byte {
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
	for last := false; !last; {
		var b batch
		select {
		case <-ctx.Done():
			_ = w.end() // the client may have gone
			return
		case <-alive.C:
			stream.checkKey()
			w.open()
			w.comment("keepalive " + stream.position().String())
		case <-stream.wake:
			b = stream.take()
			w.open()
			for _, answer := range b.answers {
				w.event("connected", nil, answer)
			}
			for _, i := range b.events {
				w.event("event", &i.position, i.raw)
			}
			if last = b.fault != nil; last {
				at := stream.position()
				w.event("error", nil, failure(nil, b.fault.Error(), &at))
				w.last()
			}
		}
		err := w.packet.done()
		stream.sent(b)
		if err != nil {
			return
		}
	}
}

// eventWriter writes a stream of events in packets.
type eventWriter struct {
	to      *wire
	packet  *packet
	chunked bool // HTTP/1.1 (RFC 9112, 7.1); else the stream is all until the end
	line    []byte
}

// begin writes the head of the answer.
func (w *eventWriter) begin(header http.Header) error {
	header.Set("Content-Type", "text/event-stream")
	header.Set("Cache-Control", "no-cache")
	header.Set("X-Accel-Buffering", "no")
	header.Set("Date", time.Now().UTC().Format(http.TimeFormat))
	if header.Set("Connection", "close"); w.chunked { // it serves nothing behind the stream
		header.Set("Transfer-Encoding", "chunked")
	}
	var head bytes.Buffer
	head.WriteString("HTTP/1.1 200 OK\r\n")
	if err := header.Write(&head); err != nil {
		return err
	}
	head.WriteString("\r\n")
	_, err := w.to.Write(head.Bytes())
	return err
}

func (w *eventWriter) open() { w.packet = w.to.pack() }

// end ends the answer.
func (w *eventWriter) end() error {
	w.open()
	w.last()
	return w.packet.done()
}

func (w *eventWriter) last() {
	if w.chunked {
		w.packet.add(nil, nil, "0\r\n\r\n")
	}
}

func (w *eventWriter) comment(text string) {
	w.line = append(append(w.line[:0], ": "...), text...)
	w.chunk(nil)
}

// event writes an event with the position as its id.
func (w *eventWriter) event(name string, at *events.Position, data []byte) {
	w.line = append(append(append(w.line[:0], "event: "...), name...), '\n')
	if at != nil {
		w.line = append(at.Append(append(w.line, "id: "...)), '\n')
	}
	w.line = append(w.line, "data: "...)
	w.chunk(data)
}

// chunk writes what is in line and data, and an empty line.
func (w *eventWriter) chunk(data []byte) {
	if !w.chunked {
		w.packet.add(w.line, data, "\n\n")
		return
	}
	const end = "\n\n"
	p := w.packet
	p.head = strconv.AppendInt(p.head[:0], int64(len(w.line)+len(data)+len(end)), 16)
	p.head = append(append(p.head, "\r\n"...), w.line...)
	p.add(p.head, data, end+"\r\n")
}
