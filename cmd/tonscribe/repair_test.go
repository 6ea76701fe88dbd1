package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tonscribe/cmd/tonscribe/repair"
	"tonscribe/test/support/clienttest"
	"tonscribe/test/support/enginetest"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// A DSN with a name that is mistaken for another one must not be said to be whole, and a
// dry run does nothing.
func TestARepairOfADatabaseWithoutTablesIsRefusedAndMakesNone(t *testing.T) {
	dsn := enginetest.ClickHouse(t).DSN()
	client := clienttest.ClickHouse(t, dsn)
	count := func(query string) (n uint64) {
		if err := client.Conn().QueryRow(t.Context(), query).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	databases := count("SELECT count() FROM system.databases")
	for name, dsn := range map[string]string{"empty": dsn, "missing": strings.Replace(dsn, "_test", "_mistaken", 1)} {
		for _, flags := range []string{" --dry-run", ""} {
			err := asked("repair --skip-checksums --data " + t.TempDir() + " --clickhouse " + dsn + flags)
			if err == nil || !strings.Contains(err.Error(), "no tables") {
				t.Errorf("%s database, repair%s: %v, want an error that there are no tables", name, flags, err)
			}
		}
	}
	if tables := count("SELECT count() FROM system.tables WHERE database = currentDatabase()"); tables > 0 {
		t.Errorf("%d tables were made, want none", tables)
	}
	if now := count("SELECT count() FROM system.databases"); now != databases {
		t.Errorf("there are %d databases, there were %d", now, databases)
	}
}

// Each would take the other one's log away.
func TestTwoRepairsFromTheSourceDoNotShareAFolder(t *testing.T) {
	s := &settings{Configuration: defaultConfiguration()}
	s.Data, s.Ingest.Source = t.TempDir(), "files:"+t.TempDir()
	left := filepath.Join(s.Data, repairFolder, "left")
	if err := os.MkdirAll(left, 0o700); err != nil {
		t.Fatal(err)
	}
	p, err := newProcess(s)
	if err != nil {
		t.Fatal(err)
	}
	first, err := p.openRepairSource(t.Context(), repair.Range{From: 1, To: 2})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Errorf("what a killed repair left is there: %v", err)
	}
	second, err := p.openRepairSource(t.Context(), repair.Range{From: 1, To: 2})
	if err == nil {
		t.Error("a second repair in the same folder: no error, want that another one works there")
		if err := second.Stop(); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(filepath.Join(s.Data, repairFolder, logFolder)); err != nil {
		t.Errorf("the log of the first one: %v", err)
	}
	if err := first.Stop(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(s.Data, repairFolder)); !os.IsNotExist(err) {
		t.Errorf("the folder is there at the end: %v", err)
	}
}

// Its lock would keep nobody off: the next one makes the folder anew.
func TestAFolderOfARepairThatHasBeenTakenAwayIsNotHeld(t *testing.T) {
	folder := filepath.Join(t.TempDir(), repairFolder)
	leave, err := claimFolder(folder)
	if err != nil {
		t.Fatal(err)
	}
	gone, err := os.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer gone.Close()
	if err := leave(); err != nil {
		t.Fatal(err)
	}
	if held, err := lockFolder(gone); held || err != nil {
		t.Errorf("nothing is there now: held is %v, %v, want false", held, err)
	}
	if leave, err = claimFolder(folder); err != nil {
		t.Fatal(err)
	}
	if held, err := lockFolder(gone); held || err != nil {
		t.Errorf("the next one's folder is there now: held is %v, %v, want false", held, err)
	}
	if err := leave(); err != nil {
		t.Error(err)
	}
}
