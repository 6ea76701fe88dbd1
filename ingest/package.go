package ingest

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"sync"

	"tonscribe/internal/report"
)

// A node's package file: a magic, then entries of magic:16 name_size:16
// data_size:32 name data, all little-endian. The data of an entry named block_…
// is a block's BoC; proof_… and prooflink_… hold proofs.
const (
	packageMagic = 0xae8fdd01
	entryMagic   = 0x1e8b
	entryHead    = 8
	maxEntryName = 256
)

// packageFile is one package: where in it each block lies.
type packageFile struct {
	path   string
	start  uint32
	report report.Reporter

	mu      sync.Mutex
	entries map[blockID][]packageEntry
	end     int64 // how far it has been indexed
	blocks  int
	others  int
	low     uint32 // masterchain seqnos
	high    uint32
	warned  int64 // offset of the tail that was complained about
}

type packageEntry struct {
	offset int64
	size   uint32
	root   [32]byte
	file   [32]byte
	named  bool // root and file are what the entry's name says
}

func newPackageFile(path string, start uint32, r report.Reporter) *packageFile {
	return &packageFile{path: path, start: start, report: r, warned: -1}
}

func (p *packageFile) counts() (blocks, others int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.blocks, p.others
}

// find gives the entries for a block. It indexes the package first where that
// has not been done.
func (p *packageFile) find(at blockID) ([]packageEntry, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.entries == nil {
		if err := p.index(); err != nil {
			return nil, err
		}
	}
	return p.entries[at], nil
}

// follow indexes what the node has added since the last time, and gives the range
// of masterchain blocks in the package.
func (p *packageFile) follow() (low, high uint32, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	err = p.index()
	return p.low, p.high, err
}

func (p *packageFile) indexed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.entries != nil
}

// forget gives the index back; it is made again when needed.
func (p *packageFile) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drop()
}

func (p *packageFile) drop() {
	p.entries, p.end, p.blocks, p.others = nil, 0, 0, 0
}

// read gives a block's bytes.
func (p *packageFile) read(at blockID, e packageEntry, maxBytes int) (Blob, error) {
	blob := Blob{Origin: fmt.Sprintf("%s at %d", p.path, e.offset)}
	if e.named {
		blob.Claim = at.id(e.root[:], e.file[:])
	}
	file, err := os.Open(p.path)
	if err != nil {
		return blob, err
	}
	defer file.Close()
	blob.BOC, err = readBlock(file, e.offset, int64(e.size), maxBytes)
	return blob, err
}

// index reads the names of the entries that are not indexed yet.
func (p *packageFile) index() (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("package %s: %w", p.path, err)
		}
	}()
	file, err := os.Open(p.path)
	if err != nil {
		return err
	}
	defer file.Close()
	stat, err := file.Stat()
	if err != nil {
		return err
	}
	if stat.Size() < p.end { // written anew
		p.drop()
	}
	if p.entries == nil {
		p.entries = map[blockID][]packageEntry{}
	}
	if stat.Size() == p.end {
		return nil
	}
	return p.walk(file, stat.Size())
}

// walk indexes entries up to size. A last entry that is not complete is left
// for the next time: the node may be writing it. What lies behind a damaged
// place is lost, and its blocks are missing to whoever asks for them.
func (p *packageFile) walk(file *os.File, size int64) error {
	if p.end == 0 {
		var magic [4]byte
		if size < 4 {
			p.complain(size, "package has no header yet")
			return nil
		}
		if _, err := file.ReadAt(magic[:], 0); err != nil {
			return err
		}
		if binary.LittleEndian.Uint32(magic[:]) != packageMagic {
			p.complain(size, "no package: the file does not start with a package's magic")
			return nil
		}
		p.end = 4
	}
	for p.end < size {
		whole, err := p.entry(file, size)
		if errors.Is(err, errDamaged) {
			p.complain(size, "package is damaged: no entry begins at this offset, so the rest of it is lost")
			return nil
		}
		if err != nil {
			return err
		}
		if !whole {
			p.complain(size, "package ends inside an entry: the rest is read when it has been written")
			return nil
		}
	}
	return nil
}

var errDamaged = errors.New("damaged package")

// entry indexes the entry at p.end.
func (p *packageFile) entry(file *os.File, size int64) (whole bool, err error) {
	var buffer [entryHead + maxEntryName]byte
	n := int(min(int64(len(buffer)), size-p.end))
	if n < entryHead {
		return false, nil
	}
	if _, err := file.ReadAt(buffer[:n], p.end); err != nil {
		return false, err
	}
	if magic := binary.LittleEndian.Uint16(buffer[:]); magic != entryMagic {
		return false, errDamaged
	}
	nameSize := int(binary.LittleEndian.Uint16(buffer[2:]))
	dataSize := binary.LittleEndian.Uint32(buffer[4:])
	offset := p.end + entryHead + int64(nameSize)
	if offset+int64(dataSize) > size {
		return false, nil
	}
	p.end = offset + int64(dataSize)
	at, e, ok := parseEntryName(string(buffer[entryHead : entryHead+min(nameSize, maxEntryName)]))
	if !ok || nameSize > maxEntryName {
		p.others++
		return true, nil
	}
	e.offset, e.size = offset, dataSize
	p.blocks++
	p.entries[at] = append(p.entries[at], e)
	widen(&p.low, &p.high, at)
	return true, nil
}

func (p *packageFile) complain(size int64, why string) {
	if p.warned == p.end {
		return
	}
	p.warned = p.end
	p.report.Log.Warn().Str("package", p.path).Int64("offset", p.end).Int64("size", size).Msg(why)
}

// parseEntryName understands the names of block entries, in the long form
// block_(-1,8000000000000000,1):ROOT:FILE and in the short one
// block_-1_8000000000000000_1_ROOT_FILE, where the hashes may be missing.
func parseEntryName(name string) (blockID, packageEntry, bool) {
	var e packageEntry
	rest, ok := strings.CutPrefix(name, "block_")
	if !ok {
		return blockID{}, e, false
	}
	parts := strings.FieldsFunc(rest, func(r rune) bool { return strings.ContainsRune("(,):_", r) })
	if len(parts) != 3 && len(parts) != 5 {
		return blockID{}, e, false
	}
	workchain, err1 := strconv.ParseInt(parts[0], 10, 32)
	shard, err2 := strconv.ParseUint(parts[1], 16, 64)
	seqno, err3 := strconv.ParseUint(parts[2], 10, 32)
	if err := errors.Join(err1, err2, err3); err != nil {
		return blockID{}, e, false
	}
	if len(parts) == 5 {
		root, err1 := hex.DecodeString(parts[3])
		file, err2 := hex.DecodeString(parts[4])
		if errors.Join(err1, err2) != nil || len(root) != 32 || len(file) != 32 {
			return blockID{}, e, false
		}
		e.root, e.file, e.named = [32]byte(root), [32]byte(file), true
	}
	return blockID{int32(workchain), shard, uint32(seqno)}, e, true
}

// readBlock reads a block's bytes, or refuses to when there are too many.
func readBlock(r io.ReaderAt, offset, size int64, maxBytes int) ([]byte, error) {
	if size > int64(maxBytes) || size > math.MaxInt32 {
		return nil, &Refusal{Reason: ReasonSize, Detail: fmt.Sprintf("%d bytes, more than the %d allowed", size, maxBytes)}
	}
	boc := make([]byte, size)
	if _, err := io.ReadFull(io.NewSectionReader(r, offset, size), boc); err != nil {
		return nil, err
	}
	return boc, nil
}
