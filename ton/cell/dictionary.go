package cell

import (
	"errors"
	"fmt"

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
	r := NewReader(c)
	length, err := ReadLabel(r, w.key, at, w.Bits)
	if err != nil {
		return false, fmt.Errorf("%w: %w", ErrDictionary, err)
	}
	at += length
	if at == w.Bits {
		if w.left--; w.left < 0 {
			return false, nil
		}
		return w.visit(w.key, r.Slice()), nil
	}
	for side := range 2 {
		next := r.Ref()
		if err := r.Err(); err != nil {
			return false, fmt.Errorf("%w: %w", ErrDictionary, err)
		}
		SetBit(w.key, at, side == 1)
		if more, err := w.edge(next, at+1); !more || err != nil {
			return false, err
		}
	}
	return true, nil
}
