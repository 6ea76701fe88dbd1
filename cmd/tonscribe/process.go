package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	_ "net/http/pprof" //nolint:gosec // served only where --pprof asks for it
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/rs/zerolog"

	"tonscribe/internal/clickhouse"
	"tonscribe/internal/descriptors"
	"tonscribe/internal/engine"
	"tonscribe/internal/kafka"
	"tonscribe/internal/lifetime"
	"tonscribe/internal/listen"
	"tonscribe/internal/lite"
	"tonscribe/internal/parts"
	"tonscribe/internal/report"
	"tonscribe/internal/space"
	"tonscribe/schema"
	"tonscribe/schema/migrations"
	"tonscribe/webhooks/store"
)

// process is one running tonscribe: first its engines, then its stages. What
// was started first is stopped last.
type process struct {
	settings *settings
	report   report.Reporter
	registry *prometheus.Registry
	health   *report.Health
	log      *kafka.Client
	dsn      string     // of ClickHouse, for writing
	reader   string     // of ClickHouse, for the API
	analyst  string     // of ClickHouse, for whoever may read it
	servers  *lite.Pool // of the stages that fill in what blocks do not show; made when it is asked for
	stops    []stopper

	room  *space.Guard // of the folders that this process writes to; nil where none was opened
	disks *space.Guard // of an external ClickHouse; nil for the embedded one
	parts *parts.Watch // of the tables; nil where nobody looks

	progressed func() // called by the sink when the watermark may have moved; may be nil

	merchants  *store.Store // nil until one is opened
	tablesMade func() error // tells the embedded ClickHouse; nil for an external one
	enginePID  int          // of the embedded ClickHouse, 0 for an external one
	marks      int64        // bytes of them that the embedded ClickHouse holds, 0 for an external one
}

type stopper struct {
	name string
	stop func(context.Context) error
}

// stopLimit bounds the stop of everything.
const stopLimit = 30 * time.Second

func newProcess(s *settings) (*process, error) {
	logger, err := report.NewLogger(s.Log, os.Stderr)
	if err != nil {
		return nil, err
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	p := &process{
		settings: s,
		report:   report.Reporter{Log: logger, Metrics: registry},
		registry: registry,
		health:   &report.Health{Log: logger},
	}
	p.boundMemory()
	return p, nil
}

// onStop adds what ends something that was started.
func (p *process) onStop(name string, stop func(context.Context) error) {
	p.stops = append(p.stops, stopper{name, stop})
}

// stop ends everything, the last started first.
func (p *process) stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), stopLimit)
	defer cancel()
	var problems []error
	for i := len(p.stops) - 1; i >= 0; i-- {
		began := time.Now()
		if err := p.stops[i].stop(ctx); err != nil {
			problems = append(problems, fmt.Errorf("stop %s: %w", p.stops[i].name, err))
		}
		p.report.Log.Debug().Str("what", p.stops[i].name).Dur("took", time.Since(began)).Msg("stopped")
	}
	p.stops = nil
	return errors.Join(problems...)
}

// attachClickHouse is openClickHouse for commands beside a running `up` of the
// same data folder: they use its engine. One that starts has not told of it yet, and
// one that stops does no longer: they wait for both.
func (p *process) attachClickHouse(ctx context.Context) error {
	if p.settings.ClickHouse.DSN != "" {
		return p.openClickHouse(ctx)
	}
	for deadline, told := time.Now().Add(stopLimit), false; ; told = true {
		running, err := readRunFile(p.settings.Data)
		if err != nil {
			return err
		}
		if running != nil {
			p.dsn, p.reader, p.analyst = running.ClickHouse, running.ClickHouseReader, running.ClickHouseReader
			return nil
		}
		if err := p.openClickHouse(ctx); !errors.Is(err, engine.ErrInUse) || time.Now().After(deadline) {
			return err
		}
		if !told {
			p.report.Log.Warn().Str("data", p.settings.Data).Msg("another tonscribe starts or stops in the data folder: waiting for it")
		}
		if err := lifetime.Sleep(ctx, attachPause); err != nil {
			return err
		}
	}
}

// attachPause is how often a command looks whether it may have the data folder.
const attachPause = 100 * time.Millisecond

// openEngines starts or reaches both engines, with tables and topics.
func (p *process) openEngines(ctx context.Context) error {
	if err := p.settings.makeData(); err != nil {
		return err
	}
	return inTurn(ctx, p.watchRoom, p.openClickHouse, p.makeTables, p.watchTables, func(ctx context.Context) error { return p.openLog(ctx, true) })
}

// makeData makes the data folder unless it is there.
func (s *settings) makeData() error {
	if err := os.MkdirAll(s.Data, 0o700); err != nil {
		return fmt.Errorf("the data folder cannot be made: %w (name another one with --data)", err)
	}
	return nil
}

// inTurn takes steps up to the first that fails.
func inTurn(ctx context.Context, steps ...func(context.Context) error) error {
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// What a start asks of ClickHouse is tried again when that goes away meanwhile:
// an engine that is being restarted, a server that is still coming up.
const (
	startTries = 20
	startPause = time.Second
)

func (p *process) makeTables(ctx context.Context) error {
	return p.persist(ctx, "make the tables", func() error {
		if err := p.roomForTables(ctx); err != nil {
			return err
		}
		if err := migrations.Up(ctx, p.dsn, p.settings.ClickHouse.Tables); err != nil || p.tablesMade == nil {
			return err
		}
		return p.tablesMade()
	})
}

// persist tries until it works, ctx ends, ClickHouse refuses, or it has failed
// too often.
func (p *process) persist(ctx context.Context, what string, try func() error) error {
	for n := 1; ; n++ {
		err := try()
		if err == nil || ctx.Err() != nil || n == startTries || !clickhouse.Retryable(err) {
			return err
		}
		p.report.Log.Warn().Err(err).Int("try", n).Str("what", what).Msg("clickhouse failed at the start, trying again")
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(startPause):
		}
	}
}

// clickHouseFolder is where the embedded engine's tables lie in the data folder.
const clickHouseFolder = "clickhouse"

// logFolder is where the embedded log lies in it.
const logFolder = "kafka"

// openClickHouse finds the tables: an external server, or the embedded engine.
func (p *process) openClickHouse(ctx context.Context) error {
	c := p.settings.ClickHouse
	if c.DSN != "" {
		secure, err := c.TLS.Read()
		if err != nil {
			return fmt.Errorf("clickhouse: %w", err)
		}
		p.settings.ClickHouse.Tables.TLS = secure
		p.dsn, p.reader, p.analyst = c.DSN, c.ReaderDSN, c.ReaderDSN
		return nil
	}
	bound, err := p.settings.Storage.Bound(filepath.Join(p.settings.Data, clickHouseFolder))
	if err != nil {
		return err
	}
	if n := descriptors.Limit(); n < descriptors.Few {
		p.report.Log.Warn().Int("limit", n).Msgf("few file descriptors: inserts fail where the embedded ClickHouse can open no more files, raise the limit (ulimit -n %d)", descriptors.Few)
	}
	e, err := engine.StartClickHouse(ctx, engine.ClickHouseOptions{
		Dir:          filepath.Join(p.settings.Data, clickHouseFolder),
		MaxMemory:    c.MemoryBytes,
		KeepFree:     bound / 2, // the writers stop before that
		ReaderTables: analystTables,
		Report:       p.report.For("clickhouse"),
	})
	if err != nil {
		return err
	}
	p.onStop("clickhouse", e.Stop)
	p.dsn, p.reader, p.analyst, p.enginePID, p.marks, p.tablesMade = e.DSN(), e.ReadOnlyHTTPDSN(), e.ReaderDSN(), e.Pid(), e.Marks(), e.KeepDefinitions
	return nil
}

// openLog connects to Kafka, or starts the embedded log, and makes the topics.
func (p *process) openLog(ctx context.Context, embedded bool) error {
	if err := p.findLog(ctx, embedded); err != nil {
		return err
	}
	return p.makeTopics(ctx)
}

// makeTopics waits for the log, and makes the topics that it lacks.
func (p *process) makeTopics(ctx context.Context) error {
	topics := schema.Topics
	if len(p.settings.Kafka.Brokers) > 0 {
		topics = append(slices.Clone(topics), schema.Pending)
	}
	return p.log.EnsureTopics(ctx, topics)
}

// findLog is openLog without a question to the log: it need not be there.
func (p *process) findLog(ctx context.Context, embedded bool) error {
	dependencies := kafka.Dependencies{Report: p.report, Room: p.waitForRoom}
	configuration := p.settings.Kafka
	if len(configuration.Brokers) == 0 {
		if !embedded {
			return errors.New("a stage on its own reads and writes Kafka: give --kafka HOST:PORT,… (or run all stages with `tonscribe up`)")
		}
		log, err := engine.StartKafka(ctx, engine.KafkaOptions{
			Dir:            filepath.Join(p.settings.Data, logFolder),
			RetentionBytes: p.settings.EmbeddedLog.RetentionBytes,
			LimitBytes:     p.settings.EmbeddedLog.LimitBytes,
			SyncWrites:     p.settings.EmbeddedLog.SyncWrites,
			Report:         p.report.For("log"),
		})
		if err != nil {
			return err
		}
		p.onStop("log", log.Stop)
		configuration.Brokers = []string{log.Address()}
		if configuration.Compression == "auto" {
			configuration.Compression = "none" // it would take longer than writing the bytes
		}
		dependencies.Dial = log.Dial
		dependencies.Epoch = log.Epoch()
		dependencies.Sync = log.Sync
		dependencies.Alone = true
		p.settings.Contracts.Handover, p.settings.Traces.Handover, p.settings.Webhooks.Match.Handover = false, false, false // nobody else works on this log
	}
	client, err := kafka.New(configuration, dependencies)
	if err != nil {
		return err
	}
	p.log = client
	p.onStop("kafka client", func(context.Context) error { client.Close(); return nil })
	return nil
}

// listen serves the handler and, when asked, profiles on their own address. It
// returns the address it listens at. Drain ends what has no end by itself.
func (p *process) listen(handler http.Handler, drain ...func()) (string, error) {
	trusted, err := p.settings.Auth.Trusts()
	if err != nil {
		return "", err
	}
	address, err := p.serve("http", p.settings.Listen, handler, trusted, drain...)
	if err != nil {
		return "", err
	}
	return address, p.serveProfiles()
}

// serveProfiles serves them where --pprof asks for it.
func (p *process) serveProfiles() error {
	if p.settings.Pprof == "" {
		return nil
	}
	at, err := p.serve("pprof", p.settings.Pprof, http.DefaultServeMux, nil)
	if err != nil {
		return err
	}
	p.report.Log.Info().Str("address", at).Msg("profiles at /debug/pprof/")
	return nil
}

// canListen tells that an address is taken before anything is started.
func canListen(address string) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("http cannot listen at %s: %w (choose another address with --listen)", address, err)
	}
	return listener.Close()
}

// serve serves a handler within the bounds of the section http; trusted proxies
// have as many connections as all.
func (p *process) serve(name, address string, handler http.Handler, trusted func(netip.Addr) bool, drain ...func()) (string, error) {
	if n := descriptors.Limit(); n < descriptors.Few {
		p.report.Log.Warn().Int("limit", n).Msgf("few file descriptors: raise the limit (ulimit -n %d) to serve more connections", descriptors.Few)
	}
	listener, err := listen.Listen(context.Background(), "tcp", address, p.settings.HTTP, listen.Options{
		Name: name, Report: p.report, Part: descriptors.HTTP, Trusted: trusted,
	})
	if err != nil {
		return "", err
	}
	p.onStop(name, listener.Serve(handler, drain...).Stop)
	return listener.Addr().String(), nil
}

// quiet is a logger for commands that print their result and nothing else.
func quiet() zerolog.Logger { return zerolog.New(os.Stderr).Level(zerolog.WarnLevel) }
