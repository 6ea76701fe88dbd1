package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"

	driver "github.com/ClickHouse/clickhouse-go/v2"
)

var errColumns = errors.New("columns do not fit the table")

// Insert is one block of rows for one table.
type Insert struct {
	Table string
	// Token names the content: a second insert into the table with the same token
	// changes nothing while the server lives, and is the same rows once more after it
	// was started again. Content and token must belong together for ever.
	Token   string
	Columns []Column
}

// Column is the values of one column, a slice of the type that the driver maps
// to the column's type: []uint64 for UInt64, []int8 for Enum8, [][]byte for
// FixedString, []string for String.
type Column struct {
	Name   string
	Values any
}

// ColumnOf is a column of a value of each of some rows.
func ColumnOf[R, V any](name string, rows []R, value func(*R) V) Column {
	values := make([]V, len(rows))
	for i := range rows {
		values[i] = value(&rows[i])
	}
	return Column{name, values}
}

// Insert sends the rows, of which ClickHouse writes one block or nothing, and repeats
// it until it is acknowledged or ctx ends. It returns an error only with ctx, or when
// repeating is of no use.
func (c *Client) Insert(ctx context.Context, insert Insert) error {
	statement := insert.statement()
	tries := &tries{token: insert.Token, insert: func(token string) error {
		with := driver.Context(ctx, driver.WithSettings(driver.Settings{
			"insert_deduplication_token": token,
			"insert_deduplicate":         1,
			"async_insert":               0,
			// Tables with Distributed above them: back only when the shards have it.
			"distributed_foreground_insert": 1,
			// However many blocks go in, one is written, so that the token covers all.
			"max_insert_block_size":       1 << 30,
			"min_insert_block_size_rows":  1 << 40,
			"min_insert_block_size_bytes": 1 << 50,
			"insert_keeper_max_retries":   3,
		}))
		return c.insertOnce(with, statement, insert.Columns)
	}}
	return c.persist(ctx, "insert into "+insert.Table, func() error {
		if err := c.Room(ctx); err != nil {
			return err
		}
		return c.insertInLife(ctx, tries)
	})
}

// Room returns when there is room for rows, or with ctx. Insert waits for it by itself,
// a statement that writes does not.
func (c *Client) Room(ctx context.Context) error {
	if c.room == nil {
		return nil
	}
	return c.room(ctx)
}

// Foreground makes an INSERT … SELECT return when the shards of a cluster have the rows.
func Foreground(ctx context.Context) context.Context {
	return driver.Context(ctx, driver.WithSettings(driver.Settings{"distributed_foreground_insert": 1}))
}

func (i Insert) statement() string {
	names := make([]string, len(i.Columns))
	for n, column := range i.Columns {
		names[n] = column.Name
	}
	return fmt.Sprintf("INSERT INTO %s (%s)", i.Table, strings.Join(names, ", "))
}

// rowsAtOnce is how many rows are copied into the driver's buffers and sent before the
// next ones, which take the same buffers: those grow no larger, and stay in the
// processor's cache.
const rowsAtOnce = 2048

func (c *Client) insertOnce(ctx context.Context, statement string, columns []Column) error {
	values, rows := make([]reflect.Value, len(columns)), 0
	for n, column := range columns {
		values[n] = reflect.ValueOf(column.Values)
		if n == 0 {
			rows = values[n].Len()
		}
		if have := values[n].Len(); have != rows {
			return fmt.Errorf("%w: column %s has %d rows, others %d", errColumns, column.Name, have, rows)
		}
	}
	with, done, err := c.inserters.take(ctx)
	if err != nil {
		return err
	}
	defer done()
	batch, err := with.PrepareBatch(ctx, statement)
	if err != nil {
		return err
	}
	for from := 0; from < rows; from += rowsAtOnce {
		for n, column := range columns {
			if err := batch.Column(n).Append(values[n].Slice(from, min(from+rowsAtOnce, rows)).Interface()); err != nil {
				return errors.Join(fmt.Errorf("%w: column %s: %w", errColumns, column.Name, err), batch.Abort())
			}
		}
		if err := batch.Flush(); err != nil {
			return errors.Join(err, batch.Abort())
		}
	}
	return batch.Send()
}
