package streams

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
)

// parser takes a server's bytes as they come, and finds the messages in them, of which it
// gives the first bytes.
type parser interface {
	take(raw []byte, message func(first []byte)) error
}

// first is how many bytes of a message are looked at.
const first = 160

// collector keeps the first bytes of something.
type collector struct {
	raw [first]byte
	n   int
}

func (c *collector) add(raw []byte) { c.n += copy(c.raw[c.n:], raw) }
func (c *collector) text() []byte   { return c.raw[:c.n] }
func (c *collector) reset()         { c.n = 0 }

// eventParser reads a stream of events in chunks (RFC 9112, 7.1).
type eventParser struct {
	state chunkState
	size  int
	line  collector
	skips bool // the rest of the line is of no interest
}

type chunkState uint8

const (
	inSize chunkState = iota
	inData
	inEnd // the line end behind data
)

// errEnd is the end of a stream of events.
var errEnd = errors.New("the server ended the stream")

func (p *eventParser) take(raw []byte, message func([]byte)) error {
	for len(raw) > 0 {
		switch p.state {
		case inSize:
			b := raw[0]
			raw = raw[1:]
			switch {
			case b == '\n' && p.size == 0:
				return errEnd
			case b == '\n':
				p.state = inData
			case b != '\r':
				digit, err := strconv.ParseUint(string(b), 16, 8)
				if err != nil || p.size > 1<<28 {
					return fmt.Errorf("%q is no digit of a chunk's size", b)
				}
				p.size = p.size<<4 | int(digit)
			}
		case inData:
			n := min(p.size, len(raw))
			p.lines(raw[:n], message)
			raw = raw[n:]
			if p.size -= n; p.size == 0 {
				p.state = inEnd
			}
		case inEnd:
			if raw[0] == '\n' {
				p.state = inSize
			}
			raw = raw[1:]
		}
	}
	return nil
}

var dataField = []byte("data: ")

func (p *eventParser) lines(raw []byte, message func([]byte)) {
	for len(raw) > 0 {
		end := bytes.IndexByte(raw, '\n')
		part := raw
		if end >= 0 {
			part = raw[:end]
		}
		if !p.skips {
			p.line.add(part)
			if data, is := bytes.CutPrefix(p.line.text(), dataField); is && (end >= 0 || p.line.n == first) {
				message(data)
				p.skips = true
			}
		}
		if end < 0 {
			return
		}
		p.line.reset()
		p.skips = false
		raw = raw[end+1:]
	}
}

// socketParser reads the frames of a WebSocket's server (RFC 6455, 5.2), which are not
// masked.
type socketParser struct {
	header  [10]byte
	n       int // bytes of it
	rest    int // of the payload
	payload collector
	pong    func(payload []byte) error
	closed  func(code uint16)
}

const (
	textFrame  = 0x1
	closeFrame = 0x8
	pingFrame  = 0x9
	pongFrame  = 0xA
	finalFrame = 0x80
)

func (p *socketParser) take(raw []byte, message func([]byte)) error {
	for len(raw) > 0 {
		if want := p.headerSize(); p.n < want {
			n := copy(p.header[p.n:want], raw)
			p.n += n
			raw = raw[n:]
			if p.n < p.headerSize() {
				continue
			}
			p.rest = p.size()
			p.payload.reset()
		}
		n := min(p.rest, len(raw))
		p.payload.add(raw[:n])
		raw = raw[n:]
		if p.rest -= n; p.rest > 0 {
			return nil
		}
		p.n = 0
		if err := p.frame(message); err != nil {
			return err
		}
	}
	return nil
}

// headerSize is how long the header is, as far as it is known.
func (p *socketParser) headerSize() int {
	switch {
	case p.n < 2:
		return 2
	case p.header[1] == 126:
		return 4
	case p.header[1] == 127:
		return 10
	}
	return 2
}

func (p *socketParser) size() int {
	switch n := p.header[1]; n {
	case 126:
		return int(binary.BigEndian.Uint16(p.header[2:]))
	case 127:
		return int(binary.BigEndian.Uint64(p.header[2:]) & (1<<31 - 1))
	default:
		return int(n)
	}
}

func (p *socketParser) frame(message func([]byte)) error {
	switch p.header[0] {
	case finalFrame | textFrame:
		message(p.payload.text())
	case finalFrame | pingFrame:
		return p.pong(p.payload.text())
	case finalFrame | closeFrame:
		if text := p.payload.text(); len(text) >= 2 {
			p.closed(binary.BigEndian.Uint16(text))
		}
		return errEnd
	case finalFrame | pongFrame:
	default:
		return fmt.Errorf("frame %#x is not a whole one of a text", p.header[0])
	}
	return nil
}

// clientFrame is a short frame as clients send them, with a mask of zeros.
func clientFrame(kind byte, payload []byte) []byte {
	const masked = 0x80
	raw := []byte{finalFrame | kind}
	switch n := len(payload); {
	case n < 126:
		raw = append(raw, masked|byte(n))
	default:
		raw = binary.BigEndian.AppendUint16(append(raw, masked|126), uint16(n))
	}
	return append(append(raw, 0, 0, 0, 0), payload...)
}

// member is the text of a member among the first bytes of an object, nil where there is
// none.
func member(object []byte, name string) []byte {
	_, after, found := bytes.Cut(object, []byte(`"`+name+`":"`))
	text, _, ends := bytes.Cut(after, []byte(`"`))
	if !found || !ends {
		return nil
	}
	return text
}
