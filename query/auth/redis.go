package auth

import (
	"context"
	"encoding/binary"
	"errors"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/redis/go-redis/v9/maintnotifications"

	"tonscribe/internal/ratelimit"
	"tonscribe/internal/report"
)

// shared holds limits over all replicas, in Redis. Redis may go away at any
// time: take then fails at once, until a try after a pause succeeds.
type shared struct {
	client  *redis.Client
	report  report.Reporter
	prefix  string
	timeout time.Duration
	began   time.Time
	away    atomic.Int64 // until when Redis is not asked, in time since began; 0 while it answers

	mu       sync.Mutex
	reported bool // that it does not answer
}

// awayPause is how long Redis is left alone after it failed. One request in
// that time waits for it.
const awayPause = time.Second

func newShared(c Configuration, r report.Reporter) (*shared, error) {
	if c.Redis == "" {
		return nil, nil
	}
	options, err := redis.ParseURL(c.Redis)
	if err != nil {
		// The error would repeat the password.
		return nil, errors.New("want redis://user:password@host:port/db, or rediss: for TLS")
	}
	options.MaxRetries = -1
	options.DialerRetries = 1
	options.DialTimeout, options.ReadTimeout, options.WriteTimeout, options.PoolTimeout = c.RedisTimeout, c.RedisTimeout, c.RedisTimeout, c.RedisTimeout
	options.ContextTimeoutEnabled = true
	options.ReadBufferSize, options.WriteBufferSize = 4096, 4096
	options.PipelinePoolSize = -1
	options.DisableIdentity = true
	options.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	logging.Disable() // it would write to standard error; failures are reported below
	return &shared{
		client: redis.NewClient(options), report: r, prefix: "tonscribe:" + c.Network + ":limit:", timeout: c.RedisTimeout, began: time.Now(),
	}, nil
}

// check is what ratelimit does, on the server, by the server's clock, in microseconds. A
// state that is further ahead than can be is from before the clock was set back.
var check = redis.NewScript(`
local clock = redis.call('TIME')
local now = clock[1] * 1000000 + clock[2]
local interval, tolerance = tonumber(ARGV[1]), tonumber(ARGV[2])
local even = tonumber(redis.call('GET', KEYS[1]) or now)
even = math.min(math.max(even, now), now + tolerance + interval)
local wait = even - now - tolerance
if wait > 0 then
	return math.ceil(wait)
end
even = even + interval
redis.call('SET', KEYS[1], string.format('%.0f', even), 'PX', math.ceil((even - now) / 1000))
return 0
`)

var errAway = errors.New("redis does not answer")

// take is how long a request has to wait, or that Redis does not answer.
func (s *shared) take(ctx context.Context, name string, r ratelimit.Rule) (time.Duration, error) {
	now := time.Since(s.began)
	away := s.away.Load()
	if away > 0 && (int64(now) < away || !s.away.CompareAndSwap(away, int64(now+awayPause))) {
		return 0, errAway
	}
	within, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	wait, err := check.Run(within, s.client, []string{s.prefix + name}, r.Interval.Microseconds(), r.Tolerance.Microseconds()).Int64()
	switch {
	case err == nil:
		if away > 0 {
			s.away.CompareAndSwap(int64(now+awayPause), 0)
			s.reportState(nil)
		}
		return time.Duration(wait) * time.Microsecond, nil
	case ctx.Err() == nil: // not the client that has gone
		s.away.Store(int64(time.Since(s.began) + awayPause))
		s.reportState(err)
	}
	return 0, errAway
}

// reportState logs when Redis goes away and when it is back.
func (s *shared) reportState(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch away := err != nil; {
	case away == s.reported:
	case away:
		s.report.Log.Warn().Err(err).Msg("redis does not answer: limits are those of this replica alone until it does")
		s.reported = true
	default:
		s.report.Log.Info().Msg("redis is back: limits are shared again")
		s.reported = false
	}
}

func (s *shared) close() error {
	if s == nil {
		return nil
	}
	return s.client.Close()
}

// name of an address in Redis.
func (a address) name() string {
	var full [16]byte
	binary.BigEndian.PutUint64(full[:8], a.high)
	binary.BigEndian.PutUint64(full[8:], a.low)
	return "address:" + netip.AddrFrom16(full).Unmap().String()
}
