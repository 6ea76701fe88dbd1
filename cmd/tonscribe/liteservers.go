package main

import (
	"context"
	"fmt"

	"tonscribe/internal/lite"
)

// liteServers are asked by the stages that fill in what blocks do not show: the
// lite servers of node access. Without any the pool is nil.
func (p *process) liteServers() (*lite.Pool, error) {
	c := p.settings.nodeAccess().Lite
	if p.servers != nil || c.Config == "" && len(c.Inline) == 0 {
		return p.servers, nil
	}
	pool, err := lite.New(c, lite.Dependencies{Report: p.report})
	if err != nil {
		return nil, fmt.Errorf("lite servers: %w", err)
	}
	if err := pool.Start(context.Background()); err != nil {
		return nil, fmt.Errorf("lite servers: %w", err)
	}
	p.servers = pool
	p.onStop("lite servers", pool.Stop)
	return pool, nil
}
