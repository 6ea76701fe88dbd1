// Package storage proves that a full disk and damaged files lose nothing for
// good and nothing in silence: after what is said to do was done, the tables
// equal those of an undisturbed run, row for row.
package storage

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"tonscribe/test/support/harness"
)

// TestMain removes what all tests share.
func TestMain(m *testing.M) {
	code := m.Run()
	for _, dir := range []string{chainDir, undisturbedData} {
		if dir != "" {
			os.RemoveAll(dir)
		}
	}
	os.Exit(code)
}

// long is whether the full number of rounds is run.
func long() bool { return os.Getenv("TONSCRIBE_TEST_LONG") != "" }

const transactions = 1500

var (
	chainOnce sync.Once
	chainDir  string
	chainErr  error
)

// chain is a folder of blocks with tokens in them, made once for all tests.
func chain(t *testing.T) string {
	t.Helper()
	chainOnce.Do(func() {
		if chainDir, chainErr = os.MkdirTemp("", "tonscribe-storage-"); chainErr != nil {
			return
		}
		out, err := exec.Command(harness.Binary(t), "devnet", "generate", "--out", chainDir, "--transactions", fmt.Sprint(transactions), "--per-block", "40", "--seed", "7").CombinedOutput()
		if err != nil {
			chainErr = fmt.Errorf("devnet generate: %w\n%s", err, out)
		}
	})
	if chainErr != nil {
		t.Fatal(chainErr)
	}
	return chainDir
}

// index is a data folder and the process that indexes the chain into it.
type index struct {
	*testing.T
	data, listen string
	source       string
	to           uint32
	settings     []string // of all commands
	policy       []string // of the stages alone
	process      *harness.Process
}

func newIndex(t *testing.T, data string, settings ...string) *index {
	return &index{T: t, data: data, listen: harness.FreeAddress(t), source: "files:" + chain(t), to: last(t), settings: append([]string{
		"TONSCRIBE_STORAGE_CHECK=5ms", "TONSCRIBE_STORAGE_LOOK=100ms", "TONSCRIBE_LOG_FORMAT=json",
	}, settings...)}
}

func (i *index) base() string { return "http://" + i.listen }

func (i *index) start() {
	i.Helper()
	i.process = harness.Start(i.T, append(i.policy, i.settings...), "up", "--data", i.data, "--listen", i.listen, "--network", "devnet",
		"--source", i.source, "--from", "1", "--to", fmt.Sprint(i.to), "--serve")
}

// last is the newest masterchain block of the chain.
func last(t *testing.T) (seqno uint32) {
	t.Helper()
	err := filepath.WalkDir(chain(t), func(path string, entry os.DirEntry, err error) error {
		for _, part := range strings.FieldsFunc(entry.Name(), func(r rune) bool { return r == '_' || r == '.' }) {
			if n, err := strconv.ParseUint(part, 10, 32); err == nil && strings.Contains(entry.Name(), "-1") {
				seqno = max(seqno, uint32(n))
			}
		}
		return err
	})
	if err != nil || seqno == 0 {
		t.Fatalf("no masterchain blocks in %s: %v", chain(t), err)
	}
	return seqno
}

// readyz is what /readyz says.
func (i *index) readyz() (status int, text string) {
	status, body, err := harness.Get(i.base() + "/readyz")
	if err != nil {
		return 0, err.Error()
	}
	return status, string(body)
}

// awaitDamage waits for /readyz to name a table and the way out.
func (i *index) awaitDamage(table string) {
	i.Helper()
	var text string
	harness.Await(i.T, time.Minute, func() bool {
		var status int
		status, text = i.readyz()
		return status == http.StatusServiceUnavailable && strings.Contains(text, "table "+table) && strings.Contains(text, "tonscribe repair --data "+i.data)
	}, func() string { return "/readyz does not tell of table " + table + ": " + text })
}

// command runs a command on the data folder.
func (i *index) command(name string, arguments ...string) (string, error) {
	command := exec.Command(harness.Binary(i.T), append([]string{name, "--data", i.data}, arguments...)...)
	command.Env = append(os.Environ(), i.settings...)
	out, err := command.CombinedOutput()
	return string(out), err
}

// repair runs it; where says where the blocks come from when the log does not
// suffice.
func (i *index) repair(where ...string) string {
	i.Helper()
	out, err := i.command("repair", where...)
	if err != nil {
		i.Fatalf("repair: %v\n%s", err, out)
	}
	return out
}

// whole is holds of an index that is not started.
func (i *index) whole(want map[string]string) {
	i.Helper()
	i.start()
	i.holds(want)
}

// holds compares the tables with those of an undisturbed run, and lets verify look
// at them.
func (i *index) holds(want map[string]string) {
	i.Helper()
	i.process.AwaitReady(i.base(), 2*time.Minute)
	dsn := harness.ReadRunFile(i.T, i.data).ClickHouse
	for _, difference := range harness.Differences(harness.Fingerprint(i.T, dsn), want) {
		i.Error(difference)
	}
	if out, err := i.command("verify"); err != nil {
		i.Errorf("verify: %v\n%s", err, out)
	}
	i.process.Stop()
}

var (
	undisturbedOnce sync.Once
	undisturbedData string
	undisturbedWant map[string]string
)

// undisturbed is the data folder of a run that nothing happened to, to be copied,
// and its tables.
func undisturbed(t *testing.T) (data string, want map[string]string) {
	t.Helper()
	undisturbedOnce.Do(func() {
		t.Helper()
		data, err := os.MkdirTemp("", "tonscribe-storage-")
		if err != nil {
			t.Fatal(err)
		}
		i := newIndex(t, data)
		i.start()
		i.process.AwaitReady(i.base(), 2*time.Minute)
		undisturbedWant = harness.Fingerprint(t, harness.ReadRunFile(t, data).ClickHouse)
		i.process.Stop()
		undisturbedData = data
	})
	if undisturbedData == "" {
		t.Fatal("the undisturbed run failed")
	}
	return undisturbedData, undisturbedWant
}

// copied is an index with a copy of the undisturbed run's folder.
func copied(t *testing.T) (*index, map[string]string) {
	t.Helper()
	from, want := undisturbed(t)
	data := filepath.Join(t.TempDir(), "data")
	if out, err := exec.Command("cp", "-a", from, data).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return newIndex(t, data), want
}

// partFiles are the files of a table's active parts.
func (i *index) partFiles(table, pattern string) (files []string) {
	i.Helper()
	dirs, err := filepath.Glob(filepath.Join(i.data, "clickhouse/data/store/*/*/*_*_*_*"))
	if err != nil || len(dirs) == 0 {
		i.Fatalf("no parts: %v", err)
	}
	for _, dir := range dirs {
		columns, _ := os.ReadFile(filepath.Join(dir, "columns.txt"))
		if !strings.Contains(string(columns), table) {
			continue
		}
		found, _ := filepath.Glob(filepath.Join(dir, pattern))
		files = append(files, found...)
	}
	if len(files) == 0 {
		i.Fatalf("no files %s of parts with column %s", pattern, table)
	}
	return files
}

func flip(t *testing.T, file string, bit int) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text[len(text)/2] ^= 1 << bit
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestDamagedPartsAreToldOfAndMendedFromTheLog(t *testing.T) {
	i, want := copied(t)
	// A column that only one table has stands for the table.
	for n, damage := range []struct{ column, file string }{
		{"in_msg_opcode", "data.bin"}, {"gone", "data.cmrk*"}, {"methods_known", "primary.*idx"}, {"master_prefix", "checksums.txt"},
		{"hash_prefix", "columns.txt"}, {"mintable", "count.txt"},
	} {
		for _, file := range i.partFiles(damage.column, damage.file) {
			flip(t, file, n%8)
		}
	}
	i.start()
	for _, table := range []string{"transactions", "accounts_by_balance"} {
		i.awaitDamage(table)
	}
	key, err := os.ReadFile(filepath.Join(i.data, "api-key"))
	if err != nil {
		t.Fatal(err)
	}
	harness.UseKey(i.base(), strings.TrimSpace(string(key)))
	status, body, err := harness.Get(i.base() + "/api/v3/transactions?limit=1000&sort=asc")
	// A view that was never read is refused as such.
	if err != nil || status != http.StatusInternalServerError || !strings.HasPrefix(string(body), `{"ok":false,"error":"internal server error: `) {
		t.Errorf("an answer from a damaged table: %d %s %v", status, body, err)
	}
	if out, err := i.command("repair"); err == nil || !strings.Contains(out, "stop it first") {
		t.Errorf("repair beside a running up: %v\n%s", err, out)
	}
	i.process.Stop()
	random := rand.New(rand.NewPCG(5, 5))
	for range 2 {
		p := harness.Start(t, i.settings, "repair", "--data", i.data)
		time.Sleep(time.Duration(100+random.IntN(1500)) * time.Millisecond) // at a point of its own choosing
		p.Kill()
	}
	t.Log(i.repair()) // no source is named: the log has everything
	if out := i.repair(); !strings.Contains(out, "nothing is damaged") {
		t.Errorf("a second repair finds something: %s", out)
	}
	i.whole(want)
}

// leaveOut is a folder of links to the chain's files but those of a masterchain
// block.
func leaveOut(t *testing.T, seqno int) string {
	t.Helper()
	left, n := t.TempDir(), 0
	err := filepath.WalkDir(chain(t), func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		to := filepath.Join(left, strings.TrimPrefix(path, chain(t)))
		switch {
		case entry.IsDir():
			return os.MkdirAll(to, 0o700)
		case entry.Name() == fmt.Sprintf("-1_8000000000000000_%d.boc", seqno):
			n++
			return nil
		}
		return os.Symlink(path, to)
	})
	if err != nil || n != 1 {
		t.Fatalf("%d files of masterchain block %d, %v", n, seqno, err)
	}
	return left
}

// lose takes away the log, and the parts of tables by a column that only they have.
func (i *index) lose(columns ...string) {
	i.Helper()
	for _, column := range columns {
		for _, file := range i.partFiles(column, "data.bin") {
			if err := os.Truncate(file, 0); err != nil {
				i.Fatal(err)
			}
		}
	}
	if err := os.RemoveAll(filepath.Join(i.data, "kafka")); err != nil {
		i.Fatal(err)
	}
}

// An index that has a gap gets its rows from a source that has the missing bundle
// by now: the tables are as they were.
func TestLostRowsComeBackFromTheSourceAndGapsDoNot(t *testing.T) {
	i := newIndex(t, filepath.Join(t.TempDir(), "data"))
	i.policy = []string{"TONSCRIBE_INGEST_ON_GAP=skip", "TONSCRIBE_INGEST_SKIP_AFTER=1ms"}
	whole := i.source
	i.source = "files:" + leaveOut(t, 14)
	i.start()
	i.process.AwaitReady(i.base(), 2*time.Minute)
	dsn := harness.ReadRunFile(t, i.data).ClickHouse
	want := harness.Fingerprint(t, dsn)
	for _, table := range []string{"blocks_index", "transactions_index"} {
		// In one part with others: a part that is emptied would be missed by itself.
		for _, statement := range []string{"OPTIMIZE TABLE " + table + " FINAL", "ALTER TABLE " + table + " DELETE WHERE mc_seqno >= 15 SETTINGS mutations_sync = 2"} {
			if err := execute(t.Context(), dsn, statement); err != nil {
				t.Fatal(err)
			}
		}
	}
	i.process.Stop()
	i.lose()
	if out, err := i.command("repair", "--dry-run"); err == nil || !strings.Contains(out, "--source") {
		t.Errorf("repair without log and source: %v\n%s", err, out)
	}
	// Bundles 14 and 15 are in the gap.
	if out := i.repair("--source", whole); !strings.Contains(out, "of blocks_index, transactions_index; decoded from bundle 16 on, since these tables need nothing of what was before") {
		t.Errorf("repair of tables that need nothing of what was before:\n%s", out)
	}
	i.lose("gone", "in_msg_opcode", "signer")
	if out := i.repair("--source", whole); !strings.Contains(out, "of accounts_by_balance, actions, actions_by_list, contract_links, transactions; decoded from bundle 1 on, since states come from what was before") {
		t.Errorf("repair of tables that need what was before:\n%s", out)
	}
	i.whole(want)
}

// The devnet of the data folder is read through its lite server, as any network is.
func TestLostRowsOfADevnetComeBackThroughItsLiteServer(t *testing.T) {
	i := newIndex(t, filepath.Join(t.TempDir(), "data"), "TONSCRIBE_DEVNET_INTERVAL=200ms", "TONSCRIBE_DEVNET_TPS=100")
	i.source, i.to = "devnet", 12
	i.start()
	i.process.AwaitReady(i.base(), 2*time.Minute)
	want := harness.Fingerprint(t, harness.ReadRunFile(t, i.data).ClickHouse)
	i.process.Stop()
	i.lose("gone", "in_msg_opcode", "signer")
	if out := i.repair(); !strings.Contains(out, "from the source devnet: bundles ") {
		t.Errorf("repair:\n%s", out)
	}
	i.whole(want)
}

// Who reads a table on from where it was does not see rows that come back behind that place.
func TestLinksThatAreBroughtBackAreFetched(t *testing.T) {
	i := newIndex(t, filepath.Join(t.TempDir(), "data"))
	i.settings = append(i.settings, "TONSCRIBE_METADATA_ENABLED=false")
	i.start()
	i.process.AwaitReady(i.base(), 2*time.Minute)
	if err := execute(t.Context(), harness.ReadRunFile(t, i.data).ClickHouse, "ALTER TABLE metadata_links DETACH PARTITION ID 'all'"); err != nil {
		t.Fatal(err)
	}
	i.awaitDamage("metadata_links")
	i.process.Stop()
	i.settings[len(i.settings)-1] = "TONSCRIBE_METADATA_ENABLED=true"
	i.start()
	harness.Await(t, time.Minute, func() bool {
		_, body, err := harness.Get(i.base() + "/metrics")
		return err == nil && strings.Contains(string(body), fmt.Sprintf("tonscribe_metadata_bundle %d\n", i.to))
	}, i.process.Output)
	i.process.Stop()
	i.repair()
	i.start()
	i.process.AwaitReady(i.base(), time.Minute)
	harness.Await(t, time.Minute, func() bool {
		return execute(t.Context(), harness.ReadRunFile(t, i.data).ClickHouse, "SELECT throwIf(count() = 0) FROM metadata_fetches FORMAT Null") == nil
	}, func() string { return "no link is known" })
	i.process.Stop()
}
