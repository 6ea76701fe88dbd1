package strangers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	// held is how many connections one stranger keeps open.
	held = 100
	// closedWithin is when a server must have closed what does not go on: its
	// deadline for a step and some more.
	closedWithin = 25 * time.Second
	// strangersAddress is where those connect from. Connections are counted by
	// address, and a bystander has another one.
	strangersAddress = "127.0.0.3"
)

// connections opens held connections, begins a request on each and looks after
// them until ctx or the server ends them.
func connections(at *target, request string, read func(net.Conn) error) shot {
	host := strings.TrimPrefix(at.base, "http://")
	return func(ctx context.Context) error {
		dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(strangersAddress)}}
		failures := make([]error, held)
		var group sync.WaitGroup
		for i := range held {
			group.Go(func() {
				c, err := dialer.DialContext(ctx, "tcp", host)
				if err != nil {
					return // refused: there are enough of them
				}
				defer c.Close()
				defer context.AfterFunc(ctx, func() { c.Close() })()
				if _, err := io.WriteString(c, request); err != nil {
					return
				}
				c.SetReadDeadline(time.Now().Add(closedWithin))
				if err := read(c); errors.Is(err, os.ErrDeadlineExceeded) {
					failures[i] = fmt.Errorf("a connection is open after %s", closedWithin)
				}
			})
		}
		group.Wait()
		return errors.Join(failures...)
	}
}

// halfBodies send the beginning of a body, and nothing more.
var halfBodies = attack{"half-sent bodies", 2, func(_ *testing.T, at *target) shot {
	return connections(at, "POST /api/v3/message HTTP/1.1\r\nHost: x\r\nX-API-Key: "+at.key+"\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n{\"boc\":\"",
		func(c net.Conn) error {
			_, err := io.Copy(io.Discard, c)
			return err
		})
}}

// slowReaders ask for much and take a byte now and then. Whether they are closed
// depends on what they got: after a refusal they wait for their next request.
var slowReaders = attack{"slow readers", 2, func(_ *testing.T, at *target) shot {
	ask := "GET /api/v3/transactions?limit=1000 HTTP/1.1\r\nHost: x\r\nX-API-Key: " + at.key + "\r\n\r\n"
	return connections(at, ask+ask+ask, func(c net.Conn) error {
		c.(*net.TCPConn).SetReadBuffer(2048)
		for {
			if _, err := c.Read(make([]byte, 1)); err != nil {
				return nil // its time is over, or the server has closed it
			}
			time.Sleep(time.Second)
		}
	})
}}
