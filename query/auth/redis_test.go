package auth

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"tonscribe/internal/ratelimit"
	"tonscribe/internal/report"
	"tonscribe/test/support/harness"
)

// redisServer is a real Redis of the test's own.
type redisServer struct {
	testing.TB
	port, dir string
	process   *exec.Cmd
}

const redisPassword = "not-to-be-shown"

func newRedis(t testing.TB) *redisServer {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		const text = "redis-server is not there: install Redis (apt-get install redis-server)"
		if strings.Contains(os.Getenv("TONSCRIBE_TEST_REQUIRE"), "redis") {
			t.Fatal(text)
		}
		t.Skip(text)
	}
	s := &redisServer{TB: t, port: strconv.Itoa(harness.FreePort(t)), dir: t.TempDir()}
	s.start()
	t.Cleanup(s.kill)
	return s
}

func (s *redisServer) start() {
	s.Helper()
	s.process = exec.Command("redis-server", "--port", s.port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
		"--dir", s.dir, "--requirepass", redisPassword)
	if err := s.process.Start(); err != nil {
		s.Fatal(err)
	}
	options, err := redis.ParseURL(s.url())
	if err != nil {
		s.Fatal(err)
	}
	client := redis.NewClient(options)
	defer client.Close()
	for client.Ping(s.Context()).Err() != nil {
		if s.Context().Err() != nil {
			s.Fatal("redis-server does not answer")
		}
		time.Sleep(time.Millisecond)
	}
}

func (s *redisServer) kill() {
	if s.process.ProcessState == nil {
		_ = s.process.Process.Kill()
		_ = s.process.Wait()
	}
}

func (s *redisServer) signal(what syscall.Signal) {
	s.Helper()
	if err := s.process.Process.Signal(what); err != nil {
		s.Fatal(err)
	}
}

func (s *redisServer) url() string {
	return fmt.Sprintf("redis://:%s@127.0.0.1:%s/0", redisPassword, s.port)
}

func TestReplicasShareTheirLimitsInRedis(t *testing.T) {
	w, r := newWorld(t), newRedis(t)
	secret, _ := w.key(slow, 4)
	unlimited, _ := w.key(0, 1)
	both := func(c *Configuration) {
		c.Redis, c.AnonymousRate, c.AnonymousBurst = r.url(), slow, 2
	}
	a, b := w.serve(both), w.serve(both)
	for range 2 {
		a.want("key, one replica", a.ask("/api/v3/blocks", secret), 200, "")
		b.want("key, other replica", b.ask("/api/v3/blocks", secret), 200, "")
	}
	a.wantLimited("key, one replica", a.ask("/api/v3/blocks", secret))
	b.wantLimited("key, other replica", b.ask("/api/v3/blocks", secret))
	a.want("no limit", a.ask("/api/v3/blocks", unlimited), 200, "")

	a.want("address, one replica", a.from("2001:db8::1", "/api/v3/blocks", ""), 200, "")
	b.want("address, other replica", b.from("2001:db8::2", "/api/v3/blocks", ""), 200, "")
	a.wantLimited("address, one replica", a.from("2001:db8::3", "/api/v3/blocks", ""))
	b.want("another address", b.from("192.0.2.7", "/api/v3/blocks", ""), 200, "")

	elsewhere := w.serve(func(c *Configuration) { both(c); c.Network = "testnet" })
	elsewhere.want("another network on the same Redis", elsewhere.ask("/api/v3/blocks", secret), 200, "")
}

func TestWithoutRedisLimitsAreThoseOfEachReplicaUntilItIsBack(t *testing.T) {
	w, r := newWorld(t), newRedis(t)
	a := w.serve(func(c *Configuration) { c.Redis, c.AnonymousRate, c.AnonymousBurst = r.url(), slow, 1 })
	fresh := 0
	address := func() string {
		fresh++
		return fmt.Sprintf("198.51.%d.%d", fresh/256, fresh%256)
	}
	limitedAlone := func(when string) {
		t.Helper()
		from := address()
		a.want(when, a.from(from, "/api/v3/blocks", ""), 200, "")
		a.wantLimited(when, a.from(from, "/api/v3/blocks", ""))
	}
	limitedAlone("with Redis")
	if n := value(a.metrics.redisFailures); n != 0 {
		t.Errorf("%v failures with Redis there", n)
	}
	r.kill()
	limitedAlone("Redis is gone")
	limitedAlone("Redis is still gone")
	if n := value(a.metrics.redisFailures); n == 0 {
		t.Error("no failure is counted while Redis is gone")
	}
	r.start()
	for before := -1.0; before != value(a.metrics.redisFailures); { // asked again after a pause
		before = value(a.metrics.redisFailures)
		a.from(address(), "/api/v3/blocks", "")
		time.Sleep(time.Millisecond)
	}
	b := w.serve(func(c *Configuration) { c.Redis, c.AnonymousRate, c.AnonymousBurst = r.url(), slow, 1 })
	from := address()
	a.want("Redis is back, one replica", a.from(from, "/api/v3/blocks", ""), 200, "")
	b.wantLimited("Redis is back, other replica", b.from(from, "/api/v3/blocks", ""))
}

func TestAStalledRedisHoldsNoRequestForLong(t *testing.T) {
	w, r := newWorld(t), newRedis(t)
	s := w.serve(func(c *Configuration) {
		c.Redis, c.RedisTimeout, c.AnonymousRate = r.url(), 50*time.Millisecond, slow
	})
	r.signal(syscall.SIGSTOP)
	defer r.signal(syscall.SIGCONT)
	for n := range 200 { // each of them waiting would be ten seconds
		from := fmt.Sprintf("203.0.113.%d", n)
		s.want("stalled", s.from(from, "/api/v3/blocks", ""), 200, "")
	}
	if n := value(s.metrics.redisFailures); n != 200 {
		t.Errorf("%v requests were counted without Redis, want 200", n)
	}
}

func TestTheRedisScriptIsTheLocalRule(t *testing.T) {
	r := newRedis(t)
	c := DefaultConfiguration()
	c.Redis, c.RedisTimeout = r.url(), 10*time.Second
	s, err := newShared(c, report.Silent())
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	limit := ratelimit.New(slow, 3)
	for n := range 5 {
		wait, err := s.take(t.Context(), "someone", limit)
		if err != nil || (wait > 0) != (n >= 3) || wait > limit.Interval {
			t.Errorf("request %d: wait %s %v", n, wait, err)
		}
	}
	left, err := s.client.PTTL(t.Context(), s.prefix+"someone").Result()
	if most := 3 * limit.Interval; err != nil || left <= 0 || left > most {
		t.Errorf("the state is kept for %s %v, want up to %s", left, err, most)
	}
	// A state from before the server's clock was set back must not lock out for longer.
	ahead := time.Now().Add(1000 * time.Hour).UnixMicro()
	if err := s.client.Set(t.Context(), s.prefix+"clock", ahead, 0).Err(); err != nil {
		t.Fatal(err)
	}
	if wait, err := s.take(t.Context(), "clock", limit); err != nil || wait > limit.Interval {
		t.Errorf("after the clock was set back: wait %s %v, want up to %s", wait, err, limit.Interval)
	}
}
