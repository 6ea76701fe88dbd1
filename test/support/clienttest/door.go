package clienttest

import (
	"io"
	"net"
	"net/url"
	"sync"
	"testing"
)

// Door is a way to a database that can be shut: through is its DSN by that way. Once it
// is shut, connections break off, and nobody gets another.
func Door(t testing.TB, dsn string) (through string, shut func()) {
	t.Helper()
	to, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	open, passed := true, []net.Conn{}
	// lead keeps both ends of a connection, unless the door is shut.
	lead := func(in, out net.Conn) bool {
		mu.Lock()
		defer mu.Unlock()
		passed = append(passed, in, out)
		return open
	}
	shut = func() {
		l.Close()
		mu.Lock()
		defer mu.Unlock()
		open = false
		for _, c := range passed {
			c.Close()
		}
	}
	t.Cleanup(shut)
	server := to.Host
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", server)
			if err != nil {
				in.Close()
				continue
			}
			if !lead(in, out) {
				in.Close()
				out.Close()
				return
			}
			go func() { _, _ = io.Copy(in, out); in.Close() }()
			go func() { _, _ = io.Copy(out, in); out.Close() }()
		}
	}()
	to.Host = l.Addr().String()
	return to.String(), shut
}
