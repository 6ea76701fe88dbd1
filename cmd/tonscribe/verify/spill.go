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

// spill is a temporary file of the ends of internal messages. They come in the
// order of accounts and are to be matched by hash, so they are dealt out to
// partitions by the first bits of the hash, each small enough for memory.
type spill struct {
	file  *os.File
	next  atomic.Int64
	shift int
	parts []spillPart
}

type spillPart struct {
	mu     sync.Mutex
	buffer []byte
	chunks []int64 // offsets of full buffers in the file
}

// messageEnd is an end of a message.
type messageEnd struct {
	hash      [16]byte // the first half
	digest    uint64   // of all that the record says of the message
	createdLT uint64
	produced  bool
	inside    bool // must have been produced inside the range
}

const (
	endSize      = 32
	chunkSize    = 512 * endSize
	partEnds     = 256 << 10
	endsPerTx    = 3
	maxPartBits  = 12
	producedFlag = 1 << 63
	insideFlag   = 1 << 62
)

func newSpill(folder string, transactions uint64) (*spill, error) {
	file, err := os.CreateTemp(folder, "tonscribe-verify-")
	if err != nil {
		return nil, fmt.Errorf("temporary file for messages: %w", err)
	}
	// Unlinked at once, it is gone with the process whatever happens.
	if err := os.Remove(file.Name()); err != nil {
		file.Close()
		return nil, err
	}
	n := min(bits.Len64(transactions*endsPerTx/partEnds), maxPartBits)
	return &spill{file: file, shift: 64 - n, parts: make([]spillPart, 1<<n)}, nil
}

func (s *spill) close() { s.file.Close() }

func (s *spill) add(e *messageEnd) error {
	p := &s.parts[binary.BigEndian.Uint64(e.hash[:])>>s.shift]
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.buffer == nil {
		p.buffer = make([]byte, 0, chunkSize)
	}
	lt := e.createdLT &^ (producedFlag | insideFlag)
	if e.produced {
		lt |= producedFlag
	}
	if e.inside {
		lt |= insideFlag
	}
	p.buffer = append(p.buffer, e.hash[:]...)
	p.buffer = binary.BigEndian.AppendUint64(p.buffer, lt)
	p.buffer = binary.BigEndian.AppendUint64(p.buffer, e.digest)
	if len(p.buffer) < chunkSize {
		return nil
	}
	offset := s.next.Add(chunkSize) - chunkSize
	if _, err := s.file.WriteAt(p.buffer, offset); err != nil {
		return fmt.Errorf("temporary file for messages: %w", err)
	}
	p.chunks = append(p.chunks, offset)
	p.buffer = p.buffer[:0]
	return nil
}

// read gives the ends of a partition, those of one message next to each other.
func (s *spill) read(part int) ([]messageEnd, error) {
	p := &s.parts[part]
	raw := make([]byte, len(p.chunks)*chunkSize, len(p.chunks)*chunkSize+len(p.buffer))
	for i, offset := range p.chunks {
		if _, err := s.file.ReadAt(raw[i*chunkSize:][:chunkSize], offset); err != nil {
			return nil, fmt.Errorf("temporary file for messages: %w", err)
		}
	}
	raw = append(raw, p.buffer...)
	ends := make([]messageEnd, len(raw)/endSize)
	for i := range ends {
		b := raw[i*endSize:]
		lt := binary.BigEndian.Uint64(b[16:])
		ends[i] = messageEnd{
			hash: [16]byte(b), digest: binary.BigEndian.Uint64(b[24:]), createdLT: lt &^ (producedFlag | insideFlag),
			produced: lt&producedFlag != 0, inside: lt&insideFlag != 0,
		}
	}
	slices.SortFunc(ends, func(a, b messageEnd) int { return bytes.Compare(a.hash[:], b.hash[:]) })
	return ends, nil
}
