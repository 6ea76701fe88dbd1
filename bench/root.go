// Package bench measures: `tonscribe bench …`. It takes the program as it is, as
// a library or through its doors (topics, tables, HTTP), and prints figures. It
// must never change what it measures to make it look better, and no stage may
// import it.
package bench

import (
	"context"
	"path/filepath"

	"github.com/spf13/cobra"

	"tonscribe/internal/kafka"
)

// Dependencies are what the commands need of the rest of the program. Each
// function reads the flags and the configuration of the command it is given.
type Dependencies struct {
	// Flags adds the flags that say where the engines are: external ones or the
	// folder of the embedded ones.
	Flags func(*cobra.Command)
	// Index runs all stages over the masterchain blocks from..to of a source
	// (in the form of --source), with engines of its own, until the range is
	// visible in the API. It calls started when all stages run, and visible in the
	// end while the engines still run; then it stops everything.
	Index func(ctx context.Context, cmd *cobra.Command, source string, from, to uint32, started, visible func(context.Context, Running) error) error
	// Fill runs the log, the migrated tables and the sink as for a range of history,
	// calls feed, and stops everything when feed returns.
	Fill func(ctx context.Context, cmd *cobra.Command, feed func(context.Context, Running) error) error
	// Follow runs the same as for the head of a chain, and serves the API at an
	// address, http://HOST:PORT.
	Follow func(ctx context.Context, cmd *cobra.Command, feed func(ctx context.Context, r Running, address string) error) error
	// Live runs a devnet and all stages, calls watch, and stops everything when
	// watch returns. One client may have so many streams, or as many as is
	// configured for 0.
	Live func(ctx context.Context, cmd *cobra.Command, streams int, watch func(context.Context, Live) error) error
	// DevnetFlags adds the flags that say what the devnet does.
	DevnetFlags func(*cobra.Command)
	// Key is the API key of the owner of the data folder, "" when there is none.
	Key func(*cobra.Command) (string, error)
	// Data is the data folder.
	Data func(*cobra.Command) (string, error)
}

// keysName is the file in the data folder that holds what to ask for.
const keysName = "bench-keys.json"

// keysFile is the file that a flag names, else the one in the data folder.
func (d Dependencies) keysFile(cmd *cobra.Command, flag string) (string, error) {
	if flag != "" {
		return flag, nil
	}
	dir, err := d.Data(cmd)
	return filepath.Join(dir, keysName), err
}

// Running is what runs while a benchmark looks at it.
type Running struct {
	// Log writes to the topics.
	Log *kafka.Client
	// DSN of the tables.
	DSN string
	// EnginePID is the process of the embedded ClickHouse, 0 for an external one.
	EnginePID int
}

// Command is `tonscribe bench` with all that is below it.
func Command(d Dependencies) *cobra.Command {
	root := &cobra.Command{
		Use:   "bench",
		Short: "Measure decoding, ingestion and queries",
		Long: `Measure decoding, ingestion and queries.

Every figure is a row of a table, and with --json an object of its own on a line
(name, value, unit, n). None of the inputs are downloaded: blocks come from a
folder, rows from a seed.`,
	}
	root.PersistentFlags().Bool("json", false, "print one JSON object per figure instead of tables")
	root.AddCommand(generateCommand(), decodeCommand(), queryCommand(d), fillCommand(d), ingestCommand(d), latencyCommand(d), headCommand(d), streamsCommand(d))
	return root
}
