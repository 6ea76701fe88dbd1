package verify

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestPartsOfTheChainAreClean(t *testing.T) {
	l := load(t, genesis(t), 60, 1)
	for _, c := range []struct{ from, to uint32 }{{1, 1}, {30, 50}, {36, 37}, {60, 0}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			r, err := l.verify(func(o *Options) { o.From, o.To, o.Source = c.from, c.to, FromIngest(l.source) })
			if err != nil {
				t.Fatal(err)
			}
			if to := max(c.to, c.from); r.Bundles != uint64(to-c.from)+1 {
				t.Errorf("%d bundles", r.Bundles)
			}
		})
	}
}

func TestRangeBeyondTheWatermarkIsDifferent(t *testing.T) {
	l := load(t, genesis(t), 10, 1)
	var out strings.Builder
	r, err := l.verify(func(o *Options) { o.To, o.Out = 12, &out })
	if !errors.Is(err, ErrDifferent) || first(r, CheckProgress) == nil || first(r, CheckSeals) == nil {
		t.Errorf("got %v", err)
	}
	if want := "the tables end at masterchain block 10: waiting for 12"; !strings.HasPrefix(out.String(), want) {
		t.Errorf("printed: %q, want %q at its beginning", out.String(), want)
	}
}

func TestEmptyTablesAreAnErrorOfTheirOwn(t *testing.T) {
	if _, err := emptyTables(t).verify(nil); err == nil || errors.Is(err, ErrDifferent) {
		t.Errorf("got %v", err)
	}
}

func TestAnUnknownCheckIsAnErrorThatNamesThoseThereAre(t *testing.T) {
	_, err := Run(t.Context(), Options{Without: []string{"foo"}})
	if err == nil || !strings.Contains(err.Error(), `no check "foo": want some of progress, seals`) {
		t.Errorf("got %v", err)
	}
}

func TestRowsInsertedTwiceAreCountedAndNoDifference(t *testing.T) {
	l := load(t, genesis(t), 20, 1)
	names := append(indexNames(), "blocks", "transactions", "seals")
	for _, name := range names {
		l.exec("SYSTEM STOP MERGES " + name)
		l.exec(fmt.Sprintf("INSERT INTO %s SELECT * FROM %s WHERE mc_seqno = 7 SETTINGS insert_deduplicate = 0", name, name))
	}
	r, err := l.verify(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		var rows uint64
		query := fmt.Sprintf("SELECT count() / 2 FROM %s WHERE mc_seqno = 7", name)
		if err := l.client.Conn().QueryRow(t.Context(), "SELECT toUInt64(("+query+"))").Scan(&rows); err != nil {
			t.Fatal(err)
		}
		if r.Duplicates[name] != rows {
			t.Errorf("%s: %d duplicates instead of %d", name, r.Duplicates[name], rows)
		}
	}
}

func TestTwoRowsWithOneKeyAreDifferent(t *testing.T) {
	l := load(t, genesis(t), 20, 1)
	for name, change := range map[string][2]string{
		"blocks":              {"tx_count", "tx_count + 1"},
		"transactions":        {"total_fees", "total_fees + 1"},
		"transactions_index":  {"mc_seqno", "if(mc_seqno > 9, mc_seqno - 1, mc_seqno + 1)"},
		"messages_by_account": {"opcode", "opcode + 1"},
		"seals":               {"rows", "rows + 1"},
	} {
		t.Run(name, func(t *testing.T) {
			l.exec("SYSTEM STOP MERGES " + name)
			insertChanged(l, name, victim(l, name, ""), change[0], change[1])
			r, err := l.verify(nil)
			if !errors.Is(err, ErrDifferent) {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(r.check(CheckColumns).Differences, func(d Difference) bool { return d.Table == name }) {
				t.Error("the table is not named")
			}
		})
	}
}

func TestRecordedGapIsListedAndNoDifference(t *testing.T) {
	dir := genesisWithout(t, "block_-1_8000000000000000_40.boc")
	l := load(t, "files:"+dir, 60, 2)
	r, err := l.verify(func(o *Options) { o.Source = FromIngest(l.source) })
	if err != nil {
		t.Fatal(err)
	}
	if want := []Gap{{40, 41}}; !slices.Equal(r.Gaps, want) {
		t.Errorf("gaps %v instead of %v", r.Gaps, want)
	}
}

func TestSourceThatLacksABundleIsDifferent(t *testing.T) {
	l := load(t, genesis(t), 60, 1)
	l.source.Source = "files:" + genesisWithout(t, "block_-1_8000000000000000_40.boc")
	r, err := l.verify(func(o *Options) { o.Source = FromIngest(l.source) })
	if !errors.Is(err, ErrDifferent) || !strings.Contains(first(r, CheckSource).Key, "mc_seqno = 40") {
		t.Errorf("got %v, %v", err, first(r, CheckSource))
	}
}

// genesisWithout is a folder of links to all files but one.
func genesisWithout(t *testing.T, name string) string {
	t.Helper()
	dir := t.TempDir()
	from := strings.TrimPrefix(genesis(t), "files:")
	left := 0
	err := filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		if entry.Name() == name {
			left++
			return nil
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, entry.Name()), raw, 0o600)
	})
	if err != nil || left != 1 {
		t.Fatalf("left out %d files: %v", left, err)
	}
	return dir
}

// first is the first difference of a check, nil without one.
func first(r *Report, check string) *Difference {
	for _, c := range r.Checks {
		if c.Name == check && len(c.Differences) > 0 {
			return &c.Differences[0]
		}
	}
	return nil
}
