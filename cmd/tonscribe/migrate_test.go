package main

import (
	"context"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	driver "github.com/ClickHouse/clickhouse-go/v2"

	"tonscribe/schema/migrations"
	"tonscribe/test/support/enginetest"
)

func TestAStageEndsOnTablesThatAreNotThoseOfItsVersion(t *testing.T) {
	for name, c := range map[string]struct {
		version int64 // of the tables; 0 makes none
		want    string
	}{
		"none":  {0, "'tonscribe migrate up' make"},
		"older": {1, "'tonscribe migrate up' brings them up to date"},
		"newer": {9999, migrations.ErrNewerTables.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			dsn := enginetest.ClickHouse(t).DSN()
			if c.version > 0 {
				if err := asked("migrate up --clickhouse " + dsn); err != nil {
					t.Fatal(err)
				}
				writeVersion(t, dsn, c.version)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			root := rootCommand()
			root.SetArgs([]string{"metadata", "--listen", "127.0.0.1:0", "--data", t.TempDir(), "--clickhouse", dsn})
			if err := execute(ctx, root); ctx.Err() != nil || err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the stage ended with %v (%v), want %q", err, ctx.Err(), c.want)
			}
			if c.version < 9999 {
				return
			}
			var out strings.Builder
			root = rootCommand()
			root.SetArgs([]string{"migrate", "status", "--clickhouse", dsn})
			root.SetOut(&out)
			if err := execute(ctx, root); err != nil || !strings.Contains(out.String(), "newer than this version") {
				t.Errorf("status: %q, %v", out.String(), err)
			}
		})
	}
}

func writeVersion(t *testing.T, dsn string, version int64) {
	t.Helper()
	write(t, dsn, fmt.Sprintf("INSERT INTO schema_migrations VALUES (%d, 0, %d)", version, time.Now().UnixNano()))
}

// write runs a statement on tables.
func write(t *testing.T, dsn, statement string, values ...any) {
	t.Helper()
	options, err := driver.ParseDSN(dsn)
	if err != nil {
		t.Fatal(err)
	}
	db := driver.OpenDB(options)
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), statement, values...); err != nil {
		t.Fatal(err)
	}
}

// The section clickhouse.tls holds for the tables' migrations as for all else.
func TestTablesAreMadeOverTLS(t *testing.T) {
	options, err := driver.ParseDSN(enginetest.ClickHouse(t).DSN())
	if err != nil {
		t.Fatal(err)
	}
	address, certificate := secured(t, options.Addr[0])
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, certificate, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TONSCRIBE_CLICKHOUSE_DSN", fmt.Sprintf("clickhouse://%s:%s@%s/%s", options.Auth.Username, options.Auth.Password, address, options.Auth.Database))
	t.Setenv("TONSCRIBE_CLICKHOUSE_TLS_ENABLE", "true")
	t.Setenv("TONSCRIBE_CLICKHOUSE_TLS_CA_FILE", file)
	for _, line := range []string{"migrate up", "migrate status", "keys list"} {
		if err := asked(line); err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
	t.Setenv("TONSCRIBE_CLICKHOUSE_TLS_CA_FILE", file+".none")
	if err := asked("migrate up"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without the certificate's file: %v", err)
	}
}

// secured is an address with TLS in front of another one, and its certificate.
func secured(t *testing.T, to string) (address string, certificate []byte) {
	t.Helper()
	server := httptest.NewTLSServer(nil)
	t.Cleanup(server.Close)
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: server.TLS.Certificates, MinVersion: tls.VersionTLS12})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer near.Close()
				far, err := net.Dial("tcp", to)
				if err != nil {
					return
				}
				defer far.Close()
				go io.Copy(far, near)
				io.Copy(near, far)
			}()
		}
	}()
	return listener.Addr().String(), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
}

func TestTablesOfARunningUpAreNotDropped(t *testing.T) {
	dsn, data := enginetest.Tables(t).DSN(), t.TempDir()
	if err := os.Mkdir(filepath.Join(data, clickHouseFolder), 0o700); err != nil {
		t.Fatal(err)
	}
	run, err := writeRunFile(data, runFile{PID: 7, ClickHouse: dsn})
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	if err := asked("migrate down --yes --data " + data); err == nil || !strings.Contains(err.Error(), "pid 7") || !strings.Contains(err.Error(), "stop it first") {
		t.Errorf("got %v", err)
	}
	states, err := migrations.Status(t.Context(), dsn, migrations.Options{})
	if err != nil || states[0].Version != states[0].Latest {
		t.Errorf("the tables are %+v: %v", states, err)
	}
}

// Of stages on an external ClickHouse nothing but their rows tells.
func TestTablesThatAreWorkedOnAreNotDropped(t *testing.T) {
	dsn := enginetest.Tables(t).DSN()
	is := func(live bool, after int) {
		t.Helper()
		write(t, dsn, "INSERT INTO metadata_workers SELECT 'here/7/ab', 1, toUnixTimestamp64Milli(now64(3)) + ?, ?, 0", after, live)
	}
	is(true, 0)
	line := "migrate down --yes --clickhouse " + dsn
	if err := asked(line); err == nil || !strings.Contains(err.Error(), "here/7/ab") || !strings.Contains(err.Error(), "stop all stages first") {
		t.Fatalf("got %v", err)
	}
	is(false, 1)
	for _, tables := range []string{"whose worker has left", "that are dropped"} {
		if err := asked(line); err != nil {
			t.Errorf("tables %s: %v", tables, err)
		}
	}
}
