package clickhouse

import (
	"context"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// Each runs a statement, and calls take with every row of its answer in what the
// columns are scanned to.
func Each(ctx context.Context, conn driver.Conn, query string, args []any, take func(), columns ...any) error {
	rows, err := conn.Query(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := rows.Scan(columns...); err != nil {
			return err
		}
		take()
	}
	return rows.Err()
}
