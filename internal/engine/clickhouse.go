package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/prometheus/client_golang/prometheus"

	"tonscribe/internal/lifetime"
	"tonscribe/internal/report"
)

// ClickHouseOptions say where an embedded ClickHouse lives and what it may use.
type ClickHouseOptions struct {
	// Dir holds data, configuration, passwords and logs.
	Dir string
	// Library is the engine's library; empty means LibraryPath().
	Library string
	// MaxMemory in bytes is the server's limit (queries beyond it fail, the server
	// lives). 0 means 2 GiB; below 512 MiB is too little for real loads.
	MaxMemory int64
	// Port on 127.0.0.1 of the native protocol, HTTPPort that of HTTP; 0 means a
	// free one, kept until Stop.
	Port, HTTPPort int
	// Peers are the ports of the other engines of a cluster. The engine connects to
	// no other.
	Peers []int
	// ReaderTables are the tables that the reader of ReaderDSN sees; none: all.
	ReaderTables []string
	// Volatile does not wait for the disk: what is written survives the death of
	// the engine, not a power loss.
	Volatile bool
	// KeepFree is how many bytes of the disk neither inserts nor merges take.
	KeepFree int64
	Report   report.Reporter
}

// marks is how many bytes of marks the engine holds, which tell where in its files a key
// is. Of a table of which it cannot hold them all each look-up reads all marks of a part.
func (o ClickHouseOptions) marks() int64 { return o.MaxMemory / 4 }

const (
	defaultMaxMemory = 2 << 30
	minMemory        = 384 << 20 // with less, statements of a small chain fail for want of it
	// startLimit is generous: a start takes 0.1 s, the first ever on a cold disk
	// some seconds, attaching very many parts longer.
	startLimit = 5 * time.Minute
	// The engine's own limit for open connections at a stop is five seconds.
	stopLimit = 15 * time.Second
	// A killed parent's engine needs that long at most to let the folder go.
	orphanLimit   = 15 * time.Second
	firstBackoff  = 50 * time.Millisecond
	healthyLife   = time.Minute
	firstFailures = 10 // after so many an engine that was killed while it started is given up
)

// lastBackoff is the longest pause before an engine that ended is started again. Tests
// shorten it.
var lastBackoff = 10 * time.Second

// ClickHouse is a running embedded server, or one database of it.
type ClickHouse struct {
	*supervisor
	database string
}

// supervisor owns the child process: it restarts one that crashed, on the same
// port with the same passwords, so that a DSN stays good.
type supervisor struct {
	options  ClickHouseOptions
	chosen   []*int // ports that the options left open
	secrets  secrets
	config   string
	lock     *os.File // refuses a second opener
	dataLock *os.File // inherited by the child: the folder is free only when both are gone
	restarts prometheus.Counter
	up       prometheus.Gauge

	mutex sync.Mutex
	child *child

	stop    context.Context
	askStop context.CancelFunc
	done    chan struct{}
}

// StartClickHouse starts the engine and returns when it accepts connections and
// the database exists. ctx bounds the start only. The engine ends with Stop, and
// by itself when this process dies in whatever way.
func StartClickHouse(ctx context.Context, options ClickHouseOptions) (*ClickHouse, error) {
	s, err := newSupervisor(ctx, options)
	if err != nil {
		return nil, fmt.Errorf("embedded clickhouse: %w", err)
	}
	if err := s.firstStart(ctx); err != nil {
		s.release()
		return nil, fmt.Errorf("embedded clickhouse: %w", err)
	}
	go s.supervise()
	if landlockVersion() == 0 {
		options.Report.Log.Warn().Msg("this kernel has no Landlock to keep ClickHouse from files and the network, so nobody gets a password of the user reader")
	}
	c := &ClickHouse{supervisor: s, database: DefaultDatabase}
	if err := c.makeDatabase(ctx); err != nil {
		return nil, errors.Join(err, c.Stop(context.WithoutCancel(ctx)))
	}
	return c, nil
}

// makeDatabase makes the database of a new folder. An engine that is killed
// meanwhile is being restarted, so it is tried again until the engine is given up.
func (c *ClickHouse) makeDatabase(ctx context.Context) error {
	for backoff := firstBackoff; ; backoff = min(2*backoff, lastBackoff) {
		_, err := c.Database(ctx, DefaultDatabase)
		var refused *clickhouse.Exception
		if err == nil || errors.As(err, &refused) {
			return err
		}
		select {
		case <-time.After(backoff):
			continue
		case <-ctx.Done():
		case <-c.done:
		}
		return err
	}
}

func newSupervisor(ctx context.Context, options ClickHouseOptions) (*supervisor, error) {
	options.Library = cmp.Or(options.Library, LibraryPath())
	options.MaxMemory = cmp.Or(options.MaxMemory, defaultMaxMemory)
	if options.MaxMemory < minMemory {
		return nil, fmt.Errorf("memory_bytes is %d, the engine needs %d at least", options.MaxMemory, minMemory)
	}
	if err := checkLibrary(options.Library); err != nil {
		return nil, err
	}
	// The engine resolves a relative folder twice.
	dir, err := filepath.Abs(options.Dir)
	if err != nil {
		return nil, err
	}
	options.Dir = dir
	for _, sub := range []string{"", "log", "data", "data/metadata"} {
		// Clean-up of dropped tables runs only if data/metadata exists at the start.
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o700); err != nil {
			return nil, err
		}
	}
	s := &supervisor{options: options, done: make(chan struct{})}
	s.stop, s.askStop = context.WithCancel(context.Background())
	m := options.Report.Meter("engine_clickhouse")
	s.restarts = m.Counter("restarts_total", "Restarts of the embedded ClickHouse after it ended by itself.")
	s.up = m.Gauge("up", "1 while the embedded ClickHouse accepts connections.")
	if err := s.prepare(ctx); err != nil {
		s.release()
		return nil, err
	}
	return s, nil
}

// prepare takes the folder and writes what the child reads.
func (s *supervisor) prepare(ctx context.Context) (err error) {
	dir := s.options.Dir
	if s.lock, err = lockFile(filepath.Join(dir, "lock")); err != nil {
		return fmt.Errorf("folder %s: %w", dir, err)
	}
	if s.dataLock, err = s.awaitDataLock(ctx); err != nil {
		return fmt.Errorf("folder %s: %w", dir, err)
	}
	if s.secrets, err = loadSecrets(dir); err != nil {
		return err
	}
	if s.config, err = writeConfiguration(filepath.Join(dir, "config"), filepath.Join(dir, "log", "clickhouse.log"), s.options, s.secrets); err != nil {
		return fmt.Errorf("configuration: %w", err)
	}
	for _, port := range []*int{&s.options.Port, &s.options.HTTPPort} {
		if *port == 0 {
			s.chosen = append(s.chosen, port)
		}
	}
	return s.choosePorts()
}

// choosePorts chooses those that the options leave open.
func (s *supervisor) choosePorts() (err error) {
	for _, port := range s.chosen {
		if *port, err = freePort(); err != nil {
			return err
		}
	}
	return nil
}

// awaitDataLock waits for the engine of a killed predecessor, which is stopping.
func (s *supervisor) awaitDataLock(ctx context.Context) (*os.File, error) {
	deadline := time.Now().Add(orphanLimit)
	for {
		f, err := lockFile(filepath.Join(s.options.Dir, "data.lock"))
		if err == nil || !errors.Is(err, ErrInUse) || time.Now().After(deadline) {
			return f, err
		}
		if err := lifetime.Sleep(ctx, 20*time.Millisecond); err != nil {
			return nil, err
		}
	}
}

// FirstPort and lastPort are the range in which embedded engines choose their ports.
const (
	FirstPort = 21000
	lastPort  = 32000
)

// freePort finds a port below the range from which the system gives ports to
// outgoing connections, so that nothing takes it while a crashed engine restarts.
func freePort() (int, error) {
	var failure error
	for range 200 {
		port := FirstPort + rand.IntN(lastPort-FirstPort)
		l, err := net.Listen("tcp", at(port))
		if err != nil {
			failure = err
			continue
		}
		return port, l.Close()
	}
	return 0, fmt.Errorf("no free port between %d and %d on 127.0.0.1: %w", FirstPort, lastPort, failure)
}

// start starts a child and waits until it accepts connections.
func (s *supervisor) start(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	began := time.Now()
	if err := errors.Join(mendDatabases(filepath.Join(s.options.Dir, "data")), s.mendTables()); err != nil {
		return err
	}
	c, err := startChild(ctx, s.options, s.config, s.dataLock)
	if err != nil {
		return err
	}
	s.mutex.Lock()
	s.child = c
	s.mutex.Unlock()
	s.up.Set(1)
	s.options.Report.Log.Info().Str("address", s.Address()).Int("pid", c.pid()).Dur("took", time.Since(began)).Msg("clickhouse accepts connections")
	return nil
}

// supervise restarts the child whenever it ends by itself, until Stop.
func (s *supervisor) supervise() {
	defer close(s.done)
	defer s.release()
	backoff := firstBackoff
	for {
		s.mutex.Lock()
		c := s.child
		s.mutex.Unlock()
		began := time.Now()
		select {
		case <-s.stop.Done():
			s.up.Set(0)
			c.stop(stopLimit)
			return
		case <-c.exited:
		}
		s.up.Set(0)
		c.lifeline.Close()
		s.options.Report.Log.Error().Str("reason", c.reason()).Msg("clickhouse ended by itself, restarting it")
		if time.Since(began) > healthyLife {
			backoff = firstBackoff
		}
		// The backoff goes on growing over engines that start and soon end again.
		// What keeps it from starting may pass: a full disk, memory that others have.
		if s.startAgain(s.stop, &backoff, func(error) bool { return true }) != nil {
			return
		}
	}
}

// firstStart starts the first child. One that is killed before it is ready is
// started again, as it would be later; one that ends by itself has a reason that
// trying again does not cure.
func (s *supervisor) firstStart(ctx context.Context) error {
	err := s.start(ctx)
	// A port that was free may be another's when the engine opens it. Nobody knows it yet.
	for n := 0; n < portChoices && len(s.chosen) > 0 && isPortTaken(err) && ctx.Err() == nil; n++ {
		if err = s.choosePorts(); err == nil {
			err = s.start(ctx)
		}
	}
	if !errors.Is(err, errKilled) || ctx.Err() != nil {
		return err
	}
	s.options.Report.Log.Error().Err(err).Msg("clickhouse was killed while it started, starting it again")
	backoff, failures := firstBackoff, 0
	return s.startAgain(ctx, &backoff, func(err error) bool {
		failures++
		return failures < firstFailures && errors.Is(err, errKilled)
	})
}

// portChoices is how often other ports are chosen.
const portChoices = 5

func isPortTaken(err error) bool {
	return err != nil && strings.Contains(strings.ToLower(err.Error()), "address already in use")
}

// startAgain tries until a child runs, ctx ends, or the error is not to be cured.
func (s *supervisor) startAgain(ctx context.Context, backoff *time.Duration, curable func(error) bool) error {
	for {
		if err := lifetime.Sleep(ctx, *backoff); err != nil {
			return err
		}
		*backoff = min(2**backoff, lastBackoff)
		s.restarts.Inc()
		err := s.start(ctx)
		if err == nil || ctx.Err() != nil || !curable(err) {
			return err
		}
		s.options.Report.Log.Error().Err(err).Dur("backoff", *backoff).Msg("clickhouse did not start")
	}
}

func (s *supervisor) release() {
	for _, f := range []*os.File{s.lock, s.dataLock} {
		if f != nil {
			f.Close()
		}
	}
}

// Address is host:port of the native protocol.
func (s *supervisor) Address() string { return at(s.options.Port) }

// at is an address on this machine.
func at(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// Pid is the process id of the running child, for tests and diagnosis.
func (s *supervisor) Pid() int {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.child.pid()
}

// Marks is how many bytes of marks it holds at most.
func (s *supervisor) Marks() int64 { return s.options.marks() }

// Stop ends the engine and waits for it. Clients close their connections
// first. When ctx ends before the engine, the engine is killed: acknowledged
// data survive that.
func (s *supervisor) Stop(ctx context.Context) error {
	s.askStop()
	select {
	case <-s.done:
		return nil
	case <-ctx.Done():
	}
	s.mutex.Lock()
	s.child.kill()
	s.mutex.Unlock()
	<-s.done
	return fmt.Errorf("embedded clickhouse killed: %w", ctx.Err())
}

// DSN gives the rights that migrations and sinks need on all databases.
func (c *ClickHouse) DSN() string {
	return c.dsn("clickhouse", appUser, c.secrets.App, c.options.Port)
}

// ReadOnlyDSN is the API's: it can read the database and nothing else, with few
// threads, low latency, and limits settable per query.
func (c *ClickHouse) ReadOnlyDSN() string {
	return c.dsn("clickhouse", apiUser, c.secrets.API, c.options.Port)
}

// ReadOnlyHTTPDSN is the same over HTTP, which is faster for small statements.
func (c *ClickHouse) ReadOnlyHTTPDSN() string {
	return c.dsn("http", apiUser, c.secrets.API, c.options.HTTPPort)
}

// ReaderDSN is that of people who look at the tables: it can read ReaderTables
// and nothing else, within limits that it cannot lift. It is empty where the
// kernel cannot keep the engine from files and the network (Landlock).
func (c *ClickHouse) ReaderDSN() string {
	if landlockVersion() == 0 {
		return ""
	}
	return c.dsn("clickhouse", readerUser, c.secrets.Reader, c.options.Port)
}

func (c *ClickHouse) dsn(scheme, user, password string, port int) string {
	dsn := url.URL{Scheme: scheme, User: url.UserPassword(user, password), Host: at(port), Path: "/" + c.database}
	return dsn.String()
}

// Database creates the database if need be and returns the same engine with
// DSNs for it. The API can read databases named tonscribe or tonscribe_….
func (c *ClickHouse) Database(ctx context.Context, name string) (*ClickHouse, error) {
	options, err := clickhouse.ParseDSN((&ClickHouse{c.supervisor, "default"}).DSN())
	if err != nil {
		return nil, err
	}
	connection, err := clickhouse.Open(options)
	if err != nil {
		return nil, err
	}
	defer connection.Close()
	if err := connection.Exec(ctx, "CREATE DATABASE IF NOT EXISTS `"+name+"`"); err != nil {
		return nil, fmt.Errorf("create database %s: %w", name, err)
	}
	return &ClickHouse{supervisor: c.supervisor, database: name}, nil
}
