package contract

import (
	"errors"
	"fmt"
	"math/bits"

	"github.com/xssnick/tonutils-go/tvm/cell"
)

// errDictionary is what a dictionary that is none ends with.
var errDictionary = errors.New("not a dictionary")

// walk reads a dictionary (Hashmap n) in the order of its keys, which are left
// aligned in whole bytes, until visit gives false or limit leaves were read:
// then complete is false. Nothing but what is visited is read, so a dictionary
// of any size costs no more than the limit.
func walk(root *cell.Cell, n uint, limit int, visit func(key []byte, value *cell.Slice) bool) (complete bool, err error) {
	w := walker{key: make([]byte, (n+7)/8), n: n, left: limit, visit: visit}
	more, err := w.edge(root, 0)
	return more && err == nil, err
}

type walker struct {
	key   []byte
	n     uint
	left  int
	visit func(key []byte, value *cell.Slice) bool
	// libraries are those in which parts of the dictionary may lie.
	libraries Libraries
}

// edge reads an edge that begins behind at bits of the key.
func (w *walker) edge(c *cell.Cell, at uint) (more bool, err error) {
	c, err = w.libraries.open(c)
	if err != nil {
		return false, err
	}
	if c == nil || c.IsSpecial() {
		return false, fmt.Errorf("%w: a special cell", errDictionary)
	}
	s, err := c.BeginParse()
	if err != nil {
		return false, err
	}
	length, err := w.label(s, at)
	if err != nil {
		return false, err
	}
	at += length
	if at == w.n {
		if w.left--; w.left < 0 {
			return false, nil
		}
		return w.visit(w.key, s), nil
	}
	for side := range 2 {
		next, err := s.LoadRefCell()
		if err != nil {
			return false, fmt.Errorf("%w: %w", errDictionary, err)
		}
		w.set(at, uint64(side), 1)
		if more, err := w.edge(next, at+1); !more || err != nil {
			return false, err
		}
	}
	return true, nil
}

// label reads HmLabel into the key.
func (w *walker) label(s *cell.Slice, at uint) (length uint, err error) {
	room := w.n - at
	long, err := s.LoadBoolBit()
	if err != nil {
		return 0, fmt.Errorf("%w: %w", errDictionary, err)
	}
	if !long { // hml_short: unary length
		for {
			one, err := s.LoadBoolBit()
			if err != nil {
				return 0, fmt.Errorf("%w: %w", errDictionary, err)
			}
			if !one {
				break
			}
			length++
		}
		return length, w.copyLabel(s, at, length, room)
	}
	same, err := s.LoadBoolBit()
	if err != nil {
		return 0, fmt.Errorf("%w: %w", errDictionary, err)
	}
	var bit uint64
	if same { // hml_same
		if bit, err = s.LoadUInt(1); err != nil {
			return 0, fmt.Errorf("%w: %w", errDictionary, err)
		}
	}
	value, err := s.LoadUInt(uint(bits.Len(room)))
	if err != nil {
		return 0, fmt.Errorf("%w: %w", errDictionary, err)
	}
	length = uint(value)
	if !same {
		return length, w.copyLabel(s, at, length, room)
	}
	if length > room {
		return 0, fmt.Errorf("%w: a label of %d bits where %d are left", errDictionary, length, room)
	}
	for i := range length {
		w.set(at+i, bit, 1)
	}
	return length, nil
}

func (w *walker) copyLabel(s *cell.Slice, at, length, room uint) error {
	if length > room {
		return fmt.Errorf("%w: a label of %d bits where %d are left", errDictionary, length, room)
	}
	for length > 0 {
		part := min(length, 32)
		value, err := s.LoadUInt(part)
		if err != nil {
			return fmt.Errorf("%w: %w", errDictionary, err)
		}
		w.set(at, value, part)
		at, length = at+part, length-part
	}
	return nil
}

// set writes n bits of the key.
func (w *walker) set(at uint, value uint64, n uint) {
	for i := range n {
		mask := byte(0x80) >> ((at + i) % 8)
		if value>>(n-1-i)&1 == 1 {
			w.key[(at+i)/8] |= mask
		} else {
			w.key[(at+i)/8] &^= mask
		}
	}
}

// find gives the value of a key of a dictionary (Hashmap n), nil when it is not
// there.
func find(root *cell.Cell, key []byte) (value *cell.Slice, err error) {
	if root == nil {
		return nil, nil
	}
	dict := root.AsDict(uint(len(key) * 8))
	value, err = dict.LoadValue(cell.BeginCell().MustStoreSlice(key, uint(len(key)*8)).EndCell())
	if errors.Is(err, cell.ErrNoSuchKeyInDict) {
		return nil, nil
	}
	return value, err
}
