package cell

import (
	"errors"
	"fmt"
	"math/bits"

	"github.com/xssnick/tonutils-go/tvm/cell"
)

var (
	// ErrDictionary is returned for a cell that is no dictionary.
	ErrDictionary = errors.New("not a dictionary")
	// ErrTooManyEntries is returned for a dictionary with more entries than the
	// caller reads.
	ErrTooManyEntries = errors.New("the dictionary has too many entries")
)

// Dictionary is a Hashmap (TL-B) of a stranger's. Its cells may be shared: a
// few dozen of them unfold to any number of entries, so that every reading of
// all of them has a limit.
type Dictionary struct {
	Root *cell.Cell // nil is empty
	Bits uint       // the size of keys
	// Open loads what stands for a cell, such as a library; nil where nothing does.
	Open func(*cell.Cell) (*cell.Cell, error)
}

// Entry is a key, left aligned in whole bytes, and its value.
type Entry struct {
	Key   []byte
	Value *cell.Slice
}

// Walk visits the entries in the order of their keys until visit returns false
// or limit entries were visited; then complete is false. It reads no more than
// 2·limit + Bits + 1 cells. The key belongs to Walk and is overwritten.
func (d Dictionary) Walk(limit int, visit func(key []byte, value *cell.Slice) bool) (complete bool, err error) {
	if d.Root == nil {
		return true, nil
	}
	w := walker{Dictionary: d, key: make([]byte, (d.Bits+7)/8), left: limit, visit: visit}
	more, err := w.edge(d.Root, 0)
	return more && err == nil, err
}

// Entries returns all entries in the order of their keys. Its error wraps
// ErrTooManyEntries when there are more than limit.
func (d Dictionary) Entries(limit int) (list []Entry, err error) {
	complete, err := d.Walk(limit, func(key []byte, value *cell.Slice) bool {
		list = append(list, Entry{append([]byte(nil), key...), value})
		return true
	})
	switch {
	case err != nil:
		return nil, err
	case !complete:
		return nil, fmt.Errorf("%w: more than %d", ErrTooManyEntries, limit)
	}
	return list, nil
}

// Find returns the value of a key, nil when there is none.
func (d Dictionary) Find(key []byte) (value *cell.Slice, err error) {
	if d.Root == nil {
		return nil, nil
	}
	value, err = d.Root.AsDict(d.Bits).LoadValue(cell.BeginCell().MustStoreSlice(key, d.Bits).EndCell())
	if errors.Is(err, cell.ErrNoSuchKeyInDict) {
		return nil, nil
	}
	return value, err
}

type walker struct {
	Dictionary
	key   []byte
	left  int
	visit func(key []byte, value *cell.Slice) bool
}

// edge reads an edge that begins behind at bits of the key.
func (w *walker) edge(c *cell.Cell, at uint) (more bool, err error) {
	if w.Open != nil {
		if c, err = w.Open(c); err != nil {
			return false, err
		}
	}
	if c == nil || c.IsSpecial() {
		return false, fmt.Errorf("%w: a special cell", ErrDictionary)
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
	if at == w.Bits {
		if w.left--; w.left < 0 {
			return false, nil
		}
		return w.visit(w.key, s), nil
	}
	for side := range 2 {
		next, err := s.LoadRefCell()
		if err != nil {
			return false, fmt.Errorf("%w: %w", ErrDictionary, err)
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
	room := w.Bits - at
	long, err := s.LoadBoolBit()
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrDictionary, err)
	}
	if !long { // hml_short: unary length
		for {
			one, err := s.LoadBoolBit()
			if err != nil {
				return 0, fmt.Errorf("%w: %w", ErrDictionary, err)
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
		return 0, fmt.Errorf("%w: %w", ErrDictionary, err)
	}
	var bit uint64
	if same { // hml_same
		if bit, err = s.LoadUInt(1); err != nil {
			return 0, fmt.Errorf("%w: %w", ErrDictionary, err)
		}
	}
	value, err := s.LoadUInt(uint(bits.Len(room)))
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrDictionary, err)
	}
	length = uint(value)
	if !same {
		return length, w.copyLabel(s, at, length, room)
	}
	if length > room {
		return 0, fmt.Errorf("%w: a label of %d bits where %d are left", ErrDictionary, length, room)
	}
	for i := range length {
		w.set(at+i, bit, 1)
	}
	return length, nil
}

func (w *walker) copyLabel(s *cell.Slice, at, length, room uint) error {
	if length > room {
		return fmt.Errorf("%w: a label of %d bits where %d are left", ErrDictionary, length, room)
	}
	for length > 0 {
		part := min(length, 32)
		value, err := s.LoadUInt(part)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrDictionary, err)
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
