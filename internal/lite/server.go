package lite

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/xssnick/tonutils-go/liteclient"
	"github.com/xssnick/tonutils-go/tl"
	"github.com/xssnick/tonutils-go/ton"

	"tonscribe/internal/lifetime"
)

// server is one lite server, and what is known of it.
type server struct {
	endpoint
	number  int // in the TON global config, from 0 on
	rate    *bucket
	running atomic.Int32 // requests under way, that have a slot

	mu       sync.Mutex
	conn     *connection
	why      string // why there is no connection
	claim    *ton.BlockIDExt
	latency  latency
	archive  bool
	lacks    uint32    // a masterchain seqno that it should have had and has not
	lackedAt time.Time // when it said so
	timeouts int       // in a row

	strikes   int
	waiting   func()    // ends the wait for its next block
	unproven  int       // how often it could not prove what it claims
	cooling   time.Time // left out until
	coolWhy   string
	busy      time.Time // asked to be left alone until
	busyPause time.Duration
}

// notYet is why there is no connection to a server before the first try.
const notYet = "not connected yet"

// stalled is how many requests in a row may time out before a connection is
// given up.
const stalled = 3

// keep holds the connection to a server, for ever.
func (p *Pool) keep(ctx context.Context, s *server) {
	pause := p.configuration.ReconnectMin
	for ctx.Err() == nil {
		began := time.Now()
		err := p.connected(ctx, s)
		if ctx.Err() != nil {
			return
		}
		if time.Since(began) > p.configuration.ReconnectMax {
			pause = p.configuration.ReconnectMin // it had been there for a while
		}
		if s.disconnected(err) {
			p.report.Log.Info().Str("server", s.host).Err(err).Msg("lite server is not reachable: trying on")
		}
		p.metrics.connected.WithLabelValues(s.host).Set(0)
		if lifetime.Sleep(ctx, pause+time.Duration(rand.Int64N(int64(pause)/4+1))) != nil {
			return
		}
		pause = min(2*pause, p.configuration.ReconnectMax)
	}
}

// connected serves one connection until it is lost.
func (p *Pool) connected(ctx context.Context, s *server) error {
	dialing, cancel := context.WithTimeout(ctx, p.configuration.AttemptTimeout)
	conn, err := dial(dialing, s.endpoint)
	cancel()
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.conn, s.why, s.timeouts, s.claim = conn, "", 0, nil
	s.mu.Unlock()
	p.metrics.connected.WithLabelValues(s.host).Set(1)
	p.report.Log.Debug().Str("server", s.host).Msg("lite server connected")
	watching, cancel := context.WithCancel(ctx)
	var watcher sync.WaitGroup
	watcher.Go(func() { p.watch(watching, s) })
	err = conn.serve(ctx)
	cancel()
	watcher.Wait()
	return err
}

// disconnected notes why, and reports whether it had been connected or this is
// the first word about it.
func (s *server) disconnected(err error) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := s.conn != nil || s.why == notYet
	s.conn, s.claim = nil, nil
	if s.why = "connection lost"; err != nil {
		s.why = err.Error()
	}
	return first
}

// connection is the server's, nil without one.
func (s *server) connection() *connection {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.conn
}

// ask sends one request and takes note of how the server did. A liteServer.error
// is an answer of this function too: ton.LSError as the error. Where the request
// waits for a block on purpose, its time says nothing of the server, and neither
// does an error after the wait, errNoNewBlock.
func (s *server) ask(ctx context.Context, request []byte, waits bool, p *Pool) (any, error) {
	conn := s.connection()
	if conn == nil {
		return nil, errConnectionLost
	}
	began := time.Now()
	data, err := conn.ask(ctx, request)
	if err != nil {
		if !waits && errors.Is(ctx.Err(), context.Canceled) {
			s.latency.outrun(time.Since(began))
		}
		s.failed(ctx, err, conn)
		return nil, err
	}
	object, err := parse(data)
	took := time.Since(began)
	if !waits {
		p.metrics.latency.WithLabelValues(s.host).Observe(took.Seconds())
	}
	if err != nil {
		if !waits {
			s.latency.failed()
		}
		return nil, &badAnswer{fmt.Errorf("no TL answer: %w", err)}
	}
	pause, text := busy(object)
	if !waits {
		s.mu.Lock()
		if s.timeouts = 0; !pause {
			s.busyPause = 0
		}
		s.mu.Unlock()
	}
	e, denied := object.(ton.LSError)
	switch {
	case pause:
		s.leaveAlone()
		return nil, &busyError{text}
	case !waits:
		s.latency.answered(took)
	case denied && (e.Code == codeTimeout || strings.Contains(strings.ToLower(e.Text), "timeout")):
		return nil, errNoNewBlock
	}
	if denied {
		return nil, e
	}
	return object, nil
}

// failed notes a request without an answer. One that was given up because
// another server was faster says nothing.
func (s *server) failed(ctx context.Context, err error, conn *connection) {
	if errors.Is(ctx.Err(), context.Canceled) {
		return
	}
	s.latency.failed()
	if !errors.Is(err, context.DeadlineExceeded) {
		return
	}
	s.mu.Lock()
	s.timeouts++
	dead := s.timeouts >= stalled && s.conn == conn
	s.mu.Unlock()
	if dead {
		_ = conn.tcp.Close()
	}
}

// badAnswer is an answer that a check refused.
type badAnswer struct{ error }

func (b *badAnswer) Unwrap() error { return b.error }

// busyError is a server that wants to be asked later.
type busyError struct{ text string }

func (b *busyError) Error() string { return "busy: " + b.text }

// busy recognises the refusals of a server that has too much to do: besides
// liteServer.serverBusy there are errors with codes of proxies (228 and 429),
// and -503 of servers that are shutting down.
func busy(answer any) (bool, string) {
	switch t := answer.(type) {
	case liteclient.ServerBusy:
		return true, t.Text
	case ton.LSError:
		text := strings.ToLower(t.Text)
		if t.Code == 228 || t.Code == 429 || t.Code == -503 || strings.Contains(text, "ratelimit") ||
			strings.Contains(text, "rate limit") || strings.Contains(text, "too many requests") {
			return true, t.Text
		}
	}
	return false, ""
}

// leaveAlone pauses a busy server, longer every time.
func (s *server) leaveAlone() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Now().Before(s.busy) {
		return // requests that were under way together
	}
	s.busyPause = min(max(2*s.busyPause, 250*time.Millisecond), 15*time.Second)
	s.busy = time.Now().Add(s.busyPause)
}

// strike leaves a server out because of a wrong answer.
func (p *Pool) strike(s *server, why error) {
	s.mu.Lock()
	now := time.Now()
	if now.Before(s.cooling) {
		s.mu.Unlock()
		return
	}
	if now.Sub(s.cooling) > 2*p.configuration.CoolOffMax {
		s.strikes = 0 // long ago
	}
	pause := min(p.configuration.CoolOff<<min(s.strikes, 16), p.configuration.CoolOffMax)
	s.strikes++
	s.cooling, s.coolWhy, s.claim = now.Add(pause), why.Error(), nil
	if s.waiting != nil {
		s.waiting() // it is to say anew what it has
	}
	s.mu.Unlock()
	p.metrics.strikes.WithLabelValues(s.host).Inc()
	p.report.Log.Warn().Str("server", s.host).Dur("for", pause).Err(why).Msg("lite server is left out: its answer was wrong")
	p.chain.stir()
}

// unprovenClaims is how often a server may fail to prove its newest block, which
// it may not have in full yet, before it is asked anew for it.
const unprovenClaims = 4

// couldNotProve notes that a server gave an error instead of a proof.
func (s *server) couldNotProve() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.unproven++; s.unproven < unprovenClaims {
		return
	}
	s.unproven, s.claim = 0, nil
	if s.waiting != nil {
		s.waiting()
	}
}

// lacksBlock notes that a server had not what it should have.
func (s *server) lacksBlock(seqno uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.claim != nil && s.claim.SeqNo > seqno+64 { // further back than blocks may be on their way
		s.lacks, s.lackedAt = max(s.lacks, seqno), time.Now()
	}
}

// lackedFor is how long it is remembered what a server had not.
const lackedFor = 10 * time.Minute

// standing is what the choice of a server looks at.
type standing struct {
	usable bool
	why    string // why it is not
	seqno  uint32
	score  float64 // lower is better: about the seconds that an answer will take
}

// stands rates a server for a request.
func (s *server) stands(q Query, head uint32, c Configuration) standing {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	switch {
	case s.conn == nil:
		return standing{why: s.why}
	case now.Before(s.cooling):
		return standing{why: fmt.Sprintf("left out for %s: %s", time.Until(s.cooling).Round(time.Second/10), s.coolWhy)}
	case q.Archival && !s.archive:
		return standing{why: "it keeps no old blocks"}
	case now.Before(s.busy):
		return standing{why: "it is busy"}
	}
	is := standing{usable: true, score: s.latency.expect(now) * float64(1+s.running.Load())}
	if s.claim != nil {
		is.seqno = s.claim.SeqNo
	}
	if is.seqno+c.MaxLag < head {
		is.score = is.score*4 + 1
	}
	if q.Seqno > is.seqno {
		is.score = is.score*2 + 0.5
	}
	if q.Seqno != 0 && q.Seqno <= s.lacks && now.Sub(s.lackedAt) < lackedFor {
		is.score += 10
	}
	return is
}

// serialize writes a request, with the order to wait for a masterchain block in
// front of it if there is one.
func serialize(request tl.Serializable, waitFor uint32, wait time.Duration) ([]byte, error) {
	var data []byte
	if waitFor != 0 {
		prefix, err := tl.Serialize(ton.WaitMasterchainSeqno{Seqno: int32(waitFor), Timeout: int32(wait.Milliseconds())}, true)
		if err != nil {
			return nil, fmt.Errorf("request: %w", err)
		}
		data = append(data, prefix...)
	}
	body, err := tl.Serialize(request, true)
	if err != nil {
		return nil, fmt.Errorf("request %T: %w", request, err)
	}
	return append(data, body...), nil
}
