// Command tonscribe indexes The Open Network: raw blocks in, the v3 index API
// out. One binary holds every stage; `tonscribe up` runs them all.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"tonscribe/internal/emulator"
	"tonscribe/internal/engine"
)

// version is set by the build.
var version = "unknown"

func main() {
	// The embedded ClickHouse is a child process of this binary; nothing of
	// the command line may come before it.
	if len(os.Args) > 1 && os.Args[1] == engine.ChildCommand {
		os.Exit(engine.ClickHouseMain(os.Args[2:]))
	}
	if len(os.Args) > 1 && os.Args[1] == emulator.ChildCommand {
		os.Exit(emulator.Main(os.Args[2:]))
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := execute(ctx, rootCommand()); err != nil {
		fmt.Fprintln(os.Stderr, "tonscribe:", err)
		stop()
		os.Exit(1)
	}
}

// endless marks commands that run until they are stopped.
const endless = "endless"

// untilStopped are commands that run until they are stopped.
func untilStopped(commands ...*cobra.Command) []*cobra.Command {
	for _, c := range commands {
		c.Annotations = map[string]string{endless: ""}
	}
	return commands
}

// execute runs a command line. To be stopped is no failure of what has no end of its own;
// whatever else was stopped is not done.
func execute(ctx context.Context, root *cobra.Command) error {
	c, err := root.ExecuteContextC(ctx)
	switch unknown := c.Flags().Args(); {
	case err == nil && !c.Runnable() && len(unknown) > 0: // cobra has shown the commands that there are
		return fmt.Errorf("unknown command %q for %q", unknown[0], c.CommandPath())
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		if _, is := c.Annotations[endless]; !is {
			return errors.New("stopped before its end")
		}
		return nil
	}
	return err
}

// showUse lets a command and those below it say how they are called when they are called
// otherwise.
func showUse(c *cobra.Command) {
	if wanted := c.Args; wanted != nil {
		c.Args = func(c *cobra.Command, args []string) error {
			if err := wanted(c, args); err != nil {
				return fmt.Errorf("%w: the command is '%s'", err, c.UseLine())
			}
			return nil
		}
	}
	for _, below := range c.Commands() {
		showUse(below)
	}
}

func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "tonscribe",
		Short: "Index The Open Network: raw blocks in, the v3 API out",
		Long: `tonscribe reads raw blocks of The Open Network, verifies and decodes them, keeps
the whole history in ClickHouse, and serves it: the v3 index API, the v2 API with
JSON-RPC, streams, and signed payment webhooks.

  tonscribe up

runs everything in one process, on engines that it brings along, and a TON chain
of its own to index (--source says where else blocks come from). Each stage is a
command of its own for production: ingest, decode, contracts, traces, sink,
metadata, webhooks, query.

Every setting is a key of one YAML file (--config), an environment variable
TONSCRIBE_…, and, where it is asked for daily, a flag. 'tonscribe config' prints
them all, with their values and where those come from.`,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	s := newSettings(root)
	root.AddCommand(untilStopped(
		upCommand(s), devnetCommand(s), receiverCommand(s),
		ingestStage.command(s), decodeStage.command(s), contractsStage.command(s), tracesStage.command(s), sinkStage.command(s), metadataStage.command(s), webhooksStage.command(s), queryStage.command(s),
	)...)
	root.AddCommand(
		migrateCommand(s), keysCommand(s), merchantsCommand(s), verifyCommand(s), reclassifyCommand(s), repairCommand(s), inspectCommand(s), benchCommand(s),
		configCommand(s), engineCommand(), healthCommand(s), versionCommand(),
	)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return fmt.Errorf("%w: see '%s --help'", err, c.CommandPath())
	})
	showUse(root)
	return root
}

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		Run:   func(cmd *cobra.Command, _ []string) { fmt.Fprintln(cmd.OutOrStdout(), "tonscribe", version) },
	}
}
