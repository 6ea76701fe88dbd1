package parts

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/rs/zerolog"

	"tonscribe/internal/clickhouse"
	"tonscribe/internal/report"
	"tonscribe/schema"
	"tonscribe/test/support/clienttest"
	"tonscribe/test/support/enginetest"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// place is a database with tables, and a ledger.
type place struct {
	*testing.T
	client *clickhouse.Client
	file   string
}

func newPlace(t *testing.T) *place {
	t.Helper()
	e := enginetest.Tables(t)
	client := clienttest.ClickHouse(t, e.DSN())
	p := &place{t, client, filepath.Join(t.TempDir(), "parts.json")}
	p.exec("SYSTEM STOP MERGES")
	t.Cleanup(func() { p.client.Conn().Exec(context.Background(), "SYSTEM START MERGES") })
	return p
}

func (p *place) exec(statement string) {
	p.Helper()
	if err := p.client.Conn().Exec(p.Context(), statement); err != nil {
		p.Fatalf("%s: %v", statement, err)
	}
}

func (p *place) text(query string) (text string) {
	p.Helper()
	if err := p.client.Conn().QueryRow(p.Context(), query).Scan(&text); err != nil {
		p.Fatalf("%s: %v", query, err)
	}
	return text
}

// watch is a new process.
func (p *place) watch() *Watch {
	p.Helper()
	w, err := New(Options{Configuration: DefaultConfiguration(), ClickHouse: p.client, File: p.file, Advice: "run repair", Report: enginetest.Report(p.T)})
	if err != nil {
		p.Fatal(err)
	}
	p.look(w)
	return w
}

func (p *place) look(w *Watch) {
	p.Helper()
	if err := w.Poll(p.Context()); err != nil {
		p.Fatal(err)
	}
}

// insert makes a part of a bundle's rows in a table that is narrow.
func (p *place) insert(bundle int) {
	p.exec(fmt.Sprintf("INSERT INTO blocks_index (path, key, mc_seqno) SELECT 'lt', number, %d FROM numbers(%d, 10)", bundle, bundle*10))
}

// progress tells that everything up to a bundle is in the tables.
func (p *place) progress(bundle int) {
	for _, topic := range schema.TableTopics {
		p.exec(fmt.Sprintf("INSERT INTO progress VALUES ('%s', 0, 1, %d, 1)", topic.Name, bundle))
	}
}

const parts = "FROM system.parts WHERE database = currentDatabase() AND active AND table = 'blocks_index'"

func TestPartsThatGoAreDamageFromTheirFirstBundleOn(t *testing.T) {
	p := newPlace(t)
	w := p.watch()
	for bundle := 1; bundle <= 4; bundle++ {
		p.insert(bundle)
		p.look(w)
		p.progress(bundle)
		p.look(w)
	}
	if err := w.Ready(t.Context()); err != nil {
		t.Fatalf("undisturbed: %v", err)
	}
	p.exec("ALTER TABLE blocks_index DETACH PART '" + p.text("SELECT name "+parts+" ORDER BY min_block_number LIMIT 1 OFFSET 2") + "'")
	p.exec("SYSTEM START MERGES")
	p.exec("OPTIMIZE TABLE blocks_index FINAL")
	for name, w := range map[string]*Watch{"the same process": w, "another process": p.watch()} {
		p.look(w)
		if err := w.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "table blocks_index") || !strings.Contains(err.Error(), "run repair") {
			t.Errorf("%s: ready says %v", name, err)
		}
		if from := Sum(w.Damages()); len(from) != 1 || from["blocks_index"] != 3 {
			t.Errorf("%s: %v is lost from %v, want blocks_index from 3", name, w.Damages(), from)
		}
		if w.Refuse("SELECT 1 FROM blocks_index WHERE key = 3") == nil {
			t.Errorf("%s: a statement that reads the table was not refused", name)
		}
		if err := w.Refuse("SELECT 1 FROM blocks WHERE mc_seqno = 3"); err != nil {
			t.Errorf("%s: a statement that reads another table: %v", name, err)
		}
	}
	// It stays known when nothing lies aside any more.
	p.exec("ALTER TABLE blocks_index DROP DETACHED PART '" + p.text("SELECT name FROM system.detached_parts WHERE database = currentDatabase()") + "' SETTINGS allow_drop_detached = 1")
	if p.watch().Ready(t.Context()) == nil {
		t.Error("the damage was forgotten")
	}
}

func TestPartsOfTheTimeBeforeAStopAreMissedAfterIt(t *testing.T) {
	p := newPlace(t)
	w := p.watch()
	w.options.Look = time.Hour
	if err := w.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.insert(1)
	p.progress(1)
	if err := w.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.exec("ALTER TABLE blocks_index DROP PART '" + p.text("SELECT name "+parts) + "'")
	if err := p.watch().Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "table blocks_index") {
		t.Errorf("ready says %v", err)
	}
}

func TestMergesAndTablesMadeAnewAreNoDamage(t *testing.T) {
	p := newPlace(t)
	w := p.watch()
	for bundle := 1; bundle <= 5; bundle++ {
		p.insert(bundle)
		p.progress(bundle)
		p.look(w)
	}
	p.exec("SYSTEM START MERGES")
	p.exec("OPTIMIZE TABLE blocks_index FINAL")
	p.look(w)
	if err := w.Ready(t.Context()); err != nil {
		t.Errorf("after a merge: %v", err)
	}
	if c := w.ledger.Tables["blocks_index"].Partitions["all"]; len(c) != 1 || c[0].From != 1 {
		t.Errorf("covers %+v, want one from bundle 1 on", c)
	}
	create := p.text("SELECT create_table_query FROM system.tables WHERE database = currentDatabase() AND name = 'blocks_index'")
	p.exec("DROP TABLE blocks_index SYNC")
	p.look(w)
	p.exec(create)
	p.look(w)
	if err := w.Ready(t.Context()); err != nil {
		t.Errorf("after the table was made anew: %v", err)
	}
}

// Rows of some tables expire by themselves, those of others do not.
func TestPartsThatAreEmptiedAreNoDamageWhereRowsExpire(t *testing.T) {
	p := newPlace(t)
	w := p.watch()
	p.exec("INSERT INTO merchant_sessions SELECT toFixedString(toString(number), 32), toFixedString('m', 16), now(), now() - INTERVAL 31 DAY, false, 1 FROM numbers(10)")
	if n := p.text("SELECT toString(countIf(engine_full NOT LIKE '%remove_empty_parts = 0%')) FROM system.tables WHERE database = currentDatabase() AND engine_full LIKE '% TTL %'"); n != "0" {
		t.Errorf("%s tables have rows that expire, and lose the parts without a trace", n)
	}
	p.insert(1)
	p.look(w)
	p.exec("SYSTEM START MERGES")
	p.exec("OPTIMIZE TABLE merchant_sessions FINAL")
	if n := p.text("SELECT toString(count()) FROM merchant_sessions"); n != "0" {
		t.Fatalf("%s sessions are left", n)
	}
	p.exec("ALTER TABLE blocks_index DELETE WHERE mc_seqno = 1 SETTINGS mutations_sync = 2")
	p.look(w)
	if from := Sum(w.Damages()); len(from) != 1 || w.Damages()[0].Table != "blocks_index" {
		t.Errorf("after rows have expired, and those of a bundle were deleted: %v, want damage of blocks_index alone", w.Damages())
	}
	// Who settles takes the table for whole as it is, whenever ClickHouse takes the
	// empty part away.
	p.insert(1)
	if err := w.Accept(t.Context(), []string{"blocks_index"}); err != nil {
		t.Fatal(err)
	}
	p.exec("OPTIMIZE TABLE blocks_index FINAL")
	if n := p.text("SELECT toString(count()) " + parts); n != "1" {
		t.Fatalf("%s parts are left, one of them that was emptied", n)
	}
	p.look(w)
	if err := w.Ready(t.Context()); err != nil {
		t.Errorf("after the rows were brought back: %v", err)
	}
}

func TestOneFlippedBitInAnyFileOfAPartIsFound(t *testing.T) {
	p := newPlace(t)
	p.exec("INSERT INTO accounts_by_balance SELECT 0, number, toFixedString(toString(number), 32), number, number, 0 FROM numbers(5000)")
	w := p.watch()
	w.verifyAll(t)
	if err := w.Ready(t.Context()); err != nil {
		t.Fatalf("undamaged: %v", err)
	}
	path := p.text("SELECT path FROM system.parts WHERE database = currentDatabase() AND active AND table = 'accounts_by_balance'")
	flipped := 0
	for _, name := range []string{"data.bin", "data.cmrk*", "primary.*idx", "checksums.txt", "columns.txt", "count.txt", "*.proj/data.bin", "*.proj/data.cmrk*", "*.proj/checksums.txt"} {
		files, err := filepath.Glob(filepath.Join(path, name))
		if err != nil || len(files) == 0 {
			t.Errorf("there is no %s: %v", name, err)
		}
		for _, file := range files {
			before, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			after := append([]byte{}, before...)
			after[len(after)/2] ^= 1 << (flipped % 8)
			flipped++
			if err := os.WriteFile(file, after, 0o600); err != nil {
				t.Fatal(err)
			}
			w := p.watch()
			w.verifyAll(t)
			if err := w.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "table accounts_by_balance, part all_1_1_") {
				t.Errorf("one bit of %s: ready says %v", file, err)
			}
			if w = p.watch(); w.Ready(t.Context()) == nil {
				t.Errorf("one bit of %s: the next process does not know", file)
			}
			if err := os.WriteFile(file, before, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Remove(p.file); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Logf("%d files", flipped)
}

// verifyAll verifies every part.
func (w *Watch) verifyAll(t *testing.T) {
	t.Helper()
	if err := w.VerifyAll(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
}

func TestAStatementThatFailsOnDamageMakesItsPartUrgent(t *testing.T) {
	p := newPlace(t)
	p.exec("INSERT INTO accounts_by_balance SELECT 0, number, toFixedString(toString(number), 32), number, number, 0 FROM numbers(5000)")
	w := p.watch()
	path := p.text("SELECT path FROM system.parts WHERE database = currentDatabase() AND active AND table = 'accounts_by_balance'")
	file := filepath.Join(path, "data.bin")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text[len(text)/2] ^= 4
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	err = p.client.Conn().Exec(t.Context(), "SELECT * FROM accounts_by_balance FORMAT Null SETTINGS optimize_use_projections = 0")
	if err == nil {
		t.Fatal("a damaged part was read")
	}
	w.Suspect(err.Error())
	if next, ok := w.queue.next(); !ok || next.table != "accounts_by_balance" {
		t.Fatalf("%+v is verified next, want the part of accounts_by_balance", next)
	}
}

func TestRowsThatBundlesPromiseAreCounted(t *testing.T) {
	p := newPlace(t)
	for bundle := 1; bundle <= 6; bundle++ {
		p.exec(fmt.Sprintf("INSERT INTO seals VALUES ('headers', 0, %d, %d, 2), ('transactions', 0, %d, %d, 3)", bundle, bundle-1, bundle, bundle-1))
		p.exec(fmt.Sprintf("INSERT INTO blocks (mc_seqno, workchain, shard, seqno) SELECT %d, number, 0, 0 FROM numbers(2)", bundle))
		for _, path := range []string{"id", "hash", "utime", "lt"} {
			p.exec(fmt.Sprintf("INSERT INTO blocks_index (path, key, workchain, mc_seqno) SELECT '%s', %d, number, %d FROM numbers(2)", path, bundle, bundle))
		}
		for _, path := range []string{"hash", "mc_seqno", "lt", "utime"} {
			p.exec(fmt.Sprintf("INSERT INTO transactions_index (path, key, account_prefix, mc_seqno) SELECT '%s', %d, number, %d FROM numbers(3)", path, bundle, bundle))
		}
		for _, path := range []string{"lt", "utime"} {
			p.exec(fmt.Sprintf("INSERT INTO messages_index (path, key, account_prefix, mc_seqno) SELECT '%s', %d, number, %d FROM numbers(4)", path, bundle, bundle))
		}
		p.exec(fmt.Sprintf("INSERT INTO transactions (account_prefix, lt, mc_seqno) SELECT number, %d, %d FROM numbers(3)", bundle, bundle))
	}
	p.exec("INSERT INTO accounts (account_prefix, version, mc_seqno) SELECT number, 6, 6 FROM numbers(3)")
	p.exec("INSERT INTO accounts_by_balance (account_prefix, version) SELECT number, 6 FROM numbers(3)")
	p.progress(7)
	w := p.watch()
	if list, err := w.Count(t.Context(), 0); err != nil || len(list) > 0 {
		t.Fatalf("whole tables: %v, %v", list, err)
	}
	// The process was killed between the progress of a batch and its seals.
	for _, cut := range []string{"topic = 'headers' AND mc_seqno >= 4", "topic = 'transactions' AND mc_seqno >= 3", "mc_seqno >= 5"} {
		p.exec("CREATE TABLE kept AS seals")
		p.exec("INSERT INTO kept SELECT * FROM seals")
		p.exec("TRUNCATE TABLE seals")
		p.exec("INSERT INTO seals SELECT * FROM kept WHERE NOT (" + cut + ")")
		if list, err := w.Count(t.Context(), 0); err != nil || len(list) > 0 {
			t.Errorf("no seals yet where %s: %v, %v; want nothing, their batch is repeated", cut, list, err)
		}
		p.exec("TRUNCATE TABLE seals")
		p.exec("INSERT INTO seals SELECT * FROM kept")
		p.exec("DROP TABLE kept SYNC")
	}
	for table, loss := range map[string]struct {
		delete string
		from   uint32
	}{
		"blocks":              {"mc_seqno = 3 AND workchain = 1", 3},
		"blocks_index":        {"path = 'hash' AND mc_seqno = 5 AND workchain = 0", 5},
		"transactions":        {"mc_seqno = 4 AND account_prefix = 2", 4},
		"transactions_index":  {"path = 'utime' AND mc_seqno = 2 AND account_prefix = 1", 2},
		"messages_index":      {"path = 'lt' AND mc_seqno = 3 AND account_prefix = 1", 3},
		"seals":               {"mc_seqno = 2 AND topic = 'headers'", 2},
		"accounts":            {"account_prefix = 2", 6},
		"accounts_by_balance": {"account_prefix = 1", 6},
	} {
		p.exec("CREATE TABLE kept AS " + table)
		p.exec("INSERT INTO kept SELECT * FROM " + table)
		p.exec("TRUNCATE TABLE " + table)
		p.exec("INSERT INTO " + table + " SELECT * FROM kept WHERE NOT (" + loss.delete + ")")
		list, err := w.Count(t.Context(), 0)
		if from, found := Sum(list)[table]; err != nil || !found || from != loss.from {
			t.Errorf("%s without rows where %s: %v, %v; want it from %d", table, loss.delete, list, err, loss.from)
		}
		p.exec("TRUNCATE TABLE " + table)
		p.exec("INSERT INTO " + table + " SELECT * FROM kept")
		p.exec("DROP TABLE kept SYNC")
	}
	// No table has anything of some bundles, but the one after them names the last.
	for _, table := range []string{"seals", "blocks", "blocks_index", "transactions", "transactions_index", "messages_index"} {
		p.exec("CREATE TABLE kept AS " + table)
		p.exec("INSERT INTO kept SELECT * FROM " + table + " WHERE mc_seqno NOT IN (3, 4)")
		p.exec("TRUNCATE TABLE " + table)
		p.exec("INSERT INTO " + table + " SELECT * FROM kept")
		p.exec("DROP TABLE kept SYNC")
	}
	if list, err := w.Count(t.Context(), 0); err != nil || len(list) != 1 || list[0].Table != "seals" || list[0].From != 3 {
		t.Errorf("without bundles 3 and 4: %v, %v; want that seals lack them", list, err)
	}
}

// The stages run on while rows are brought back from another process.
func TestARepairIsKnownToTheWatchesOfOtherProcesses(t *testing.T) {
	p := newPlace(t)
	rows := "INSERT INTO accounts_by_balance SELECT 0, number, toFixedString(toString(number), 32), number, number, 0 FROM numbers(10)"
	p.exec(rows)
	of := func() *Watch {
		t.Helper()
		w, err := New(Options{Configuration: DefaultConfiguration(), ClickHouse: p.client, Report: enginetest.Report(t)})
		if err != nil {
			t.Fatal(err)
		}
		p.look(w)
		return w
	}
	running := of()
	part := p.text("SELECT name FROM system.parts WHERE database = currentDatabase() AND active AND table = 'accounts_by_balance'")
	p.exec("ALTER TABLE accounts_by_balance DETACH PART '" + part + "'")
	p.look(running)
	if running.Ready(t.Context()) == nil {
		t.Fatal("a detached part is no damage")
	}
	repairing := of()
	p.exec(rows)
	if err := repairing.Exec(t.Context(), "ALTER TABLE accounts_by_balance DROP DETACHED PART '"+part+"'"); err != nil {
		t.Fatal(err)
	}
	p.look(running)
	if running.Ready(t.Context()) == nil {
		t.Error("a detached part that somebody drops is no damage any more")
	}
	if err := repairing.Accept(t.Context(), []string{"accounts_by_balance"}); err != nil {
		t.Fatal(err)
	}
	p.look(running)
	for what, w := range map[string]*Watch{"that runs": running, "that repaired": repairing, "of a later process": of()} {
		if err := w.Ready(t.Context()); err != nil {
			t.Errorf("the watch %s, after the repair: %v", what, err)
		}
	}
}

// Whoever looks takes the newest repair that he has seen for the last one.
func TestARepairAfterTheClockWasPutBackIsTheNewest(t *testing.T) {
	p := newPlace(t)
	p.exec("INSERT INTO repairs SELECT 'blocks', now64(6, 'UTC') + INTERVAL 1 DAY")
	w := p.watch()
	before, err := w.readRepairs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Accept(t.Context(), []string{"accounts", "blocks"}); err != nil {
		t.Fatal(err)
	}
	after, err := w.readRepairs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"accounts", "blocks"} {
		if !after[name].After(before[name]) {
			t.Errorf("%s was repaired at %s, after %s", name, after[name], before[name])
		}
	}
}

func TestThatTheTablesHaveOutgrownTheMemoryForTheirMarksIsToldOnce(t *testing.T) {
	p := newPlace(t)
	p.insert(1)
	for _, c := range []struct {
		marks int64
		told  int
	}{{0, 0}, {1, 1}, {1 << 30, 0}} {
		var log bytes.Buffer
		w, err := New(Options{Configuration: DefaultConfiguration(), ClickHouse: p.client, Marks: c.marks, Report: report.Reporter{Log: zerolog.New(&log), Metrics: prometheus.NewRegistry()}})
		if err != nil {
			t.Fatal(err)
		}
		p.look(w)
		p.look(w)
		if got := strings.Count(log.String(), "raise clickhouse.memory_bytes"); got != c.told {
			t.Errorf("%d bytes for marks: told %d times, want %d: %s", c.marks, got, c.told, log.String())
		}
		if needed := testutil.ToFloat64(w.metrics.marks); needed == 0 {
			t.Errorf("%d bytes for marks: the marks of a part need %g", c.marks, needed)
		}
	}
}

func TestTheWatchFindsDamageByItself(t *testing.T) {
	p := newPlace(t)
	p.exec("INSERT INTO accounts_by_balance SELECT 0, number, toFixedString(toString(number), 32), number, number, 0 FROM numbers(5000)")
	path := p.text("SELECT path FROM system.parts WHERE database = currentDatabase() AND active AND table = 'accounts_by_balance'")
	w, err := New(Options{Configuration: Configuration{Look: 20 * time.Millisecond, Check: time.Millisecond}, ClickHouse: p.client, File: p.file, Advice: "run repair", Report: enginetest.Report(t)})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer w.Stop(t.Context())
	file := filepath.Join(path, "count.txt")
	if err := os.WriteFile(file, []byte("4999"), 0o600); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); w.Ready(t.Context()) == nil; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("a wrong count.txt was not found within a minute")
		}
	}
}
