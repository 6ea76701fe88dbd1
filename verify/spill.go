package verify

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"
	"os"
	"slices"
	"sync"
	"sync/atomic"
)

// spill is a temporary file of entries of one size. They come in the order of one
// table and are to be matched with those of another, so they are dealt out to
// partitions by their first bits, which are those of a hash: each partition is
// small enough for memory.
type spill struct {
	file  *os.File
	size  int // of an entry
	next  atomic.Int64
	shift int
	parts []spillPart
}

type spillPart struct {
	mu     sync.Mutex
	buffer []byte
	chunks []int64 // offsets of full buffers in the file
}

const (
	chunkEntries = 512
	partEntries  = 256 << 10
	maxPartBits  = 12
)

// newSpill makes a spill for about so many entries.
func newSpill(folder string, size int, entries uint64) (*spill, error) {
	file, err := os.CreateTemp(folder, "tonscribe-verify-")
	if err != nil {
		return nil, fmt.Errorf("temporary file: %w", err)
	}
	// Unlinked at once, it is gone with the process whatever happens.
	if err := os.Remove(file.Name()); err != nil {
		file.Close()
		return nil, err
	}
	n := min(bits.Len64(entries/partEntries), maxPartBits)
	return &spill{file: file, size: size, shift: 64 - n, parts: make([]spillPart, 1<<n)}, nil
}

func (s *spill) close() {
	if s != nil {
		s.file.Close()
	}
}

func (s *spill) chunk() int { return chunkEntries * s.size }

// add takes an entry, which may be used again at once.
func (s *spill) add(entry []byte) error {
	p := &s.parts[binary.BigEndian.Uint64(entry)>>s.shift]
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.buffer == nil {
		p.buffer = make([]byte, 0, s.chunk())
	}
	p.buffer = append(p.buffer, entry...)
	if len(p.buffer) < s.chunk() {
		return nil
	}
	offset := s.next.Add(int64(s.chunk())) - int64(s.chunk())
	if _, err := s.file.WriteAt(p.buffer, offset); err != nil {
		return fmt.Errorf("temporary file: %w", err)
	}
	p.chunks = append(p.chunks, offset)
	p.buffer = p.buffer[:0]
	return nil
}

// read gives the entries of a partition in the order of their bytes.
func (s *spill) read(part int) ([][]byte, error) {
	p := &s.parts[part]
	p.mu.Lock()
	defer p.mu.Unlock()
	raw := make([]byte, len(p.chunks)*s.chunk(), len(p.chunks)*s.chunk()+len(p.buffer))
	for i, offset := range p.chunks {
		if _, err := s.file.ReadAt(raw[i*s.chunk():][:s.chunk()], offset); err != nil {
			return nil, fmt.Errorf("temporary file: %w", err)
		}
	}
	raw = append(raw, p.buffer...)
	entries := make([][]byte, len(raw)/s.size)
	for i := range entries {
		entries[i] = raw[i*s.size:][:s.size:s.size]
	}
	slices.SortFunc(entries, bytes.Compare)
	return entries, nil
}

// groups hands out the entries of a partition that begin with the same bytes,
// together.
func (s *spill) groups(part, key int, take func([][]byte) error) error {
	entries, err := s.read(part)
	if err != nil {
		return err
	}
	for len(entries) > 0 {
		n := 1
		for n < len(entries) && bytes.Equal(entries[n][:key], entries[0][:key]) {
			n++
		}
		if err := take(entries[:n]); err != nil {
			return err
		}
		entries = entries[n:]
	}
	return nil
}
