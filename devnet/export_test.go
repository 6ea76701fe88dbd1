package devnet

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tonscribe/devnet/packages"
)

func TestExportWritesEveryBlockThatWasMade(t *testing.T) {
	dir, out := t.TempDir(), filepath.Join(t.TempDir(), "out")
	d := still(t, dir, fixedConfiguration())
	for range testBlocks {
		must(t, d.step(time.Now()))
	}
	want := chainOf(t, d)
	export := Exportation{Dir: dir, Out: out, Format: packages.FormatFiles}
	if _, err := Export(t.Context(), export); err == nil {
		t.Error("a devnet is exported while it runs")
	}
	must(t, d.close(t.Context()))
	done, err := Export(t.Context(), export)
	must(t, err)
	got := map[string][]byte{}
	files, err := filepath.Glob(filepath.Join(out, "blocks", "*", "*.boc"))
	must(t, err)
	for _, file := range files {
		if got[strings.TrimSuffix(filepath.Base(file), ".boc")], err = os.ReadFile(file); err != nil {
			t.Fatal(err)
		}
	}
	compareChains(t, "exported", got, want)
	if done.Seqno != testBlocks || int(done.Blocks) != len(want) || done.Transactions == 0 {
		t.Errorf("told %+v, want %d masterchain blocks, %d of all", done, testBlocks, len(want))
	}
	states, err := filepath.Glob(filepath.Join(out, "states", "zerostate_*.boc"))
	if err != nil || len(states) != 2 {
		t.Errorf("states %v %v, want two", states, err)
	}
}

func TestExportOfNoDevnetMakesNone(t *testing.T) {
	dir := t.TempDir()
	_, err := Export(t.Context(), Exportation{Dir: dir, Out: filepath.Join(t.TempDir(), "out"), Format: packages.FormatFiles})
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("no devnet was ever made in %s", dir)) {
		t.Errorf("error %v", err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("the folder holds %v now, %v", entries, err)
	}
}
