package streams

import (
	"bufio"
	"bytes"
	"context"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"tonscribe/query/live"
	"tonscribe/query/live/events"
)

// Clients is a running process of clients.
type Clients struct {
	command *exec.Cmd
	to      *gob.Encoder
	from    *gob.Decoder
}

// Start starts a process that runs Run, and lets it open the streams of a plan.
func Start(command *exec.Cmd, plan Plan) (*Clients, error) {
	command.Stderr = os.Stderr
	in, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, err
	}
	c := &Clients{command: command, to: gob.NewEncoder(in), from: gob.NewDecoder(bufio.NewReaderSize(out, 1<<20))}
	var answer opened
	if err = c.to.Encode(plan); err == nil {
		if err = c.from.Decode(&answer); err == nil && answer.Err != "" {
			err = errors.New(answer.Err)
		}
	}
	if err != nil {
		c.Kill()
		return nil, fmt.Errorf("the process of clients: %w", err)
	}
	return c, nil
}

// Stall makes those stop reading that are to: for a while, after which they read what
// there is and go on behind it, again and again.
func (c *Clients) Stall() error { return c.to.Encode(order{Stall: true}) }

// End ends the process and returns what its streams received.
func (c *Clients) End() ([]Received, error) {
	var all []Received
	err := c.to.Encode(order{End: true})
	if err == nil {
		err = c.from.Decode(&all)
	}
	if err != nil {
		c.Kill()
		return nil, fmt.Errorf("the process of clients: %w", err)
	}
	return all, c.command.Wait()
}

// Kill ends the process in any case.
func (c *Clients) Kill() {
	_ = c.command.Process.Kill()
	_ = c.command.Wait()
}

// Run is the process: it opens the streams of the plan that it reads, and writes what
// they received when it is told to end.
func Run(ctx context.Context, in io.Reader, out io.Writer) error {
	orders, answers := gob.NewDecoder(in), gob.NewEncoder(out)
	var plan Plan
	if err := orders.Decode(&plan); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	all := newClients(plan)
	var answer opened
	if err := all.open(ctx); err != nil {
		answer.Err = err.Error()
	}
	if err := answers.Encode(answer); err != nil || answer.Err != "" {
		return err
	}
	for {
		var o order
		if err := orders.Decode(&o); err != nil {
			return err
		}
		switch {
		case o.Stall:
			close(all.stalled)
		case o.End:
			cancel()
			all.reading.Wait()
			return answers.Encode(all.received())
		}
	}
}

type clients struct {
	plan    Plan
	streams []*client
	stalled chan struct{} // closed when some are to stop reading
	reading sync.WaitGroup
}

// client is one stream.
type client struct {
	all      *clients
	number   int
	plan     Stream
	received Received
	last     events.Position
	tell     func([]byte) error // sends a frame
	acked    bool
	slow     bool // it was told so
}

func newClients(plan Plan) *clients {
	all := &clients{plan: plan, stalled: make(chan struct{})}
	for i, s := range plan.Streams {
		all.streams = append(all.streams, &client{all: all, number: i, plan: s})
	}
	return all
}

func (c *clients) received() []Received {
	list := make([]Received, len(c.streams))
	for i, s := range c.streams {
		list[i] = s.received
	}
	return list
}

// opening is how many streams are opened at a time.
const opening = 16

// open opens all streams, and returns when each has the answer to its subscription.
func (c *clients) open(ctx context.Context) error {
	var failed atomic.Pointer[error]
	var running sync.WaitGroup
	next := make(chan *client)
	for range opening {
		running.Go(func() {
			for s := range next {
				connection, buffer, err := s.connect(ctx)
				if err != nil {
					err = fmt.Errorf("stream %d: %w", s.number, err)
					failed.CompareAndSwap(nil, &err)
					continue
				}
				c.reading.Go(func() { s.run(ctx, connection, buffer) })
			}
		})
	}
	for _, s := range c.streams {
		if failed.Load() != nil {
			break
		}
		next <- s
	}
	close(next)
	running.Wait()
	if err := failed.Load(); err != nil {
		return *err
	}
	return nil
}

// perAddress is how many streams one address of this machine has.
const perAddress = 200

// stalledBuffer is what a client that stops reading takes all the same.
const stalledBuffer = 64 << 10

// patience is how long connecting may take.
const patience = 60 * time.Second

// connect opens the stream, behind its last event if there was one, and reads up to the
// answer to its subscription.
func (s *client) connect(ctx context.Context) (net.Conn, *connected, error) {
	from := net.IPv4(127, 1, byte(s.number/perAddress/250), byte(1+s.number/perAddress%250))
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: from}, Timeout: patience}
	connection, err := dialer.DialContext(ctx, "tcp", s.all.plan.Server)
	if err != nil {
		return nil, nil, err
	}
	if tcp, ok := connection.(*net.TCPConn); ok && s.plan.Stalls {
		_ = tcp.SetReadBuffer(stalledBuffer) // it stalls later when this fails
	}
	opened, err := s.subscribe(connection)
	if err != nil {
		connection.Close()
		return nil, nil, err
	}
	return connection, opened, nil
}

// connected is a stream that is open.
type connected struct {
	parser parser
	buffer []byte
}

func (s *client) subscribe(connection net.Conn) (*connected, error) {
	_ = connection.SetDeadline(time.Now().Add(patience)) // fails with what follows
	wanted := struct {
		Operation string   `json:"operation,omitempty"`
		Types     []string `json:"types"`
		Addresses []string `json:"addresses"`
		From      string   `json:"from,omitempty"`
	}{Types: Types}
	for _, n := range s.plan.Accounts {
		wanted.Addresses = append(wanted.Addresses, s.all.plan.Accounts[n])
	}
	if s.last != (events.Position{}) {
		wanted.From = s.last.String()
	}
	s.acked, s.slow = false, false
	o := &connected{buffer: make([]byte, 8<<10)}
	s.tell = func(frame []byte) error {
		_, err := connection.Write(frame)
		return err
	}
	var body, head []byte
	var err error
	if s.plan.Socket {
		wanted.Operation = "subscribe"
		if body, err = json.Marshal(wanted); err != nil {
			return nil, err
		}
		o.parser = &socketParser{pong: func(payload []byte) error { return s.tell(clientFrame(pongFrame, payload)) }, closed: func(uint16) {}}
		head = fmt.Appendf(nil, "GET %s/v2/ws HTTP/1.1\r\nHost: %s\r\nX-API-Key: %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n", live.Prefix, s.all.plan.Server, s.all.plan.Key)
	} else {
		if body, err = json.Marshal(wanted); err != nil {
			return nil, err
		}
		o.parser = &eventParser{}
		head = fmt.Appendf(nil, "POST %s/v2/sse HTTP/1.1\r\nHost: %s\r\nX-API-Key: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", live.Prefix, s.all.plan.Server, s.all.plan.Key, len(body))
		head = append(head, body...)
	}
	if _, err := connection.Write(head); err != nil {
		return nil, err
	}
	rest, err := readHead(connection, o.buffer, s.plan.Socket)
	if err != nil {
		return nil, err
	}
	if s.plan.Socket {
		if err := s.tell(clientFrame(textFrame, body)); err != nil {
			return nil, err
		}
	}
	for {
		if err := s.take(o.parser, rest); err != nil {
			return nil, err
		}
		if s.acked {
			break
		}
		n, err := connection.Read(o.buffer)
		if err != nil {
			return nil, err
		}
		rest = o.buffer[:n]
	}
	return o, connection.SetDeadline(time.Time{})
}

// readHead reads the head of an answer, and returns what came behind it.
func readHead(connection net.Conn, buffer []byte, socket bool) (rest []byte, err error) {
	n := 0
	for {
		more, err := connection.Read(buffer[n:])
		if err != nil {
			return nil, err
		}
		n += more
		head, rest, whole := bytes.Cut(buffer[:n], []byte("\r\n\r\n"))
		if !whole {
			continue
		}
		status, _, _ := strings.Cut(string(head), "\r\n")
		want := " 200 "
		if socket {
			want = " 101 "
		}
		if !strings.Contains(status, want) {
			return nil, fmt.Errorf("%s: %s", status, rest)
		}
		return rest, nil
	}
}

// run reads until ctx ends. One that stalls comes back behind its last event.
func (s *client) run(ctx context.Context, connection net.Conn, o *connected) {
	for {
		err := s.read(ctx, connection, o)
		connection.Close()
		if ctx.Err() != nil {
			return
		}
		switch {
		case !s.plan.Stalls:
			s.received.Err = fmt.Sprint(err)
			return
		case s.slow:
			s.received.Told++
		default:
			s.received.Cut++
			s.received.Why = fmt.Sprint(err)
		}
		if connection, o, err = s.connect(ctx); err != nil {
			if ctx.Err() == nil {
				s.received.Err = err.Error()
			}
			return
		}
	}
}

// stallTime is how long a client does not read.
const stallTime = 8 * time.Second

// read reads until the stream or ctx ends.
func (s *client) read(ctx context.Context, connection net.Conn, o *connected) error {
	stop := context.AfterFunc(ctx, func() { _ = connection.SetReadDeadline(time.Now()) }) // it is closed then
	defer stop()
	var stalled <-chan struct{}
	if s.plan.Stalls {
		stalled = s.all.stalled
	}
	for {
		select {
		case <-stalled:
			stalled = nil
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(stallTime):
			}
		default:
		}
		n, err := connection.Read(o.buffer)
		if err == nil {
			err = s.take(o.parser, o.buffer[:n])
		}
		if err != nil {
			return err
		}
	}
}

// take notes the messages in what was read.
func (s *client) take(p parser, raw []byte) error {
	at := time.Now().UnixNano()
	var fault error
	err := p.take(raw, func(object []byte) {
		if err := s.message(object, at); err != nil && fault == nil {
			fault = err
		}
	})
	return errors.Join(fault, err)
}

func (s *client) message(object []byte, at int64) error {
	position, err := events.ParsePosition(string(member(object, "position")))
	if err != nil {
		return fmt.Errorf("%w in %s", err, object)
	}
	switch {
	case member(object, "status") != nil && !s.acked:
		if s.acked = true; s.last == (events.Position{}) {
			s.received.Begun, s.last = position, position
		}
	case member(object, "type") != nil:
		kind := slices.Index(Types, string(member(object, "type")))
		if kind < 0 {
			return fmt.Errorf("an event that nobody wanted: %s", object)
		}
		s.received.Events = append(s.received.Events, Event{position, uint8(kind), at})
		s.last = position
	default:
		if string(member(object, "error")) != "slow consumer" {
			return fmt.Errorf("unexpected: %s", object)
		}
		if s.slow = true; position != s.last {
			s.received.Moved++
		}
	}
	return nil
}
