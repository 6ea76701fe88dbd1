package live

import (
	"net"
	"time"

	"golang.org/x/sys/unix"
)

// endWhenVanished ends a connection whose peer has acknowledged nothing for a time (RFC
// 5482), as of a client that lost its network: what is sent to it now and then would wait
// for a quarter of an hour.
func endWhenVanished(c net.Conn, after time.Duration) error {
	if outer, is := c.(interface{ NetConn() net.Conn }); is { // TLS
		c = outer.NetConn()
	}
	connection, is := c.(*net.TCPConn)
	if !is {
		return nil
	}
	raw, err := connection.SyscallConn()
	if err != nil {
		return err
	}
	var set error
	err = raw.Control(func(fd uintptr) {
		set = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(after.Milliseconds()))
	})
	if err == nil {
		err = set
	}
	return err
}
