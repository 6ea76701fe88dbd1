package live

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// wire is the connection of a stream, taken over from the HTTP server, whose buffers and
// stack a stream can do without. Everything is written to it in whole frames or chunks.
type wire struct {
	net.Conn
	timeout time.Duration
	mu      sync.Mutex
}

// Write is net.Conn's: for what the WebSocket's library writes, which are whole frames.
func (w *wire) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.write(b)
}

func (w *wire) write(b []byte) (int, error) {
	if err := w.SetWriteDeadline(time.Now().Add(w.timeout)); err != nil {
		return 0, err
	}
	return w.Conn.Write(b)
}

// takeOver takes the connection of a request from its server, with what the server has
// read of it already.
func (c *Component) takeOver(w http.ResponseWriter) (*wire, []byte, error) {
	connection, both, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return nil, nil, err
	}
	read, err := both.Reader.Peek(both.Reader.Buffered())
	if err != nil {
		connection.Close()
		return nil, nil, err
	}
	if err := endWhenVanished(connection, 2*quietTimes*c.configuration.KeepAlive); err != nil {
		connection.Close()
		return nil, nil, err
	}
	return &wire{Conn: connection, timeout: c.configuration.WriteTimeout}, bytes.Clone(read), nil
}

// Sizes of the buffers of a WebSocket's connection: frames of clients are short, and those
// that the library writes are pings, pongs and closes.
const (
	socketReads  = 512
	socketWrites = 256
)

// upgrading is an answer whose connection is taken over with small buffers.
type upgrading struct {
	http.ResponseWriter
	c    *Component
	wire *wire
}

// Hijack is http.Hijacker's.
func (u *upgrading) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	if held, ok := u.ResponseWriter.(interface{ WriteHeaderNow() }); ok {
		held.WriteHeaderNow()
	}
	w, read, err := u.c.takeOver(u.ResponseWriter)
	if err != nil {
		return nil, nil, err
	}
	u.wire = w
	var from io.Reader = w
	if len(read) > 0 {
		from = io.MultiReader(bytes.NewReader(read), w)
	}
	reader := bufio.NewReaderSize(from, max(socketReads, len(read)))
	_, err = reader.Peek(len(read))
	return w, bufio.NewReadWriter(reader, bufio.NewWriterSize(w, socketWrites)), err
}

// packet is what is written at once.
type packet struct {
	to   *wire
	head []byte // of the next part
	raw  []byte
	err  error
}

// packetBytes is how large a packet is that has several parts. A client that does not
// read has one.
const packetBytes = 16 << 10

var packets = sync.Pool{New: func() any { return &packet{raw: make([]byte, 0, packetBytes)} }}

// pack begins to write to a connection. Nobody else does until done is called.
func (w *wire) pack() *packet {
	w.mu.Lock()
	p := packets.Get().(*packet)
	p.to = w
	return p
}

// done writes what is left.
func (p *packet) done() error {
	p.flush()
	p.to.mu.Unlock()
	err := p.err
	p.to, p.err = nil, nil
	packets.Put(p)
	return err
}

func (p *packet) flush() {
	if len(p.raw) > 0 {
		p.write(p.raw)
		p.raw = p.raw[:0]
	}
}

func (p *packet) write(raw []byte) {
	if p.err == nil {
		_, p.err = p.to.write(raw)
	}
}

// add adds a part, of which the body is not copied where it is large.
func (p *packet) add(head, body []byte, tail string) {
	n := len(head) + len(body) + len(tail)
	if len(p.raw)+n > packetBytes {
		p.flush()
	}
	p.raw = append(p.raw, head...)
	if n > packetBytes {
		p.flush()
		p.write(body)
	} else {
		p.raw = append(p.raw, body...)
	}
	p.raw = append(p.raw, tail...)
}

// text adds a frame of a WebSocket with a text (RFC 6455, 5.2).
func (p *packet) text(body []byte) {
	const final, text = 0x80, 0x1
	p.head = append(p.head[:0], final|text)
	switch n := len(body); {
	case n < 126:
		p.head = append(p.head, byte(n))
	case n < 1<<16:
		p.head = append(p.head, 126, byte(n>>8), byte(n))
	default:
		p.head = append(p.head, 127, 0, 0, 0, 0, byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
	}
	p.add(p.head, body, "")
}

// ping adds a ping.
func (p *packet) ping() {
	const final, ping = 0x80, 0x9
	p.raw = append(p.raw, final|ping, 0)
}

var errNoTakeOver = errors.New("a stream needs a connection of its own: use HTTP/1.1")
