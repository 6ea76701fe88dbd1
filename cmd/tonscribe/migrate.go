package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"text/tabwriter"
	"time"

	"github.com/ClickHouse/ch-go/proto"
	"github.com/spf13/cobra"

	"tonscribe/internal/clickhouse"
	"tonscribe/internal/lifetime"
	"tonscribe/metadata"
	"tonscribe/schema/migrations"
)

func migrateCommand(s *settings) *cobra.Command {
	c := &cobra.Command{
		Use:   "migrate",
		Short: "Make, show or drop the ClickHouse tables",
		Long: `Make, show or drop the tables of an external ClickHouse (--clickhouse), or of the
embedded one in --data. 'tonscribe up' makes its tables by itself.`,
	}
	addFlags(c, true, flagClickHouse, flagCluster)
	c.AddCommand(migrateUp(s), migrateDown(s), migrateStatus(s), migratePrint(s))
	return c
}

func migrateUp(s *settings) *cobra.Command {
	return &cobra.Command{
		Use:   "up",
		Short: "Make what is missing",
		Args:  cobra.NoArgs,
		RunE: attached(s, false, func(cmd *cobra.Command, p *process) error {
			if err := p.makeTables(cmd.Context()); err != nil {
				return err
			}
			fmt.Fprintln(cmd.OutOrStdout(), "the tables are up to date")
			return nil
		}),
	}
}

func migrateDown(s *settings) *cobra.Command {
	sure := false
	c := &cobra.Command{
		Use:   "down",
		Short: "Drop all tables and every row in them",
		Long: `Drop all tables and every row in them. Stop every stage first: of those on an external
ClickHouse only 'metadata', and 'up' with it, is found where it runs; the others would fail.`,
		Args: cobra.NoArgs,
		PreRunE: func(*cobra.Command, []string) error {
			if !sure {
				return errors.New("this drops all tables with every row in them: say --yes if that is wanted")
			}
			return nil
		},
		RunE: attached(s, true, func(cmd *cobra.Command, p *process) error {
			if err := s.mustNotRun("it needs its tables"); err != nil {
				return err
			}
			if err := p.mustNotWork(cmd.Context()); err != nil {
				return err
			}
			return migrations.Down(cmd.Context(), p.dsn, s.ClickHouse.Tables)
		}),
	}
	c.Flags().BoolVar(&sure, "yes", false, "drop them")
	return c
}

// mustNotWork refuses tables that somebody was seen at.
func (p *process) mustNotWork(ctx context.Context) error {
	client, err := p.openTables("clickhouse workers", p.dsn)
	if err != nil {
		return err
	}
	worker, err := metadata.Worker(ctx, client, p.settings.Metadata.Lease)
	switch {
	case clickhouse.IsCode(err, proto.ErrUnknownDatabase, proto.ErrUnknownTable): // it was dropped before, or never made
		return nil
	case err == nil && worker != "":
		return fmt.Errorf("a tonscribe works on these tables (host, process and a number of its own: %s): stop all stages first; one that was killed is taken for gone after %s", worker, p.settings.Metadata.Lease)
	}
	return err
}

func migrateStatus(s *settings) *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Print the version of the tables on each node",
		Args:  cobra.NoArgs,
		RunE: attached(s, true, func(cmd *cobra.Command, p *process) error {
			states, err := migrations.Status(cmd.Context(), p.dsn, s.ClickHouse.Tables)
			if err != nil {
				return err
			}
			table := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 4, 2, ' ', 0)
			fmt.Fprintln(table, "node\tversion\tlatest\tstate")
			for _, state := range states {
				word := "up to date"
				switch {
				case state.Dirty:
					word = "failed half-way: run `tonscribe migrate up`"
				case state.Version > state.Latest:
					word = "newer than this version of tonscribe knows"
				case state.Version < state.Latest:
					word = "behind: run `tonscribe migrate up`"
				}
				fmt.Fprintf(table, "%s\t%d\t%d\t%s\n", state.Node, state.Version, state.Latest, word)
			}
			return table.Flush()
		}),
	}
}

func migratePrint(s *settings) *cobra.Command {
	return &cobra.Command{
		Use:   "print",
		Short: "Print the SQL that up would run on empty databases",
		Args:  cobra.NoArgs,
		RunE: s.loaded(func(cmd *cobra.Command, _ []string) error {
			return migrations.Print(cmd.Context(), cmd.OutOrStdout(), "tonscribe", s.ClickHouse.Tables)
		}),
	}
}

// withTables is attached for commands that have nothing to do where there are no
// tables.
func withTables(s *settings, run func(cmd *cobra.Command, p *process) error) func(*cobra.Command, []string) error {
	return attached(s, true, func(cmd *cobra.Command, p *process) error {
		if err := p.mustHaveTables(cmd.Context()); err != nil {
			return err
		}
		return run(cmd, p)
	})
}

// mustHaveTables says what to do where no tables of this version are.
func (p *process) mustHaveTables(ctx context.Context) error {
	states, err := migrations.Status(ctx, p.dsn, p.settings.ClickHouse.Tables)
	if clickhouse.IsCode(err, proto.ErrUnknownDatabase) {
		return misfit{errors.New("the database that --clickhouse names is not there: 'tonscribe migrate up' makes it")}
	}
	if err != nil {
		return err
	}
	for _, state := range states {
		if err := state.Fits(); err != nil {
			return misfit{err}
		}
	}
	return nil
}

// misfit is the answer of a ClickHouse that has not the tables of this version.
type misfit struct{ error }

func (m misfit) Unwrap() error { return m.error }

// versionPause is the time between two questions for the version of the tables, and
// versionPatience bounds one.
const (
	versionPause    = time.Second
	versionPatience = 5 * time.Second
)

// watchVersion ends a stage whose tables are not those of this version: it would fill them
// without the columns that it does not know. Stages begin without ClickHouse, which is
// asked until it answers.
func (p *process) watchVersion(ctx context.Context, ended chan<- error) error {
	if again, err := p.askVersion(ctx); !again {
		return err
	}
	run := lifetime.NewRun()
	p.onStop("version of the tables", run.Stop)
	run.Start(func(ctx context.Context) error {
		for lifetime.Sleep(ctx, versionPause) == nil {
			again, err := p.askVersion(ctx)
			if again {
				continue
			}
			if err != nil {
				select {
				case ended <- err:
				default: // something else was first
				}
			}
			return nil
		}
		return nil
	})
	return nil
}

// askVersion fails where the tables are not those of this version, and wants to be called
// again where ClickHouse does not answer. A user who may not see the table of versions is
// warned of.
func (p *process) askVersion(ctx context.Context) (again bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, versionPatience)
	defer cancel()
	err = p.mustHaveTables(ctx)
	switch {
	case err == nil || errors.As(err, &misfit{}):
		return false, err
	case clickhouse.Retryable(err) || ctx.Err() != nil:
		return true, nil
	}
	p.report.Log.Warn().Err(err).Msg("the version of the tables could not be read")
	return false, nil
}

// mustHaveFolder refuses a data folder that holds no tables: what was meant is
// another one.
func (s *settings) mustHaveFolder() error {
	if s.ClickHouse.DSN != "" {
		return nil
	}
	_, err := os.Stat(filepath.Join(s.Data, clickHouseFolder))
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s is no data folder of tonscribe: --data DIR names the one that 'tonscribe up' was started with, --clickhouse DSN tables elsewhere", s.Data)
	}
	return err
}

// attached runs a command on the tables: of the external server, of the running
// `up` of the data folder, or of the embedded engine started for it; there says
// that they must be there already.
func attached(s *settings, there bool, run func(cmd *cobra.Command, p *process) error) func(*cobra.Command, []string) error {
	return s.running(func(cmd *cobra.Command, p *process) error {
		if there {
			if err := s.mustHaveFolder(); err != nil {
				return err
			}
		}
		p.report.Log = quiet()
		if err := p.attachClickHouse(cmd.Context()); err != nil {
			return err
		}
		return run(cmd, p)
	})
}
