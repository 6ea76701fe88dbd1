package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ClickHouse/ch-go/proto"
	"github.com/spf13/cobra"

	"tonscribe/cmd/tonscribe/repair"
	"tonscribe/internal/clickhouse"
	"tonscribe/internal/kafka"
)

func repairCommand(s *settings) *cobra.Command {
	var options repair.Options
	c := &cobra.Command{
		Use:   "repair",
		Short: "Bring back rows that the tables have lost",
		Long: `Find parts of the tables that ClickHouse put aside, that are gone or whose files
are damaged, and bundles that have fewer rows than they promise. Bring the rows
of the tables concerned back: from the log, where it still has all bundles since
the first one that lacks something, otherwise by reading and decoding the blocks
of --source once more, beside the index, in the folder 'repair' of --data. Rows
that are there already are replaced by their equals. Then parts are dropped whose
rows are back.

It may be killed at any moment and run again. An embedded engine belongs to one
process: stop 'up' first. With --clickhouse and --kafka it runs beside the stages;
a devnet that runs meanwhile is --source liteserver:DATA/devnet/global.config.json.
Exit code 1 when something is not mended, or with --dry-run is to be mended.
'tonscribe verify' then proves the tables whole.`,
		Args: cobra.NoArgs,
		RunE: s.running(func(cmd *cobra.Command, p *process) error {
			p.report.Log = quiet()
			options.Out, options.Progress = cmd.OutOrStdout(), newProgress(cmd.ErrOrStderr()).show
			if err := p.prepareRepair(cmd.Context(), &options); err != nil {
				return err
			}
			return repair.Run(cmd.Context(), options)
		}),
	}
	addFlags(c, false, flagSource, flagClickHouse, flagKafka, flagLite)
	c.Flags().BoolVar(&options.DryRun, "dry-run", false, "say what would be done, and do nothing")
	c.Flags().BoolVar(&options.SkipChecksums, "skip-checksums", false, "do not verify the checksums of all files first")
	return c
}

// prepareRepair finds the tables, the log, and what was known of damage.
func (p *process) prepareRepair(ctx context.Context, o *repair.Options) error {
	s := p.settings
	if s.ClickHouse.DSN == "" {
		if _, err := os.Stat(filepath.Join(s.Data, clickHouseFolder)); err != nil {
			return fmt.Errorf("%s holds no tables: name the data folder with --data, or an external server with --clickhouse", s.Data)
		}
		if err := s.mustNotRun("the repair needs its engines for itself"); err != nil {
			return err
		}
	}
	err := inTurn(ctx, p.watchRoom, p.openClickHouse)
	if err != nil {
		return err
	}
	if o.Tables, err = p.openTables("clickhouse repair", p.dsn); err != nil {
		return err
	}
	if err := mustBeIndex(ctx, o.Tables); err != nil {
		return err
	}
	if !o.DryRun {
		if err := p.makeTables(ctx); err != nil {
			return err
		}
	}
	if o.Watch, err = p.newWatch(o.Tables); err != nil {
		return err
	}
	if p.hasLog() {
		o.Log = func(ctx context.Context) (*kafka.Client, error) {
			open := p.openLog
			if o.DryRun {
				open = p.findLog // topics would be made
			}
			err := open(ctx, true)
			return p.log, err
		}
	}
	o.Source, o.MakeTables = p.repairSource, p.makeTables
	o.Partitions, o.Sink, o.Report = s.Kafka.Partitions, s.Sink.ForHistory(0), p.report
	return nil
}

// mustBeIndex refuses a database where nothing was ever indexed: another one is meant.
func mustBeIndex(ctx context.Context, tables *clickhouse.Client) error {
	var there uint64
	err := tables.Conn().QueryRow(ctx, "SELECT count() FROM system.tables WHERE database = currentDatabase() AND name IN ('blocks', 'transactions', 'seals', 'progress')").Scan(&there)
	if clickhouse.IsCode(err, proto.ErrUnknownDatabase) || err == nil && there == 0 {
		return errors.New("the database has no tables of tonscribe, so that there is nothing to be repaired: name another one with --clickhouse, or the data folder with --data")
	}
	return err
}

// hasLog reports whether there is a log beside the tables: an external one, or the
// embedded one beside the embedded engine.
func (p *process) hasLog() bool {
	if len(p.settings.Kafka.Brokers) > 0 {
		return true
	}
	_, err := os.Stat(filepath.Join(p.settings.Data, logFolder))
	return err == nil && p.settings.ClickHouse.DSN == ""
}
