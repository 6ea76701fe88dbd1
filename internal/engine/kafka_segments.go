package engine

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// segment is what a walk over one file of record batches found.
type segment struct {
	base           int64 // offset in its name
	size           int64 // bytes of whole batches
	batches        int64
	first, end     int64 // offset of the first record, and after the last
	firstTimestamp int64
	maxTimestamp   int64
	minEpoch       int32
	maxEpoch       int32
	lastEpoch      int32
	transactional  bool
}

func segmentPath(dir string, base int64) string {
	return filepath.Join(dir, strconv.FormatInt(base, 10)+".dat")
}

func indexPath(dir string, base int64) string {
	return filepath.Join(dir, strconv.FormatInt(base, 10)+".idx")
}

// segmentBases lists a partition's files by their first offset.
func segmentBases(dir string) ([]int64, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, ignoreMissing(err)
	}
	var bases []int64
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".dat"); ok {
			if base, err := strconv.ParseInt(name, 10, 64); err == nil {
				bases = append(bases, base)
			}
		}
	}
	slices.Sort(bases)
	return bases, nil
}

// checkSegments walks all files of a partition. What is wrong at the very end, or
// behind what was on the disk for good, is a crash's doing and is cut off with what
// follows: a power loss may leave of several files any part. Anywhere else records are
// damaged that were acknowledged long ago, and the log must not be opened as if they
// had never been. Files without a record are removed.
func (p *preflight) checkSegments(ctx context.Context, dir string, gaps bool, synced int64) ([]segment, error) {
	bases, err := segmentBases(dir)
	if err != nil {
		return nil, err
	}
	var segments []segment
	for i, base := range bases {
		if n := len(segments); n > 0 && !gaps && segments[n-1].end != base {
			missing := fmt.Errorf("file %s follows a record with offset %d: a file is missing", segmentPath(dir, base), segments[n-1].end-1)
			if segments[n-1].end < synced {
				return nil, fmt.Errorf("%w: %s", missing, startAnew)
			}
			return segments, p.drop(dir, bases[i:], missing)
		}
		s, size, damage := walkSegment(ctx, segmentPath(dir, base), base, gaps)
		last := i == len(bases)-1
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case damage != nil && !last && s.end < synced:
			return nil, fmt.Errorf("file %s is damaged at byte %d: %w: %s", segmentPath(dir, base), s.size, damage, startAnew)
		case damage != nil:
			p.log.Warn().Str("file", segmentPath(dir, base)).Int64("bytes", size-s.size).Err(damage).Msg("cutting off an incomplete write")
		}
		if err := s.cut(dir, size); err != nil {
			return nil, err
		}
		if s.batches > 0 {
			segments = append(segments, s)
		}
		if damage != nil && !last {
			return segments, p.drop(dir, bases[i+1:], damage)
		}
	}
	return segments, nil
}

// drop removes files behind what is whole, the last one first, so that one that
// stays is found again.
func (p *preflight) drop(dir string, bases []int64, why error) error {
	p.log.Warn().Str("folder", dir).Int("files", len(bases)).Err(why).Msg("dropping files behind an incomplete write")
	for _, base := range slices.Backward(bases) {
		if err := (segment{base: base}).cut(dir, 0); err != nil {
			return err
		}
	}
	return nil
}

// cut removes what follows the last whole batch, in the index file too.
func (s segment) cut(dir string, size int64) error {
	if s.batches == 0 {
		return errors.Join(os.Remove(segmentPath(dir, s.base)), ignoreMissing(os.Remove(indexPath(dir, s.base))))
	}
	if size > s.size {
		if err := os.Truncate(segmentPath(dir, s.base), s.size); err != nil {
			return err
		}
	}
	info, err := os.Stat(indexPath(dir, s.base))
	if err != nil {
		return ignoreMissing(err)
	}
	if want := s.batches * indexEntryBytes; info.Size() > want {
		return os.Truncate(indexPath(dir, s.base), want)
	}
	return nil
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// A record batch, version 2 of Kafka's message format.
const (
	batchHeaderBytes = 61
	lengthAt         = 8 // counts from behind itself
	lengthEnd        = 12
	epochAt          = 12
	magicAt          = 16
	checksumAt       = 17
	attributesAt     = 21 // from here on the checksum counts
	lastDeltaAt      = 23
	firstTimeAt      = 27
	maxTimeAt        = 35

	transactionalBit = 1 << 4

	indexEntryBytes = 15
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// walkSegment reads batches up to the end or the first that is not whole. size
// is the file's; the error says what is wrong behind the last whole batch.
func walkSegment(ctx context.Context, path string, base int64, gaps bool) (s segment, size int64, damage error) {
	s = segment{base: base, first: base, end: base}
	f, err := os.Open(path)
	if err != nil {
		return s, 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return s, 0, err
	}
	in := bufio.NewReaderSize(f, 1<<20)
	var header [batchHeaderBytes]byte
	for s.size < info.Size() {
		if err := ctx.Err(); err != nil {
			return s, info.Size(), err
		}
		if err := readBatch(in, &header, info.Size()-s.size); err != nil {
			return s, info.Size(), err
		}
		if err := s.add(&header, gaps); err != nil {
			return s, info.Size(), err
		}
	}
	return s, info.Size(), nil
}

func readBatch(in *bufio.Reader, header *[batchHeaderBytes]byte, left int64) error {
	if _, err := io.ReadFull(in, header[:]); err != nil {
		return fmt.Errorf("incomplete header: %w", err)
	}
	length := int64(int32(binary.BigEndian.Uint32(header[lengthAt:])))
	if length < batchHeaderBytes-lengthEnd || lengthEnd+length > left {
		return fmt.Errorf("a batch of %d bytes where %d are left", lengthEnd+length, left)
	}
	if header[magicAt] != 2 {
		return fmt.Errorf("message format %d, expected 2", header[magicAt])
	}
	sum := crc32.New(castagnoli)
	sum.Write(header[attributesAt:])
	if _, err := io.CopyN(sum, in, lengthEnd+length-batchHeaderBytes); err != nil {
		return err
	}
	if sum.Sum32() != binary.BigEndian.Uint32(header[checksumAt:]) {
		return errors.New("wrong checksum")
	}
	return nil
}

// add takes in a whole batch.
func (s *segment) add(header *[batchHeaderBytes]byte, gaps bool) error {
	first := int64(binary.BigEndian.Uint64(header[:]))
	if first < s.end || first > s.end && !gaps {
		return fmt.Errorf("offset %d where %d is next", first, s.end)
	}
	epoch := int32(binary.BigEndian.Uint32(header[epochAt:]))
	if s.batches == 0 {
		s.first, s.minEpoch, s.maxEpoch = first, epoch, epoch
		s.firstTimestamp = int64(binary.BigEndian.Uint64(header[firstTimeAt:]))
	}
	s.batches++
	s.size += lengthEnd + int64(binary.BigEndian.Uint32(header[lengthAt:]))
	s.end = first + int64(binary.BigEndian.Uint32(header[lastDeltaAt:])) + 1
	s.minEpoch, s.maxEpoch, s.lastEpoch = min(s.minEpoch, epoch), max(s.maxEpoch, epoch), epoch
	s.maxTimestamp = max(s.maxTimestamp, int64(binary.BigEndian.Uint64(header[maxTimeAt:])))
	s.transactional = s.transactional || binary.BigEndian.Uint16(header[attributesAt:])&transactionalBit != 0
	return nil
}
