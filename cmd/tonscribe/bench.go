package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"tonscribe/bench"
)

func benchCommand(s *settings) *cobra.Command {
	return bench.Command(bench.Dependencies{
		Key: func(cmd *cobra.Command) (string, error) {
			if err := s.load(cmd); err != nil {
				return "", err
			}
			return readOwnersKey(s.Data)
		},
		Data: func(cmd *cobra.Command) (string, error) {
			err := s.load(cmd)
			return s.Data, err
		},
		Flags:       func(c *cobra.Command) { addFlags(c, false, flagClickHouse, flagKafka, flagPprof) },
		DevnetFlags: func(c *cobra.Command) { addFlags(c, false, devnetFlags...) },
		Live: func(ctx context.Context, cmd *cobra.Command, streams int, watch func(context.Context, bench.Live) error) error {
			return benchProcess(s, cmd, func(p *process) error {
				if streams > 0 {
					s.HTTP.Connections, s.Query.Live.Connections, s.Query.Live.ClientConnections = streams, streams, streams
				}
				s.Ingest.Source = sourceDevnet
				if err := s.useDevnet(); err != nil {
					return err
				}
				u, err := p.startAll(ctx)
				if err != nil {
					return err
				}
				return u.watched(ctx, watch)
			})
		},
		Index: func(ctx context.Context, cmd *cobra.Command, source string, from, to uint32, started, visible func(context.Context, bench.Running) error) error {
			return benchProcess(s, cmd, func(p *process) error {
				s.Ingest.Source, s.Ingest.From, s.Ingest.To = source, from, to
				u, err := p.startAll(ctx)
				if err != nil {
					return err
				}
				if err := started(ctx, p.running()); err != nil {
					return err
				}
				if err := u.wait(ctx, false); err != nil {
					return err
				}
				return visible(ctx, p.running())
			})
		},
		Fill: func(ctx context.Context, cmd *cobra.Command, feed func(context.Context, bench.Running) error) error {
			return benchProcess(s, cmd, func(p *process) error {
				s.Sink = s.Sink.ForHistory(0)
				return p.withSink(ctx, func(ctx context.Context, _ chan<- error) error {
					if err := feed(ctx, p.running()); err != nil {
						return err
					}
					_, err := p.ownersKey(ctx) // for bench query of who serves them later
					return err
				})
			})
		},
		Follow: func(ctx context.Context, cmd *cobra.Command, feed func(context.Context, bench.Running, string) error) error {
			return benchProcess(s, cmd, func(p *process) error {
				if err := canListen(s.Listen); err != nil {
					return err
				}
				p.wakeQuery()
				return p.withSink(ctx, func(ctx context.Context, ended chan<- error) error {
					address, err := p.serveQuery(ctx, ended)
					if err != nil {
						return err
					}
					return feed(ctx, p.running(), "http://"+address)
				})
			})
		},
	})
}

// benchProcess runs a benchmark in a process of its own.
func benchProcess(s *settings, cmd *cobra.Command, run func(p *process) error) error {
	return s.running(func(_ *cobra.Command, p *process) error {
		s.Metadata.Enabled = false // the internet is no part of what is measured
		return run(p)
	})(cmd, nil)
}

func (p *process) running() bench.Running {
	return bench.Running{Log: p.log, DSN: p.dsn, EnginePID: p.enginePID}
}

// withSink runs the engines and a sink while feed does.
func (p *process) withSink(ctx context.Context, feed func(ctx context.Context, ended chan<- error) error) error {
	if err := p.openEngines(ctx); err != nil {
		return err
	}
	c, err := p.newSink()
	if err != nil {
		return err
	}
	ended := make(chan error, 2)
	if err := p.begin(ctx, "sink", c, ended); err != nil {
		return err
	}
	ctx, cancel := untilEnded(ctx, ended)
	defer cancel(nil)
	err = feed(ctx, ended)
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
		err = errors.Join(err, cause)
	}
	return err
}

// serveQuery begins to serve the API of tables that something else fills.
func (p *process) serveQuery(ctx context.Context, ended chan<- error) (string, error) {
	if _, err := p.ownersKey(ctx); err != nil {
		return "", err
	}
	if err := p.sealKey(); err != nil {
		return "", err
	}
	q, err := p.newQuery()
	if err != nil {
		return "", err
	}
	address, err := p.listen(p.apiHandler(q), q.Drain)
	if err != nil {
		return "", err
	}
	return address, p.begin(ctx, "query", q, ended)
}

// untilEnded is a context that ends with an error when a stage does.
func untilEnded(ctx context.Context, ended <-chan error) (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case err := <-ended:
			cancel(err)
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// watched lets a benchmark look at a running `up` on its devnet.
func (u *everything) watched(ctx context.Context, watch func(context.Context, bench.Live) error) error {
	key, err := readOwnersKey(u.settings.Data)
	if err != nil {
		return err
	}
	produced, unsubscribe := u.devnet.Subscribe()
	defer unsubscribe()
	ctx, cancel := untilEnded(ctx, u.ended)
	defer cancel(nil)
	return watch(ctx, bench.Live{Running: u.running(), API: "http://" + u.address, Key: key, Seed: u.devnet.Seed(), Produced: produced})
}
