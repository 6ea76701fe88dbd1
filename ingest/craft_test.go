package ingest

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"tonscribe/internal/report"
)

func crc(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

// crafted is a BoC made by hand: cells with 2-byte references.
type crafted struct {
	cells []byte
	count int
}

// cell appends a cell.
func (c *crafted) cell(data []byte, refs ...int) {
	c.cells = append(c.cells, byte(len(refs)), byte(2*len(data)))
	c.cells = append(c.cells, data...)
	for _, r := range refs {
		c.cells = binary.BigEndian.AppendUint16(c.cells, uint16(r))
	}
	c.count++
}

// header is what goes before the cells.
func (c *crafted) header() []byte {
	h := []byte{0xb5, 0xee, 0x9c, 0x72, 2, 4}
	h = binary.BigEndian.AppendUint16(h, uint16(c.count))
	h = binary.BigEndian.AppendUint16(h, 1)
	h = binary.BigEndian.AppendUint16(h, 0)
	h = binary.BigEndian.AppendUint32(h, uint32(len(c.cells)))
	return binary.BigEndian.AppendUint16(h, 0)
}

// blockHead makes the cells that tell which block a BoC is: the root, with a
// chain of cells under it, and block_info.
func blockHead(t *testing.T, at blockID, depth int) *crafted {
	t.Helper()
	c := &crafted{}
	root := binary.BigEndian.AppendUint32(nil, tagBlock)
	root = binary.BigEndian.AppendUint32(root, 1)
	c.cell(root, 1, 2)
	c.cell(blockInfo(at))
	for i := range depth {
		if i == depth-1 {
			c.cell([]byte{1})
			break
		}
		c.cell([]byte{1}, 3+i)
	}
	return c
}

func blockInfo(at blockID) []byte {
	info := binary.BigEndian.AppendUint32(nil, tagBlockInfo)
	info = append(info, make([]byte, 6)...)
	info = binary.BigEndian.AppendUint32(info, at.seqno)
	info = binary.BigEndian.AppendUint32(info, 0)
	tag := at.shard & -at.shard
	length := 0
	for b := uint64(1) << 63; b != tag; b >>= 1 {
		length++
	}
	info = append(info, byte(length))
	info = binary.BigEndian.AppendUint32(info, uint32(at.workchain))
	return binary.BigEndian.AppendUint64(info, at.shard-tag)
}

// logBook keeps log lines.
type logBook struct {
	mu    sync.Mutex
	lines []string
	said  chan struct{}
}

func (l *logBook) Write(p []byte) (int, error) {
	l.mu.Lock()
	l.lines = append(l.lines, string(p))
	l.mu.Unlock()
	select {
	case l.said <- struct{}{}:
	default:
	}
	return len(p), nil
}

// has reports whether one line holds all words.
func (l *logBook) has(words ...string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range l.lines {
		all := true
		for _, w := range words {
			all = all && strings.Contains(line, w)
		}
		if all {
			return true
		}
	}
	return false
}

func (l *logBook) await(t *testing.T, words ...string) {
	t.Helper()
	limit := time.After(2 * time.Minute)
	for !l.has(words...) {
		select {
		case <-l.said:
		case <-limit:
			t.Fatalf("no log line with %q:\n%s", words, l)
		}
	}
}

func (l *logBook) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return fmt.Sprint(l.lines)
}

// observed makes a component that logs into a book.
func observed(t *testing.T, c Configuration, log Publisher, book *logBook) *Component {
	t.Helper()
	r := report.Silent()
	r.Log = zerolog.New(book)
	made, err := New(c, Dependencies{Report: r, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	return made
}
