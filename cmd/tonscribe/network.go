package main

import (
	"context"
	"fmt"
	"path/filepath"

	"tonscribe/internal/lite"
	"tonscribe/internal/network"
)

// fromNetwork stands for the lite servers that a public network publishes: as a
// source, and for node access.
const fromNetwork = "network"

// useNetwork makes a public network the source where one is named and no source
// is.
func (s *settings) useNetwork() {
	if s.Ingest.Source == "" && s.isSet("network") && network.Known(s.Network) {
		s.Ingest.Source = fromNetwork
	}
}

// findNetwork gets the global config of the network for what is to use its lite
// servers. A stage that reads no blocks goes on without them.
func (p *process) findNetwork(ctx context.Context) error {
	s := p.settings
	source, access := s.Ingest.Source == fromNetwork, s.API.Lite.Config == fromNetwork
	if !source && !access {
		return nil
	}
	n, err := network.New(s.Network, filepath.Join(s.Data, "networks"), s.NetworkConfig, network.Dependencies{Report: p.report})
	if err != nil {
		return err
	}
	path, err := n.Config(ctx)
	switch {
	case err != nil && source:
		return err
	case err != nil:
		p.report.Log.Warn().Err(err).Msg("going on without the network's lite servers until the next start")
	default:
		if err := n.Start(ctx); err != nil {
			return err
		}
		p.onStop("network", n.Stop)
	}
	if source {
		s.Ingest.Source, s.Ingest.FromHead = "liteserver:"+path, s.Ingest.From == 0
	}
	if access {
		s.API.Lite.Config = path
	}
	return nil
}

// liteServers are asked by the stages that fill in what blocks do not show: the
// lite servers of node access. Without any the pool is nil.
func (p *process) liteServers() (*lite.Pool, error) {
	c := p.settings.nodeAccess().Lite
	if p.servers != nil || c.Config == "" && len(c.Inline) == 0 {
		return p.servers, nil
	}
	pool, err := lite.New(c, lite.Dependencies{Report: p.report})
	if err == nil {
		err = pool.Start(context.Background())
	}
	if err != nil {
		return nil, fmt.Errorf("lite servers: %w", err)
	}
	p.servers = pool
	p.onStop("lite servers", pool.Stop)
	return pool, nil
}
