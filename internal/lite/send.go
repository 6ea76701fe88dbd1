package lite

import (
	"context"
	"errors"
	"fmt"

	"github.com/xssnick/tonutils-go/ton"
)

// Send gives an external message (a bag of cells) to several servers at once. It
// returns when the first one has taken it; the others get it all the same. A message
// that is on its way cannot be called back: what becomes of it is returned also when ctx
// ends meanwhile. When all refuse it, the last error is returned: ton.LSError with the
// contract's answer, mostly.
func (p *Pool) Send(ctx context.Context, message []byte) error {
	servers := p.best()
	if len(servers) == 0 || ctx.Err() != nil {
		return (&race{pool: p}).gaveUp(ctx)
	}
	servers = servers[:min(len(servers), p.configuration.SendTo)]
	results := make(chan error, len(servers))
	sending := context.WithoutCancel(ctx)
	for _, s := range servers {
		p.tasks.Go(func() { results <- p.sendTo(sending, s, message) })
	}
	var last error
	for range servers {
		err := <-results
		var denied ton.LSError
		if err == nil {
			return nil
		}
		if last == nil || errors.As(err, &denied) {
			last = err
		}
	}
	var denied ton.LSError
	if errors.As(last, &denied) {
		return denied
	}
	return fmt.Errorf("%w: %w", ErrUnavailable, last)
}

func (p *Pool) sendTo(ctx context.Context, s *server, message []byte) error {
	ctx, cancel := context.WithTimeout(ctx, p.configuration.AttemptTimeout)
	defer cancel()
	stop := context.AfterFunc(p.ctx, cancel)
	defer stop()
	answer, err := p.askAt(ctx, s, Query{Request: ton.SendMessage{Body: message}}, 0)
	if err != nil {
		return fmt.Errorf("%s: %w", s.host, err)
	}
	status, ok := answer.(ton.SendMessageStatus)
	if !ok || status.Status != 1 {
		return fmt.Errorf("%s: sendMessage: answered with %T %v", s.host, answer, answer)
	}
	noteAnswer(ctx, s)
	return nil
}
