package engine_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/proto"
	"github.com/prometheus/client_golang/prometheus"

	"tonscribe/internal/engine"
	"tonscribe/internal/report"
	"tonscribe/test/support/enginetest"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 2 {
		switch os.Args[1] {
		case ownerCommand:
			os.Exit(owner(os.Args[2]))
		case writerCommand:
			os.Exit(writer(os.Args[2]))
		}
	}
	enginetest.Main(m)
}

// startClickHouse starts an engine that the test has to itself.
func startClickHouse(t *testing.T, dir string) *engine.ClickHouse {
	t.Helper()
	c, err := engine.StartClickHouse(t.Context(), engine.ClickHouseOptions{Dir: dir, MaxMemory: 512 << 20, Report: enginetest.Report(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Stop(context.Background()) })
	return c
}

func connect(t *testing.T, dsn string) clickhouse.Conn {
	t.Helper()
	options, err := clickhouse.ParseDSN(dsn)
	if err != nil {
		t.Fatal(err)
	}
	connection, err := clickhouse.Open(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { connection.Close() })
	return connection
}

func execute(t *testing.T, c clickhouse.Conn, statement string) {
	t.Helper()
	if err := c.Exec(t.Context(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

func number(t *testing.T, c clickhouse.Conn, query string) uint64 {
	t.Helper()
	var n uint64
	if err := c.QueryRow(t.Context(), query).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

func stop(t *testing.T, c *engine.ClickHouse) {
	t.Helper()
	if err := c.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
}

func TestDataAndDSNSurviveStopAndStart(t *testing.T) {
	dir := t.TempDir()
	c := startClickHouse(t, dir)
	connection := connect(t, c.DSN())
	execute(t, connection, "CREATE TABLE numbers (n UInt64) ENGINE = MergeTree ORDER BY n")
	execute(t, connection, "INSERT INTO numbers SELECT number FROM numbers(1000)")
	connection.Close()
	stop(t, c)

	again := startClickHouse(t, dir)
	if got := number(t, connect(t, again.DSN()), "SELECT sum(n) FROM numbers"); got != 499500 {
		t.Errorf("sum after restart: %d", got)
	}
	if got := number(t, connect(t, again.ReadOnlyDSN()), "SELECT count() FROM numbers"); got != 1000 {
		t.Errorf("rows for the reader after restart: %d", got)
	}
}

// Who asks first after a start, an insert or a merge would wait for the marks of whole parts.
func TestNobodyWaitsForMarks(t *testing.T) {
	dir := t.TempDir()
	waited := func(when string, c *engine.ClickHouse) {
		t.Helper()
		connection := connect(t, c.DSN())
		misses := "SELECT sum(value) FROM system.events WHERE event = 'MarkCacheMisses'"
		before := number(t, connection, misses)
		if got := number(t, connection, "SELECT n FROM numbers WHERE n = 70000"); got != 70000 {
			t.Fatalf("%s: %d in place of 70000", when, got)
		}
		if after := number(t, connection, misses); after != before {
			t.Errorf("%s: marks were read %d times", when, after-before)
		}
	}
	c := startClickHouse(t, dir)
	connection := connect(t, c.DSN())
	execute(t, connection, "CREATE TABLE numbers (n UInt64) ENGINE = MergeTree ORDER BY n")
	execute(t, connection, "INSERT INTO numbers SELECT number FROM numbers(100000)")
	waited("after an insert", c)
	execute(t, connection, "INSERT INTO numbers SELECT number FROM numbers(100000, 100000)")
	execute(t, connection, "OPTIMIZE TABLE numbers FINAL")
	waited("after a merge", c)
	connection.Close()
	stop(t, c)
	waited("after a start", startClickHouse(t, dir))
}

// until asks again until the condition holds; for what happens in another
// process and tells nobody.
func until(t *testing.T, what string, condition func() bool) {
	t.Helper()
	deadline := time.Now().Add(2 * time.Minute)
	for !condition() {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for: %s", what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// isAlive does not count a process that has ended and waits for its new parent to notice.
func isAlive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, state, _ := strings.Cut(string(stat), ") ")
	return err == nil && !strings.HasPrefix(state, "Z")
}

func TestKilledEngineComesBackUnderTheSameDSN(t *testing.T) {
	c := startClickHouse(t, t.TempDir())
	connection := connect(t, c.DSN())
	execute(t, connection, "CREATE TABLE numbers (n UInt64) ENGINE = MergeTree ORDER BY n")
	acknowledged := uint64(0)
	for round := range 3 {
		pid := c.Pid()
		execute(t, connection, fmt.Sprintf("INSERT INTO numbers SELECT number + %d FROM numbers(1000)", round*1000))
		acknowledged += 1000
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		until(t, "a new engine under the same DSN", func() bool { return c.Pid() != pid && connection.Ping(t.Context()) == nil })
		if got := number(t, connection, "SELECT count() FROM numbers"); got != acknowledged {
			t.Fatalf("after kill %d: %d rows of %d acknowledged", round, got, acknowledged)
		}
	}
}

// What keeps an engine from starting is another's to mend, who may be asleep.
func TestAnEngineThatFailsAgainAndAgainIsStartedUntilItRuns(t *testing.T) {
	defer engine.RestartAtOnce()()
	dir, registry := t.TempDir(), prometheus.NewRegistry()
	reporter := enginetest.Report(t)
	reporter.Metrics = registry
	c, err := engine.StartClickHouse(t.Context(), engine.ClickHouseOptions{Dir: dir, MaxMemory: 512 << 20, Report: reporter})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Stop(context.Background())
	pid, connection := c.Pid(), connect(t, c.DSN())
	logs := filepath.Join(dir, "log")
	if err := os.Rename(logs, logs+".away"); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	const failures = 15
	until(t, "fifteen starts that fail", func() bool { return restarts(t, registry) >= failures })
	if err := os.Rename(logs+".away", logs); err != nil {
		t.Fatal(err)
	}
	until(t, "a new engine under the same DSN", func() bool { return c.Pid() != pid && connection.Ping(t.Context()) == nil })
}

// restarts is how often an engine was started again.
func restarts(t *testing.T, registry *prometheus.Registry) float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if strings.HasSuffix(f.GetName(), "restarts_total") {
			return f.Metric[0].GetCounter().GetValue()
		}
	}
	t.Fatal("no metric tells how often the engine was started again")
	return 0
}

// A service manager signals all processes of a service, and its stages have rows to write then.
func TestAnEngineThatIsAskedToEndServesUntilItsParentLetsItGo(t *testing.T) {
	c := startClickHouse(t, t.TempDir())
	pid, connection := c.Pid(), connect(t, c.DSN())
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		if err := syscall.Kill(pid, signal); err != nil {
			t.Fatal(err)
		}
		number(t, connection, "SELECT toUInt64(sleep(0.5))")
	}
	if c.Pid() != pid {
		t.Errorf("process %d in place of %d", c.Pid(), pid)
	}
	stop(t, c)
}

const ownerCommand = "__clickhouse_owner"

// owner is a process that runs an engine until it is killed.
func owner(dir string) int {
	c, err := engine.StartClickHouse(context.Background(), engine.ClickHouseOptions{Dir: dir, MaxMemory: 512 << 20, Report: report.Silent()})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println(c.Pid())
	select {}
}

func TestEngineDiesWithItsParent(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.Command("/proc/self/exe", ownerCommand, dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatalf("the parent says %q", line)
	}
	if _, err := engine.StartClickHouse(t.Context(), engine.ClickHouseOptions{Dir: dir, Report: report.Silent()}); !errors.Is(err, engine.ErrInUse) || !strings.Contains(err.Error(), dir) {
		t.Errorf("a second process opened the folder: %v", err)
	}
	cmd.Process.Kill()
	cmd.Wait()
	// A successor waits for the orphan and then finds the folder free.
	startClickHouse(t, dir)
	until(t, "the end of the orphan", func() bool { return !isAlive(pid) })
}

func TestFolderBecomesFreeWhenTheParentDiesDuringTheStart(t *testing.T) {
	dir := t.TempDir()
	for delay := 10 * time.Millisecond; delay <= 250*time.Millisecond; delay += 20 * time.Millisecond {
		cmd := exec.Command("/proc/self/exe", ownerCommand, dir)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(delay) // anywhere in the start is right
		cmd.Process.Kill()
		cmd.Wait()
	}
	startClickHouse(t, dir) // it waits for an engine that is just ending, not for one that lives on
}

func TestSecondOpenerIsRefused(t *testing.T) {
	dir := t.TempDir()
	c := startClickHouse(t, dir)
	began := time.Now()
	if _, err := engine.StartClickHouse(t.Context(), engine.ClickHouseOptions{Dir: dir, Report: report.Silent()}); !errors.Is(err, engine.ErrInUse) {
		t.Errorf("second opener: %v", err)
	}
	if took := time.Since(began); took > 10*time.Second { // who waits for an engine that ends has 15
		t.Errorf("the refusal took %s", took)
	}
	number(t, connect(t, c.DSN()), "SELECT toUInt64(1)")
}

func TestMemoryCapFailsTheQueryAndNotTheServer(t *testing.T) {
	c := startClickHouse(t, t.TempDir())
	pid := c.Pid()
	hog := "SELECT length(groupArray(repeat(toString(number), 100))) FROM numbers(20000000)"
	connection := connect(t, c.DSN())
	var hogs sync.WaitGroup
	for range 3 {
		hogs.Go(func() {
			var refused *proto.Exception
			if err := connection.Exec(t.Context(), hog); !errors.As(err, &refused) || refused.Code != 241 {
				t.Errorf("a query beyond the memory cap: %v", err)
			}
		})
	}
	hogs.Wait()
	if c.Pid() != pid {
		t.Error("the engine was restarted")
	}
	// 166 MB of the library are mapped, shared pages.
	if peak := peakMemory(t, pid); peak > 1<<30 {
		t.Errorf("peak memory %d MB with a cap of 512 MB", peak>>20)
	}
}

func peakMemory(t *testing.T, pid int) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		var kilobytes int
		if _, err := fmt.Sscanf(line, "VmHWM: %d kB", &kilobytes); err == nil {
			return kilobytes << 10
		}
	}
	t.Fatal("no VmHWM")
	return 0
}

func TestStopDoesNotWaitForOpenConnections(t *testing.T) {
	c := startClickHouse(t, t.TempDir())
	connection := connect(t, c.DSN())
	number(t, connection, "SELECT toUInt64(1)")
	began := time.Now()
	stop(t, c)
	if took := time.Since(began); took > 5*time.Second { // which a connection may keep it
		t.Errorf("stop took %s", took)
	}
	if connection.Ping(t.Context()) == nil {
		t.Error("the engine still answers after Stop")
	}
	if err := c.Stop(context.Background()); err != nil {
		t.Errorf("second stop: %v", err)
	}
}

func TestBusyPortIsAStartError(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, err = engine.StartClickHouse(t.Context(), engine.ClickHouseOptions{
		Dir: t.TempDir(), Port: l.Addr().(*net.TCPAddr).Port, Report: report.Silent(),
	})
	if err == nil || !strings.Contains(err.Error(), "start: ") {
		t.Errorf("started on a busy port: %v", err)
	}
	t.Log(err)
}

func TestLibraryThatCannotBeLoadedNamesTheRemedy(t *testing.T) {
	library := filepath.Join(t.TempDir(), "libchdb.so")
	for path, content := range map[string]string{library: "not a library", library + ".sha256": "00 13 libchdb.so\n"} {
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	_, err := engine.StartClickHouse(t.Context(), engine.ClickHouseOptions{Dir: t.TempDir(), Library: library, Report: report.Silent()})
	if err == nil || !strings.Contains(err.Error(), "make engine") {
		t.Errorf("start: %v", err)
	}
}

func TestStopDuringARestartFreesTheFolder(t *testing.T) {
	dir := t.TempDir()
	c := startClickHouse(t, dir)
	if err := syscall.Kill(c.Pid(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	stop(t, c)
	stop(t, startClickHouse(t, dir))
}
