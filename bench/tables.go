package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"tonscribe/internal/clickhouse"
	"tonscribe/internal/report"
)

// tables looks into the tables while a benchmark runs.
type tables struct{ *clickhouse.Client }

func openTables(dsn string) (tables, error) {
	configuration := clickhouse.DefaultConfiguration()
	configuration.DSN, configuration.MaxConnections = dsn, 2
	client, err := clickhouse.New(configuration, clickhouse.Dependencies{Report: report.Silent()})
	return tables{client}, err
}

type tableSize struct {
	Name               string
	Rows, Bytes, Parts uint64
}

// sizes of all tables of the database that hold rows on this server.
func (t tables) sizes(ctx context.Context) ([]tableSize, error) {
	var all []tableSize
	err := t.Conn().Select(ctx, &all, `SELECT table AS Name, sum(rows) AS Rows, sum(bytes_on_disk) AS Bytes, count() AS Parts FROM system.parts
		WHERE database = currentDatabase() AND active AND rows > 0 GROUP BY table ORDER BY Bytes DESC`)
	return all, err
}

var errNotEmpty = errors.New("the tables are not empty")

// mustBeEmpty refuses tables that hold complete bundles: they belong to somebody,
// or to a benchmark before this one.
func (t tables) mustBeEmpty(ctx context.Context) error {
	w, err := clickhouse.ReadWatermark(ctx, t.Conn())
	if err == nil {
		return fmt.Errorf("%w, they hold bundles up to %d: give --data DIR of a new folder", errNotEmpty, w.MCSeqno)
	}
	if errors.Is(err, clickhouse.ErrNoWatermark) {
		return nil
	}
	return err
}

const mergePoll = 200 * time.Millisecond

// awaitMerges waits until nothing is merged any more, or until the limit.
func (t tables) awaitMerges(ctx context.Context, limit time.Duration) error {
	for idle, deadline := 0, time.Now().Add(limit); idle < 5 && time.Now().Before(deadline); {
		var merging uint64
		if err := t.Conn().QueryRow(ctx, `SELECT count() FROM system.merges`).Scan(&merging); err != nil {
			return err
		}
		if idle++; merging > 0 {
			idle = 0
		}
		select {
		case <-time.After(mergePoll):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// printSizes is a table of the tables, with what a row and a transaction cost in
// each, projections included.
func printSizes(out *output, sizes []tableSize, transactions int) {
	out.head("table", "rows", "parts", "bytes", "bytes/row", "bytes/transaction")
	total := tableSize{Name: "all tables"}
	for _, s := range sizes {
		total.Bytes += s.Bytes
		total.Rows += s.Rows
		total.Parts += s.Parts
	}
	for _, s := range append(sizes, total) {
		per, row := float64(s.Bytes)/float64(transactions), float64(s.Bytes)/float64(s.Rows)
		cells := []string{s.Name, grouped(int64(s.Rows)), grouped(int64(s.Parts)), grouped(int64(s.Bytes)), number(row), number(per)}
		out.row(cells, figure{"disk " + s.Name, per, "bytes/transaction", transactions}, figure{"row " + s.Name, row, "bytes", int(s.Rows)})
	}
}

// report prints what the tables hold after a run over so many transactions.
func (r Running) report(ctx context.Context, out *output, transactions int, settle time.Duration) error {
	t, err := openTables(r.DSN)
	if err != nil {
		return err
	}
	defer t.Close()
	if err := t.awaitMerges(ctx, settle); err != nil {
		return err
	}
	var stored uint64 // different ones
	if err := t.Conn().QueryRow(ctx, `SELECT count() FROM transactions FINAL`).Scan(&stored); err != nil {
		return err
	}
	sizes, err := t.sizes(ctx)
	if err != nil {
		return err
	}
	printSizes(out, sizes, transactions)
	if out.err == nil && stored != uint64(transactions) {
		return fmt.Errorf("the tables hold %d transactions, not %d", stored, transactions)
	}
	return out.err
}
