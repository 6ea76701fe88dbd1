// Package migrations holds the ClickHouse tables, one pair of files in sql/ for
// each, and applies them: to one node, to shards, or to a replicated cluster.
// The files are templates for what differs between these (engine, Distributed
// tables). A file, once released, is never changed: a change of a table is a new
// file. The package must never write rows other than its own versions.
package migrations

import (
	"context"
	"crypto/tls"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"

	"github.com/ClickHouse/ch-go/proto"
	driver "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/golang-migrate/migrate/v4"
	migratedatabase "github.com/golang-migrate/migrate/v4/database"
	migrateclickhouse "github.com/golang-migrate/migrate/v4/database/clickhouse"
)

// versionsTable is where applied versions are kept, in the database itself.
const versionsTable = "schema_migrations"

// Options says what the tables are made for. The zero value is one node.
type Options struct {
	// Cluster names the cluster (remote_servers of the nodes' configuration) that
	// Distributed tables spread over; empty means one node without them. The DSN
	// then names every node of the cluster.
	Cluster string `yaml:"cluster"`
	// Replicated makes the database ENGINE = Replicated and the tables replicated.
	// The nodes' configuration must have the macros shard and replica, and the
	// cluster must be a static one with credentials.
	Replicated bool `yaml:"replicated"`
	// KeeperPath is where a replicated database lives in Keeper; {database} is
	// replaced. Empty means /clickhouse/databases/{database}.
	KeeperPath string `yaml:"keeper_path"`
	// TLS secures the connections; nil leaves that to the DSN.
	TLS *tls.Config `yaml:"-"`
}

// State is what Status found on a node.
type State struct {
	Node    string
	Version uint // 0 when nothing was applied
	Latest  uint
	// Dirty reports whether the migration after Version failed half-way. Up repeats it.
	Dirty bool
}

var databaseName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// Up makes the database if it is missing and applies what was not applied yet.
// A migration that failed half-way before is repeated: every statement of the
// files may run twice.
func Up(ctx context.Context, dsn string, options Options) error {
	return onNodes(ctx, dsn, options, func(m *migrate.Migrate, files *filled) error {
		if err := repair(m, files); err != nil {
			return err
		}
		return m.Up()
	})
}

// Down takes everything back: all tables, and with them all rows, are gone.
func Down(ctx context.Context, dsn string, options Options) error {
	return onNodes(ctx, dsn, options, func(m *migrate.Migrate, files *filled) error {
		if err := repair(m, files); err != nil {
			return err
		}
		return m.Down()
	})
}

// Status tells what each node has.
func Status(ctx context.Context, dsn string, options Options) ([]State, error) {
	source, err := newSource(options)
	if err != nil {
		return nil, err
	}
	nodes, err := nodesOf(dsn, options)
	if err != nil {
		return nil, err
	}
	var states []State
	for _, node := range nodes {
		state, err := statusOf(ctx, node)
		if err != nil {
			return nil, fmt.Errorf("status of the tables on %s: %w", node.Addr[0], err)
		}
		state.Latest = source.latest()
		states = append(states, state)
	}
	return states, nil
}

func statusOf(ctx context.Context, node *driver.Options) (State, error) {
	db := driver.OpenDB(node)
	defer db.Close()
	state := State{Node: node.Addr[0]}
	var exists uint8
	if err := db.QueryRowContext(ctx, "EXISTS TABLE "+versionsTable).Scan(&exists); err != nil || exists == 0 {
		return state, err
	}
	var version int64
	var dirty uint8
	err := db.QueryRowContext(ctx, "SELECT version, dirty FROM "+versionsTable+" ORDER BY sequence DESC LIMIT 1").Scan(&version, &dirty)
	if errors.Is(err, sql.ErrNoRows) {
		return state, nil
	}
	if err != nil {
		return state, err
	}
	state.Version, state.Dirty = uint(max(version, 0)), dirty == 1
	if state.Dirty && state.Version > 0 {
		state.Version--
	}
	return state, nil
}

// onNodes runs the operation where it has to run: in a replicated database once,
// since all nodes follow, else on every node.
func onNodes(ctx context.Context, dsn string, options Options, operation func(*migrate.Migrate, *filled) error) error {
	nodes, err := nodesOf(dsn, options)
	if err != nil {
		return err
	}
	if err := options.checkNodes(ctx, nodes); err != nil {
		return err
	}
	for _, node := range nodes {
		if err := createDatabase(ctx, node, options); err != nil {
			return fmt.Errorf("database %s on %s: %w", node.Auth.Database, node.Addr[0], err)
		}
	}
	if options.Replicated {
		nodes = nodes[:1]
	}
	for _, node := range nodes {
		if err := onNode(ctx, node, options, operation); err != nil {
			return fmt.Errorf("tables on %s: %w", node.Addr[0], err)
		}
	}
	return nil
}

func onNode(ctx context.Context, node *driver.Options, options Options, operation func(*migrate.Migrate, *filled) error) error {
	files, err := newSource(options)
	if err != nil {
		return err
	}
	db := driver.OpenDB(node)
	engine := "MergeTree"
	if options.Replicated {
		engine = "ReplicatedMergeTree"
	}
	inner, err := migrateclickhouse.WithInstance(db, &migrateclickhouse.Config{
		DatabaseName:          node.Auth.Database,
		MigrationsTable:       versionsTable,
		MigrationsTableEngine: engine,
		MultiStatementEnabled: true,
	})
	if err != nil {
		return errors.Join(err, db.Close())
	}
	database := &versions{Driver: inner}
	m, err := migrate.NewWithInstance("sql", files, "clickhouse", database)
	if err != nil {
		return errors.Join(err, db.Close())
	}
	stop := context.AfterFunc(ctx, func() { m.GracefulStop <- true })
	err = operation(m, files)
	stop()
	if errors.Is(err, migrate.ErrNoChange) {
		err = nil
	}
	err = errors.Join(unlike(err), database.write())
	sourceErr, databaseErr := m.Close()
	return errors.Join(err, ctx.Err(), sourceErr, databaseErr)
}

// ErrOtherTables means that the tables were made by a version of tonscribe whose
// migrations this one does not have.
var ErrOtherTables = errors.New("the tables were made by another version of tonscribe: use a new data folder or database and index again")

// ErrNewerTables means that the tables were made by a later version of tonscribe.
var ErrNewerTables = errors.New("the tables were made by a newer version of tonscribe: use that one or a later one, or a new data folder or database and index again")

// lacking are ClickHouse's words for a table that is not what the migrations before
// made of it.
var lacking = []proto.Error{proto.ErrUnknownTable, proto.ErrUnknownIdentifier, proto.ErrNoSuchColumnInTable, proto.ErrNotFoundColumnInBlock}

// unlike says what to do where a migration does not find what those before it made:
// asking again is of no use.
func unlike(err error) error {
	var failed migratedatabase.Error
	var refused *driver.Exception
	if errors.As(err, &failed) && errors.As(failed.OrigErr, &refused) && slices.Contains(lacking, proto.Error(refused.Code)) {
		return fmt.Errorf("%w (%w)", ErrOtherTables, refused)
	}
	return err
}

// Fits is nil where the tables of a node are those of this version. What is wrong it says
// with what to do.
func (s State) Fits() error {
	switch {
	case s.Version > s.Latest:
		return newerThan(s.Latest, s.Version)
	case s.Version == 0:
		return fmt.Errorf("ClickHouse at %s has no tables of tonscribe: 'tonscribe up' and 'tonscribe migrate up' make them", s.Node)
	case s.Version < s.Latest:
		return fmt.Errorf("the tables at %s are older than this version of tonscribe (migration %d of %d): 'tonscribe migrate up' brings them up to date",
			s.Node, s.Version, s.Latest)
	}
	return nil
}

func newerThan(latest, version uint) error {
	return fmt.Errorf("%w (migration %d, the newest that this version knows is %d)", ErrNewerTables, version, latest)
}

// repair takes a version that failed half-way back to the one before it.
func repair(m *migrate.Migrate, files *filled) error {
	version, dirty, err := m.Version()
	if errors.Is(err, migrate.ErrNilVersion) {
		return nil
	}
	if err != nil {
		return err
	}
	if latest := files.latest(); version > latest {
		return newerThan(latest, version)
	}
	if _, _, err := files.ReadUp(version); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w (migration %d)", ErrOtherTables, version)
	}
	if !dirty {
		return nil
	}
	before, err := files.Prev(version)
	if errors.Is(err, fs.ErrNotExist) {
		return m.Force(-1) // migrate's word for nothing
	}
	if err != nil {
		return err
	}
	return m.Force(int(before))
}

// checkNodes refuses a DSN that leaves out nodes of the cluster: these would have no tables.
func (o Options) checkNodes(ctx context.Context, nodes []*driver.Options) error {
	if o.Cluster == "" {
		return nil
	}
	outside := *nodes[0]
	outside.Auth.Database = ""
	db := driver.OpenDB(&outside)
	defer db.Close()
	var all int
	if err := db.QueryRowContext(ctx, "SELECT toInt64(count()) FROM system.clusters WHERE cluster = ?", o.Cluster).Scan(&all); err != nil {
		return fmt.Errorf("nodes of cluster %s: %w", o.Cluster, err)
	}
	if all > len(nodes) {
		return fmt.Errorf("cluster %s has %d nodes, and the DSN names %d: let it name all of them", o.Cluster, all, len(nodes))
	}
	return nil
}

// createDatabase runs in the node's default database, since a connection to one
// that does not exist is refused.
func createDatabase(ctx context.Context, node *driver.Options, options Options) error {
	name := node.Auth.Database
	if !databaseName.MatchString(name) {
		return fmt.Errorf("the DSN's database %q must be a plain name", name)
	}
	outside := *node
	outside.Auth.Database = ""
	db := driver.OpenDB(&outside)
	defer db.Close()
	_, err := db.ExecContext(ctx, options.databaseStatement(name))
	return err
}

// nodesOf is one set of options for each address of the DSN.
func nodesOf(dsn string, options Options) ([]*driver.Options, error) {
	all, err := driver.ParseDSN(dsn)
	if err != nil {
		return nil, fmt.Errorf("clickhouse DSN: %w", err)
	}
	var nodes []*driver.Options
	for _, address := range all.Addr {
		one := *all
		one.Addr = []string{address}
		if options.TLS != nil {
			one.TLS = options.TLS.Clone()
		}
		nodes = append(nodes, &one)
	}
	return nodes, nil
}
