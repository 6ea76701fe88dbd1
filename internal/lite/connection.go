package lite

import (
	"context"
	"crypto/cipher"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/xssnick/tonutils-go/adnl"
	"github.com/xssnick/tonutils-go/adnl/keys"
	"github.com/xssnick/tonutils-go/liteclient"
	"github.com/xssnick/tonutils-go/tl"

	"tonscribe/internal/lifetime"
)

const (
	// maxPacket is the largest packet taken: a TL byte string ends at 16 MiB.
	maxPacket = 16<<20 + 1024
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

// connection is ADNL over TCP (ADNL-TCP: an encrypted stream of packets) with
// one server. It is a client of its own so that whatever a server sends is
// parsed where a failure is contained, and requests end with their connection.
type connection struct {
	tcp     net.Conn
	in, out cipher.Stream
	writing sync.Mutex

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
	c := &connection{tcp: tcp, waiting: map[[32]byte]chan []byte{}, lost: make(chan struct{})}
	err = c.handshake(to.key)
	if !unblock() {
		err = errors.Join(ctx.Err(), err)
	}
	if err != nil {
		_ = tcp.Close()
		return nil, fmt.Errorf("handshake: %w", err)
	}
	return c, nil
}

// handshake sends 160 random bytes, from which both sides take the keys of the
// stream, encrypted for the server's key. The answer is an empty packet.
func (c *connection) handshake(server ed25519.PublicKey) error {
	var random [160]byte
	if _, err := io.ReadFull(rand.Reader, random[:]); err != nil {
		return err
	}
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		return err
	}
	if c.in, err = keys.NewCipherCtr(random[:32], random[64:80]); err != nil {
		return err
	}
	if c.out, err = keys.NewCipherCtr(random[32:64], random[80:96]); err != nil {
		return err
	}
	hello, err := sealed(random[:], public, private, server)
	if err != nil {
		return err
	}
	if err := c.tcp.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return err
	}
	if _, err := c.tcp.Write(hello); err != nil {
		return err
	}
	first, err := c.read()
	if err == nil && len(first) != 0 {
		err = fmt.Errorf("the server answered with %d bytes instead of an empty packet", len(first))
	}
	return err
}

func sealed(random []byte, public ed25519.PublicKey, private ed25519.PrivateKey, server ed25519.PublicKey) ([]byte, error) {
	id, err := tl.Hash(keys.PublicKeyED25519{Key: server})
	if err != nil {
		return nil, err
	}
	shared, err := keys.SharedKey(private, server)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(random)
	stream, err := keys.BuildSharedCipher(shared, sum[:])
	if err != nil {
		return nil, err
	}
	hello := slices.Concat(id, public, sum[:], random)
	stream.XORKeyStream(hello[len(hello)-len(random):], random)
	return hello, nil
}

// read takes one packet: length, nonce of 32 bytes, payload, SHA-256 of both.
func (c *connection) read() ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(c.tcp, head[:]); err != nil {
		return nil, err
	}
	c.in.XORKeyStream(head[:], head[:])
	size := binary.LittleEndian.Uint32(head[:])
	if size < 64 || size > maxPacket {
		return nil, fmt.Errorf("packet of %d bytes", size)
	}
	packet := make([]byte, size)
	if _, err := io.ReadFull(c.tcp, packet); err != nil {
		return nil, err
	}
	c.in.XORKeyStream(packet, packet)
	body, sum := packet[:size-32], packet[size-32:]
	if want := sha256.Sum256(body); want != [32]byte(sum) {
		return nil, errors.New("packet with a wrong checksum")
	}
	return body[32:], nil
}

func (c *connection) write(payload []byte) error {
	packet := make([]byte, 36, 36+len(payload)+32)
	binary.LittleEndian.PutUint32(packet, uint32(64+len(payload)))
	if _, err := io.ReadFull(rand.Reader, packet[4:36]); err != nil {
		return err
	}
	packet = append(packet, payload...)
	sum := sha256.Sum256(packet[4:])
	packet = append(packet, sum[:]...)
	c.writing.Lock()
	defer c.writing.Unlock()
	c.out.XORKeyStream(packet, packet)
	if err := c.tcp.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return err
	}
	_, err := c.tcp.Write(packet)
	if err != nil {
		_ = c.tcp.Close() // the stream of the cipher is broken
	}
	return err
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
		packet, err := c.read()
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
		payload, err := tl.Serialize(liteclient.TCPPing{RandomID: number}, true)
		if err != nil || c.write(payload) != nil {
			_ = c.tcp.Close()
			return
		}
	}
}

// ask sends a serialised lite server request and gives the answer's bytes.
func (c *connection) ask(ctx context.Context, request []byte) ([]byte, error) {
	var id [32]byte
	if _, err := io.ReadFull(rand.Reader, id[:]); err != nil {
		return nil, err
	}
	payload, err := tl.Serialize(adnl.MessageQuery{ID: id[:], Data: liteclient.LiteServerQuery{Data: tl.Raw(request)}}, true)
	if err != nil {
		return nil, fmt.Errorf("request: %w", err)
	}
	answer := make(chan []byte, 1)
	c.mu.Lock()
	c.waiting[id] = answer
	c.mu.Unlock()
	defer c.deliver(id, nil)
	if err := c.write(payload); err != nil {
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
