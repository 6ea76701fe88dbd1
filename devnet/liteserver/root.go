// Package liteserver answers TON's lite-server protocol (lite_api.tl, ADNL over
// TCP) from a devnet's history. In come queries of clients, out go blocks,
// states, transactions and proofs that a client which trusts nobody accepts,
// and get-methods run by the TVM; external messages go to the devnet. It must
// never answer what the history does not hold, and no query may stop or crash
// it: whatever is wrong with one is answered by liteServer.error.
package liteserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/history"
	"tonscribe/internal/descriptors"
	"tonscribe/internal/listen"
	"tonscribe/internal/report"
)

// Dependencies of the component.
type Dependencies struct {
	Report  report.Reporter
	History *history.Store
	// Send takes an external message for the next blocks, or says why not.
	Send func(*cell.Cell) error
	// Now is the time that clients are told, the machine's when nil.
	Now func() uint32
}

// Component is one lite server.
type Component struct {
	configuration Configuration
	dependencies  Dependencies
	metrics       *metrics

	listener *listen.Listener
	heavy    chan struct{} // one slot per get-method or old state in work

	ctx     context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup
	done    chan struct{}
	err     error
}

// New makes a lite server that does nothing yet.
func New(configuration Configuration, dependencies Dependencies) (*Component, error) {
	if err := configuration.validate(); err != nil {
		return nil, err
	}
	if dependencies.Now == nil {
		dependencies.Now = func() uint32 { return uint32(time.Now().Unix()) }
	}
	c := &Component{
		configuration: configuration,
		dependencies:  dependencies,
		metrics:       newMetrics(dependencies.Report.Meter("liteserver")),
		heavy:         make(chan struct{}, configuration.Heavy),
		done:          make(chan struct{}),
	}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	return c, nil
}

// Start listens; when it returns nil, clients can connect.
func (c *Component) Start(ctx context.Context) error {
	bounds := listen.DefaultConfiguration()
	bounds.Connections = c.configuration.Connections
	listener, err := listen.Listen(ctx, "tcp4", c.configuration.Listen, bounds, listen.Options{
		Name: "liteserver", Report: c.dependencies.Report, Part: descriptors.LiteServer,
	})
	if err != nil {
		return err
	}
	c.listener = listener
	c.running.Go(func() {
		defer close(c.done)
		if err := c.acceptAll(); err != nil {
			c.err = fmt.Errorf("lite server: %w", err)
			c.dependencies.Report.Log.Error().Err(err).Msg("no clients can connect any more")
		}
	})
	c.dependencies.Report.Log.Info().Stringer("address", listener.Addr()).Msg("lite server listens")
	return nil
}

// Stop ends all connections and waits for the queries in work.
func (c *Component) Stop(context.Context) error {
	c.cancel()
	if c.listener == nil {
		return nil
	}
	err := c.listener.CloseAll()
	c.running.Wait()
	return errors.Join(err, c.err)
}

// Done is closed when the server listens no more.
func (c *Component) Done() <-chan struct{} { return c.done }

// Err is nil before the end and after Stop.
func (c *Component) Err() error { return c.err }

// Addr is where clients connect, known after Start.
func (c *Component) Addr() *net.TCPAddr { return c.listener.Addr().(*net.TCPAddr) }
