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
		Sink: func(ctx context.Context, cmd *cobra.Command, feed func(context.Context, bench.Running) error) error {
			return benchProcess(s, cmd, func(p *process) error {
				if err := p.openEngines(ctx); err != nil {
					return err
				}
				c, err := p.newSink()
				if err != nil {
					return err
				}
				ended := make(chan error, 1)
				if err := p.begin(ctx, "sink", c, ended); err != nil {
					return err
				}
				ctx, cancel := untilEnded(ctx, ended)
				defer cancel(nil)
				if err := feed(ctx, p.running()); err != nil {
					return errors.Join(err, context.Cause(ctx))
				}
				return nil
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
