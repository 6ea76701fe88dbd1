package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"

	"github.com/gin-gonic/gin"
	"github.com/spf13/cobra"

	"tonscribe/decode/detect"
	"tonscribe/decode/traces"
	"tonscribe/decode/worker"
	"tonscribe/ingest"
	"tonscribe/internal/clickhouse"
	"tonscribe/internal/emulator"
	"tonscribe/internal/report"
	frame "tonscribe/internal/stage"
	"tonscribe/metadata"
	"tonscribe/query"
	"tonscribe/query/tail"
	"tonscribe/schema"
	"tonscribe/sink"
	"tonscribe/web"
)

// stage is what all components have in common.
type stage interface {
	Start(ctx context.Context) error
	Stop(ctx context.Context) error
	// Done is closed when the stage has ended; Err is nil when it was to end.
	Done() <-chan struct{}
	Err() error
}

// begin starts a stage and says when it ends by itself.
func (p *process) begin(ctx context.Context, name string, s stage, ended chan<- error) error {
	if err := s.Start(ctx); err != nil {
		return err
	}
	p.onStop(name, func(ctx context.Context) error {
		reported := s.Err()
		if err := s.Stop(ctx); reported == nil || !errors.Is(err, reported) {
			return err
		}
		return nil
	})
	go func() {
		<-s.Done()
		if err := s.Err(); err != nil && !errors.Is(err, context.Canceled) {
			select {
			case ended <- fmt.Errorf("%s ended: %w", name, err):
			default: // another one was first
			}
		}
	}()
	return nil
}

func (p *process) newIngest() (*ingest.Component, error) {
	d := ingest.Dependencies{Report: p.report, Log: p.log, Backlog: p.decodeBacklog, First: p.firstBundle, Newest: p.newestBundle}
	if newProgress(os.Stderr).terminal {
		d.Terminal = os.Stderr
	}
	return ingest.New(p.settings.Ingest, d)
}

// firstBundle is the lowest bundle in the tables, for the processes that reach
// them.
func (p *process) firstBundle(ctx context.Context) (uint32, bool, error) {
	if p.dsn == "" {
		return 0, false, nil
	}
	client, err := p.openTables("clickhouse first bundle", p.dsn)
	if err != nil {
		return 0, false, err
	}
	var first uint32
	var count uint64
	err = p.persist(ctx, "look for the first bundle", func() error {
		return client.Conn().QueryRow(ctx, "SELECT min(mc_seqno), count() FROM blocks").Scan(&first, &count)
	})
	return first, count > 0, err
}

// newestBundle is the watermark of the tables, 0 without one, for the processes that reach
// them.
func (p *process) newestBundle(ctx context.Context) (uint32, error) {
	if p.dsn == "" {
		return 0, nil
	}
	client, err := p.openTables("clickhouse newest bundle", p.dsn)
	if err != nil {
		return 0, err
	}
	var w clickhouse.Watermark
	err = p.persist(ctx, "look for the newest bundle", func() error {
		if w, err = clickhouse.ReadWatermark(ctx, client.Conn()); errors.Is(err, clickhouse.ErrNoWatermark) {
			return nil
		}
		return err
	})
	return w.MCSeqno, err
}

// decodeBacklog is how many bytes of blocks decode has not read, about: the
// log tells records, and a record is a block.
func (p *process) decodeBacklog(ctx context.Context) (int64, error) {
	records, err := p.log.Lag(ctx, p.settings.Decode.Group, schema.Blocks)
	return records * blockBytes, err
}

// blockBytes is the size of a full basechain block.
const blockBytes = 64 << 10

func (p *process) newDecode() (*worker.Component, error) {
	servers, err := p.liteServers()
	if err != nil {
		return nil, err
	}
	states, err := p.newZerostates()
	if err != nil {
		return nil, err
	}
	return worker.New(p.settings.Decode, worker.Dependencies{Report: p.report, Kafka: p.log, Zerostate: states.find, Lite: servers})
}

func (p *process) newContracts() (*detect.Component, error) {
	servers, err := p.liteServers()
	if err != nil {
		return nil, err
	}
	return detect.New(p.settings.Contracts, detect.Dependencies{Report: p.report, Kafka: p.log, Lite: servers})
}

func (p *process) newTraces() (*frame.Component, error) {
	return traces.New(p.settings.Traces, traces.Dependencies{Report: p.report, Kafka: p.log})
}

func (p *process) newSink() (*sink.Component, error) {
	client, err := p.openTables("clickhouse writer", p.dsn)
	if err != nil {
		return nil, err
	}
	return sink.New(p.settings.Sink, sink.Dependencies{
		Report: p.report.For("sink"), Kafka: p.log, ClickHouse: client, Progressed: p.progressed,
	})
}

func (p *process) newMetadata() (*metadata.Component, error) {
	client, err := p.openTables("clickhouse metadata", p.dsn)
	if err != nil {
		return nil, err
	}
	return metadata.New(p.settings.Metadata, metadata.Dependencies{Report: p.report, ClickHouse: client})
}

func (p *process) newQuery() (*query.Component, error) {
	client, err := p.openTables("clickhouse reader", p.reader)
	if err != nil {
		return nil, err
	}
	usage, err := p.openTables("clickhouse usage", p.dsn)
	if err != nil {
		return nil, err
	}
	p.settings.Query.V2 = p.settings.nodeAccess()
	emulation, foresees := p.settings.Query.V2.Emulation, p.settings.Query.Pending.Enabled
	if foresees { // whoever sends has as many processes as without
		emulation.Workers += p.settings.Query.Pending.Workers
	}
	pool, err := emulator.New(emulation, emulator.Dependencies{Report: p.report})
	if err != nil {
		return nil, err
	}
	p.onStop("emulator", pool.Stop)
	d := query.Dependencies{Report: p.report.For("query"), ClickHouse: client, Usage: usage, Emulator: pool}
	if foresees && p.log != nil && len(p.settings.Kafka.Brokers) > 0 { // an embedded log has one reader
		d.Shared = p.log
	}
	if c := p.settings.Query.Tail; c.MaxBytes > 0 && p.log != nil {
		c.Options = p.settings.Sink.TableOptions()
		d.Log = tail.New(c, p.log, d.Report)
	}
	pages, err := web.New()
	if err != nil {
		return nil, err
	}
	c := &chainFacts{}
	merchants, err := p.newMerchantAPI(c)
	if err != nil {
		return nil, err
	}
	d.Mount = func(router *gin.Engine) {
		pages.Mount(router)
		merchants.Mount(router)
	}
	q, err := query.New(p.settings.Query, d)
	if err != nil {
		return nil, err
	}
	c.index, c.node = q.Index(), q.Node()
	return q, nil
}

func (p *process) openTables(name, dsn string) (*clickhouse.Client, error) {
	configuration := p.settings.ClickHouse.Configuration
	configuration.DSN = dsn
	client, err := clickhouse.New(configuration, clickhouse.Dependencies{Report: p.report.For("clickhouse"), Room: p.roomForRows})
	if err != nil {
		return nil, err
	}
	p.onStop(name, func(context.Context) error { return client.Close() })
	return client, nil
}

// stageCommand is a command that runs one stage, on external engines.
type stageCommand struct {
	name, short string
	flags       []flag
	log, tables bool // what the stage needs
	follows     bool // the log, where it is told of one; it need not be there
	readsBlocks bool // from the source
	growth      int  // of memory, where it is not memoryGrowth
	open        func(p *process) (stage, error)
}

func opened[S stage](open func(*process) (S, error)) func(*process) (stage, error) {
	return func(p *process) (stage, error) { return open(p) }
}

var (
	ingestStage = stageCommand{
		name: "ingest", short: "Run the first stage: verified blocks into the log",
		flags: []flag{flagBlocks, flagFrom, flagTo, flagKafka, flagPprof}, log: true, readsBlocks: true,
		open: opened((*process).newIngest),
	}
	decodeStage = stageCommand{
		name: "decode", short: "Run the second stage: blocks into headers and transactions",
		flags: []flag{flagKafka, flagLite, flagPprof}, log: true,
		open: opened((*process).newDecode),
	}
	contractsStage = stageCommand{
		name: "contracts", short: "Run the stage that finds out what contracts are: accounts and transactions into facts",
		flags: []flag{flagKafka, flagLite, flagPprof}, log: true,
		open: opened((*process).newContracts),
	}
	tracesStage = stageCommand{
		name: "traces", short: "Run the stage that puts transactions together to traces and recognises actions",
		flags: []flag{flagKafka, flagPprof}, log: true,
		open: opened((*process).newTraces),
	}
	sinkStage = stageCommand{
		name: "sink", short: "Run the stage that fills the tables: every topic into ClickHouse",
		flags: []flag{flagKafka, flagClickHouse, flagPprof}, log: true, tables: true,
		open: opened((*process).newSink),
	}
	metadataStage = stageCommand{
		name: "metadata", short: "Fetch the documents that tokens point to, for the metadata of the API",
		flags: []flag{flagClickHouse, flagPprof}, tables: true,
		open: opened((*process).newMetadata),
	}
	webhooksStage = stageCommand{
		name: "webhooks", short: "Find registered payments, and tell merchants how they ended",
		flags: []flag{flagKafka, flagClickHouse, flagPprof}, log: true, tables: true,
		open: opened((*process).newWebhooks),
	}
	queryStage = stageCommand{
		name: "query", short: "Serve the API from ClickHouse, and what is newer from Kafka",
		flags: []flag{flagKafka, flagClickHouse, flagLite, flagNamespace, flagPprof}, tables: true, follows: true, growth: queryGrowth,
		open: opened((*process).newQuery),
	}
)

func (k stageCommand) command(s *settings) *cobra.Command {
	c := &cobra.Command{
		Use: k.name, Short: k.short, Args: cobra.NoArgs,
		RunE: s.running(func(cmd *cobra.Command, p *process) error {
			if k.readsBlocks {
				s.useNetwork()
			}
			if err := p.findNetwork(cmd.Context()); err != nil {
				return err
			}
			if k.readsBlocks { // mistakes are told before anything is connected to
				if err := s.Ingest.Check(); err != nil {
					return err
				}
			}
			return k.run(cmd.Context(), p)
		}),
	}
	addFlags(c, false, k.flags...)
	return c
}

// run runs the stage until ctx ends or the stage does.
func (k stageCommand) run(ctx context.Context, p *process) error {
	if k.growth > 0 {
		setMemoryGrowth(k.growth)
	}
	if err := p.watchRoom(ctx); err != nil {
		return err
	}
	if k.log || k.follows && len(p.settings.Kafka.Brokers) > 0 {
		if err := p.findLog(ctx, false); err != nil {
			return err
		}
	}
	ended := make(chan error, 1)
	if k.tables {
		version := func(ctx context.Context) error { return p.watchVersion(ctx, ended) }
		if err := inTurn(ctx, p.openClickHouse, version, p.watchTables); err != nil {
			return err
		}
	}
	stage, err := k.open(p)
	if err != nil {
		return err
	}
	if err := k.watchEngines(p); err != nil {
		return err
	}
	handler, drain := p.healthHandler(), func() {}
	switch of := stage.(type) {
	case *query.Component:
		p.health.Add("query", of.Ready)
		handler, drain = p.apiHandler(of), of.Drain
	case *ingest.Component:
		p.health.Add("source", func(context.Context) error { return hasRead(of.Status(), nearHead) })
	}
	address, err := p.listen(handler, drain)
	if err != nil {
		return err
	}
	p.report.Log.Info().Str("version", version).Str("stage", k.name).Str("listen", address).Msg("starting")
	if k.log {
		if err := p.makeTopics(ctx); err != nil {
			return err
		}
	}
	if err := p.begin(ctx, k.name, stage, ended); err != nil {
		return err
	}
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		p.report.Log.Info().Msg("stopping")
		return nil
	}
}

// watchEngines lets /readyz say which engine does not answer. That of query tells itself what
// it can do without.
func (k stageCommand) watchEngines(p *process) error {
	if k.log {
		p.health.Add("log", func(ctx context.Context) error { return p.log.Ready(ctx, schema.Topics) })
	}
	if !k.tables || k.follows {
		return nil
	}
	client, err := p.openTables("clickhouse health", p.dsn)
	if err != nil {
		return err
	}
	p.health.Add("clickhouse", func(ctx context.Context) error {
		if err := client.Conn().Ping(ctx); err != nil {
			return fmt.Errorf("ClickHouse does not answer: %w", err)
		}
		return nil
	})
	return nil
}

func (p *process) healthHandler() http.Handler { return report.Handler(p.health, p.registry) }

// apiHandler is the API with health and metrics beside it.
func (p *process) apiHandler(c *query.Component) http.Handler {
	health := p.healthHandler()
	api := c.Handler()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/healthz", "/readyz", "/metrics":
			health.ServeHTTP(w, r)
		default:
			api.ServeHTTP(w, r)
		}
	})
}
