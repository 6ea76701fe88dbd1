package lite

import (
	"path/filepath"
	"testing"
	"time"

	"tonscribe/internal/lifetime/lifetimetest"
	"tonscribe/internal/report"
	"tonscribe/test/support/litetest"
	"tonscribe/test/support/realdata"
)

// Real blocks of mainnet: the first is a key block, the others are signed by the
// validators that it names.
const (
	firstSigned = 3082181
	lastSigned  = 3082201
)

func mainnet(t testing.TB, head uint32) *litetest.Signed {
	t.Helper()
	dir := realdata.Path(t)
	const set = "mainnet_mc3082181-3082201"
	return litetest.OpenSigned(t, filepath.Join(dir, "blocks", set), filepath.Join(dir, "proofs", set), firstSigned, head)
}

// quick is a configuration that is quick to give up and to try again.
func quick() Configuration {
	c := DefaultConfiguration()
	c.ReconnectMin, c.ReconnectMax = time.Millisecond, 20*time.Millisecond
	c.CoolOff, c.CoolOffMax = time.Hour, time.Hour
	c.Timeout = 20 * time.Second
	return c
}

// start runs a pool until the end of the test.
func start(t testing.TB, c Configuration) *Pool {
	t.Helper()
	p, err := New(c, Dependencies{Report: report.Silent()})
	if err != nil {
		t.Fatal(err)
	}
	lifetimetest.Run(t, p)
	return p
}

// follow runs a pool on servers with mainnet's signed blocks.
func follow(t testing.TB, chain *litetest.Signed, servers ...*litetest.Server) *Pool {
	t.Helper()
	c := quick()
	c.Config = litetest.GlobalConfig(t, nil, chain.Key(), servers...)
	return start(t, c)
}

// strikes is how often a server was left out.
func (p *Pool) strikes(server *litetest.Server) int {
	for _, s := range p.servers {
		if s.host == server.Address() {
			s.mu.Lock()
			defer s.mu.Unlock()
			return s.strikes
		}
	}
	return -1
}

// await returns once a condition holds that a change of the pool may bring.
func await(t testing.TB, p *Pool, what string, holds func() bool) {
	t.Helper()
	limit := time.After(time.Minute)
	for !holds() {
		select {
		case <-p.chain.changes():
		case <-time.After(10 * time.Millisecond): // not all that counts stirs the pool
		case <-limit:
			t.Fatalf("%s: not within a minute", what)
		}
	}
}

// goesFirst makes the first server the one that is asked first, once all are at
// the head.
func goesFirst(t testing.TB, p *Pool, head uint32) {
	t.Helper()
	await(t, p, "all servers are at the head", func() bool {
		for _, s := range p.servers {
			if s.stands(Query{}, 0, p.configuration).seqno != head {
				return false
			}
		}
		return true
	})
	for _, s := range p.servers[1:] {
		s.latency.answered(time.Minute)
	}
}
