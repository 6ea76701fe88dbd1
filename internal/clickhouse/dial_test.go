package clickhouse

import (
	"crypto/tls"
	"net"
	"testing"

	driver "github.com/ClickHouse/clickhouse-go/v2"
)

// A connection that is being made while a server is asked for its life may be to the next one.
func TestAConnectionThatIsBeingMadeIsNotOfTheLifeThatIsKnown(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	c := &Client{options: driver.Options{Protocol: driver.Native, TLS: &tls.Config{InsecureSkipVerify: true}}} //nolint:gosec // nobody answers
	made := make(chan struct{})
	go func() {
		defer close(made)
		_, _ = c.dial(t.Context(), listener.Addr().String())
	}()
	conn, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	known := &life{name: "a", dials: c.lives.dials.Load()}
	if !c.goesOn(known) {
		t.Error("a life that was asked for just now does not go on")
	}
	conn.Close()
	<-made
	if c.goesOn(known) {
		t.Error("a connection that was made since is taken for one to the same life")
	}
}
