package crash

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"tonscribe/test/support/enginetest"
	"tonscribe/test/support/harness"
	kafkatest "tonscribe/test/support/kafka"
)

// On external engines rows are brought back while the stages run, and bundles
// come.
func TestRepairBesideRunningStagesBringsBackWhatTheTablesLost(t *testing.T) {
	brokers := kafkatest.Apache(t)
	c := devnet(t, short)
	want := c.undisturbed(t)
	dsn := enginetest.ClickHouse(t).DSN()
	s := startSeparate(t, brokers, dsn, c.upTo(c.last/2), "TONSCRIBE_STORAGE_LOOK=100ms", c.zerostates())
	s.awaitVisible()
	detach(t, dsn, "transactions", "accounts", "blocks")
	harness.Await(t, time.Minute, func() bool {
		_, body, err := harness.Get("http://" + s.listen["query"] + "/readyz")
		return err == nil && strings.Contains(string(body), "table accounts, ") && strings.Contains(string(body), "tonscribe repair --clickhouse")
	}, s.running["query"].Output)
	repair := func(flags ...string) (string, error) {
		command := exec.Command(harness.Binary(t), append([]string{"repair"}, flags...)...)
		command.Env = append(os.Environ(), s.common...)
		out, err := command.CombinedOutput()
		return string(out), err
	}
	if out, err := repair("--dry-run"); err == nil || !strings.Contains(out, "from the log: bundles 1 to ") {
		t.Errorf("repair --dry-run: %v\n%s", err, out)
	}
	s.chain.last = c.last
	s.kill("ingest") // its next life has the second half to do
	if out, err := repair(); err != nil || !strings.Contains(out, "of accounts, blocks, transactions\n") || !strings.Contains(out, "from the log: bundles 1 to ") {
		t.Errorf("repair: %v\n%s", err, out)
	}
	s.awaitVisible()
	got := harness.Fingerprint(t, dsn)
	for _, name := range []string{"seals", "progress"} { // the log of the undisturbed run has another number of partitions
		delete(got, name)
		delete(want, name)
	}
	for _, difference := range harness.Differences(got, want) {
		t.Error(difference)
	}
	if out, err := repair(); err != nil || !strings.HasSuffix(out, " MiB were read\nnothing is damaged\n") {
		t.Errorf("a second repair: %v\n%s", err, out)
	}
}

// detach takes all parts of tables away.
func detach(t *testing.T, dsn string, tables ...string) {
	t.Helper()
	options, err := clickhouse.ParseDSN(dsn)
	if err != nil {
		t.Fatal(err)
	}
	connection, err := clickhouse.Open(options)
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	for _, table := range tables {
		for deadline := time.Now().Add(time.Minute); parts(t, connection, table) > 0; {
			if time.Now().After(deadline) {
				t.Fatalf("table %s keeps parts", table)
			}
		}
	}
}

// parts detaches the parts of a table and says how many there were. One that was
// merged meanwhile is not there any more.
func parts(t *testing.T, connection driver.Conn, table string) int {
	t.Helper()
	var names []string
	err := connection.QueryRow(t.Context(), "SELECT groupArray(name) FROM system.parts WHERE active AND database = currentDatabase() AND table = ?", table).Scan(&names)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		_ = connection.Exec(context.Background(), fmt.Sprintf("ALTER TABLE %s DETACH PART '%s'", table, name))
	}
	return len(names)
}
