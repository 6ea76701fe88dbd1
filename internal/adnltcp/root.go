// Package adnltcp is ADNL over TCP: a connection with a lite server, of either end.
//
// In: a connection, and the server's key. Out: the payloads of packets, each checked. The
// package must never know what payloads mean, and never holds more of a peer than a packet.
//
// A client begins with 256 bytes: the id of the server's key, its own public key, a
// checksum, and 160 bytes under the key that both can compute, of which the ciphers of
// the two directions are made. Then both send packets: length (4 bytes, of what follows),
// nonce (32), payload, SHA-256 of nonce and payload. The first of the server is empty.
package adnltcp

import (
	"bytes"
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

	"github.com/xssnick/tonutils-go/adnl/keys"
	"github.com/xssnick/tonutils-go/tl"
)

// ErrPacket is the error of a packet that is damaged or too large, errHandshake that of a
// handshake that is not for the server.
var (
	ErrPacket    = errors.New("packet is damaged or too large")
	errHandshake = errors.New("handshake is not for this server")
)

const (
	secretSize = 160
	frameSize  = 32 + 32
)

// Stream is one end of a connection.
type Stream struct {
	// MaxPayload is the largest payload that is taken, WriteTimeout bounds the sending of one.
	MaxPayload   int
	WriteTimeout time.Duration

	conn    net.Conn
	in, out cipher.Stream
	writing sync.Mutex
}

// Connect shakes hands with a server.
func (s *Stream) Connect(conn net.Conn, server ed25519.PublicKey) error {
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		return err
	}
	secret := make([]byte, secretSize)
	rand.Read(secret)
	sum := sha256.Sum256(secret)
	id, stream, err := keyed(server, private, server, sum[:])
	if err != nil {
		return err
	}
	s.conn = conn
	if s.in, s.out, err = directions(secret); err != nil {
		return err
	}
	stream.XORKeyStream(secret, secret)
	if err := s.send(slices.Concat(id, public, sum[:], secret)); err != nil {
		return err
	}
	first, err := s.Read()
	if err == nil && len(first) != 0 {
		err = fmt.Errorf("the server answered with %d bytes instead of an empty packet", len(first))
	}
	return err
}

// Accept takes the handshake of a client. It is left to the caller to answer with an empty
// packet.
func (s *Stream) Accept(conn net.Conn, key ed25519.PrivateKey) error {
	hello := make([]byte, 3*32+secretSize)
	if _, err := io.ReadFull(conn, hello); err != nil {
		return err
	}
	checksum, secret := hello[64:96], hello[96:]
	id, stream, err := keyed(key.Public().(ed25519.PublicKey), key, hello[32:64], checksum)
	if err != nil {
		return fmt.Errorf("handshake: %w", err)
	}
	stream.XORKeyStream(secret, secret)
	if sum := sha256.Sum256(secret); !bytes.Equal(hello[:32], id) || !bytes.Equal(sum[:], checksum) {
		return errHandshake
	}
	s.conn = conn
	s.out, s.in, err = directions(secret)
	return err
}

// keyed returns the id of a server's key, and the cipher that both ends of a handshake can
// compute of their own key, the other's, and the checksum.
func keyed(server ed25519.PublicKey, own ed25519.PrivateKey, other ed25519.PublicKey, checksum []byte) (id []byte, stream cipher.Stream, err error) {
	if id, err = tl.Hash(keys.PublicKeyED25519{Key: server}); err != nil {
		return nil, nil, err
	}
	shared, err := keys.SharedKey(own, other)
	if err != nil {
		return nil, nil, err
	}
	stream, err = keys.BuildSharedCipher(shared, checksum)
	return id, stream, err
}

// directions are the ciphers of what the server sends and of what it gets.
func directions(secret []byte) (down, up cipher.Stream, err error) {
	if down, err = keys.NewCipherCtr(secret[:32], secret[64:80]); err != nil {
		return nil, nil, err
	}
	up, err = keys.NewCipherCtr(secret[32:64], secret[80:96])
	return down, up, err
}

// Read reads the payload of the next packet. One goroutine at a time may.
func (s *Stream) Read() ([]byte, error) {
	var length [4]byte
	if _, err := io.ReadFull(s.conn, length[:]); err != nil {
		return nil, err
	}
	s.in.XORKeyStream(length[:], length[:])
	size := int(binary.LittleEndian.Uint32(length[:]))
	if size < frameSize || size > s.MaxPayload+frameSize {
		return nil, fmt.Errorf("%w: %d bytes", ErrPacket, size)
	}
	packet := make([]byte, size)
	if _, err := io.ReadFull(s.conn, packet); err != nil {
		return nil, err
	}
	s.in.XORKeyStream(packet, packet)
	body, checksum := packet[:size-32], packet[size-32:]
	if sum := sha256.Sum256(body); !bytes.Equal(sum[:], checksum) {
		return nil, fmt.Errorf("%w: wrong checksum", ErrPacket)
	}
	return body[32:], nil
}

// Write sends a packet.
func (s *Stream) Write(payload []byte) error {
	packet := make([]byte, 4+32, 4+frameSize+len(payload))
	binary.LittleEndian.PutUint32(packet, uint32(frameSize+len(payload)))
	rand.Read(packet[4:])
	packet = append(packet, payload...)
	sum := sha256.Sum256(packet[4:])
	packet = append(packet, sum[:]...)
	s.writing.Lock()
	defer s.writing.Unlock()
	s.out.XORKeyStream(packet, packet)
	return s.send(packet)
}

// send writes bytes, or ends the connection: what the other end gets after a part of them
// it cannot decrypt.
func (s *Stream) send(data []byte) error {
	err := s.conn.SetWriteDeadline(time.Now().Add(s.WriteTimeout))
	if err == nil {
		_, err = s.conn.Write(data)
	}
	if err != nil {
		_ = s.conn.Close()
	}
	return err
}

// Send sends a TL object as the payload of a packet.
func (s *Stream) Send(message tl.Serializable) error {
	payload, err := tl.Serialize(message, true)
	if err != nil {
		return err
	}
	return s.Write(payload)
}
