package clickhouse

import (
	"context"
	"errors"
	"fmt"

	driver "github.com/ClickHouse/clickhouse-go/v2"
)

// Empty removes the rows of a table from every node that the DSN names: a Distributed
// table does not pass that on. Nodes that it does not name keep theirs.
func (c *Client) Empty(ctx context.Context, table string) error {
	return c.onNodes("table "+table, func(node driver.Conn) error {
		// The table that holds the rows: the one below, of a Distributed one.
		var holds string
		if err := node.QueryRow(ctx, `SELECT if(engine = 'Distributed', splitByChar('\'', engine_full)[6], name) FROM system.tables
			WHERE database = currentDatabase() AND name = ?`, table).Scan(&holds); err != nil {
			return err
		}
		return node.Exec(ctx, "TRUNCATE TABLE `"+holds+"`")
	})
}

// Refresh has a view that fills a table now and then do so on every node that the DSN
// names, and waits for that.
func (c *Client) Refresh(ctx context.Context, view string) error {
	return c.onNodes("view "+view, func(node driver.Conn) error {
		// A run that is under way may have begun before, and be one that fails.
		_ = node.Exec(ctx, "SYSTEM WAIT VIEW `"+view+"`")
		if err := node.Exec(ctx, "SYSTEM REFRESH VIEW `"+view+"`"); err != nil {
			return err
		}
		return node.Exec(ctx, "SYSTEM WAIT VIEW `"+view+"`")
	})
}

// onNodes does something on every node that the DSN names.
func (c *Client) onNodes(what string, do func(driver.Conn) error) error {
	for _, address := range c.options.Addr {
		options := c.options
		options.Addr = []string{address}
		node, err := driver.Open(&options)
		if err == nil {
			err = errors.Join(do(node), node.Close())
		}
		if err != nil {
			return fmt.Errorf("%s on %s: %w", what, address, err)
		}
	}
	return nil
}
