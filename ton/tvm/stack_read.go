package tvm

import (
	"fmt"

	"github.com/xssnick/tonutils-go/tvm/cell"
)

// DecodeStack reads TL-B VmStack, as lite servers and the v2 API's clients send
// it.
func DecodeStack(encoded *cell.Cell) (stack Tuple, err error) {
	defer func() {
		if broken := recover(); broken != nil {
			err = fmt.Errorf("stack: %v", broken)
		}
	}()
	next, err := encoded.BeginParse()
	if err != nil {
		return nil, fmt.Errorf("stack: %w", err)
	}
	depth, err := next.LoadUInt(24)
	if err != nil {
		return nil, fmt.Errorf("stack: %w", err)
	}
	if depth > maxValues {
		return nil, fmt.Errorf("stack: %w", ErrStackTooLarge)
	}
	reader := valueReader{left: maxValues}
	stack = make(Tuple, depth)
	for i := len(stack) - 1; i >= 0; i-- {
		rest, err := next.LoadRef()
		if err != nil {
			return nil, fmt.Errorf("stack value %d: %w", i, err)
		}
		if stack[i], err = reader.read(next, 0); err != nil {
			return nil, fmt.Errorf("stack value %d: %w", i, err)
		}
		next = rest
	}
	return stack, nil
}

type valueReader struct{ left int }

// read reads TL-B VmStackValue.
func (r *valueReader) read(s *cell.Slice, depth int) (any, error) {
	if r.left--; r.left < 0 || depth > maxNesting {
		return nil, ErrStackTooLarge
	}
	tag, err := s.LoadUInt(8)
	if err != nil {
		return nil, err
	}
	switch tag {
	case 0x00:
		return nil, nil
	case 0x01:
		return s.LoadBigInt(64)
	case 0x02:
		return readLong(s)
	case 0x03:
		return s.LoadRefCell()
	case 0x04:
		return readSlice(s)
	case 0x05:
		held, err := s.LoadRefCell()
		if err != nil {
			return nil, err
		}
		return held.ToBuilder(), nil
	case 0x07:
		return r.readTuple(s, depth)
	}
	return nil, fmt.Errorf("a value with tag %#02x", tag)
}

func readLong(s *cell.Slice) (any, error) {
	kind, err := s.LoadUInt(7)
	if err != nil {
		return nil, err
	}
	switch kind {
	case 0:
		return s.LoadBigInt(257)
	case 0x7f:
		return NaN{}, nil
	}
	return nil, fmt.Errorf("an integer with tag %#02x", kind)
}

func readSlice(s *cell.Slice) (any, error) {
	base, err := s.LoadRefCell()
	if err != nil {
		return nil, err
	}
	var bounds [4]uint64
	for i, bits := range []uint{10, 10, 3, 3} {
		if bounds[i], err = s.LoadUInt(bits); err != nil {
			return nil, err
		}
	}
	if bounds[0] > bounds[1] || bounds[2] > bounds[3] {
		return nil, fmt.Errorf("a slice from %d to %d, references from %d to %d", bounds[0], bounds[1], bounds[2], bounds[3])
	}
	part, err := base.BeginParse()
	if err != nil {
		return nil, err
	}
	if err := part.SkipBitsAndRefs(uint(bounds[0]), int(bounds[2])); err != nil {
		return nil, err
	}
	return part.PreloadSubslice(uint(bounds[1]-bounds[0]), int(bounds[3]-bounds[2]))
}

func (r *valueReader) readTuple(s *cell.Slice, depth int) (any, error) {
	length, err := s.LoadUInt(16)
	if err != nil {
		return nil, err
	}
	if length > 255 {
		return nil, fmt.Errorf("a tuple of %d values", length)
	}
	values := make(Tuple, length)
	for i := len(values) - 1; i >= 0; i-- {
		var head *cell.Slice
		if i > 0 {
			if head, err = s.LoadRef(); err != nil {
				return nil, err
			}
		}
		tail := s
		// The first value of two or more is the head itself, not a pair.
		if i > 0 || length == 1 {
			if tail, err = s.LoadRef(); err != nil {
				return nil, err
			}
		}
		if values[i], err = r.read(tail, depth+1); err != nil {
			return nil, err
		}
		s = head
	}
	return values, nil
}
