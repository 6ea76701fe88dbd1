// Package litetest is lite servers for tests: a real one on blocks of a folder,
// and one that passes requests on to another and misbehaves when it is told to.
// They speak ADNL on loopback ports. It must never be used outside of tests.
package litetest

import (
	"context"
	"crypto/ed25519"
	"encoding/binary"
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/xssnick/tonutils-go/adnl"
	"github.com/xssnick/tonutils-go/liteclient"
	"github.com/xssnick/tonutils-go/tl"
	"github.com/xssnick/tonutils-go/ton"

	"tonscribe/internal/adnltcp"
)

// Request is a query with the order to wait that may stand in front of it.
type Request struct {
	Wait  *ton.WaitMasterchainSeqno
	Query any
}

// Handler answers a request. tl.Raw is sent as it is, nil is silence. The
// context ends with the connection.
type Handler func(ctx context.Context, r Request) any

// Server is an ADNL server.
type Server struct {
	key     ed25519.PrivateKey
	handler Handler
	address string

	mu       sync.Mutex
	listener net.Listener // nil when stopped
	conns    map[net.Conn]bool
	tasks    sync.WaitGroup
}

// Listen starts a server that ends with the test.
func Listen(t testing.TB, handler Handler) *Server {
	t.Helper()
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{key: key, handler: handler, address: "127.0.0.1:0", conns: map[net.Conn]bool{}}
	if err := s.Resume(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	return s
}

// Resume listens again after Stop, at the same port.
func (s *Server) Resume() error {
	listener, err := net.Listen("tcp", s.address)
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.listener, s.address = listener, listener.Addr().String()
	s.mu.Unlock()
	s.tasks.Go(func() { s.accept(listener) })
	return nil
}

// Stop closes the port and all connections, as a process that dies does.
func (s *Server) Stop() {
	s.mu.Lock()
	if s.listener != nil {
		_ = s.listener.Close()
		s.listener = nil
	}
	for conn := range s.conns {
		_ = conn.Close()
	}
	s.mu.Unlock()
	s.tasks.Wait()
}

func (s *Server) accept(listener net.Listener) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		stopped := s.listener != listener // after it was accepted
		if !stopped {
			s.conns[conn] = true
		}
		s.mu.Unlock()
		if stopped {
			_ = conn.Close()
			return
		}
		s.tasks.Go(func() {
			_ = s.serve(conn)
			_ = conn.Close()
			s.mu.Lock()
			delete(s.conns, conn)
			s.mu.Unlock()
		})
	}
}

func (s *Server) serve(conn net.Conn) error {
	c := &adnltcp.Stream{MaxPayload: 1 << 20, WriteTimeout: time.Minute}
	if err := c.Accept(conn, s.key); err != nil {
		return err
	}
	if err := c.Write(nil); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	var group sync.WaitGroup
	defer group.Wait()
	defer cancel()
	for {
		payload, err := c.Read()
		if err != nil {
			return err
		}
		var message any
		if _, err := tl.Parse(&message, payload, true); err != nil {
			return err
		}
		switch m := message.(type) {
		case liteclient.TCPPing:
			err = c.Send(liteclient.TCPPong(m))
		case adnl.MessageQuery:
			query, ok := m.Data.(liteclient.LiteServerQuery)
			if !ok {
				return errors.New("no lite server query")
			}
			group.Go(func() { s.answer(ctx, c, m.ID, query.Data) })
		}
		if err != nil {
			return err
		}
	}
}

func (s *Server) answer(ctx context.Context, c *adnltcp.Stream, id []byte, query any) {
	r := Request{Query: query}
	if list, ok := query.([]tl.Serializable); ok && len(list) == 2 {
		if wait, ok := list[0].(ton.WaitMasterchainSeqno); ok {
			r = Request{Wait: &wait, Query: list[1]}
		}
	}
	if answer := s.handler(ctx, r); answer != nil && ctx.Err() == nil {
		_ = c.Send(adnl.MessageAnswer{ID: id, Data: answer})
	}
}

// Address is where the server listens.
func (s *Server) Address() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.address
}

// Entry is the server's entry in a TON global config.
func (s *Server) Entry() map[string]any {
	host, err := net.ResolveTCPAddr("tcp", s.Address())
	if err != nil {
		panic(err)
	}
	return map[string]any{
		"ip": int32(binary.BigEndian.Uint32(host.IP.To4())), "port": host.Port,
		"id": map[string]any{"@type": "pub.ed25519", "key": []byte(s.key.Public().(ed25519.PublicKey))},
	}
}

// GlobalConfig writes a TON global config that names servers. zero and init may
// be nil.
func GlobalConfig(t testing.TB, zero, init *ton.BlockIDExt, servers ...*Server) string {
	t.Helper()
	var entries []any
	for _, s := range servers {
		entries = append(entries, s.Entry())
	}
	validator := map[string]any{"@type": "validator.config.global"}
	for name, id := range map[string]*ton.BlockIDExt{"zero_state": zero, "init_block": init} {
		if id != nil {
			validator[name] = map[string]any{
				"workchain": id.Workchain, "shard": id.Shard, "seqno": id.SeqNo, "root_hash": id.RootHash, "file_hash": id.FileHash,
			}
		}
	}
	text, err := json.Marshal(map[string]any{"@type": "config.global", "liteservers": entries, "validator": validator})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "global.config.json")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
