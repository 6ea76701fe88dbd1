// Package up proves the main job as a user runs it: `tonscribe up` on real
// blocks until they are visible in the API, and `tonscribe verify` after it.
package up

import (
	"encoding/base64"
	"encoding/csv"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tonscribe/test/support/harness"
	"tonscribe/test/support/realdata"
)

// run runs a command to its end.
func run(t *testing.T, arguments ...string) (output string, err error) {
	t.Helper()
	out, err := exec.Command(harness.Binary(t), arguments...).CombinedOutput()
	return string(out), err
}

func hexOf(t *testing.T, encoded any) string {
	t.Helper()
	raw, err := base64.StdEncoding.DecodeString(fmt.Sprint(encoded))
	if err != nil {
		t.Fatalf("%v is no base64: %v", encoded, err)
	}
	return hex.EncodeToString(raw)
}

// listedBlocks are the rows of blocks.tsv of a set, by root hash.
func listedBlocks(t *testing.T, set string) map[string]map[string]string {
	t.Helper()
	file, err := os.Open(realdata.Path(t, "blocks.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	reader := csv.NewReader(file)
	reader.Comma = '\t'
	rows, err := reader.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	blocks := map[string]map[string]string{}
	for _, row := range rows[1:] {
		named := map[string]string{}
		for i, name := range rows[0] {
			named[name] = row[i]
		}
		if named["set"] == set {
			blocks[named["root_hash"]] = named
		}
	}
	return blocks
}

func TestBlocksOfMainnetsBeginningBecomeVisibleAndVerified(t *testing.T) {
	source := "files:" + realdata.Path(t, "blocks", "mainnet_genesis_mc1-199")
	data, listen := t.TempDir(), harness.FreeAddress(t)
	base := "http://" + listen
	p := harness.Start(t, nil, "up", "--data", data, "--listen", listen, "--source", source, "--from", "1", "--to", "60", "--serve")
	p.AwaitReady(base, time.Minute)

	listed := listedBlocks(t, "mainnet_genesis_mc1-199")
	blocks := harness.Pages(t, base+"/api/v3/blocks?sort=asc&limit=50", "blocks")
	transactions, masterchain := 0, 0
	for _, b := range blocks {
		row := listed[hexOf(t, b["root_hash"])]
		if row == nil {
			t.Fatalf("block %v is not in blocks.tsv", b["root_hash"])
		}
		if hexOf(t, b["file_hash"]) != row["file_sha256"] || fmt.Sprint(b["tx_count"]) != row["txs"] || fmt.Sprint(b["gen_utime"]) != row["gen_utime"] {
			t.Errorf("block %v differs from blocks.tsv: %v", b, row)
		}
		transactions += int(b["tx_count"].(float64))
		if b["workchain"].(float64) == -1 {
			masterchain++
		}
	}
	// 142 files, of which four are shard blocks that no masterchain block here commits.
	if len(blocks) != 138 || masterchain != 60 {
		t.Errorf("%d blocks, %d of the masterchain, want 138 and 60", len(blocks), masterchain)
	}
	if n := len(harness.Pages(t, base+"/api/v3/transactions?sort=asc&limit=100", "transactions")); n != transactions || n != 658 {
		t.Errorf("%d transactions, want %d as the blocks count, and 658", n, transactions)
	}
	if out, err := run(t, "verify", "--data", data, "--source", source, "--from", "1", "--to", "60"); err != nil {
		t.Errorf("verify: %v\n%s", err, out)
	}
	p.Stop()
	if _, err := os.Stat(filepath.Join(data, "run.json")); err == nil {
		t.Error("run.json stays after the stop")
	}
}

func TestUpWithToEndsByItselfAndVerifyFindsTheTablesOfAStoppedOne(t *testing.T) {
	source := "archive:" + realdata.Path(t, "packs", "mylocalton_mc1-264")
	data := t.TempDir()
	up := []string{"up", "--data", data, "--listen", harness.FreeAddress(t), "--source", source, "--from", "1", "--to", "190"}
	for _, what := range []string{"first run", "second run, with nothing left to do"} {
		if out, err := run(t, up...); err != nil {
			t.Fatalf("%s: %v\n%s", what, err, out)
		}
	}
	if out, err := run(t, "verify", "--data", data, "--source", source, "--from", "1", "--to", "190"); err != nil {
		t.Errorf("verify: %v\n%s", err, out)
	}
}

func TestASecondUpInTheSameFolderIsRefusedInPlainWords(t *testing.T) {
	source := "files:" + realdata.Path(t, "blocks", "mainnet_genesis_mc1-199")
	data, listen := t.TempDir(), harness.FreeAddress(t)
	p := harness.Start(t, nil, "up", "--data", data, "--listen", listen, "--source", source, "--from", "1", "--to", "3", "--serve")
	p.AwaitReady("http://"+listen, time.Minute)
	if info, err := os.Stat(filepath.Join(data, "run.json")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("run.json: %v %v, want mode 0600", info, err)
	}
	out, err := run(t, "up", "--data", data, "--listen", harness.FreeAddress(t), "--source", source)
	if err == nil || !strings.Contains(out, "in use by another tonscribe process: stop it, or name another folder with --data") {
		t.Errorf("the second one: %v, %s", err, out)
	}
	p.Stop()
}

func TestASecondDevnetInTheSameFolderIsRefusedInPlainWords(t *testing.T) {
	data := t.TempDir()
	p := harness.Start(t, nil, "devnet", "--data", data)
	harness.Await(t, time.Minute, func() bool { return strings.Contains(p.Output(), "The devnet runs") }, p.Output)
	out, err := run(t, "devnet", "--data", data)
	if err == nil || !strings.Contains(out, "in use by another process: stop the devnet that runs there, or name another folder with --data") {
		t.Errorf("the second one: %v, %s", err, out)
	}
	p.Stop()
}

func TestErrorsOfTheCommandLineSayWhatToDo(t *testing.T) {
	data := t.TempDir()
	typo, file := filepath.Join(data, "typo"), filepath.Join(data, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	defer func() {
		if _, err := os.Stat(typo); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("a command that was refused made %s: %v", typo, err)
		}
	}()
	for name, c := range map[string]struct {
		arguments []string
		want      string
	}{
		"no source":             {[]string{"ingest", "--kafka", "127.0.0.1:1"}, "--source"},
		"no such folder":        {[]string{"up", "--data", data, "--source", "files:/nonexistent"}, "no such folder"},
		"unknown source":        {[]string{"up", "--data", data, "--source", "ftp:x"}, "unknown kind"},
		"stage alone":           {[]string{"decode"}, "--kafka"},
		"range upside down":     {[]string{"up", "--data", data, "--source", "files:.", "--from", "5", "--to", "3"}, "after --to"},
		"bad network":           {[]string{"config", "--network", "moon"}, "mainnet, testnet or devnet"},
		"drop unasked":          {[]string{"migrate", "down", "--data", data}, "--yes"},
		"a folder that is none": {[]string{"verify", "--data", typo}, typo + " is no data folder of tonscribe: --data DIR"},
		"keys of none":          {[]string{"keys", "list", "--data", typo}, "is no data folder"},
		"port in use":           {[]string{"up", "--data", typo, "--listen", taken.Addr().String()}, "cannot listen at"},
		"devnet upside down":    {[]string{"up", "--data", typo, "--from", "5", "--to", "3"}, "after --to"},
		"a hash that is none":   {[]string{"up", "--data", typo, "--source", "files:.", "--to", "3:abc"}, "64 hexadecimal digits"},
		"lite servers unread":   {[]string{"up", "--data", typo, "--source", "liteserver:" + typo}, typo},
		"a file as folder":      {[]string{"up", "--data", file}, "another one with --data"},
		"a devnet in a file":    {[]string{"devnet", "--data", file}, "another one with --data"},
		"no keys to ask for":    {[]string{"bench", "query", "--data", typo}, "'tonscribe bench fill' writes it"},
		"no block":              {[]string{"inspect", "block", "/dev/null"}, "/dev/null"},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := run(t, c.arguments...)
			if err == nil || !strings.Contains(out, c.want) || strings.Contains(out, "goroutine") {
				t.Errorf("exit %v, printed %q, want a failure with %q", err, out, c.want)
			}
		})
	}
}
