package live

import (
	"errors"
	"net"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestAConnectionEndsWhenItsPeerHasVanished(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	client, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	c, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	// The peer is there, and reads nothing: with the window closed nothing is acknowledged.
	if err := c.(*net.TCPConn).SetWriteBuffer(4 << 10); err != nil {
		t.Fatal(err)
	}
	if err := endWhenVanished(c, time.Second); err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = c.Write(make([]byte, 64<<10))
	}
	if timeout, is := errors.AsType[net.Error](err); !is || !timeout.Timeout() {
		t.Errorf("writing ends by %v, want %v", err, unix.ETIMEDOUT)
	}
}
