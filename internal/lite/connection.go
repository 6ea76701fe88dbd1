package lite

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/xssnick/tonutils-go/adnl"
	"github.com/xssnick/tonutils-go/liteclient"
	"github.com/xssnick/tonutils-go/tl"

	"tonscribe/internal/adnltcp"
	"tonscribe/internal/lifetime"
)

const (
	// maxPayload is more than any answer: a TL byte string ends at 16 MiB.
	maxPayload = 16<<20 + 960
	// pingEvery keeps a connection alive; a server that was silent for
	// silentFor is taken for dead.
	pingEvery = 5 * time.Second
	silentFor = 4 * pingEvery
	// writeTimeout bounds the sending of a request.
	writeTimeout = 7 * time.Second
)

var (
	errConnectionLost = errors.New("connection lost")
	answerID          = tl.CRC("adnl.message.answer query_id:int256 answer:bytes = adnl.Message")
)

// connection is ADNL over TCP with one server. It is a client of its own so that whatever a server sends is
// parsed where a failure is contained, and requests end with their connection.
type connection struct {
	tcp    net.Conn
	stream adnltcp.Stream

	mu      sync.Mutex
	waiting map[[32]byte]chan []byte
	lost    chan struct{} // closed when nothing more will arrive
	err     error         // set before lost is closed
}

// dial connects and shakes hands.
func dial(ctx context.Context, to endpoint) (*connection, error) {
	var dialer net.Dialer
	tcp, err := dialer.DialContext(ctx, "tcp", to.host)
	if err != nil {
		return nil, err
	}
	unblock := context.AfterFunc(ctx, func() { _ = tcp.SetDeadline(time.Unix(1, 0)) })
	c := &connection{tcp: tcp, waiting: map[[32]byte]chan []byte{}, lost: make(chan struct{}),
		stream: adnltcp.Stream{MaxPayload: maxPayload, WriteTimeout: writeTimeout}}
	err = c.stream.Connect(tcp, to.key)
	if !unblock() {
		err = errors.Join(ctx.Err(), err)
	}
	if err != nil {
		_ = tcp.Close()
		return nil, fmt.Errorf("handshake: %w", err)
	}
	return c, nil
}

// serve hands answers to those who wait for them until the connection is lost
// or ctx ends.
func (c *connection) serve(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(ctx, func() { _ = c.tcp.Close() })
	var pings sync.WaitGroup
	pings.Go(func() { c.ping(ctx) })
	err := c.receive()
	cancel()
	stop()
	_ = c.tcp.Close()
	c.mu.Lock()
	c.err = fmt.Errorf("%w: %w", errConnectionLost, err)
	c.mu.Unlock()
	close(c.lost)
	pings.Wait()
	return err
}

func (c *connection) receive() error {
	for {
		if err := c.tcp.SetReadDeadline(time.Now().Add(silentFor)); err != nil {
			return err
		}
		packet, err := c.stream.Read()
		if err != nil {
			return err
		}
		if len(packet) < 36 || binary.LittleEndian.Uint32(packet) != answerID {
			continue // pongs, and what nobody asked for
		}
		answer, _, err := tl.FromBytesNoCopy(packet[36:])
		if err != nil {
			return fmt.Errorf("answer: %w", err)
		}
		c.deliver([32]byte(packet[4:36]), answer)
	}
}

func (c *connection) deliver(id [32]byte, answer []byte) {
	c.mu.Lock()
	waiting := c.waiting[id]
	delete(c.waiting, id)
	c.mu.Unlock()
	if waiting != nil {
		waiting <- answer
	}
}

func (c *connection) ping(ctx context.Context) {
	for number := int64(1); lifetime.Sleep(ctx, pingEvery) == nil; number++ {
		if c.stream.Send(liteclient.TCPPing{RandomID: number}) != nil {
			_ = c.tcp.Close()
			return
		}
	}
}

// ask sends a serialised lite server request and gives the answer's bytes.
func (c *connection) ask(ctx context.Context, request []byte) ([]byte, error) {
	var id [32]byte
	rand.Read(id[:])
	payload, err := tl.Serialize(adnl.MessageQuery{ID: id[:], Data: liteclient.LiteServerQuery{Data: tl.Raw(request)}}, true)
	if err != nil {
		return nil, fmt.Errorf("request: %w", err)
	}
	answer := make(chan []byte, 1)
	c.mu.Lock()
	c.waiting[id] = answer
	c.mu.Unlock()
	defer c.deliver(id, nil)
	if err := c.stream.Write(payload); err != nil {
		return nil, fmt.Errorf("%w: %w", errConnectionLost, err)
	}
	select {
	case data := <-answer:
		return data, nil
	case <-c.lost:
		c.mu.Lock()
		defer c.mu.Unlock()
		return nil, c.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// parse reads a TL object. What a server sent may break the parser.
func parse(data []byte) (object any, err error) {
	err = guarded(func() error {
		var parsed tl.Serializable
		_, err := tl.Parse(&parsed, data, true)
		object = parsed
		return err
	})
	return object, err
}

// guarded turns a panic over a server's data into an error.
func guarded(check func() error) (err error) {
	defer func() {
		if problem := recover(); problem != nil {
			err = fmt.Errorf("malformed: %v", problem)
		}
	}()
	return check()
}
