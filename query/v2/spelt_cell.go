package v2

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"strconv"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/query/api"
	"tonscribe/query/node"
	"tonscribe/query/openapi"
)

// legacyCell is a cell spelt out.
type legacyCell struct {
	data    []byte // its last byte has a one after the last bit, if that is not the byte's last
	bits    int
	refs    []*legacyCell
	special bool
}

// legacyCells is the form of cells that are spelt out.
var legacyCells = func() (cells *api.Shape[*legacyCell]) {
	cells = api.New("LegacyCell",
		api.Object("data", api.New("LegacyBits",
			api.Bytes("b64", func(c *legacyCell) []byte { return c.data }),
			api.Int64("len", func(c *legacyCell) int64 { return int64(c.bits) }),
		), api.Same[*legacyCell], nil),
		api.Written("refs", func(c *openapi.Components) openapi.Object { return api.ListOf(cells)(c) }, func(w *api.Writer, c *legacyCell) bool {
			api.WriteList(w, cells, c.refs, api.Same[*legacyCell])
			return true
		}),
		api.Bool("special", func(c *legacyCell) bool { return c.special }),
	)
	return cells
}()

// maxSpelt is how many cells of an answer are spelt out. Cells that many share are
// written once in a bag, but again and again here: a handful of them unfolds to more
// than any machine holds.
const maxSpelt = 1 << 14

// spell is nil for a cell that unfolds to more than left.
func spell(c *cell.Cell, left *int) *legacyCell {
	if *left--; *left < 0 {
		return nil
	}
	bits, data, err := c.ToBuilder().ToSlice().RestBits()
	if err != nil {
		return nil
	}
	if rest := bits % 8; rest != 0 {
		data[len(data)-1] |= 0x80 >> rest
	}
	spelt := &legacyCell{data: data, bits: int(bits), special: c.IsSpecial()}
	for i := range c.RefsNum() {
		ref, err := c.PeekRef(int(i))
		if err != nil {
			return nil
		}
		child := spell(ref, left)
		if child == nil {
			return nil
		}
		spelt.refs = append(spelt.refs, child)
	}
	return spelt
}

var (
	errSpelt = errors.New("not a cell that is spelt out")
	// errNoBits is returned for an object without the bits of a cell.
	errNoBits = errors.New("no bits of a cell")
)

// parseSpelt reads a cell in the form {"data":{"b64","len"},"refs":[…]}.
func parseSpelt(raw json.RawMessage) (*cell.Cell, error) {
	r := speltReader{newJSONReader(raw), node.MaxCells}
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
	if r.left--; r.left < 0 || depth > node.MaxDepth {
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
