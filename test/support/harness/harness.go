// Package harness runs the real binary for tests as a user would: it builds it
// once, starts processes, kills them, asks them over HTTP and compares tables.
// It must know nothing of the insides but the fixed names of the command line.
package harness

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"tonscribe/test/support/logtest"
)

var (
	buildOnce sync.Once
	built     string
	buildErr  error
)

// Root is the folder of the module: the one with go.mod above the folder that
// the test runs in. It holds for binaries built with -trimpath too.
func Root() string {
	dir, err := os.Getwd()
	for err == nil {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			break
		}
		dir = parent
	}
	panic("harness: the tests run outside of the module")
}

// Binary is the program, built when its source has changed since it was built
// last: linking it takes longer than many a test.
func Binary(t testing.TB) string {
	t.Helper()
	buildOnce.Do(func() { built, buildErr = build(filepath.Join(Root(), "bin", "test")) })
	if buildErr != nil {
		t.Fatal(buildErr)
	}
	return built
}

// RaceBinary is the program with the race detector, which takes a minute to build.
func RaceBinary(t testing.TB) string {
	t.Helper()
	path, err := build(filepath.Join(Root(), "bin", "test", "race"), "-race")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// build brings the program in a folder up to date. Other test processes wait.
func build(dir string, flags ...string) (path string, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return "", err
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return "", err
	}
	path = filepath.Join(dir, "tonscribe")
	command := exec.Command("go", slices.Concat([]string{"build", "-o", path}, flags, []string{"./cmd/tonscribe"})...)
	command.Dir = Root()
	if out, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return path, nil
}

// Process is a running tonscribe.
type Process struct {
	t    testing.TB
	name string
	data string // of --data
	cmd  *exec.Cmd
	log  *logtest.Book
	done chan struct{}
	err  error
}

// Start runs the binary with the arguments; extra are environment variables. It
// fetches no documents of tokens unless they say so.
// The process and its children are killed at the end of the test.
func Start(t testing.TB, extra []string, args ...string) *Process {
	t.Helper()
	return StartUnder(t, nil, extra, args...)
}

// WithDescriptors is a command for StartUnder: the process has n file descriptors.
func WithDescriptors(n int) []string {
	return []string{"sh", "-c", fmt.Sprintf(`ulimit -n %d && exec "$0" "$@"`, n)}
}

// StartUnder is Start below a command that runs what follows it.
func StartUnder(t testing.TB, under, extra []string, args ...string) *Process {
	t.Helper()
	return start(t, append(slices.Clone(under), Binary(t)), extra, args)
}

// StartBuild is Start of another build of the program.
func StartBuild(t testing.TB, binary string, extra []string, args ...string) *Process {
	t.Helper()
	return start(t, []string{binary}, extra, args)
}

func start(t testing.TB, program, extra, args []string) *Process {
	t.Helper()
	p := &Process{t: t, name: strings.Join(args[:1], " "), log: &logtest.Book{}, done: make(chan struct{})}
	if at := slices.Index(args, "--data"); at >= 0 && at+1 < len(args) {
		p.data = args[at+1]
	}
	whole := slices.Concat(program, args)
	p.cmd = exec.Command(whole[0], whole[1:]...)
	// Tables that are looked at come sooner than by default.
	p.cmd.Env = append(append(os.Environ(), "TONSCRIBE_METADATA_ENABLED=false", "TONSCRIBE_SINK_EVERY=10s"), extra...)
	p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.done)
	}()
	t.Cleanup(func() {
		p.Kill()
		p.awaitEngine()
		if t.Failed() {
			t.Logf("%s printed:\n%s", p.name, tail(p.log.String(), 4000))
		}
	})
	return p
}

// awaitEngine waits until nobody works in the data folder any more: an engine sees that its
// owner has gone a moment later, and the folder is about to be removed.
func (p *Process) awaitEngine() {
	for end := time.Now().Add(time.Minute); p.data != "" && named(p.data) && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
}

// named reports whether the command line of some process names a folder.
func named(folder string) bool {
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline") // the pattern is right
	return slices.ContainsFunc(lines, func(path string) bool {
		line, _ := os.ReadFile(path) // a process may be gone
		return bytes.Contains(line, []byte(folder+"/"))
	})
}

func tail(text string, n int) string {
	if len(text) > n {
		return "…" + text[len(text)-n:]
	}
	return text
}

// PID of the process.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Output is what it printed so far.
func (p *Process) Output() string { return p.log.String() }

// Kill is kill -9, and waits until it is gone.
func (p *Process) Kill() {
	_ = syscall.Kill(-p.PID(), syscall.SIGKILL) // gone already when this fails
	<-p.done
}

// Stop asks it to end and fails the test when it does not end well.
func (p *Process) Stop() {
	p.t.Helper()
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.done:
	case <-time.After(45 * time.Second):
		p.t.Errorf("%s does not stop within 45 s of SIGTERM", p.name)
		p.Kill()
	}
}

// Running reports whether it has not ended yet.
func (p *Process) Running() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// Wait waits for the end and returns the exit error.
func (p *Process) Wait(limit time.Duration) error {
	p.t.Helper()
	select {
	case <-p.done:
		return p.err
	case <-time.After(limit):
		p.t.Fatalf("%s runs on after %s:\n%s", p.name, limit, tail(p.Output(), 2000))
		return nil
	}
}

// AwaitReady waits for GET base/readyz to be 200. From then on Get asks base
// with the API key that an `up` leaves in its data folder.
func (p *Process) AwaitReady(base string, limit time.Duration) {
	p.t.Helper()
	var last string
	Await(p.t, limit, func() bool {
		if !p.Running() {
			p.t.Fatalf("%s ended before it was ready: %v\n%s", p.name, p.err, tail(p.Output(), 3000))
		}
		status, body, err := Get(base + "/readyz")
		last = fmt.Sprint(status, " ", string(body), err)
		return err == nil && status == http.StatusOK
	}, func() string { return p.name + " is not ready: " + last + "\n" + tail(p.Output(), 2000) })
	if p.data == "" {
		return
	}
	key, err := os.ReadFile(filepath.Join(p.data, "api-key"))
	if err != nil {
		p.t.Fatal(err)
	}
	UseKey(base, strings.TrimSpace(string(key)))
}

// keys are the API keys of servers, by the beginning of their addresses.
var keys sync.Map

// UseKey makes Get ask every address that begins with base with an API key.
func UseKey(base, key string) { keys.Store(base, key) }

// AddKey makes an API key without limits in the tables of an external
// ClickHouse, and lets Get ask base with it.
func AddKey(t testing.TB, base, dsn string) {
	t.Helper()
	command := exec.Command(Binary(t), "keys", "add", "test of "+base, "--rate", "0", "--clickhouse", dsn)
	out, err := command.Output()
	if err != nil {
		t.Fatalf("keys add: %v", err)
	}
	UseKey(base, strings.TrimSpace(string(out)))
}

// Await polls until the condition holds.
func Await(t testing.TB, limit time.Duration, condition func() bool, otherwise func() string) {
	t.Helper()
	deadline := time.Now().Add(limit)
	for !condition() {
		if time.Now().After(deadline) {
			t.Fatalf("after %s: %s", limit, otherwise())
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// Client asks servers. An answer of the API that its OpenAPI document does not allow
// is an error.
var Client = &http.Client{Timeout: 30 * time.Second, Transport: newDescribed(http.DefaultTransport)}

// Get asks an address, with the API key of its server if there is one.
func Get(url string) (status int, body []byte, err error) {
	request, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return 0, nil, err
	}
	keys.Range(func(base, key any) bool {
		if strings.HasPrefix(url, base.(string)+"/") {
			request.Header.Set("X-API-Key", key.(string))
		}
		return true
	})
	answer, err := Client.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer answer.Body.Close()
	body, err = io.ReadAll(answer.Body)
	return answer.StatusCode, body, err
}

// Post sends a body of JSON to an address, with an API key.
func Post(ctx context.Context, url, key string, body []byte) (status int, answer []byte, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	request.Header.Set("X-API-Key", key)
	request.Header.Set("Content-Type", "application/json")
	got, err := Client.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer got.Body.Close()
	answer, err = io.ReadAll(got.Body)
	return got.StatusCode, answer, err
}

// GetJSON asks an address and fails the test when the answer is not 200.
func GetJSON(t testing.TB, url string, into any) {
	t.Helper()
	status, body, err := Get(url)
	if err != nil {
		t.Fatal(err)
	}
	if status != http.StatusOK {
		t.Fatalf("GET %s: %d %s", url, status, tail(string(body), 500))
	}
	if err := json.Unmarshal(body, into); err != nil {
		t.Fatalf("GET %s: %v", url, err)
	}
}

// Pages walks a v3 list by cursor to its end and returns all its elements.
func Pages(t testing.TB, url, key string) []map[string]any {
	t.Helper()
	var all []map[string]any
	for next := url; next != ""; {
		var page map[string]json.RawMessage
		GetJSON(t, next, &page)
		var rows []map[string]any
		if err := json.Unmarshal(page[key], &rows); err != nil {
			t.Fatalf("GET %s: %s: %v", next, key, err)
		}
		all = append(all, rows...)
		var cursor string
		if err := json.Unmarshal(page["next_cursor"], &cursor); err != nil || len(rows) == 0 {
			break
		}
		next = url + "&cursor=" + cursor
	}
	return all
}

// RunFile is DATA/run.json of a running `up`.
type RunFile struct {
	PID        int    `json:"pid"`
	HTTP       string `json:"http"`
	ClickHouse string `json:"clickhouse"`
}

// ReadRunFile reads DATA/run.json.
func ReadRunFile(t testing.TB, data string) RunFile {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(data, "run.json"))
	if err != nil {
		t.Fatal(err)
	}
	var r RunFile
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// Fingerprint is, for every table of the chain, the number of its distinct
// rows and a hash of them: equal tables have equal fingerprints, in whatever
// parts their rows lie.
func Fingerprint(t testing.TB, dsn string) map[string]string {
	t.Helper()
	return fingerprint(t, dsn, "name NOT LIKE 'stats_%'", "*")
}

// FingerprintOfFigures is Fingerprint of the tables that are computed from those
// of the chain now and then, without the columns that say when. RefreshFigures
// makes them be of all rows.
func FingerprintOfFigures(t testing.TB, dsn string) map[string]string {
	t.Helper()
	return fingerprint(t, dsn, "name LIKE 'stats_%'", "* EXCEPT (computed, touched)")
}

// RefreshFigures computes the figures of FingerprintOfFigures anew. Some are
// computed from others, so that it takes two rounds.
func RefreshFigures(t testing.TB, dsn string) {
	t.Helper()
	connection, ctx, done := connect(t, dsn)
	defer done()
	rows, err := connection.Query(ctx, "SELECT view FROM system.view_refreshes WHERE database = currentDatabase() ORDER BY view")
	if err != nil {
		t.Fatal(err)
	}
	views := firstColumn(t, rows)
	for _, view := range append(views, views...) {
		for _, statement := range []string{"SYSTEM WAIT VIEW ", "SYSTEM REFRESH VIEW ", "SYSTEM WAIT VIEW "} {
			if err := connection.Exec(ctx, statement+view); err != nil {
				t.Fatalf("%s%s: %v", statement, view, err)
			}
		}
	}
}

// Watermark is the newest bundle that the tables have in all partitions, of which each
// has one.
func Watermark(t testing.TB, dsn string) (mcSeqno uint32) {
	t.Helper()
	connection, ctx, done := connect(t, dsn)
	defer done()
	const newest = "SELECT min(newest) FROM (SELECT max(mc_seqno) AS newest FROM progress GROUP BY topic, partition)"
	var err error
	Await(t, time.Minute, func() bool { // an engine that was killed comes back
		err = connection.QueryRow(ctx, newest).Scan(&mcSeqno)
		return err == nil
	}, func() string { return fmt.Sprintf("the progress of the tables: %v", err) })
	return mcSeqno
}

// AwaitTables waits until the tables have a bundle: the API may show it before.
func AwaitTables(t testing.TB, dsn string, mcSeqno uint32) {
	t.Helper()
	var have uint32
	Await(t, time.Minute, func() bool {
		have = Watermark(t, dsn)
		return have >= mcSeqno
	}, func() string { return fmt.Sprintf("the tables have bundle %d, not %d", have, mcSeqno) })
}

// connect is for some statements, until done is called.
func connect(t testing.TB, dsn string) (connection driver.Conn, ctx context.Context, done func()) {
	t.Helper()
	options, err := clickhouse.ParseDSN(dsn)
	if err != nil {
		t.Fatal(err)
	}
	if connection, err = clickhouse.Open(options); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	return connection, ctx, func() {
		cancel()
		_ = connection.Close() // nothing is lost
	}
}

// fingerprint is of the tables whose names meet a condition.
func fingerprint(t testing.TB, dsn, which, columns string) map[string]string {
	t.Helper()
	connection, ctx, done := connect(t, dsn)
	defer done()
	const all = `SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree'
		AND NOT match(name, '^([.]|_tmp)') AND name NOT LIKE 'schema_migrations%' AND name NOT LIKE 'api_%' AND name != 'repairs' AND `
	rows, err := connection.Query(ctx, all+which)
	if err != nil {
		t.Fatal(err)
	}
	names := firstColumn(t, rows)
	prints := map[string]string{}
	for _, name := range names {
		var count, hash uint64
		final := fmt.Sprintf("SELECT count(), groupBitXor(cityHash64(tuple(%s))) FROM `%s` FINAL", columns, name)
		if err := connection.QueryRow(ctx, final).Scan(&count, &hash); err != nil {
			t.Fatalf("table %s: %v", name, err)
		}
		prints[name] = fmt.Sprintf("%d rows, hash %016x", count, hash)
	}
	return prints
}

// Columns is, for every column of a table, a sum of the hashes of its values: it
// tells which ones make two tables differ.
func Columns(t testing.TB, dsn, table string) map[string]string {
	t.Helper()
	connection, ctx, done := connect(t, dsn)
	defer done()
	rows, err := connection.Query(ctx, "SELECT name FROM system.columns WHERE database = currentDatabase() AND table = ?", table)
	if err != nil {
		t.Fatal(err)
	}
	sums := map[string]string{}
	for _, name := range firstColumn(t, rows) {
		var sum uint64
		if err := connection.QueryRow(ctx, fmt.Sprintf("SELECT sum(cityHash64(`%s`)) FROM `%s` FINAL", name, table)).Scan(&sum); err != nil {
			t.Fatalf("column %s of table %s: %v", name, table, err)
		}
		sums[name] = fmt.Sprintf("%016x", sum)
	}
	return sums
}

// firstColumn reads texts.
func firstColumn(t testing.TB, rows driver.Rows) (texts []string) {
	t.Helper()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			t.Fatal(err)
		}
		texts = append(texts, text)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		t.Fatal(err)
	}
	return texts
}

// Differences lists the tables whose fingerprints are not equal.
func Differences(got, want map[string]string) []string {
	var out []string
	for name, w := range want {
		if g := got[name]; g != w {
			out = append(out, fmt.Sprintf("table %s: got %s, want %s", name, g, w))
		}
	}
	for name, g := range got {
		if _, ok := want[name]; !ok {
			out = append(out, fmt.Sprintf("table %s: got %s, want none", name, g))
		}
	}
	return out
}
