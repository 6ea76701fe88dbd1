package ingest

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"tonscribe/internal/report"
	"tonscribe/schema"
	"tonscribe/test/support/costtest"
	"tonscribe/test/support/realdata"
)

func TestEveryBlockFileIsIdentifiedByItsContent(t *testing.T) {
	dir := realdata.Path(t)
	text, err := os.ReadFile(filepath.Join(dir, "blocks.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n")[1:] {
		f := strings.Split(line, "\t")
		file, err := os.Open(filepath.Join(dir, f[0]))
		if err != nil {
			t.Fatal(err)
		}
		at, err := identify(file)
		file.Close()
		if want := fmt.Sprintf("(%s,%s,%s)", f[3], f[4], f[5]); err != nil || at.String() != want {
			t.Errorf("%s: %s, %v, want %s", f[0], at, err, want)
		}
	}
}

func TestStatesAndProofsAreNoBlocks(t *testing.T) {
	for _, folder := range []string{"states", "proofs", "config"} {
		err := filepath.WalkDir(realdata.Path(t, folder), func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || strings.Contains(path, "block_-1") {
				return err
			}
			file, err := os.Open(path)
			if err != nil {
				return err
			}
			defer file.Close()
			if at, err := identify(file); err == nil {
				t.Errorf("%s is taken for block %s", path, at)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Archives are moved to other disks, and a link is left where they were.
func TestBlocksBehindLinksAreFound(t *testing.T) {
	link := func(to, from string) {
		if err := os.Symlink(to, from); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ kind, of string }{{"files", genesis(t)}, {"archive", packs(t)}} {
		dir := t.TempDir()
		root := filepath.Join(dir, "root")
		if err := os.Mkdir(root, 0o700); err != nil {
			t.Fatal(err)
		}
		link(c.of, filepath.Join(root, "moved"))
		link(root, filepath.Join(root, "circle"))
		link(filepath.Join(dir, "nowhere"), filepath.Join(root, "lost.boc"))
		link(root, filepath.Join(dir, "source"))
		want := newTape(1)
		publish(t, configure(c.kind+":"+c.of, 1, 60), want)
		for _, source := range []string{"root", "source"} {
			log := newTape(1)
			publish(t, configure(c.kind+":"+filepath.Join(dir, source), 1, 60), log)
			compareStreams(t, c.kind+" "+source, log.read(t, 0), want.read(t, 0))
		}
		linked := filepath.Join(dir, "linked") // each file a link
		if err := os.Mkdir(linked, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := walkFiles(c.of, func(path string, _ fs.DirEntry) error {
			link(path, filepath.Join(linked, filepath.Base(path)))
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		log := newTape(1)
		publish(t, configure(c.kind+":"+linked, 1, 60), log)
		compareStreams(t, c.kind+" of links", log.read(t, 0), want.read(t, 0))
	}
}

func TestALinkedFileIsReadOnceAsLongAsItStays(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink(filepath.Join(genesis(t), name(-1, whole, 1)), filepath.Join(dir, "1.boc")); err != nil {
		t.Fatal(err)
	}
	f := newFiles(dir, report.Silent(), 4<<20)
	if err := f.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	if again, err := f.fresh(); err != nil || len(again) > 0 {
		t.Errorf("%d files are new in the second look, %v", len(again), err)
	}
}

func TestAFolderThatIsTakenAwayDoesNotEndTheLook(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{"a/1.boc", "b/2.boc", "c/3.boc"} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(path)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, path), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var found []string
	err := walkFiles(dir, func(path string, _ fs.DirEntry) error {
		found = append(found, filepath.Base(path))
		return os.RemoveAll(filepath.Join(dir, "b"))
	})
	if err != nil || strings.Join(found, " ") != "1.boc 3.boc" {
		t.Errorf("%v, %v", found, err)
	}
	if err := walkFiles(filepath.Join(dir, "b"), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without the source itself: %v", err)
	}
}

func TestAFileThatWasTakenAwayIsMissingAndNotBad(t *testing.T) {
	dir := copyFolder(t, genesis(t))
	block, err := os.ReadFile(filepath.Join(dir, name(-1, whole, 30)))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "another.boc"), block, 0o600); err != nil {
		t.Fatal(err)
	}
	f := newFiles(dir, report.Silent(), 4<<20)
	if err := f.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	remove("another.boc")(t, dir) // the first of two
	if blob, err := f.Master(t.Context(), 30, 0); err != nil || !bytes.Equal(blob.BOC, block) {
		t.Errorf("of two files one was taken away: %d bytes, %v", len(blob.BOC), err)
	}
	remove(name(-1, whole, 30))(t, dir)
	if _, err := f.Master(t.Context(), 30, 0); !errors.Is(err, ErrNotFound) {
		t.Errorf("the only file was taken away: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "another.boc"), block, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := f.Refresh(t.Context(), 30); err != nil {
		t.Fatal(err)
	}
	if blob, err := f.Master(t.Context(), 30, 0); err != nil || !bytes.Equal(blob.BOC, block) {
		t.Errorf("the file came back: %d bytes, %v", len(blob.BOC), err)
	}
}

func TestIdentifyReadsOnlyWhatItNeeds(t *testing.T) {
	at := blockID{0, 0x2000000000000000, 77}
	head := blockHead(t, at, 1)
	head.cells = append(head.cells, bytes.Repeat([]byte{0, 0}, 1<<20)...)
	r := &countingReader{data: append(head.header(), head.cells...)}
	got, err := identify(r)
	if err != nil || got != at {
		t.Fatalf("%s, %v", got, err)
	}
	if r.read > 64<<10 {
		t.Errorf("%d bytes were read", r.read)
	}
}

type countingReader struct {
	data []byte
	read int
}

func (r *countingReader) Read(p []byte) (int, error) {
	n := copy(p, r.data[r.read:])
	r.read += n
	return n, nil
}

func FuzzIdentifyNeverPanics(f *testing.F) {
	t := &testing.T{}
	head := blockHead(t, blockID{-1, masterchainShard, 5}, 3)
	f.Add(append(head.header(), head.cells...))
	f.Add([]byte{0x68, 0xff, 0x65, 0xf3, 1, 1, 1, 1, 0, 9})
	f.Fuzz(func(t *testing.T, boc []byte) {
		costtest.Check(t, func() { identify(bytes.NewReader(boc)) })
	})
}

func TestEntryNames(t *testing.T) {
	root, file := strings.Repeat("0A", 32), strings.Repeat("b1", 32)
	for _, c := range []struct {
		name  string
		want  string
		named bool
	}{
		{"block_(-1,8000000000000000,100):" + root + ":" + file, "(-1,8000000000000000,100)", true},
		{"block_-1_8000000000000000_100_" + root + "_" + file, "(-1,8000000000000000,100)", true},
		{"block_(0,4000000000000000,7)", "(0,4000000000000000,7)", false},
		{"block_0_c000000000000000_7", "(0,c000000000000000,7)", false},
		{"proof_(-1,8000000000000000,100):" + root + ":" + file, "", false},
		{"prooflink_(0,8000000000000000,1):" + root + ":" + file, "", false},
		{"block_(0,8000000000000000,1):" + root[1:] + ":" + file, "", false},
		{"block_(0,8000000000000000)", "", false},
		{"block_(0,80000000000000000,1)", "", false},
		{"zerostate_0", "", false},
		{"", "", false},
	} {
		at, e, ok := parseEntryName(c.name)
		if ok != (c.want != "") || ok && (at.String() != c.want || e.named != c.named) {
			t.Errorf("%s: %s, named %t, %t", c.name, at, e.named, ok)
		}
	}
}

// pack writes a package of blocks.
func pack(entries ...string) []byte {
	b := binary.LittleEndian.AppendUint32(nil, packageMagic)
	for i := 0; i < len(entries); i += 2 {
		b = binary.LittleEndian.AppendUint16(b, entryMagic)
		b = binary.LittleEndian.AppendUint16(b, uint16(len(entries[i])))
		b = binary.LittleEndian.AppendUint32(b, uint32(len(entries[i+1])))
		b = append(append(b, entries[i]...), entries[i+1]...)
	}
	return b
}

func openArchive(t *testing.T, dir string, log *logBook) *archive {
	t.Helper()
	r := report.Silent()
	r.Log = zerolog.New(log)
	a := newArchive(dir, r, 1<<20)
	if err := a.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	return a
}

func TestAGrowingPackageIsReadAsFarAsItIsWritten(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "archive.00000.pack")
	whole := pack("block_(-1,8000000000000000,1)", "one", "proof_(-1,8000000000000000,1)", "p", "block_(-1,8000000000000000,2)", "two")
	first := len(pack("block_(-1,8000000000000000,1)", "one"))
	write := func(n int) {
		if err := os.WriteFile(path, whole[:n], 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(first)
	log := &logBook{}
	a := openArchive(t, dir, log)
	for n := first; n <= len(whole); n++ {
		write(n)
		if err := a.scan(t.Context()); err != nil {
			t.Fatalf("%d bytes: %v", n, err)
		}
		want := uint32(1)
		if n == len(whole) {
			want = 2
		}
		if _, last := a.Range(); last != want {
			t.Errorf("%d of %d bytes: the last block is %d, want %d", n, len(whole), last, want)
		}
	}
	if !log.has(path, "package ends inside an entry") {
		t.Errorf("nothing is said of the tail: %s", log)
	}
	blob, err := a.Master(t.Context(), 2, 0)
	if err != nil || string(blob.BOC) != "two" {
		t.Errorf("%q, %v", blob.BOC, err)
	}
	if _, err := a.Master(t.Context(), 2, 1); !errors.Is(err, ErrNotFound) {
		t.Errorf("second copy: %v", err)
	}
}

func TestADamagedPackageIsNamedAndUsedUpToTheDamage(t *testing.T) {
	dir := t.TempDir()
	good := pack("block_(-1,8000000000000000,1)", "one", "block_(-1,8000000000000000,2)", "two")
	damaged := filepath.Join(dir, "archive.00000.pack")
	foreign := filepath.Join(dir, "archive.00100.pack")
	for path, data := range map[string][]byte{
		damaged: append(bytes.Clone(good), "0123456789"...), foreign: []byte("PK\x03\x04 something else"),
	} {
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	log := &logBook{}
	a := openArchive(t, dir, log)
	if first, last := a.Range(); first != 1 || last != 2 {
		t.Errorf("range %d to %d, want 1 to 2", first, last)
	}
	if !log.has(damaged, fmt.Sprintf(`"offset":%d`, len(good)), "package is damaged") {
		t.Errorf("the damage is not named: %s", log)
	}
	if !log.has(foreign, "does not start with a package's magic") {
		t.Errorf("the file that is no package is not named: %s", log)
	}
}

// A large archive: one package for every bundle, a shard package beside it, the
// shard block of a bundle sometimes in the next package.
func TestALargeArchiveIsIndexedAroundTheWantedBundle(t *testing.T) {
	const count = 3 * wholeArchive
	dir := t.TempDir()
	for n := 1; n <= count; n++ {
		sub := filepath.Join(dir, fmt.Sprintf("arch%04d", n/100))
		if err := os.MkdirAll(sub, 0o755); err != nil {
			t.Fatal(err)
		}
		master := pack(fmt.Sprintf("block_(-1,8000000000000000,%d)", n), fmt.Sprint("master ", n))
		shard := pack(fmt.Sprintf("block_(0,8000000000000000,%d)", n+n%2), fmt.Sprint("shard ", n))
		for file, data := range map[string][]byte{
			fmt.Sprintf("archive.%05d.pack", n): master, fmt.Sprintf("archive.%05d.0:8000000000000000.pack", n): shard,
		} {
			if err := os.WriteFile(filepath.Join(sub, file), data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	a := openArchive(t, dir, &logBook{})
	if first, last := a.Range(); first != 1 || last != count {
		t.Errorf("range %d to %d, want 1 to %d", first, last, count)
	}
	if len(a.recent) > 10 {
		t.Errorf("%d packages indexed at the start", len(a.recent))
	}
	for _, n := range []uint32{1, count, count / 2, 77} {
		blob, err := a.Master(t.Context(), n, 0)
		if err != nil || string(blob.BOC) != fmt.Sprint("master ", n) {
			t.Errorf("masterchain block %d: %q, %v", n, blob.BOC, err)
		}
	}
	id := blockID{0, masterchainShard, 78}.id(make([]byte, 32), make([]byte, 32))
	for attempt, want := range []string{"shard 77", "shard 78"} {
		blob, err := a.Block(t.Context(), id, 77, attempt)
		if err != nil || string(blob.BOC) != want {
			t.Errorf("attempt %d: %q, %v, want %s", attempt, blob.BOC, err, want)
		}
	}
	for n := uint32(1); n <= count; n++ {
		if _, err := a.Master(t.Context(), n, 0); err != nil {
			t.Fatal(err)
		}
	}
	if len(a.recent) > indexedPackages {
		t.Errorf("%d packages stay indexed, want at most %d", len(a.recent), indexedPackages)
	}
}

func TestASourceThatCannotBeUsedSaysWhy(t *testing.T) {
	empty := t.TempDir()
	for setting, want := range map[string]string{
		"":                     "no source of blocks",
		"files":                "a folder or file must follow",
		"ftp:x":                "unknown kind \"ftp\"",
		"mainnet":              "unknown kind \"mainnet\"",
		"devnet":               "of one that runs elsewhere liteserver:DATA/devnet/global.config.json",
		"files:/does/not":      "there is no such folder",
		"archive:/does/not":    "there is no such folder",
		"files:" + empty:       "no masterchain block among its 0 .boc and .bin files",
		"archive:" + empty:     "no masterchain block in its 0 packages",
		"files:source_test.go": "not a folder",
	} {
		source, err := NewSource(Configuration{Source: setting, MaxBlockBytes: 1 << 20}, report.Silent())
		if err == nil {
			err = source.Open(context.Background())
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", setting, err, want)
		}
	}
}

func TestShardsMeet(t *testing.T) {
	for _, c := range []struct {
		a, b uint64
		want bool
	}{
		{1 << 63, 1 << 63, true},
		{1 << 63, 0x4000000000000000, true},
		{0x4000000000000000, 0xc000000000000000, false},
		{0x2000000000000000, 0x4000000000000000, true},
		{0x6000000000000000, 0x2000000000000000, false},
		{0xa000000000000000, 0x4000000000000000, false},
		{0x0800000000000000, 0x2000000000000000, true},
	} {
		if schema.ShardsMeet(c.a, c.b) != c.want || schema.ShardsMeet(c.b, c.a) != c.want {
			t.Errorf("%016x and %016x: want %t", c.a, c.b, c.want)
		}
	}
}

// Of a large archive only the packages at its ends are followed, and a package grows
// until the node begins the next one: what it got last must be found too.
func TestALargeArchiveHasWhatThePackageBeforeTheLastGotBeforeTheLastBegan(t *testing.T) {
	const count = wholeArchive + 1
	dir := t.TempDir()
	write := func(start int, data []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("archive.%05d.pack", start)), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	name := func(seqno int) string { return fmt.Sprintf("block_(-1,8000000000000000,%d)", seqno) }
	for n := range count {
		write(100*n, pack(name(100*n+1), "first"))
	}
	a := openArchive(t, dir, &logBook{})
	last := 100 * (count - 1)
	write(last, pack(name(last+1), "first", name(last+2), "second"))
	write(last+100, pack(name(last+101), "first"))
	if err := a.Refresh(t.Context(), uint32(last+2)); err != nil {
		t.Fatal(err)
	}
	if blob, err := a.Master(t.Context(), uint32(last+2), 0); err != nil || string(blob.BOC) != "second" {
		t.Errorf("masterchain block %d: %q, %v, want %q", last+2, blob.BOC, err, "second")
	}
}

func TestACopyThatCannotBeReadDoesNotStandInFrontOfAnother(t *testing.T) {
	boc, err := os.ReadFile(filepath.Join(genesis(t), "block_-1_8000000000000000_1.boc"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		kind, name string
		data       []byte
		forget     bool
	}{
		{"files", "block.boc", boc, false},
		{"archive", "archive.00000.pack", pack("block_(-1,8000000000000000,1)", string(boc)), false},
		{"archive", "archive.00000.pack", pack("block_(-1,8000000000000000,1)", string(boc)), true},
	} {
		dir := t.TempDir()
		for _, sub := range []string{"a", "b"} {
			if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, sub, c.name), c.data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		conf := configure(c.kind+":"+dir, 1, 1)
		source, err := NewSource(conf, report.Silent())
		if err == nil {
			err = source.Open(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		if a, is := source.(*archive); is && c.forget {
			for _, p := range a.packages {
				p.forget()
			}
		}
		if err := os.Remove(filepath.Join(dir, "a", c.name)); err != nil {
			t.Fatal(err)
		}
		silent := report.Silent()
		good, _, err := newReader(source, conf, newMetrics(silent.Meter("ingest")), silent.Log, 1).masters(t.Context(), 1)
		if err != nil || len(good) != 1 {
			t.Errorf("%s, forgotten %t: %d blocks are read, %v, want 1", c.kind, c.forget, len(good), err)
		}
	}
}

// A node names the packages of what it has not put into its archive yet after their
// times, which are no masterchain seqnos.
func TestTemporaryPackagesAreNoPartOfAnArchive(t *testing.T) {
	const count = wholeArchive + 1
	dir := t.TempDir()
	write := func(name string, data []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for n := range count {
		write(fmt.Sprintf("archive.%05d.pack", 100*n), pack(fmt.Sprintf("block_(-1,8000000000000000,%d)", 100*n+1), "block"))
	}
	write("temp.archive.1700000000.pack", pack("block_(0,8000000000000000,9)", "block"))
	const last = 100*(count-1) + 1
	if _, got := openArchive(t, dir, &logBook{}).Range(); got != last {
		t.Errorf("the archive ends with masterchain block %d, want %d", got, last)
	}
}

// outage is a source that may be away, and has nothing new.
type outage struct {
	Source
	away atomic.Bool
}

func (o *outage) Refresh(ctx context.Context, _ uint32) error {
	if o.away.Load() {
		return errors.New("nobody answers")
	}
	return sleep(ctx, time.Millisecond)
}

// The chain may stand when the source is back: what is said of the time before is old.
func TestASourceThatIsBackIsNotWaitedForAnyMore(t *testing.T) {
	conf := configure("files:"+genesis(t), 1, 0)
	files, err := NewSource(conf, report.Silent())
	if err != nil {
		t.Fatal(err)
	}
	source := &outage{Source: files}
	source.away.Store(true)
	made := componentOf(t, conf, Dependencies{Report: report.Silent(), Log: newTape(1), Source: source})
	begin(t, made)
	awaitWaiting(t, made, "nobody answers")
	source.away.Store(false)
	for limit := time.Now().Add(time.Minute); made.Status().Waiting != ""; time.Sleep(time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("it still says %q", made.Status().Waiting)
		}
	}
}
