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
	for _, address := range c.options.Addr {
		if err := c.emptyAt(ctx, address, table); err != nil {
			return fmt.Errorf("table %s on %s: %w", table, address, err)
		}
	}
	return nil
}

// emptyAt looks for the table that holds the rows: the one below, of a Distributed one.
func (c *Client) emptyAt(ctx context.Context, address, table string) (err error) {
	options := c.options
	options.Addr = []string{address}
	node, err := driver.Open(&options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, node.Close()) }()
	var holds string
	if err := node.QueryRow(ctx, `SELECT if(engine = 'Distributed', splitByChar('\'', engine_full)[6], name) FROM system.tables
		WHERE database = currentDatabase() AND name = ?`, table).Scan(&holds); err != nil {
		return err
	}
	return node.Exec(ctx, "TRUNCATE TABLE `"+holds+"`")
}
