package v2

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"strconv"

	"github.com/xssnick/tonutils-go/tvm/cell"
)

var (
	errSpelt = errors.New("not a cell that is spelt out")
	// errNoBits is returned for an object without the bits of a cell.
	errNoBits = errors.New("no bits of a cell")
)

// parseSpelt reads a cell in the form {"data":{"b64","len"},"refs":[…]}.
func parseSpelt(raw json.RawMessage) (*cell.Cell, error) {
	r := speltReader{newJSONReader(raw), mostCells}
	return r.cell(0, func(string) error { return r.skip(errSpelt) })
}

// speltReader reads cells that are spelt out, in one pass; left is how many more
// there may be.
type speltReader struct {
	*jsonReader
	left int
}

// cell reads a cell. other is called with the keys that do not belong to it, and
// reads their values.
func (r *speltReader) cell(depth int, other func(key string) error) (*cell.Cell, error) {
	if r.left--; r.left < 0 || depth > mostDepth {
		return nil, errSpelt
	}
	data, bits := []byte(nil), -1
	var refs []*cell.Cell
	err := r.object(errSpelt, func(key string) (err error) {
		switch key {
		case "data":
			data, bits, err = r.bits()
			return err
		case "refs":
			refs, err = r.references(depth)
			return err
		}
		return other(key)
	})
	switch {
	case err != nil:
		return nil, err
	case bits < 0:
		return nil, errNoBits
	}
	b := cell.BeginCell()
	if err := b.StoreSlice(data, uint(bits)); err != nil {
		return nil, errSpelt
	}
	for _, ref := range refs {
		if err := b.StoreRef(ref); err != nil {
			return nil, errSpelt
		}
	}
	return b.EndCell(), nil
}

// bits reads {"b64","len"}.
func (r *speltReader) bits() (data []byte, length int, err error) {
	length = -1
	err = r.object(errSpelt, func(key string) error {
		switch key {
		case "b64":
			text, err := r.text(errSpelt)
			if err != nil && !errors.Is(err, errNull) {
				return err
			}
			data, err = base64.StdEncoding.DecodeString(text)
			return err
		case "len":
			raw, err := r.raw(errSpelt)
			if err != nil {
				return err
			}
			length, err = strconv.Atoi(string(raw))
			return err
		}
		return r.skip(errSpelt)
	})
	if err == nil && (length < 0 || length > 1023 || len(data) < (length+7)/8) {
		err = errSpelt
	}
	return data, length, err
}

// references reads up to four cells; null is none.
func (r *speltReader) references(depth int) (refs []*cell.Cell, err error) {
	err = r.array(errSpelt, func() error {
		if len(refs) == 4 {
			return errSpelt
		}
		ref, err := r.cell(depth+1, func(string) error { return r.skip(errSpelt) })
		refs = append(refs, ref)
		return notNull(err, errSpelt)
	})
	if errors.Is(err, errNull) {
		return nil, nil
	}
	return refs, err
}
