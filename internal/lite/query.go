package lite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/xssnick/tonutils-go/tl"
	"github.com/xssnick/tonutils-go/ton"
)

// Query is a request to some lite server.
type Query struct {
	// Request of package ton, by value or by pointer.
	Request tl.Serializable
	// Check tests an answer of a server, by its Go type first of all. An answer
	// that it refuses is asked for elsewhere. When another server's answer
	// passes, or when the error is a Lie, the first one is left out for a while.
	Check func(answer any) error
	// Seqno is the masterchain block that a server must have to answer: servers
	// that have it go first, others wait for it. 0: any.
	Seqno uint32
	// Archival asks only servers that keep old blocks.
	Archival bool
	// Once asks one server after the other, never two at a time.
	Once bool
}

// Lie is an answer that no honest mistake explains: its bytes contradict a hash
// or a signature.
type Lie struct{ Text string }

func (l *Lie) Error() string { return l.Text }

func lie(format string, args ...any) error { return &Lie{fmt.Sprintf(format, args...)} }

var (
	// ErrUnavailable is a request that no server answered: none could be
	// reached, or all were too slow. Trying again may help.
	ErrUnavailable = errors.New("no lite server answers")
	// ErrRefused is a request to which no server gave an answer that stood up to
	// its check.
	ErrRefused = errors.New("no lite server gave a right answer")
	// ErrNoArchive is a request for servers with old blocks when there is none.
	ErrNoArchive = errors.New("no lite server keeps old blocks")

	errStopped = fmt.Errorf("%w: %w", ErrUnavailable, context.Canceled)
)

// IsMissing reports whether an error of a request means that the servers do not
// have what was asked for, now or any more. Codes of lite-server errors: 651 is
// notready; texts tell the rest.
func IsMissing(err error) bool {
	var e ton.LSError
	if !errors.As(err, &e) {
		return false
	}
	text := strings.ToLower(e.Text)
	for _, word := range []string{"not in db", "not found", "not applied", "gc'd", "too old", "cannot load", "unknown block"} {
		if strings.Contains(text, word) {
			return true
		}
	}
	return e.Code == 651
}

// codeTimeout is the error of a server that did not get in time the block it was
// told to wait for.
const codeTimeout = 652

// Query asks the best server, a second one when the first takes longer than it
// usually does, and others after failures, until one gives an answer that passes
// the check. It returns the answer and the server's address.
//
// An error of the servers (ton.LSError) is believed after several gave one.
func (p *Pool) Query(ctx context.Context, q Query) (any, string, error) {
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, p.configuration.Timeout)
		defer cancel()
	}
	ctx, cancel := context.WithCancel(ctx)
	r := &race{pool: p, query: q, tried: map[*server]bool{}, outcomes: make(chan outcome, len(p.servers))}
	defer r.group.Wait()
	defer r.dropSecond()
	defer cancel()
	p.hedges.earn()
	return r.run(ctx)
}

// checked asks, and returns what read made of the answer that it took.
func checked[T any](ctx context.Context, p *Pool, q Query, read func(answer any) (T, error)) (T, error) {
	var result, none T
	q.Check = func(answer any) (err error) {
		result, err = read(answer)
		return err
	}
	if _, _, err := p.Query(ctx, q); err != nil {
		return none, err
	}
	return result, nil
}

// as is an answer to a request of the type that it must have.
func as[T any](request string, answer any) (T, error) {
	got, ok := answer.(T)
	if !ok {
		return got, fmt.Errorf("%s: answered with %T", request, answer)
	}
	return got, nil
}

// askAt asks one server, when it is its turn.
func (p *Pool) askAt(ctx context.Context, s *server, q Query, has uint32) (any, error) {
	if err := p.slots.takeAt(ctx, s); err != nil {
		return nil, err
	}
	defer p.slots.release(s)
	return p.askOne(ctx, s, q, has)
}

// askOne asks one server at which there is a slot.
func (p *Pool) askOne(ctx context.Context, s *server, q Query, has uint32) (any, error) {
	ctx, cancel := context.WithTimeout(ctx, p.configuration.AttemptTimeout)
	defer cancel()
	if err := s.rate.wait(ctx); err != nil {
		return nil, err
	}
	if q.Seqno <= has {
		q.Seqno = 0 // nothing to wait for
	}
	request, err := serialize(q.Request, q.Seqno, p.configuration.AttemptTimeout/2)
	if err != nil {
		return nil, err
	}
	return s.ask(ctx, request, false, p)
}

// count is how many of some servers are as said. It is called with their locks.
func count(servers []*server, is func(*server) bool) (n int) {
	for _, s := range servers {
		s.mu.Lock()
		if is(s) {
			n++
		}
		s.mu.Unlock()
	}
	return n
}

// connections is how many servers there is a connection to.
func (p *Pool) connections() int {
	return count(p.servers, func(s *server) bool { return s.conn != nil })
}

// best orders the usable servers.
func (p *Pool) best() []*server {
	return p.ranked(Query{}, func(*server) bool { return true }, math.Inf(1))
}

// ranked are the usable servers of some, the best first, without those whose
// answer takes so many times longer than the best one's.
func (p *Pool) ranked(q Query, of func(*server) bool, slower float64) []*server {
	type rated struct {
		*server
		standing
	}
	var list []rated
	head := p.chain.seqno()
	for _, s := range p.servers {
		if !of(s) {
			continue
		}
		if is := s.stands(q, head, p.configuration); is.usable {
			list = append(list, rated{s, is})
		}
	}
	slices.SortFunc(list, func(a, b rated) int { return cmp.Compare(a.score, b.score) })
	var servers []*server
	for _, r := range list {
		if r.score <= slower*list[0].score {
			servers = append(servers, r.server)
		}
	}
	return servers
}
