package sink

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	driver "github.com/ClickHouse/clickhouse-go/v2"

	"tonscribe/internal/clickhouse"
	"tonscribe/internal/engine"
	"tonscribe/schema/migrations"
	"tonscribe/test/support/enginetest"
	"tonscribe/test/support/harness"
)

// startEngine is an engine of the test's own at a port, 0 for any, that may
// connect to peers, with the passwords of the folder like when there is one.
func startEngine(t *testing.T, like string, port int, peers ...int) (*engine.ClickHouse, string) {
	t.Helper()
	dir := t.TempDir()
	if like != "" {
		secrets, err := os.ReadFile(filepath.Join(like, "secrets.json"))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, "secrets.json"), secrets, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	e, err := engine.StartClickHouse(t.Context(), engine.ClickHouseOptions{Dir: dir, Port: port, Peers: peers, MaxMemory: 1 << 30, Report: enginetest.Report(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return e, dir
}

// kill is kill -9; the engine's supervisor starts it again at the same port.
func kill(t *testing.T, e *engine.ClickHouse) {
	t.Helper()
	pid := e.Pid()
	if pid == 0 {
		return // it is just starting
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for e.Pid() == pid {
		time.Sleep(time.Millisecond)
	}
}

// startShards is two engines that know each other as the shards of cluster two,
// and the DSN of both.
func startShards(t *testing.T) (engines [2]*engine.ClickHouse, dsn string) {
	t.Helper()
	var dirs [2]string
	ports := []int{harness.FreePort(t), harness.FreePort(t)}
	engines[0], dirs[0] = startEngine(t, "", ports[0], ports...)
	engines[1], dirs[1] = startEngine(t, dirs[0], ports[1], ports...)
	options, err := driver.ParseDSN(engines[0].DSN())
	if err != nil {
		t.Fatal(err)
	}
	var shards string
	for _, e := range engines {
		host, port, _ := strings.Cut(e.Address(), ":")
		shards += fmt.Sprintf("<shard><replica><host>%s</host><port>%s</port><user>%s</user><password>%s</password></replica></shard>",
			host, port, options.Auth.Username, options.Auth.Password)
	}
	for i, e := range engines {
		more := filepath.Join(dirs[i], "config", "config.d")
		if err := os.MkdirAll(more, 0o700); err != nil {
			t.Fatal(err)
		}
		file := []byte("<clickhouse><remote_servers><two>" + shards + "</two></remote_servers></clickhouse>")
		if err := os.WriteFile(filepath.Join(more, "cluster.xml"), file, 0o600); err != nil {
			t.Fatal(err)
		}
		kill(t, e)
		if err := newClient(t, e.DSN()).Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	return engines, strings.Replace(engines[0].DSN(), engines[0].Address(), engines[0].Address()+","+engines[1].Address(), 1)
}

func TestTwoShardsHoldTogetherWhatOneNodeHolds(t *testing.T) {
	engines, dsn := startShards(t)
	for range 2 {
		if err := migrations.Up(t.Context(), dsn, migrations.Options{Cluster: "two"}); err != nil {
			t.Fatal(err)
		}
	}
	tables := newClient(t, dsn)
	s := newStream(t, 2)
	_, stop := s.start(tables, nil)
	s.publish(bundles(100, 6)...)
	s.await()
	stop()
	got := contents(t, tables)
	for name := range got {
		if strings.HasSuffix(name, "_local") {
			delete(got, name)
		}
	}
	same(t, got, undisturbed(t, s))
	if w, err := clickhouse.ReadWatermark(t.Context(), tables.Conn()); err != nil || w.MCSeqno != s.last.Seqno {
		t.Errorf("watermark %v, %v", w, err)
	}
	for _, e := range engines {
		shard := newClient(t, e.DSN()).Conn()
		var transactions, strays uint64
		err := shard.QueryRow(t.Context(), `SELECT count(), (SELECT count() FROM messages_index_local
			WHERE (workchain, account_prefix, lt) NOT IN (SELECT workchain, account_prefix, lt FROM transactions_local))
			FROM transactions_local`).Scan(&transactions, &strays)
		if err != nil || transactions == 0 || strays != 0 {
			t.Errorf("%d transactions, %d ends of messages without theirs, %v", transactions, strays, err)
		}
	}
	// One request, answered by both shards, each from its own tables.
	var found uint64
	err := tables.Conn().QueryRow(t.Context(), `SELECT count() FROM transactions WHERE (workchain, account_prefix, lt) IN
		(SELECT workchain, account_prefix, lt FROM transactions_index WHERE path = 'mc_seqno' AND key = ?) SETTINGS distributed_product_mode = 'local'`,
		s.last.Seqno).Scan(&found)
	if err != nil || found != uint64(len(s.last.Transactions)) {
		t.Errorf("%d transactions of the last bundle instead of %d, %v", found, len(s.last.Transactions), err)
	}
}

func TestKilledClickHouseLosesAndChangesNothing(t *testing.T) {
	kills := rounds(3, 6)
	e, _ := startEngine(t, "", 0)
	if err := migrations.Up(t.Context(), e.DSN(), migrations.Options{}); err != nil {
		t.Fatal(err)
	}
	tables := newClient(t, e.DSN())
	s := newStream(t, 1)
	_, stop := s.start(tables, func(c *Configuration) { c.MaxRows, c.Rest = 300, 0 })
	rest := bundles(60*kills, 7)
	for i := range kills {
		s.publish(rest[:60]...)
		rest = rest[60:]
		time.Sleep(time.Duration(150*i/(kills-1)) * time.Millisecond) // some way into the inserts
		kill(t, e)
	}
	s.await()
	stop()
	same(t, distinctContents(t, tables), undisturbed(t, s))
}
