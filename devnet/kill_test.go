package devnet

import (
	"bufio"
	"context"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"tonscribe/internal/report"
)

// victimDir makes this test binary a devnet in that folder, which tells every
// block that it has stored.
const victimDir = "DEVNET_TEST_VICTIM"

func TestMain(m *testing.M) {
	if dir := os.Getenv(victimDir); dir != "" {
		if err := victim(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if dir := os.Getenv(senderDir); dir != "" {
		if err := sender(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func liveConfiguration(dir string) Configuration {
	c := DefaultConfiguration()
	c.Dir, c.Seed, c.TPS, c.Interval = dir, 3, 200, 20*time.Millisecond
	return c
}

func victim(dir string) error {
	d, err := New(liveConfiguration(dir), Dependencies{Report: report.Silent()})
	if err != nil {
		return err
	}
	blocks, cancel := d.Subscribe()
	defer cancel()
	if err := d.Start(context.Background()); err != nil {
		return err
	}
	for p := range blocks {
		b, err := d.history.Bundle(p.Seqno)
		if err != nil {
			return err
		}
		fmt.Printf("%d %x\n", p.Seqno, b.Master.ID.FileHash)
	}
	return d.Err()
}

func TestKilledDevnetGoesOnWithoutLosingOrForkingABlock(t *testing.T) {
	if testing.Short() {
		t.Skip("kills processes for many seconds")
	}
	dir := t.TempDir()
	chance := rand.New(rand.NewPCG(1, 2))
	seen := map[uint32]string{}
	last := uint32(0)
	for kill := range 10 {
		before := last
		for seqno, hash := range runVictim(t, dir, 1+chance.IntN(12)) {
			if old, ok := seen[seqno]; ok && old != hash {
				t.Fatalf("kill %d: block %d is %s, it was %s before", kill, seqno, hash, old)
			}
			seen[seqno], last = hash, max(last, seqno)
		}
		if last <= before {
			t.Fatalf("kill %d: the chain did not go on after block %d", kill, before)
		}
	}
	d := still(t, dir, liveConfiguration(dir))
	defer d.close(t.Context())
	if got := d.Seqno(); got < last {
		t.Fatalf("the chain ends at block %d, %d was seen", got, last)
	}
	var previous []byte
	for seqno := uint32(1); seqno <= d.Seqno(); seqno++ {
		b, err := d.history.Bundle(seqno)
		if err != nil {
			t.Fatalf("block %d: %v", seqno, err)
		}
		if hash, ok := seen[seqno]; ok && hash != hex.EncodeToString(b.Master.ID.FileHash) {
			t.Errorf("block %d is %x, %s was seen", seqno, b.Master.ID.FileHash, hash)
		}
		if seqno > 1 && !strings.Contains(string(b.Master.Data), string(previous)) {
			t.Errorf("block %d does not name the block before it", seqno)
		}
		previous = b.Master.ID.FileHash
	}
}

// startChild starts this test again as what TestMain makes of the variable, and
// gives the lines that it prints.
func startChild(t *testing.T, variable, dir string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	command := exec.CommandContext(t.Context(), os.Args[0])
	command.Env = append(os.Environ(), variable+"="+dir)
	command.Stderr = os.Stderr
	out, err := command.StdoutPipe()
	must(t, err)
	must(t, command.Start())
	return command, bufio.NewScanner(out)
}

// runVictim runs the devnet and kills it after it told so many blocks; it may
// be in the middle of the next.
func runVictim(t *testing.T, dir string, blocks int) map[uint32]string {
	t.Helper()
	command, lines := startChild(t, victimDir, dir)
	told := map[uint32]string{}
	for len(told) < blocks && lines.Scan() {
		var seqno uint32
		var hash string
		if _, err := fmt.Sscan(lines.Text(), &seqno, &hash); err != nil {
			t.Fatalf("%q: %v", lines.Text(), err)
		}
		told[seqno] = hash
	}
	must(t, command.Process.Kill())
	for lines.Scan() { // what it told before it died
		var seqno uint32
		var hash string
		if n, _ := fmt.Sscan(lines.Text(), &seqno, &hash); n == 2 && len(hash) == 64 {
			told[seqno] = hash
		}
	}
	_ = command.Wait()
	if len(told) < blocks {
		t.Fatalf("the devnet ended after %d blocks", len(told))
	}
	return told
}
