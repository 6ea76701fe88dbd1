package liteserver

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

	"github.com/xssnick/tonutils-go/adnl/keys"
	"github.com/xssnick/tonutils-go/tl"
)

// ADNL over TCP. A client begins with 256 bytes: the id of the server's key, its
// own public key, a checksum, and 160 bytes under the key that both can compute,
// of which the two streams' ciphers are made. Then both send packets: length (4
// bytes, of what follows), nonce (32), payload, SHA-256 of nonce and payload. The
// first packet of the server is empty. tonutils-go has the parts, and a server;
// that one does not tell its port, ends the connection on a query that it does
// not know, and follows nested objects as deep as 16 MiB allow.

const (
	handshakeSize = 256
	frameSize     = 32 + 32
	// maxQuery is more than the largest query that is answered takes.
	maxQuery = 1 << 18
)

var (
	errHandshake = errors.New("handshake is not for this server")
	errPacket    = errors.New("packet is damaged or too large")
)

// ciphers of the two directions.
type ciphers struct{ in, out cipher.Stream }

// accept checks a handshake.
func accept(packet []byte, key ed25519.PrivateKey) (ciphers, error) {
	id, err := tl.Hash(keys.PublicKeyED25519{Key: key.Public().(ed25519.PublicKey)})
	if err != nil {
		return ciphers{}, err
	}
	if !bytes.Equal(packet[:32], id) {
		return ciphers{}, errHandshake
	}
	shared, err := keys.SharedKey(key, packet[32:64])
	if err != nil {
		return ciphers{}, fmt.Errorf("handshake: %w", err)
	}
	checksum, secret := packet[64:96], bytes.Clone(packet[96:])
	stream, err := keys.BuildSharedCipher(shared, checksum)
	if err != nil {
		return ciphers{}, fmt.Errorf("handshake: %w", err)
	}
	stream.XORKeyStream(secret, secret)
	if sum := sha256.Sum256(secret); !bytes.Equal(sum[:], checksum) {
		return ciphers{}, errHandshake
	}
	out, err := keys.NewCipherCtr(secret[:32], secret[64:80])
	if err != nil {
		return ciphers{}, err
	}
	in, err := keys.NewCipherCtr(secret[32:64], secret[80:96])
	return ciphers{in: in, out: out}, err
}

// readPacket reads the next packet's payload.
func readPacket(from io.Reader, stream cipher.Stream) ([]byte, error) {
	var length [4]byte
	if _, err := io.ReadFull(from, length[:]); err != nil {
		return nil, err
	}
	stream.XORKeyStream(length[:], length[:])
	size := binary.LittleEndian.Uint32(length[:])
	if size < frameSize || size > maxQuery+frameSize {
		return nil, errPacket
	}
	packet := make([]byte, size)
	if _, err := io.ReadFull(from, packet); err != nil {
		return nil, err
	}
	stream.XORKeyStream(packet, packet)
	body, checksum := packet[:size-32], packet[size-32:]
	if sum := sha256.Sum256(body); !bytes.Equal(sum[:], checksum) {
		return nil, errPacket
	}
	return body[32:], nil
}

// newPacket is a packet, still to be encrypted.
func newPacket(payload []byte) ([]byte, error) {
	packet := make([]byte, 4+32, 4+frameSize+len(payload))
	binary.LittleEndian.PutUint32(packet, uint32(frameSize+len(payload)))
	if _, err := rand.Read(packet[4:]); err != nil {
		return nil, err
	}
	packet = append(packet, payload...)
	sum := sha256.Sum256(packet[4:])
	return append(packet, sum[:]...), nil
}
