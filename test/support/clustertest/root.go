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

	"tonscribe/internal/engine"
	"tonscribe/test/support/enginetest"
	"tonscribe/test/support/harness"
)

// Name is the cluster of Shards.
const Name = "two"

// Engine starts an engine of the test's own at any port.
func Engine(t testing.TB) *engine.ClickHouse {
	t.Helper()
	return start(t, t.TempDir(), 0)
}

// start starts one in a folder at a port, 0 for any, that may connect to peers.
func start(t testing.TB, dir string, port int, peers ...int) *engine.ClickHouse {
	t.Helper()
	e, err := engine.StartClickHouse(t.Context(), engine.ClickHouseOptions{Dir: dir, Port: port, Peers: peers, MaxMemory: 1 << 30, Volatile: true, Report: enginetest.Report(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return e
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

// Both engines of Shards have these passwords.
const (
	secrets = `{"app":"of-the-sink","api":"of-the-api","reader":"of-readers"}`
	member  = "<shard><replica><host>127.0.0.1</host><port>%d</port><user>tonscribe</user><password>of-the-sink</password></replica></shard>"
)

// Shards are two engines that know each other as the shards of the cluster Name, and the
// DSN of both. They have no tables yet.
func Shards(t testing.TB) (engines [2]*engine.ClickHouse, dsn string) {
	t.Helper()
	ports := []int{harness.FreePort(t), harness.FreePort(t)}
	var shards string
	for _, port := range ports {
		shards += fmt.Sprintf(member, port)
	}
	cluster := "<clickhouse><remote_servers><" + Name + ">" + shards + "</" + Name + "></remote_servers></clickhouse>"
	for i, port := range ports {
		dir := t.TempDir()
		more := filepath.Join(dir, "config", "config.d")
		if err := os.MkdirAll(more, 0o700); err != nil {
			t.Fatal(err)
		}
		for path, text := range map[string]string{filepath.Join(dir, "secrets.json"): secrets, filepath.Join(more, "cluster.xml"): cluster} {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		engines[i] = start(t, dir, port, ports...)
	}
	return engines, strings.Replace(engines[0].DSN(), engines[0].Address(), engines[0].Address()+","+engines[1].Address(), 1)
}
