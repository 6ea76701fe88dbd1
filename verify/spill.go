package verify

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"
	"os"
	"slices"
	"sync"
	"sync/atomic"
)

// spill is a temporary file of entries of so many words. They come in the order of one
// table and are to be matched with those of another, so they are dealt out to
// partitions by their first bits, which are those of a hash: each partition is
// small enough for memory. All of them take 32 bytes for each end of an internal
// message, about 300 for each transfer or burn of a token, and about 200 for each
// document.
type spill struct {
	file  *os.File
	size  int // of an entry, in words
	next  atomic.Int64
	shift int
	parts []spillPart
}

type spillPart struct {
	mu     sync.Mutex
	buffer []uint64
	chunks []int64 // offsets of full buffers in the file
}

const (
	chunkEntries = 512
	partEntries  = 256 << 10
	maxPartBits  = 12
)

// newSpill makes a spill for about so many entries of a size in words.
func newSpill(size int, entries uint64) (*spill, error) {
	file, err := os.CreateTemp("", "tonscribe-verify-")
	if err != nil {
		return nil, temporary(err)
	}
	// Unlinked at once, it is gone with the process whatever happens.
	if err := os.Remove(file.Name()); err != nil {
		file.Close()
		return nil, err
	}
	n := min(bits.Len64(entries/partEntries), maxPartBits)
	return &spill{file: file, size: size, shift: 64 - n, parts: make([]spillPart, 1<<n)}, nil
}

// temporary says of which file an error is, and what can be done.
func temporary(err error) error {
	return fmt.Errorf("temporary file (the variable TMPDIR names a folder with room for it): %w", err)
}

func (s *spill) close() {
	if s != nil {
		s.file.Close()
	}
}

// chunk is the size of a full buffer in the file, in bytes.
func (s *spill) chunk() int64 { return int64(8 * chunkEntries * s.size) }

// add takes an entry, which may be used again at once.
func (s *spill) add(entry ...uint64) error {
	p := &s.parts[entry[0]>>s.shift]
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.buffer == nil {
		p.buffer = make([]uint64, 0, chunkEntries*s.size)
	}
	if p.buffer = append(p.buffer, entry...); len(p.buffer) < cap(p.buffer) {
		return nil
	}
	offset := s.next.Add(s.chunk()) - s.chunk()
	raw, err := binary.Append(make([]byte, 0, s.chunk()), binary.NativeEndian, p.buffer)
	if err == nil {
		_, err = s.file.WriteAt(raw, offset)
	}
	if err != nil {
		return temporary(err)
	}
	p.chunks, p.buffer = append(p.chunks, offset), p.buffer[:0]
	return nil
}

// read gives the entries of a partition in ascending order.
func (s *spill) read(part int) ([][]uint64, error) {
	p := &s.parts[part]
	p.mu.Lock()
	defer p.mu.Unlock()
	words := make([]uint64, len(p.chunks)*chunkEntries*s.size, len(p.chunks)*chunkEntries*s.size+len(p.buffer))
	for i, offset := range p.chunks {
		if err := binary.Read(io.NewSectionReader(s.file, offset, s.chunk()), binary.NativeEndian, words[i*chunkEntries*s.size:][:chunkEntries*s.size]); err != nil {
			return nil, fmt.Errorf("temporary file: %w", err)
		}
	}
	words = append(words, p.buffer...)
	entries := slices.AppendSeq(make([][]uint64, 0, len(words)/s.size), slices.Chunk(words, s.size))
	slices.SortFunc(entries, slices.Compare)
	return entries, nil
}

// groups hands out the entries of a partition that begin with the same words,
// together.
func (s *spill) groups(part, key int, take func([][]uint64) error) error {
	entries, err := s.read(part)
	if err != nil {
		return err
	}
	for len(entries) > 0 {
		n := 1
		for n < len(entries) && slices.Equal(entries[n][:key], entries[0][:key]) {
			n++
		}
		if err := take(entries[:n]); err != nil {
			return err
		}
		entries = entries[n:]
	}
	return nil
}

// wordsOf are the first words of a hash or an account id.
func wordsOf(hash []byte) (w [4]uint64) {
	for i := range min(len(hash)/8, len(w)) {
		w[i] = binary.BigEndian.Uint64(hash[8*i:])
	}
	return w
}

// halfOf is half of a hash, zeros without one.
func halfOf(hash []byte) [2]uint64 { w := wordsOf(hash); return [2]uint64(w[:]) }

// hashOf is the hash that an entry begins with.
func hashOf(entry []uint64) string {
	var raw [32]byte
	for i, word := range entry[:4] {
		binary.BigEndian.PutUint64(raw[8*i:], word)
	}
	return string(raw[:])
}
