package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"tonscribe/devnet"
)

var devnetFlags = []flag{
	{"listen-liteserver", "devnet.listen", "lite server address, `HOST:PORT`; port 0 is a free one, the same the next time (default 127.0.0.1:0)"},
	{"seed", "devnet.seed", "`NUMBER` that all keys, contracts and traffic follow from (default: that of the chain that is there, else 1)"},
	{"consensus", "devnet.consensus", "how blocks are signed: simplex, or catchain as public networks did before April 2026 (default: that of the chain that is there, else simplex)"},
	{"tps", "devnet.tps", "traffic of about `N` transactions a second; 0 is none (default 20)"},
	{"interval", "devnet.interval", "`TIME` from one masterchain block to the next, 10ms to 1h (default 1s)"},
	{"fixed-time", "devnet.fixed_time", "`UNIX` time at which the chain begins, whatever the clock says; every block is an interval later (default: that of the chain that is there, else the clock)"},
	{"reshard", "devnet.reshard", "split a shard, or merge two, every `N` masterchain blocks (default 0: never)"},
	{"max-shards", "devnet.max_shards", "at most `N` shards of the basechain, 2 to 16 (default 4)"},
}

func devnetCommand(s *settings) *cobra.Command {
	c := &cobra.Command{
		Use:   "devnet",
		Short: "Run a TON chain in this process, with a lite server",
		Long: `Run a TON chain in this process: a masterchain and a basechain with several shards,
transactions executed by the TVM, seeded traffic, and a lite server that any TON
client can talk to. The chain lies in DATA/devnet and goes on where it was. With
--listen health and metrics are served there.

'tonscribe up' without a source runs the same chain and indexes it. With the same
--seed and --fixed-time the chain is the same, byte for byte.`,
		Example: `  tonscribe devnet --tps 100
  tonscribe devnet send --to ADDRESS --amount 1.5
  tonscribe devnet generate --out blocks --transactions 100000`,
		Args: cobra.NoArgs,
		RunE: s.running(func(cmd *cobra.Command, p *process) error {
			return p.runDevnet(cmd.Context(), cmd.OutOrStdout(), s.isSet("listen"))
		}),
	}
	addFlags(c, false, append(devnetFlags, flagPprof)...)
	c.AddCommand(devnetGenerateCommand(s), devnetExportCommand(s), devnetSendCommand(s), devnetWalletsCommand(s),
		devnetReshardCommand(s, "split", "Split a shard of the running devnet in two"),
		devnetReshardCommand(s, "merge", "Merge a shard of the running devnet with its sibling"))
	return c
}

// devnetDir is where a data folder has its devnet.
func (s *settings) devnetDir() string { return filepath.Join(s.Data, "devnet") }

// runDevnet runs the devnet alone. Health and metrics are served when an address
// was asked for, so that it can run beside an `up`.
func (p *process) runDevnet(ctx context.Context, out io.Writer, listen bool) error {
	ended := make(chan error, 1)
	if err := p.watchRoom(ctx); err != nil {
		return err
	}
	d, err := p.startDevnet(ctx, ended)
	if err != nil {
		return err
	}
	if listen {
		_, err = p.listen(p.healthHandler())
	} else {
		err = p.serveProfiles()
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "The devnet runs, seed %d, at masterchain block %d.\n\n  lite server  %s\n  config       %s\n\n", d.Seed(), d.Seqno(), d.LiteServer(), d.ConfigPath())
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		p.report.Log.Info().Uint32("seqno", d.Seqno()).Msg("stopping")
		return nil
	}
}

// startDevnet starts the devnet of the data folder.
func (p *process) startDevnet(ctx context.Context, ended chan<- error) (*devnet.Component, error) {
	c := p.settings.Devnet
	c.Dir = p.settings.devnetDir()
	if err := p.settings.makeData(); err != nil {
		return nil, err
	}
	d, err := devnet.New(c, devnet.Dependencies{Report: p.report, Room: p.waitForRoom})
	if err != nil {
		return nil, err
	}
	return d, p.begin(ctx, "devnet", d, ended)
}

// findDevnet is the running devnet of the data folder.
func (s *settings) findDevnet() (devnet.Running, error) {
	r, err := devnet.FindRunning(s.devnetDir())
	if errors.Is(err, os.ErrNotExist) {
		return r, fmt.Errorf("no devnet runs in %s: start it with `tonscribe up` or `tonscribe devnet`, or name its folder with --data", s.Data)
	}
	return r, err
}

func devnetReshardCommand(s *settings, what, short string) *cobra.Command {
	shard := ""
	c := &cobra.Command{
		Use:   what,
		Short: short,
		Args:  cobra.NoArgs,
		RunE: s.loaded(func(cmd *cobra.Command, _ []string) error {
			r, err := s.findDevnet()
			if err != nil {
				return err
			}
			if err := r.Ask(cmd.Context(), what, shard); err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "asked for a %s: it happens within the next blocks\n", what)
			return nil
		}),
	}
	c.Flags().StringVar(&shard, "shard", "", "`SHARD`, 16 hexadecimal digits (default: the devnet chooses)")
	return c
}
