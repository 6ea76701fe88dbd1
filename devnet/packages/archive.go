package packages

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/xssnick/tonutils-go/ton"

	"tonscribe/devnet/chain"
)

// The layout of a package: a magic, then entries of magic:16 name_size:16
// data_size:32 name data, all little-endian.
const (
	packageMagic = 0xae8fdd01
	entryMagic   = 0x1e8b
)

// A node begins a package every 100 masterchain blocks and a folder every
// 100,000; packages of key blocks' proofs go by 200,000.
const (
	blocksPerPackage   = 100
	blocksPerFolder    = 100_000
	keyBlocksPerFile   = 200_000
	keyBlocksPerFolder = 1_000_000
)

// Names is how the entries of a package are called; nodes have used both forms.
type Names int

// The forms of names.
const (
	LongNames  Names = iota // block_(-1,8000000000000000,1):ROOT:FILE
	ShortNames              // block_-1_8000000000000000_1_ROOT_FILE
)

// Archive writes packages: dir/packages/arch0000/archive.00100.pack, and the
// proofs of key blocks once more into dir/packages/key000/key.archive.000000.pack.
type Archive struct {
	dir    string
	names  Names
	blocks packageFile
	keys   packageFile
}

// NewArchive makes the writer; packages are made when the first block comes.
func NewArchive(dir string, names Names) *Archive { return &Archive{dir: dir, names: names} }

// Write implements Writer.
func (a *Archive) Write(b *chain.Bundle) error {
	seqno := b.Master.ID.SeqNo
	if err := a.blocks.open(archivePath(a.dir, seqno)); err != nil {
		return err
	}
	for _, block := range blocksOf(b) {
		proof, key, err := Proof(block, b)
		if err != nil {
			return fmt.Errorf("proof of block %d:%016x:%d: %w", block.ID.Workchain, uint64(block.ID.Shard), block.ID.SeqNo, err)
		}
		kind := "prooflink"
		if isMaster(block.ID) {
			kind = "proof"
		}
		err = errors.Join(
			a.blocks.add(a.names.entry(kind, block.ID), proof),
			a.blocks.add(a.names.entry("block", block.ID), block.Data))
		if err == nil && key {
			err = a.addKey(block.ID, proof)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (a *Archive) addKey(id *ton.BlockIDExt, proof []byte) error {
	if err := a.keys.open(keyPath(a.dir, id.SeqNo)); err != nil {
		return err
	}
	return a.keys.add(a.names.entry("proof", id), proof)
}

// Close implements Writer.
func (a *Archive) Close() error { return errors.Join(a.blocks.close(), a.keys.close()) }

func archivePath(dir string, seqno uint32) string {
	return filepath.Join(dir, "packages", fmt.Sprintf("arch%04d", seqno/blocksPerFolder),
		fmt.Sprintf("archive.%05d.pack", seqno/blocksPerPackage*blocksPerPackage))
}

func keyPath(dir string, seqno uint32) string {
	return filepath.Join(dir, "packages", fmt.Sprintf("key%03d", seqno/keyBlocksPerFolder),
		fmt.Sprintf("key.archive.%06d.pack", seqno/keyBlocksPerFile*keyBlocksPerFile))
}

func (n Names) entry(kind string, id *ton.BlockIDExt) string {
	if n == ShortNames {
		return fmt.Sprintf("%s_%d_%016X_%d_%X_%X", kind, id.Workchain, uint64(id.Shard), id.SeqNo, id.RootHash, id.FileHash)
	}
	return fmt.Sprintf("%s_(%d,%016x,%d):%X:%X", kind, id.Workchain, uint64(id.Shard), id.SeqNo, id.RootHash, id.FileHash)
}

// packageFile is the package that is being written, if any.
type packageFile struct {
	path string
	file *os.File
	out  *bufio.Writer
}

// open goes on with the package at path; the one before it is closed.
func (p *packageFile) open(path string) error {
	if p.path == path {
		return p.out.Flush() // the bundle before is readable as a whole
	}
	if err := p.close(); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	*p = packageFile{path: path, file: file, out: bufio.NewWriterSize(file, 1<<18)}
	return binary.Write(p.out, binary.LittleEndian, uint32(packageMagic))
}

func (p *packageFile) add(name string, data []byte) error {
	head := binary.LittleEndian.AppendUint16(nil, entryMagic)
	head = binary.LittleEndian.AppendUint16(head, uint16(len(name)))
	head = binary.LittleEndian.AppendUint32(head, uint32(len(data)))
	for _, part := range [][]byte{head, []byte(name), data} {
		if _, err := p.out.Write(part); err != nil {
			return fmt.Errorf("package %s: %w", p.path, err)
		}
	}
	return nil
}

func (p *packageFile) close() error {
	if p.file == nil {
		return nil
	}
	err := errors.Join(p.out.Flush(), p.file.Close())
	*p = packageFile{}
	return err
}
