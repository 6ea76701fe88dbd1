package up

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tonscribe/test/support/harness"
)

// flipBits flips one bit in every block of every table below a folder.
func flipBits(t *testing.T, dir string) {
	t.Helper()
	flipped := 0
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".sst" {
			return err
		}
		file, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			return err
		}
		defer file.Close()
		info, err := file.Stat()
		if err != nil {
			return err
		}
		one := make([]byte, 1)
		for at := int64(64); at < info.Size(); at += 1024 {
			if _, err := file.ReadAt(one, at); err != nil {
				return err
			}
			one[0] ^= 8
			if _, err := file.WriteAt(one, at); err != nil {
				return err
			}
			flipped++
		}
		return nil
	})
	if err != nil || flipped == 0 {
		t.Fatalf("%d bits were flipped below %s: %v", flipped, dir, err)
	}
}

// decoded is the newest bundle that decode has published, 0 when nobody answers.
func decoded(base string) (bundle int) {
	if _, body, err := harness.Get(base + "/metrics"); err == nil {
		_, rest, _ := strings.Cut(string(body), `tonscribe_decode_bundle{partition="0"} `)
		fmt.Sscan(rest, &bundle)
	}
	return bundle
}

func TestADamagedStoreEndsUpInOrderAndWhatItSaysToDoMendsIt(t *testing.T) {
	data, listen := t.TempDir(), harness.FreeAddress(t)
	base := "http://" + listen
	start := func() *harness.Process {
		return harness.Start(t, quick, "up", "--data", data, "--listen", listen)
	}
	goesOn := func(p *harness.Process) {
		t.Helper()
		p.AwaitReady(base, 2*time.Minute)
		from := lastSeqno(t, base)
		harness.Await(t, time.Minute, func() bool { return lastSeqno(t, base) > from+3 }, func() string { return "no new blocks" })
	}
	withoutATrace := func(p *harness.Process, when string) {
		t.Helper()
		if out := p.Output(); strings.Contains(out, "goroutine ") || strings.Contains(out, "cockroachdb") {
			t.Errorf("%s up printed a stack trace:\n%s", when, out)
		}
	}
	endsInOrder := func(p *harness.Process, when, store string) {
		t.Helper()
		err, out := p.Wait(2*time.Minute), p.Output()
		if want := "delete the folder " + filepath.Join(data, store) + " "; err == nil || !strings.Contains(out, want) {
			t.Errorf("%s up ended with %v and printed\n%s\nwant a failure that says %q", when, err, out, want)
		}
		withoutATrace(p, when)
		if _, last, _ := strings.Cut(out, "tonscribe: "); strings.Count(last, "delete the folder") != 1 {
			t.Errorf("%s its last words are %q, want the way out once", when, last)
		}
		if _, err := os.Stat(filepath.Join(data, "run.json")); err == nil {
			t.Errorf("%s run.json stays: it did not end in order", when)
		}
	}
	p := start()
	goesOn(p)
	p.Stop()
	p = start()
	p.AwaitReady(base, 2*time.Minute)
	for _, store := range []string{"cells", "contracts", "traces"} {
		// A start has turned what was written before it into tables.
		flipBits(t, filepath.Join(data, store))
		// With what it has in memory it may go on for a while.
		from := decoded(base)
		harness.Await(t, time.Minute, func() bool { return !p.Running() || decoded(base) > from+5 }, func() string { return "decode stands still" })
		if p.Running() {
			p.Stop()
			withoutATrace(p, "while it ran,")
		} else {
			endsInOrder(p, "while it ran,", store)
		}
		endsInOrder(start(), "when started again,", store)
		if err := os.RemoveAll(filepath.Join(data, store)); err != nil {
			t.Fatal(err)
		}
		p = start()
		goesOn(p)
	}
	p.Stop()
	if out, err := run(t, "verify", "--data", data); err != nil {
		t.Errorf("verify after the stores were built anew: %v\n%s", err, out)
	}
}
