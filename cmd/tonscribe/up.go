package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tonscribe/devnet"
	"tonscribe/ingest"
	"tonscribe/query"
)

func upCommand(s *settings) *cobra.Command {
	serve := false
	c := &cobra.Command{
		Use:   "up",
		Short: "Run everything in one process",
		Long: `Run every stage in one process, on engines that come along (or on external ones:
--clickhouse, --kafka). With --to it ends when the range is visible in the API,
unless --serve.

Without a source, or with --source devnet, it also runs a TON chain of its own
('tonscribe devnet') and indexes that. With --network mainnet or testnet and no
source it follows that network from its newest block on, through the lite servers
that the network publishes; --from begins further back.`,
		Example: `  tonscribe up
  tonscribe up --network mainnet
  tonscribe up --source files:blocks --from 1 --to 60 --serve
  tonscribe up --source archive:/var/ton-work/db/archive`,
		Args: cobra.NoArgs,
		RunE: s.running(func(cmd *cobra.Command, p *process) error { return p.up(cmd.Context(), serve) }),
	}
	addFlags(c, false, flagSource, flagFrom, flagTo, flagClickHouse, flagKafka, flagLite, flagNamespace, flagPprof)
	addFlags(c, false, devnetFlags...)
	c.Flags().BoolVar(&serve, "serve", false, "go on serving after --to")
	return c
}

func (p *process) up(ctx context.Context, serve bool) error {
	s := p.settings
	s.useNetwork()
	if err := s.useDevnet(); err != nil {
		return err
	}
	if err := p.findNetwork(ctx); err != nil {
		return err
	}
	check := s.Ingest.Validate // the devnet comes later
	if s.Ingest.Source != sourceDevnet {
		check = s.Ingest.Check
	}
	if err := check(); err != nil {
		return err
	}
	if err := canListen(s.Listen); err != nil {
		return err
	}
	began := time.Now()
	u, err := p.startAll(ctx)
	if err != nil {
		return err
	}
	p.report.Log.Info().Str("version", version).Str("api", "http://"+u.address+"/api/v3/masterchainInfo").Dur("took", time.Since(began)).Msg("serving")
	u.welcome(os.Stdout)
	p.showOwnersKey(os.Stdout, u.firstKey)
	return u.wait(ctx, serve)
}

// everything is a running `up`.
type everything struct {
	*process
	address string
	ingest  *ingest.Component
	query   *query.Component
	devnet  *devnet.Component // nil when the source is another one
	ended   chan error

	firstKey string // the owner's, when it was made at this start
}

// startAll starts the engines and all stages, the readers first.
func (p *process) startAll(ctx context.Context) (*everything, error) {
	if p.settings.Ingest.To > 0 { // there is no head to be followed, and the tables have all of it at the end
		p.settings.Sink, p.settings.Query.Tail.MaxBytes = p.settings.Sink.ForHistory(p.settings.Ingest.To), 0
	}
	if err := p.openEngines(ctx); err != nil {
		return nil, err
	}
	key, err := p.ownersKey(ctx)
	if err != nil {
		return nil, err
	}
	if err := p.sealKey(); err != nil {
		return nil, err
	}
	u := &everything{process: p, firstKey: key, ended: make(chan error, 8)}
	if err := u.startSource(ctx); err != nil {
		return nil, err
	}
	return u, u.startStages(ctx)
}

// wakeQuery lets the API look at the watermark when the sink may have moved it. It
// comes before both.
func (p *process) wakeQuery() {
	wake := make(chan struct{}, 1)
	p.settings.Query.Store.Wake = wake
	p.progressed = func() {
		select {
		case wake <- struct{}{}:
		default: // it will already
		}
	}
}

func (u *everything) startStages(ctx context.Context) error {
	u.wakeQuery()
	q, ofQuery := u.newQuery()
	sink, ofSink := u.newSink()
	decode, ofDecode := u.newDecode()
	facts, ofContracts := u.newContracts()
	assembled, ofTraces := u.newTraces()
	in, ofIngest := u.newIngest()
	if err := cmp.Or(ofQuery, ofSink, ofDecode, ofContracts, ofTraces, ofIngest); err != nil {
		return err
	}
	u.query, u.ingest = q, in
	u.health.Add("index", u.caughtUp)
	u.health.Add("query", q.Ready)
	if u.devnet != nil {
		u.health.Add("devnet", u.devnet.Ready)
	}
	address, err := u.listen(u.apiHandler(q), q.Drain)
	if err != nil {
		return err
	}
	u.address = address
	for _, s := range []struct {
		name  string
		stage stage
	}{{"query", q}, {"sink", sink}, {"traces", assembled}, {"contracts", facts}, {"decode", decode}, {"ingest", in}} {
		if err := u.begin(ctx, s.name, s.stage, u.ended); err != nil {
			return err
		}
	}
	if u.settings.Metadata.Enabled {
		m, err := u.newMetadata()
		if err != nil {
			return err
		}
		if err := u.begin(ctx, "metadata", m, u.ended); err != nil {
			return err
		}
	}
	if u.settings.Webhooks.Enabled && u.settings.Ingest.To == 0 { // nobody waits for the payments of a range
		w, err := u.newWebhooks()
		if err != nil {
			return err
		}
		if err := u.begin(ctx, "webhooks", w, u.ended); err != nil {
			return err
		}
	}
	return u.leaveRunFile()
}

// leaveRunFile tells other commands how to reach the engines, while we run.
func (u *everything) leaveRunFile() error {
	dir := u.settings.Data
	f, err := writeRunFile(dir, runFile{PID: os.Getpid(), HTTP: "http://" + u.address, ClickHouse: u.dsn, ClickHouseReader: u.analyst})
	if err != nil {
		return err
	}
	u.onStop("run file", func(context.Context) error {
		return errors.Join(os.RemoveAll(filepath.Join(dir, runFileName)), f.Close())
	})
	return nil
}

// caughtUp is nil when everything that the source has, or that was asked for,
// is visible in the API.
func (u *everything) caughtUp(context.Context) error {
	return behind(u.ingest.Status(), u.query.Watermark(), u.slack())
}

// behind is what is not visible yet, apart from so many masterchain blocks. Of a range
// that was skipped from its first to its last bundle nothing ever is.
func behind(want ingest.Status, visible, slack uint32) error {
	if want.Done && want.Published == 0 {
		return nil
	}
	if err := hasRead(want, slack); err != nil {
		return err
	}
	switch {
	case want.Published == 0 || visible == 0:
		return fmt.Errorf("%d masterchain blocks are still to be read from the source", want.Lag())
	case visible+slack < want.Published:
		return fmt.Errorf("the API shows masterchain block %d of %d", visible, want.Published)
	}
	return nil
}

// hasRead is nil when at most slack masterchain blocks of the source are not in the log. A
// source that ends before the log is behind the one that was read, or has another chain.
func hasRead(s ingest.Status, slack uint32) error {
	switch {
	case s.Waiting != "":
		return errors.New(s.Waiting)
	case s.To == 0 && s.Passed > s.SourceLast+slack:
		return fmt.Errorf("the source ends with masterchain block %d, and %d comes next: it is behind, or has another chain", s.SourceLast, s.Passed+1)
	case s.Lag() > slack:
		return fmt.Errorf("%d masterchain blocks are still to be read from the source", s.Lag())
	}
	return nil
}

// nearHead is how many masterchain blocks the API may be behind a chain that
// goes on while it is read: four seconds of mainnet.
const nearHead = 10

// slack is how far behind counts as caught up: a chain that is followed has its
// next block before the last one is visible.
func (u *everything) slack() uint32 {
	if u.settings.Ingest.To == 0 && strings.HasPrefix(u.settings.Ingest.Source, "liteserver:") {
		return nearHead
	}
	return 0
}

// visiblePoll is how often `up` looks whether the range is visible.
const visiblePoll = 20 * time.Millisecond

// wait returns when the range is visible (unless serve), a stage fails, or ctx ends.
func (u *everything) wait(ctx context.Context, serve bool) error {
	ticker := time.NewTicker(visiblePoll)
	defer ticker.Stop()
	announced := false
	for {
		select {
		case err := <-u.ended:
			return err
		case <-ctx.Done():
			u.report.Log.Info().Msg("stopping")
			return nil
		case <-ticker.C:
		}
		if announced || u.settings.Ingest.To == 0 || !u.ingest.Status().Done || u.caughtUp(ctx) != nil {
			continue
		}
		announced = true
		if u.ingest.Status().Published == 0 {
			u.report.Log.Warn().Uint32("to", u.settings.Ingest.To).Msg("nothing of the range is visible: all of its bundles were skipped")
		} else {
			u.report.Log.Info().Uint32("to", u.settings.Ingest.To).Msg("the range is visible")
		}
		if !serve {
			return nil
		}
	}
}
