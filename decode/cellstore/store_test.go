package cellstore

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"testing"

	"tonscribe/internal/report"
)

func open(t testing.TB, dir string) *Store {
	t.Helper()
	c := DefaultConfiguration()
	c.Dir = dir
	s, err := Open(c, Dependencies{Report: report.Silent()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func hashOf(n int) (hash [32]byte) {
	binary.BigEndian.PutUint64(hash[:], uint64(n)*0x9e3779b97f4a7c15)
	binary.BigEndian.PutUint64(hash[24:], uint64(n))
	return hash
}

func recordOf(n int) []byte { return fmt.Appendf(nil, "record of cell %d", n) }

// put writes cells [from, to) and a mark.
func put(t testing.TB, s *Store, from, to int) {
	t.Helper()
	b := NewBatch()
	for n := from; n < to; n++ {
		b.Put(hashOf(n), recordOf(n))
	}
	b.Mark(3, uint32(to))
	if err := s.Write(b, false); err != nil {
		t.Fatal(err)
	}
}

func has(t testing.TB, s *Store, n int) bool {
	t.Helper()
	hash := hashOf(n)
	got, err := s.Get(&hash)
	if err != nil {
		t.Fatal(err)
	}
	if got != nil && !bytes.Equal(got, recordOf(n)) {
		t.Fatalf("cell %d has record %q", n, got)
	}
	return got != nil
}

func TestWhatWasWrittenIsThereAfterReopening(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	put(t, s, 0, 1000)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	hash := hashOf(1)
	if _, err := s.Get(&hash); !errors.Is(err, ErrClosed) {
		t.Errorf("a closed store answers: %v", err)
	}
	s = open(t, dir)
	for n := range 1000 {
		if !has(t, s, n) {
			t.Fatalf("cell %d is gone", n)
		}
	}
	if has(t, s, 1000) {
		t.Error("a cell that nobody put is there")
	}
	if mark, err := s.Mark(3); mark != 1000 || err != nil {
		t.Errorf("mark %d, %v", mark, err)
	}
	if mark, err := s.Mark(4); mark != 0 || err != nil {
		t.Errorf("mark %d of a partition that has none, %v", mark, err)
	}
}

func TestAFolderIsForOneStore(t *testing.T) {
	dir := t.TempDir()
	open(t, dir)
	c := DefaultConfiguration()
	c.Dir = dir
	if s, err := Open(c, Dependencies{Report: report.Silent()}); err == nil {
		s.Close()
		t.Error("opened twice")
	}
}

func TestWhatIsReadSurvivesRotationsAndTheRestIsForgotten(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	put(t, s, 0, 100)
	for round := range 5 {
		if err := s.rotateNow(); err != nil {
			t.Fatal(err)
		}
		for n := range 50 {
			if !has(t, s, n) {
				t.Fatalf("cell %d, read in every generation, is gone after %d rotations", n, round+1)
			}
		}
		if round == 2 { // a rotation later, and what was promoted is still there
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s = open(t, dir)
		}
	}
	for n := 50; n < 100; n++ {
		if has(t, s, n) {
			t.Fatalf("cell %d, read by nobody, is still there", n)
		}
	}
	if mark, err := s.Mark(3); mark != 100 || err != nil {
		t.Errorf("mark %d, %v", mark, err)
	}
	if numbers, err := generations(dir); len(numbers) != 2 || err != nil {
		t.Errorf("generations %v, %v", numbers, err)
	}
}

func TestTheSizeIsBounded(t *testing.T) {
	c := DefaultConfiguration()
	c.Dir, c.MaxBytes = t.TempDir(), 8<<20
	s, err := Open(c, Dependencies{Report: report.Silent()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	random := rand.New(rand.NewPCG(1, 1))
	record := make([]byte, 200)
	for range 400 {
		b := NewBatch()
		for range 500 {
			for i := 0; i < len(record); i += 8 {
				binary.LittleEndian.PutUint64(record[i:], random.Uint64())
			}
			b.Put(hashOf(int(random.Uint32())), bytes.Clone(record))
		}
		if err := s.Write(b, false); err != nil {
			t.Fatal(err)
		}
	}
	s.mutex.RLock()
	size := s.young.Metrics().DiskSpaceUsage() + s.old.Metrics().DiskSpaceUsage()
	rotated := s.young.number
	s.mutex.RUnlock()
	// A generation may exceed its share by what is in flight: two memtables and their logs.
	if limit := uint64(c.MaxBytes + 4*memTableBytes); size > limit || rotated < 3 {
		t.Errorf("%d bytes in generation %d, want at most %d", size, rotated, limit)
	}
}

func TestWhatIsNotedStaysUntilItIsStruck(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	b := NewBatch()
	b.Note(Incomplete, []byte("one"), []byte("1"))
	b.Note(Incomplete, []byte("two"), []byte("2"))
	if err := s.Write(b, true); err != nil {
		t.Fatal(err)
	}
	b.Reset()
	b.Strike(Incomplete, []byte("one"))
	if err := s.Write(b, true); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := s.rotateNow(); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	var owed []string
	err := open(t, dir).Noted(Incomplete, func(account, what []byte) bool {
		owed = append(owed, string(account)+"="+string(what))
		return true
	})
	if err != nil || len(owed) != 1 || owed[0] != "two=2" {
		t.Errorf("owed %v, %v; want two=2", owed, err)
	}
}

const childEnv = "TONSCRIBE_TEST_CELLS"

// TestMain lets the test binary be the process that is killed.
func TestMain(m *testing.M) {
	if dir := os.Getenv(childEnv); dir != "" {
		writeForEver(dir)
	}
	os.Exit(m.Run())
}

// writeForEver writes batches of ten cells from the mark on, rotating now and
// then, and tells how far it is for sure.
func writeForEver(dir string) {
	c := DefaultConfiguration()
	c.Dir = dir
	s, err := Open(c, Dependencies{Report: report.Silent()})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	mark, err := s.Mark(0)
	for n := int(mark); err == nil; n++ {
		b := NewBatch()
		for i := range 10 {
			b.Put(hashOf(10*n+i), recordOf(10*n+i))
		}
		b.Mark(0, uint32(n+1))
		if err = s.Write(b, false); err == nil && n%500 == 499 {
			for i := max(0, n-100); i < n; i++ { // what is used goes along
				for j := range 10 {
					hash := hashOf(10*i + j)
					if _, err := s.Get(&hash); err != nil {
						fmt.Println(err)
						os.Exit(1)
					}
				}
			}
			err = s.rotateNow()
		}
		if err == nil && n%10 == 9 {
			if err = s.Sync(); err == nil {
				fmt.Println(n + 1)
			}
		}
	}
	fmt.Println(err)
	os.Exit(1)
}

func TestAKilledProcessLosesNothingThatIsMarked(t *testing.T) {
	dir := t.TempDir()
	random := rand.New(rand.NewPCG(2, 2))
	told := 0
	for life := range 15 {
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), childEnv+"="+dir)
		out, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for left := 10 + random.IntN(90); left > 0 && lines.Scan(); left-- {
			n, err := strconv.Atoi(lines.Text())
			if err != nil {
				t.Fatalf("life %d: %s", life, lines.Text())
			}
			told = n
		}
		if err := child.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = child.Wait() // killed
		s := open(t, dir)
		mark, err := s.Mark(0)
		if err != nil || int(mark) < told {
			t.Fatalf("life %d: mark %d, the process had told of %d; %v", life, mark, told, err)
		}
		for n := max(0, 10*int(mark)-1000); n < 10*int(mark); n++ {
			if !has(t, s, n) {
				t.Fatalf("life %d: cell %d is gone, the mark is %d", life, n, mark)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestOneGenerationBeginsHoweverManyFindTheYoungerOneFull(t *testing.T) {
	s := open(t, t.TempDir())
	put(t, s, 0, 20_000)
	if err := s.young.Flush(); err != nil {
		t.Fatal(err)
	}
	size, err := s.young.size()
	if err != nil {
		t.Fatal(err)
	}
	s.configuration.MaxBytes = int64(size) // twice its share
	before := s.young.number
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if err := s.rotateWhenFull(); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if got := s.young.number - before; got != 1 {
		t.Errorf("%d generations have begun, want 1", got)
	}
}

// rotateNow is rotate of a store that nobody has locked.
func (s *Store) rotateNow() error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.rotate()
}
