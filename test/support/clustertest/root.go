// Package clustertest gives tests engines of their own: to kill, or to be the shards of
// a cluster. It must never be imported by anything but tests.
package clustertest

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

	"tonscribe/internal/engine"
	"tonscribe/test/support/clienttest"
	"tonscribe/test/support/enginetest"
	"tonscribe/test/support/harness"
)

// Name is the cluster of Shards.
const Name = "two"

// Engine starts an engine of the test's own at any port.
func Engine(t testing.TB) *engine.ClickHouse {
	t.Helper()
	e, _ := start(t, "", 0)
	return e
}

// start starts one at a port, 0 for any, that may connect to peers, with the passwords
// of the folder like when there is one.
func start(t testing.TB, like string, port int, peers ...int) (*engine.ClickHouse, string) {
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

// Kill is kill -9; the engine's supervisor starts it again at the same port.
func Kill(t testing.TB, e *engine.ClickHouse) {
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

// Shards are two engines that know each other as the shards of the cluster Name, and the
// DSN of both. They have no tables yet.
func Shards(t testing.TB) (engines [2]*engine.ClickHouse, dsn string) {
	t.Helper()
	var dirs [2]string
	ports := []int{harness.FreePort(t), harness.FreePort(t)}
	engines[0], dirs[0] = start(t, "", ports[0], ports...)
	engines[1], dirs[1] = start(t, dirs[0], ports[1], ports...)
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
		file := []byte("<clickhouse><remote_servers><" + Name + ">" + shards + "</" + Name + "></remote_servers></clickhouse>")
		if err := os.WriteFile(filepath.Join(more, "cluster.xml"), file, 0o600); err != nil {
			t.Fatal(err)
		}
		Kill(t, e)
		await(t, e)
	}
	return engines, strings.Replace(engines[0].DSN(), engines[0].Address(), engines[0].Address()+","+engines[1].Address(), 1)
}

// await returns when the engine answers.
func await(t testing.TB, e *engine.ClickHouse) {
	t.Helper()
	c := clienttest.ClickHouse(t, e.DSN())
	if err := c.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
}
