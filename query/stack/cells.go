package stack

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

// cellTree is a cell spelt out.
type cellTree struct {
	data    []byte // its last byte has a one after the last bit, if that is not the byte's last
	bits    int
	refs    []*cellTree
	special bool
}

// cellTrees is the form of cells that are spelt out.
var cellTrees = func() (cells *api.Shape[*cellTree]) {
	cells = api.New("LegacyCell",
		api.Object("data", api.New("LegacyBits",
			api.Bytes("b64", func(c *cellTree) []byte { return c.data }),
			api.Int64("len", func(c *cellTree) int64 { return int64(c.bits) }),
		), api.Same[*cellTree], nil),
		api.Written("refs", func(c *openapi.Components) openapi.Object { return api.ListOf(cells)(c) }, func(w *api.Writer, c *cellTree) bool {
			api.WriteList(w, cells, c.refs, api.Same[*cellTree])
			return true
		}),
		api.Bool("special", func(c *cellTree) bool { return c.special }),
	)
	return cells
}()

// maxTreeCells is how many cells of an answer are spelt out. Cells that many share
// are written once in a bag, but again and again here: a handful of them unfolds to
// more than any machine holds.
const maxTreeCells = 1 << 14

// treeOf is nil for a cell that unfolds to more than left.
func treeOf(c *cell.Cell, left *int) *cellTree {
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
	tree := &cellTree{data: data, bits: int(bits), special: c.IsSpecial()}
	for i := range c.RefsNum() {
		ref, err := c.PeekRef(int(i))
		if err != nil {
			return nil
		}
		child := treeOf(ref, left)
		if child == nil {
			return nil
		}
		tree.refs = append(tree.refs, child)
	}
	return tree
}

var (
	errCell = errors.New("not a cell that is spelt out")
	// errNoBits is returned for an object without the bits of a cell.
	errNoBits = errors.New("no bits of a cell")
)

// ParseCell reads a cell in the form {"data":{"b64","len"},"refs":[…],"special"}, of
// which the last may be missing.
func ParseCell(raw json.RawMessage) (*cell.Cell, error) {
	value, ok := parsed(raw)
	if !ok {
		return nil, errCell
	}
	left := node.MaxCells
	return cellOf(value, 0, &left)
}

// cellOf reads a cell of at most left cells.
func cellOf(value any, depth int, left *int) (*cell.Cell, error) {
	object, ok := value.(map[string]any)
	if *left--; *left < 0 || depth > node.MaxDepth || !ok {
		return nil, errCell
	}
	refs, ok := object["refs"].([]any)
	if !ok && object["refs"] != nil || len(refs) > 4 {
		return nil, errCell
	}
	b := cell.BeginCell()
	for _, ref := range refs {
		c, err := cellOf(ref, depth+1, left)
		if err != nil {
			return nil, errCell
		}
		b.MustStoreRef(c)
	}
	bits, ok := object["data"]
	if !ok {
		return nil, errNoBits
	}
	data, length, err := bitsOf(bits)
	if err != nil {
		return nil, err
	}
	special, ok := object["special"].(bool)
	if !ok && object["special"] != nil {
		return nil, errCell
	}
	c, err := b.MustStoreSlice(data, uint(length)).EndCellSpecial(special)
	if err != nil { // it has not what its type has
		return nil, errCell
	}
	return c, nil
}

// bitsOf reads {"b64","len"}.
func bitsOf(value any) (data []byte, length int, err error) {
	object, _ := value.(map[string]any)
	number, ok := object["len"].(json.Number)
	text, isText := object["b64"].(string)
	if !ok || !isText && object["b64"] != nil {
		return nil, 0, errCell
	}
	if length, err = strconv.Atoi(number.String()); err != nil {
		return nil, 0, errCell
	}
	data, err = base64.StdEncoding.DecodeString(text)
	if err != nil || length < 0 || length > 1023 || len(data) < (length+7)/8 {
		return nil, 0, errCell
	}
	return data, length, nil
}
