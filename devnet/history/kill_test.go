package history

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"tonscribe/test/support/historytest"
)

const killedDir = "TONSCRIBE_HISTORY_KILLED_DIR"

func TestWhatAppendReturnedForSurvivesKills(t *testing.T) {
	c := historytest.Load(t)
	if dir := os.Getenv(killedDir); dir != "" {
		appendAndTell(t, dir, c)
		return
	}
	dir := t.TempDir()
	for kill := 0; ; kill++ {
		told := runUntilKilled(t, dir, 1+kill*5%7)
		s, err := Open(dir, Options{SnapshotEvery: 3, Recent: 2})
		if err != nil {
			t.Fatalf("after kill %d: %v", kill, err)
		}
		last := s.Last()
		if last < told || last > told+1 {
			t.Errorf("after kill %d: got bundle %d, want %d or the one after it", kill, last, told)
		}
		if last > 0 {
			head, ok, err := s.Head()
			if err != nil || !ok {
				t.Fatalf("after kill %d: head: %v %v", kill, ok, err)
			}
			sameHead(t, head, c.Bundles[last-1])
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if last == uint32(len(c.Bundles)) {
			return
		}
	}
}

// appendAndTell appends what is missing and prints the seqno of each.
func appendAndTell(t *testing.T, dir string, c historytest.Chain) {
	s, err := Open(dir, Options{SnapshotEvery: 3, Recent: 2})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.SetZerostates(c.Zerostates...); err != nil {
		t.Fatal(err)
	}
	for _, b := range c.Bundles[s.Last():] {
		if err := s.Append(b); err != nil {
			t.Fatal(err)
		}
		fmt.Printf("stored %d\n", b.Master.ID.SeqNo)
	}
	fmt.Println("stored all")
}

// runUntilKilled kills a child after it told so many bundles, and returns the
// last one it told.
func runUntilKilled(t *testing.T, dir string, bundles int) uint32 {
	t.Helper()
	child := exec.Command(os.Args[0], "-test.run=^TestWhatAppendReturnedForSurvivesKills$", "-test.v")
	child.Env = append(os.Environ(), killedDir+"="+dir)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	var told uint32
	for lines := bufio.NewScanner(out); lines.Scan(); {
		text, found := strings.CutPrefix(lines.Text(), "stored ")
		if !found {
			continue
		}
		if text == "all" {
			break
		}
		seqno, err := strconv.ParseUint(text, 10, 32)
		if err != nil {
			t.Fatal(err)
		}
		told = uint32(seqno)
		if bundles--; bundles == 0 {
			child.Process.Kill()
		}
	}
	child.Process.Kill()
	child.Wait()
	return told
}
