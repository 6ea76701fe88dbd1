package events

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Position is behind an event in the sequence of all events of the chain, which is the
// same on every replica and after every restart: the masterchain block of its bundle, and
// its number among the events that the bundle can have. As text it is seqno-number, and
// seqno alone behind all events of a bundle.
type Position struct {
	MCSeqno uint32
	Event   uint32 // EndOfBundle behind all
}

// EndOfBundle is behind all events of a bundle.
const EndOfBundle = math.MaxUint32

// EndOf is behind all events of the bundle of a masterchain block.
func EndOf(mcSeqno uint32) Position { return Position{mcSeqno, EndOfBundle} }

// Compare is the order of positions.
func (p Position) Compare(o Position) int {
	return cmp.Or(cmp.Compare(p.MCSeqno, o.MCSeqno), cmp.Compare(p.Event, o.Event))
}

// Before is behind all that was given out when an event comes that has the position: the
// bundles before its own, which it is behind already when no block has it.
func (p Position) Before() Position {
	if p.Event == EndOfBundle || p.MCSeqno == 0 {
		return p
	}
	return EndOf(p.MCSeqno - 1)
}

// Append appends the text.
func (p Position) Append(dst []byte) []byte {
	dst = strconv.AppendUint(dst, uint64(p.MCSeqno), 10)
	if p.Event != EndOfBundle {
		dst = strconv.AppendUint(append(dst, '-'), uint64(p.Event), 10)
	}
	return dst
}

// String is the text.
func (p Position) String() string { return string(p.Append(nil)) }

// ErrPosition says that a text is no position.
var ErrPosition = errors.New("invalid position")

// ParsePosition reads the text.
func ParsePosition(text string) (Position, error) {
	seqno, event, within := strings.Cut(text, "-")
	n, err := strconv.ParseUint(seqno, 10, 32)
	p := EndOf(uint32(n))
	if err == nil && within {
		n, err = strconv.ParseUint(event, 10, 32)
		p.Event = uint32(n)
	}
	if err != nil || p.String() != text {
		return Position{}, fmt.Errorf("%w: %s", ErrPosition, Shortened(text))
	}
	return p, nil
}

// Shortened is a text of a client as an answer repeats it.
func Shortened(text string) string {
	const most = 100
	if len(text) > most {
		return text[:most] + "…"
	}
	return text
}
