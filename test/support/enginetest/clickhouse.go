// Package enginetest gives tests the real engines: one embedded ClickHouse per
// test process with a fresh database for each test, and an embedded Kafka log per
// test. It must never be imported by anything but tests.
package enginetest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"tonscribe/internal/engine"
	"tonscribe/internal/report"
)

// testMemory is enough for full loads, and for the tables of all tests of a package, and
// leaves room for several test processes.
const testMemory = 2 << 30

// gcPercent is how far the memory of a test process grows before garbage is collected:
// there is enough of it, and pipelines and servers by the dozen make much garbage.
const gcPercent = 400

var (
	shared    *engine.ClickHouse
	startErr  error
	startOnce sync.Once
	dir       string
	databases atomic.Int64
)

// Main is the TestMain of every package that calls ClickHouse:
//
//	func TestMain(m *testing.M) { enginetest.Main(m) }
//
// It is the engine when the test binary is started as its child, and stops the
// engine after the tests.
func Main(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == engine.ChildCommand {
		os.Exit(engine.ClickHouseMain(os.Args[2:]))
	}
	mainCalled.Store(true)
	debug.SetGCPercent(gcPercent)
	code := m.Run()
	if err := stop(); err != nil {
		fmt.Fprintln(os.Stderr, "enginetest:", err)
		code = max(code, 1)
	}
	for _, folder := range folders {
		os.RemoveAll(folder)
	}
	os.Exit(code)
}

// folders are those of SharedDir.
var (
	foldersMu sync.Mutex
	folders   []string
)

// SharedDir is an empty folder for what several tests of a process use, removed after
// the last of them.
func SharedDir(t testing.TB) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "tonscribe-shared-")
	if err != nil {
		t.Fatal(err)
	}
	foldersMu.Lock()
	defer foldersMu.Unlock()
	folders = append(folders, folder)
	return folder
}

var mainCalled atomic.Bool

// ClickHouse is the test process's engine with an empty database of the test's
// own, dropped at its end. The first call starts the engine (about 0.2 s). A
// test that needs an engine to itself, to kill it for instance, starts one with
// engine.StartClickHouse.
func ClickHouse(t testing.TB) *engine.ClickHouse {
	t.Helper()
	c, name := database(t)
	t.Cleanup(func() {
		if err := drop(name); err != nil {
			t.Errorf("drop database %s: %v", name, err)
		}
	})
	return c
}

// database makes one that stays until the process ends.
func database(t testing.TB) (c *engine.ClickHouse, name string) {
	t.Helper()
	if !mainCalled.Load() {
		t.Fatal("the package lacks: func TestMain(m *testing.M) { enginetest.Main(m) }")
	}
	startOnce.Do(func() { startErr = start(t) })
	if startErr != nil {
		t.Fatal(startErr)
	}
	name = fmt.Sprintf("%s_test%d", engine.DefaultDatabase, databases.Add(1))
	c, err := shared.Database(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return c, name
}

// Report writes what components log into the test's log and keeps metrics apart.
func Report(t testing.TB) report.Reporter {
	return report.Reporter{Log: zerolog.New(zerolog.NewTestWriter(t)), Metrics: prometheus.NewRegistry()}
}

func start(t testing.TB) (err error) {
	if dir, err = os.MkdirTemp("", "tonscribe-clickhouse-"); err != nil {
		return err
	}
	// The engine outlives the test that starts it, so it must not log there.
	shared, err = engine.StartClickHouse(t.Context(), engine.ClickHouseOptions{Dir: dir, MaxMemory: testMemory, Volatile: true, Report: report.Silent()})
	return err
}

func stop() error {
	var err error
	if shared != nil { // nobody wants its tables again, so it need not end them well
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if err = shared.Stop(ctx); errors.Is(err, context.Canceled) {
			err = nil
		}
	}
	if dir != "" {
		os.RemoveAll(dir)
	}
	return err
}

func drop(database string) error {
	options, err := clickhouse.ParseDSN(shared.DSN())
	if err != nil {
		return err
	}
	connection, err := clickhouse.Open(options)
	if err != nil {
		return err
	}
	defer connection.Close()
	return connection.Exec(context.Background(), "DROP DATABASE IF EXISTS `"+database+"`")
}
