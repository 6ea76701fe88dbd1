package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	driver "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tonscribe/decode/detect"
	"tonscribe/decode/traces"
	"tonscribe/decode/worker"
	"tonscribe/devnet"
	"tonscribe/ingest"
	"tonscribe/internal/clickhouse"
	"tonscribe/internal/config"
	"tonscribe/internal/egress"
	"tonscribe/internal/kafka"
	"tonscribe/internal/listen"
	"tonscribe/internal/lite"
	"tonscribe/internal/network"
	"tonscribe/internal/parts"
	"tonscribe/internal/report"
	"tonscribe/internal/space"
	"tonscribe/metadata"
	"tonscribe/query"
	"tonscribe/query/auth"
	v2 "tonscribe/query/v2"
	"tonscribe/schema/migrations"
	"tonscribe/sink"
	merchantapi "tonscribe/webhooks/api"
	"tonscribe/webhooks/match"
	"tonscribe/webhooks/receiver"
	"tonscribe/webhooks/send"
	"tonscribe/webhooks/store"
)

// Configuration is everything that can be set, by section.
type Configuration struct {
	// Network is mainnet, testnet or devnet: a preset for what differs between them.
	Network string `yaml:"network"`
	// NetworkConfig says where the network publishes its lite servers.
	NetworkConfig network.Configuration `yaml:"network_config"`
	// Data is the folder of the embedded engines and of run.json.
	Data string `yaml:"data"`
	// Listen is the HTTP address: API, health and metrics.
	Listen string `yaml:"listen"`
	// HTTP bounds the connections of both addresses.
	HTTP listen.Configuration `yaml:"http"`
	// Pprof is a separate address for profiles; empty is off.
	Pprof       string                   `yaml:"pprof"`
	Log         report.LogConfiguration  `yaml:"log"`
	ClickHouse  ClickHouseConfiguration  `yaml:"clickhouse"`
	Kafka       kafka.Configuration      `yaml:"kafka"`
	EmbeddedLog EmbeddedLogConfiguration `yaml:"embedded_log"`
	Devnet      devnet.Configuration     `yaml:"devnet"`
	Ingest      ingest.Configuration     `yaml:"ingest"`
	Decode      worker.Configuration     `yaml:"decode"`
	Contracts   detect.Configuration     `yaml:"contracts"`
	Traces      traces.Configuration     `yaml:"traces"`
	Sink        sink.Configuration       `yaml:"sink"`
	Metadata    metadata.Configuration   `yaml:"metadata"`
	Query       query.Configuration      `yaml:"query"`
	API         v2.Configuration         `yaml:"api"`
	Auth        auth.Configuration       `yaml:"auth"`
	Webhooks    WebhooksConfiguration    `yaml:"webhooks"`
	Receiver    receiver.Configuration   `yaml:"receiver"`
	Storage     StorageConfiguration     `yaml:"storage"`
}

// WebhooksConfiguration is what is kept of merchants, their API, how their payments are
// found, and how they are told.
type WebhooksConfiguration struct {
	Store store.Configuration       `yaml:",inline"`
	API   merchantapi.Configuration `yaml:",inline"`
	// Enabled lets 'up' look for payments, and send, beside serving the API.
	Enabled bool                `yaml:"enabled"`
	Match   match.Configuration `yaml:"match"`
	Send    send.Configuration  `yaml:"send"`
}

// StorageConfiguration says what must stay free of disks, and how the tables'
// files are looked after.
type StorageConfiguration struct {
	space.Configuration `yaml:",inline"`
	Parts               parts.Configuration `yaml:",inline"`
}

// ClickHouseConfiguration says where the tables are. An empty DSN is the
// embedded engine.
type ClickHouseConfiguration struct {
	clickhouse.Configuration `yaml:",inline"`
	// ReaderDSN is what the API reads with; empty is DSN.
	ReaderDSN string `yaml:"reader_dsn" secret:"true"`
	// Tables says what the tables are made for: one node or a cluster.
	Tables migrations.Options `yaml:",inline"`
	// MemoryBytes caps the embedded engine.
	MemoryBytes int64 `yaml:"memory_bytes"`
}

// EmbeddedLogConfiguration bounds the embedded Kafka log.
type EmbeddedLogConfiguration struct {
	// RetentionBytes of every partition stay although everybody has read them.
	RetentionBytes int64 `yaml:"retention_bytes"`
	// LimitBytes is how much a partition may hold that was not read yet; writers
	// wait beyond it.
	LimitBytes int64 `yaml:"limit_bytes"`
	// SyncWrites makes every record survive a power loss, at the cost of speed.
	SyncWrites bool `yaml:"sync_writes"`
}

func defaultConfiguration() Configuration {
	api := v2.DefaultConfiguration()
	api.TypeNamespace = "" // by the network
	// Who asks reads what is new from the log, and the tables can wait for batches
	// that are worth their inserts.
	into, out := sink.DefaultConfiguration(), query.DefaultConfiguration()
	into.Every, out.Tail.MaxBytes = sink.HeadEvery, 256<<20
	return Configuration{
		Network:     network.Mainnet,
		Data:        "./data",
		Listen:      "127.0.0.1:8081",
		HTTP:        listen.DefaultConfiguration(),
		Log:         report.DefaultLogConfiguration(),
		ClickHouse:  ClickHouseConfiguration{Configuration: clickhouse.DefaultConfiguration(), MemoryBytes: 1 << 30},
		Kafka:       kafka.DefaultConfiguration(),
		EmbeddedLog: EmbeddedLogConfiguration{RetentionBytes: 64 << 20, LimitBytes: 512 << 20},
		Devnet:      devnet.DefaultConfiguration(),
		Ingest:      ingest.DefaultConfiguration(),
		Decode:      worker.DefaultConfiguration(),
		Contracts:   detect.DefaultConfiguration(),
		Traces:      traces.DefaultConfiguration(),
		Sink:        into,
		Metadata:    metadata.DefaultConfiguration(),
		Query:       out,
		API:         api,
		Auth:        auth.DefaultConfiguration(),
		Webhooks: WebhooksConfiguration{
			store.DefaultConfiguration(), merchantapi.DefaultConfiguration(), true, match.DefaultConfiguration(), send.DefaultConfiguration(),
		},
		Receiver: receiver.DefaultConfiguration(),
		Storage:  StorageConfiguration{space.DefaultConfiguration(), parts.DefaultConfiguration()},

		NetworkConfig: network.DefaultConfiguration(),
	}
}

// settings is the configuration of a command, filled by load.
type settings struct {
	Configuration
	file   string
	loader *config.Loader // which knows where the values come from
}

// isSet reports whether a key has a value by file, environment or flag.
func (s *settings) isSet(key string) bool {
	return s.loader != nil && slices.ContainsFunc(s.loader.Values(), func(v config.Value) bool { return v.Key == key && v.Origin != config.FromDefault })
}

// loaded is a command that needs the configuration.
func (s *settings) loaded(run func(cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if err := s.load(cmd); err != nil {
			return err
		}
		return run(cmd, args)
	}
}

// running is a command that starts something: run gets a process, which is stopped
// when it returns.
func (s *settings) running(run func(cmd *cobra.Command, p *process) error) func(*cobra.Command, []string) error {
	return s.loaded(func(cmd *cobra.Command, _ []string) (err error) {
		p, err := newProcess(s)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, p.stop()) }()
		return run(cmd, p)
	})
}

// flag is a command-line name of a key, or of two where a value may have two parts: both
// with a colon between them.
type flag struct{ name, key, usage string }

var (
	flagData       = flag{"data", "data", "`DIR` of the embedded engines and of the stages' stores"}
	flagListen     = flag{"listen", "listen", "HTTP address, `HOST:PORT`"}
	flagPprof      = flag{"pprof", "pprof", "serve profiles at `HOST:PORT`"}
	flagNetwork    = flag{"network", "network", "mainnet, testnet or devnet"}
	flagLogLevel   = flag{"log-level", "log.level", "trace, debug, info, warn or error"}
	flagSource     = flag{"source", "ingest.source", "where blocks come from: `SOURCE` is devnet, " + sources}
	flagBlocks     = flag{"source", "ingest.source", "where blocks come from: `SOURCE` is " + sources}
	flagNamespace  = flag{"type-namespace", "api.type_namespace", "namespace part of @type in answers of /api/v2; `NAME` is ton on mainnet and testnet, else chain"}
	flagLite       = flag{"liteservers", "api.lite.config", "lite servers that /api/v2 asks, and for what blocks do not show: `FILE` is a TON global config, or network for that of --network; those of the source, if it has some"}
	flagFrom       = flag{"from", "ingest.from", "first masterchain `SEQNO`"}
	flagTo         = flag{"to", "ingest.to:ingest.to_hash", "last masterchain `SEQNO`, or SEQNO:ROOTHASH to name the block that is meant; 0 follows the source for ever"}
	flagLast       = flag{"to", "ingest.to", "last masterchain `SEQNO`; 0 is the newest that the tables have"} // of rows
	flagLastBlock  = flag{"to", "ingest.to:ingest.to_hash", "last masterchain `SEQNO`, or, beside --source, SEQNO:ROOTHASH to name the block that is meant; 0 is the newest that the tables have"}
	flagClickHouse = flag{"clickhouse", "clickhouse.dsn", "`DSN` of an external ClickHouse"}
	flagCluster    = flag{"cluster", "clickhouse.cluster", "`NAME` of the ClickHouse cluster; empty is one node"}
	flagKafka      = flag{"kafka", "kafka.brokers", "`BROKERS` of an external Kafka, HOST:PORT with commas between them"}
)

// sources are those of every command that reads blocks.
const sources = "network (the lite servers of --network), files:DIR, archive:DIR or liteserver:CONFIG.json"

func newSettings(root *cobra.Command) *settings {
	s := &settings{Configuration: defaultConfiguration()}
	root.PersistentFlags().StringVar(&s.file, "config", os.Getenv("TONSCRIBE_CONFIG"), "configuration `FILE` (YAML)")
	addFlags(root, true, flagData, flagListen, flagNetwork, flagLogLevel)
	return s
}

// addFlags gives a command the flags; their values are read by load.
func addFlags(c *cobra.Command, persistent bool, flags ...flag) {
	set := c.Flags()
	if persistent {
		set = c.PersistentFlags()
	}
	for _, f := range flags {
		set.String(f.name, "", f.usage)
		set.Lookup(f.name).Annotations = map[string][]string{"key": strings.Split(f.key, ":")}
	}
}

// load fills the configuration: defaults, file, environment, flags.
func (s *settings) load(cmd *cobra.Command) error {
	s.Configuration = defaultConfiguration()
	s.loader = config.New(&s.Configuration)
	if s.file != "" {
		if err := s.loader.File(s.file); err != nil {
			return err
		}
	}
	if err := s.loader.Environment(os.Environ()); err != nil {
		return err
	}
	if err := setFlags(s.loader, cmd); err != nil {
		return err
	}
	if s.isSet("network") {
		s.expectNetwork()
	}
	return s.complete()
}

// expectNetwork lets the source have no other chain than that of the network that
// somebody has named, nor lite servers that are named beside it. What is said of the
// chain itself goes before that. Lite servers tell their zerostate.
func (s *settings) expectNetwork() {
	globalID, zerostate, public := network.Chain(s.Network)
	if !public || s.Ingest.GlobalID != 0 || s.Ingest.Zerostate != "" {
		return
	}
	published := cmp.Or(s.NetworkConfig.Zerostate, zerostate)
	switch kind, _, _ := strings.Cut(s.Ingest.Source, ":"); kind {
	case "files", "archive":
		s.Ingest.GlobalID, s.Ingest.Zerostate = globalID, zerostate
	case "liteserver":
		s.Ingest.Zerostate = published
	}
	if s.API.Lite.Config != fromNetwork {
		s.API.Lite.Zerostate = published
	}
}

func setFlags(loader *config.Loader, cmd *cobra.Command) error {
	var err error
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		key := f.Annotations["key"]
		if err != nil || len(key) == 0 || !f.Changed {
			return
		}
		value, origin := f.Value.String(), config.Origin("--"+f.Name)
		if first, second, both := strings.Cut(value, ":"); both && len(key) == 2 {
			if value, err = first, loader.Set(key[1], second, origin); err != nil {
				return
			}
		}
		if problem := loader.Set(key[0], value, origin); problem != nil {
			err = fmt.Errorf("--%s: %w", f.Name, problem)
		}
	})
	return err
}

// complete checks what no component can check for itself.
func (s *settings) complete() error {
	if !isNetwork(s.Network) {
		return fmt.Errorf("network %q: want mainnet, testnet or devnet", s.Network)
	}
	if err := errors.Join(s.Storage.Configuration.Validate(), s.Storage.Parts.Validate()); err != nil {
		return err
	}
	if err := s.NetworkConfig.Validate(); err != nil {
		return err
	}
	for key, proofs := range map[string]lite.Proofs{"ingest": s.Ingest.Proofs, "api.lite": s.API.Lite.Proofs} {
		if err := proofs.Validate(); err != nil {
			return fmt.Errorf("%s.%w", key, err)
		}
	}
	for key, networks := range map[string][]string{
		"metadata.allow_networks": s.Metadata.AllowNetworks, "webhooks.send.allow_networks": s.Webhooks.Send.AllowNetworks, "webhooks.send.deny_networks": s.Webhooks.Send.DenyNetworks,
	} {
		if _, err := egress.Networks(networks); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	for _, dsn := range []string{s.ClickHouse.DSN, s.ClickHouse.ReaderDSN} {
		if _, err := driver.ParseDSN(dsn); dsn != "" && err != nil {
			return fmt.Errorf("clickhouse: %w: a DSN is clickhouse://USER:PASSWORD@HOST:PORT/DATABASE", err)
		}
	}
	s.Query.TestNetwork = s.Network == "testnet"
	s.Auth.Network, s.Webhooks.API.Network, s.Contracts.Network = s.Network, s.Network, s.Network
	w := &s.Webhooks
	w.API.Header, w.API.AllowHTTP, w.Match.Ticker = w.Send.Header, w.Send.AllowHTTP, w.API.Ticker
	s.Query.Auth = s.Auth
	s.ClickHouse.ReaderDSN = cmp.Or(s.ClickHouse.ReaderDSN, s.ClickHouse.DSN)
	data, err := filepath.Abs(s.Data)
	if err != nil {
		return fmt.Errorf("data folder %q: %w", s.Data, err)
	}
	s.Data = data
	for path, name := range map[*string]string{
		&s.Decode.Cells.Dir: "cells", &s.Contracts.Dir: "contracts", &s.Traces.Dir: "traces", &s.Webhooks.Match.Dir: "webhooks",
		&s.Ingest.Lite.TrustedFile: "trusted-key-block.json", &s.API.Lite.TrustedFile: "trusted-key-block.json",
	} {
		*path = cmp.Or(*path, filepath.Join(data, name))
	}
	return nil
}

func isNetwork(name string) bool {
	return slices.Contains([]string{"mainnet", "testnet", "devnet"}, name)
}

// nodeAccess completes the section api: the namespace by the network, the lite
// servers from the source.
func (s *settings) nodeAccess() v2.Configuration {
	api := s.API
	if api.TypeNamespace == "" {
		api.TypeNamespace = "ton"
		if s.Network == "devnet" {
			api.TypeNamespace = v2.DefaultConfiguration().TypeNamespace
		}
	}
	if path, ok := strings.CutPrefix(s.Ingest.Source, "liteserver:"); ok && api.Lite.Config == "" {
		api.Lite.Config, api.Lite.Proofs = path, s.Ingest.Proofs
	}
	return api
}
