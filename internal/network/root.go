// Package network knows the public networks of TON. In: the name of one, and the
// address at which it publishes its global config. Out: that global config as a
// file of the data folder, fetched again now and then. It must never keep a
// global config of another chain, and never lose one that is good to one that
// cannot be read.
package network

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"tonscribe/internal/lifetime"
	"tonscribe/internal/lite"
	"tonscribe/internal/report"
)

// Dependencies of the component.
type Dependencies struct {
	Report report.Reporter
}

// Component keeps the global config of one network.
type Component struct {
	name          string
	path          string
	configuration Configuration
	preset        preset
	report        report.Reporter
	fetches       *prometheus.CounterVec

	run *lifetime.Run
}

// New makes the component of a network whose global config is kept in a folder.
// It is inert until Config or Start is called.
func New(name, dir string, c Configuration, d Dependencies) (*Component, error) {
	c, p, err := c.complete(name)
	if err != nil {
		return nil, err
	}
	n := &Component{
		name: name, path: filepath.Join(dir, name+".global.config.json"), configuration: c, preset: p, report: d.Report.For("network"), run: lifetime.NewRun(),
		fetches: d.Report.Meter("network").Counters("config_fetches_total", "Fetches of the network's global config, by how they ended.", "result"),
	}
	for _, result := range []string{resultNew, resultSame, resultUnreachable, resultRefused} {
		n.fetches.WithLabelValues(result)
	}
	return n, nil
}

// How a fetch ends.
const (
	resultNew         = "new"
	resultSame        = "same"
	resultUnreachable = "unreachable"
	resultRefused     = "refused"
)

// Config is the path of the network's global config: as published now or, where
// that cannot be had, as it was when it could.
func (n *Component) Config(ctx context.Context) (string, error) {
	problem := n.refresh(ctx)
	if problem == nil {
		return n.path, nil
	}
	if err := ctx.Err(); err != nil {
		return "", err
	}
	text, err := os.ReadFile(n.path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf(`the global config of %s, which names its lite servers, cannot be fetched: %w
There is none from an earlier start in %s either. Make %s reachable (HTTPS_PROXY is honoured), or fetch the file elsewhere and give it: --source liteserver:FILE`,
			n.name, problem, filepath.Dir(n.path), n.configuration.URL)
	}
	if err != nil {
		return "", fmt.Errorf("global config of %s: %w", n.name, err)
	}
	if err := n.check(text); err != nil {
		return "", fmt.Errorf("global config of %s kept in %s: %w (delete the file), and it cannot be fetched again: %w", n.name, n.path, err, problem)
	}
	since := time.Time{}
	if info, err := os.Stat(n.path); err == nil {
		since = info.ModTime()
	}
	n.report.Log.Warn().Err(problem).Str("file", n.path).Time("fetched", since).Msg("the network's global config cannot be fetched: using the one from before")
	return n.path, nil
}

// Start fetches the global config again at every interval. What is new is used
// from the next start on.
func (n *Component) Start(context.Context) error {
	n.run.Start(func(ctx context.Context) error {
		for lifetime.Sleep(ctx, n.configuration.Refresh) == nil {
			if err := n.refresh(ctx); err != nil && ctx.Err() == nil {
				n.report.Log.Warn().Err(err).Msg("the network's global config cannot be fetched")
			}
		}
		return nil
	})
	return nil
}

// Stop ends what Start began.
func (n *Component) Stop(ctx context.Context) error { return n.run.Stop(ctx) }

// refresh fetches the global config and puts it in the place of the old one.
func (n *Component) refresh(ctx context.Context) error {
	text, err := n.fetch(ctx)
	if err != nil {
		n.fetches.WithLabelValues(resultUnreachable).Inc()
		return err
	}
	if err := n.check(text); err != nil {
		n.fetches.WithLabelValues(resultRefused).Inc()
		return fmt.Errorf("%s: %w", n.configuration.URL, err)
	}
	before, err := os.ReadFile(n.path)
	result := resultNew
	if err == nil && string(before) == string(text) {
		result = resultSame
	}
	if err := lite.ReplaceFile(n.path, text); err != nil {
		return fmt.Errorf("global config of %s: %w", n.name, err)
	}
	n.fetches.WithLabelValues(result).Inc()
	return nil
}

// maxServers bounds what a global config makes us connect to. Those of public
// networks name less than thirty.
const maxServers = 256

// check refuses what is no global config of this network, or nothing to start
// proofs from.
func (n *Component) check(text []byte) error {
	config, err := lite.ReadGlobalConfig(text)
	if err != nil {
		return fmt.Errorf("no TON global config: %w", err)
	}
	switch zero := config.Zerostate; {
	case config.Servers() > maxServers:
		return fmt.Errorf("it names %d lite servers, more than %d", config.Servers(), maxServers)
	case zero == nil:
		return errors.New("it names no validator.zero_state, so nothing says which chain it is of")
	case fmt.Sprintf("%x", zero.RootHash) != n.preset.rootHash, n.preset.fileHash != "" && fmt.Sprintf("%x", zero.FileHash) != n.preset.fileHash:
		return fmt.Errorf("it is of another chain than %s: its zerostate is %X, not %s", n.name, zero.RootHash, n.preset.rootHash)
	case config.Init == nil || config.Init.SeqNo == 0:
		return errors.New("it names no validator.init_block to start proofs from")
	}
	return nil
}
