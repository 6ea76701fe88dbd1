package adnltcp

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"net"
	"testing"
	"time"
)

// connected are both ends of a connection after the handshake; the server is known to the
// client by a key. err is what ended the handshake of the server.
func connected(t *testing.T, known, key ed25519.PrivateKey, maxPayload int) (client, server *Stream, err error) {
	t.Helper()
	near, far := net.Pipe()
	t.Cleanup(func() { near.Close(); far.Close() })
	client = &Stream{MaxPayload: maxPayload, WriteTimeout: time.Minute}
	server = &Stream{MaxPayload: maxPayload, WriteTimeout: time.Minute}
	accepted := make(chan error, 1)
	go func() {
		err := server.Accept(far, key)
		if err == nil {
			err = server.Write(nil)
		}
		if err != nil {
			far.Close()
		}
		accepted <- err
	}()
	connectErr := client.Connect(near, known.Public().(ed25519.PublicKey))
	if err = <-accepted; err == nil && connectErr != nil {
		t.Fatalf("the server accepted, the client: %v", connectErr)
	}
	return client, server, err
}

func newKey(b byte) ed25519.PrivateKey { return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{b}, 32)) }

func TestPayloadsArriveAsTheyWereSentInBothDirections(t *testing.T) {
	client, server, err := connected(t, newKey(1), newKey(1), 100)
	if err != nil {
		t.Fatal(err)
	}
	for name, ends := range map[string][2]*Stream{"up": {client, server}, "down": {server, client}} {
		for _, payload := range []string{"", "a", string(bytes.Repeat([]byte{7}, 100))} {
			sent := make(chan error, 1)
			go func() { sent <- ends[0].Write([]byte(payload)) }()
			if got, err := ends[1].Read(); err != nil || string(got) != payload {
				t.Errorf("%s: got %q (%v), want %q", name, got, err, payload)
			}
			if err := <-sent; err != nil {
				t.Errorf("%s: sending: %v", name, err)
			}
		}
	}
}

func TestAHandshakeForAnotherServerIsRefused(t *testing.T) {
	if _, _, err := connected(t, newKey(2), newKey(1), 100); !errors.Is(err, errHandshake) {
		t.Errorf("got %v, want %v", err, errHandshake)
	}
}

func TestAPacketThatIsTooLargeOrDamagedIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		size    int
		damaged bool
	}{"a byte too large": {101, false}, "damaged": {100, true}} {
		client, server, err := connected(t, newKey(1), newKey(1), 100)
		if err != nil {
			t.Fatal(err)
		}
		if c.damaged {
			client.conn = damaging{client.conn}
		}
		go client.Write(make([]byte, c.size))
		if got, err := server.Read(); !errors.Is(err, ErrPacket) {
			t.Errorf("%s: got %d bytes (%v), want %v", name, len(got), err, ErrPacket)
		}
	}
}

// damaging turns over a bit of the last byte of what is written.
type damaging struct{ net.Conn }

func (d damaging) Write(data []byte) (int, error) {
	other := bytes.Clone(data)
	other[len(other)-1] ^= 1
	return d.Conn.Write(other)
}
