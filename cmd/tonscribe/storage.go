package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"tonscribe/internal/clickhouse"
	"tonscribe/internal/parts"
	"tonscribe/internal/space"
	"tonscribe/schema/migrations"
)

// ledgerName is the file of the data folder with the parts that the tables of the
// embedded engine had.
const ledgerName = "parts.json"

// watchRoom measures the disks of the folders that the process writes to, before
// anything writes there.
func (p *process) watchRoom(ctx context.Context) error {
	s := p.settings
	folders := []string{
		s.Data, filepath.Join(s.Data, clickHouseFolder), filepath.Join(s.Data, logFolder),
		s.Decode.Cells.Dir, s.Contracts.Dir, s.Traces.Dir, s.Webhooks.Match.Dir, s.devnetDir(),
	}
	p.room = space.New(s.Storage.Configuration, "stages and stores", space.Folders(folders...), p.report.For("storage"))
	p.health.Add("space", p.room.Ready)
	p.onStop("space", p.room.Stop)
	return p.room.Start(ctx)
}

// waitForRoom is what writers of the log, and of the embedded tables, wait for.
func (p *process) waitForRoom(ctx context.Context) error {
	if p.room == nil {
		return nil
	}
	return p.room.Wait(ctx)
}

// roomForRows is what writers of the tables wait for.
func (p *process) roomForRows(ctx context.Context) error {
	if p.disks != nil {
		return p.disks.Wait(ctx)
	}
	if p.settings.ClickHouse.DSN != "" {
		return nil
	}
	return p.waitForRoom(ctx)
}

// roomForTables is what is waited for before tables are made that are missing: on a
// full disk the engine leaves their definitions empty, and does not start with them
// again. An index that is there is served whatever is free.
func (p *process) roomForTables(ctx context.Context) error {
	nodes, err := migrations.Status(ctx, p.dsn, p.settings.ClickHouse.Tables)
	if err == nil && !slices.ContainsFunc(nodes, func(n migrations.State) bool { return n.Version < n.Latest }) {
		return nil
	}
	if p.room != nil && p.room.Ready(ctx) != nil {
		p.report.Log.Warn().Msg("the tables are made when there is room")
	}
	return p.roomForRows(ctx)
}

// watchTables looks after the files of the tables. It starts before anything is
// inserted, and knows what happened while nobody looked.
func (p *process) watchTables(ctx context.Context) error {
	client, err := p.openTables("clickhouse watch", p.dsn)
	if err != nil {
		return err
	}
	if p.parts, err = p.newWatch(client); err != nil {
		return err
	}
	p.health.Add("tables", p.parts.Ready)
	p.onStop("watch of the tables", p.parts.Stop)
	p.settings.Query.Store.Refuse, p.settings.Query.Store.Suspect = p.parts.Refuse, p.parts.Suspect
	if err := p.watchDisks(ctx, client); err != nil {
		return err
	}
	return p.parts.Start(ctx)
}

func (p *process) newWatch(client *clickhouse.Client) (*parts.Watch, error) {
	o := parts.Options{
		Configuration: p.settings.Storage.Parts, ClickHouse: client, Marks: p.marks, Report: p.report.For("storage"),
		Advice: "answers that need it are refused; `tonscribe repair --clickhouse DSN --kafka BROKERS --source SOURCE` brings the rows back",
	}
	if p.settings.ClickHouse.DSN == "" {
		o.File = filepath.Join(p.settings.Data, ledgerName)
		o.Advice = fmt.Sprintf("answers that need it are refused; stop tonscribe and run `tonscribe repair --data %s`, which brings the rows back", shellWord(p.settings.Data))
	}
	return parts.New(o)
}

// watchDisks measures the disks of an external ClickHouse, if its user may ask.
func (p *process) watchDisks(ctx context.Context, client *clickhouse.Client) error {
	if p.settings.ClickHouse.DSN == "" {
		return nil
	}
	p.disks = space.New(p.settings.Storage.Configuration, "tables", disksOf(client), p.report.For("storage"))
	p.health.Add("clickhouse disks", p.disks.Ready)
	p.onStop("clickhouse disks", p.disks.Stop)
	return p.disks.Start(ctx)
}

// disksPatience bounds the question how much of a server's disks is free.
const disksPatience = 5 * time.Second

// disksOf measures the local disks of ClickHouse; object stores have no end.
func disksOf(client *clickhouse.Client) space.Measure {
	return func(ctx context.Context) ([]space.Disk, error) {
		ctx, cancel := context.WithTimeout(ctx, disksPatience)
		defer cancel()
		var disks []space.Disk
		err := client.Conn().Select(ctx, &disks, `SELECT concat('ClickHouse, disk ', name) AS Name, toInt64(free_space) AS Free, toInt64(total_space) AS Total
			FROM system.disks WHERE total_space < 1152921504606846976`)
		return disks, err
	}
}
