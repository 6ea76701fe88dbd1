package contract

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/schema/record"
	toncell "tonscribe/ton/cell"
)

const (
	// maxValue is how many bytes of an attribute are kept.
	maxValue = 8192
	// maxContentCells is how many cells of a content are read. Cells can be
	// shared: without a limit a few of them unfold to any number of bytes.
	maxContentCells = 4096
	// maxUnnamed is how many leaves are read to find attributes whose names are
	// not known, and maxUnnamedBytes what is kept of them.
	maxUnnamed      = 64
	maxUnnamedBytes = 16 << 10
)

// names of the attributes of TEP-64 that are looked for.
var attributeNames = []string{
	"amount_style", "content_url", "decimals", "description", "image", "image_data", "marketplace", "name",
	"render_type", "social", "symbol", "uri",
}

var nameOfKey = func() map[[32]byte]string {
	names := map[[32]byte]string{}
	for _, name := range attributeNames {
		names[sha256.Sum256([]byte(name))] = name
	}
	return names
}()

// Content reads token content (TEP-64); false for what is none.
func Content(c *cell.Cell) (content *record.TokenContent, ok bool) {
	r := reader{left: maxContentCells}
	return r.content(c)
}

// content reads token content, and counts it when a limit ended that.
func (p *probe) content(c *cell.Cell) (content *record.TokenContent, ok bool) {
	r := reader{left: maxContentCells}
	content, ok = r.content(c)
	if r.cut {
		p.findings.Cut++
	}
	return content, ok
}

// reader reads a content; left is how many more cells it may.
type reader struct {
	left int
	cut  bool // there is more than what was read
}

func (r *reader) content(c *cell.Cell) (content *record.TokenContent, ok bool) {
	if c == nil || c.IsSpecial() {
		return nil, false
	}
	s, err := c.BeginParse()
	if err != nil {
		return nil, false
	}
	tag, err := s.LoadUInt(8)
	if err != nil {
		return nil, false
	}
	switch tag {
	case 0:
		return r.onChain(s)
	case 1:
		uri, ok := r.snake(s)
		if !ok || !utf8.Valid(uri) {
			return nil, false
		}
		return &record.TokenContent{Layout: record.TokenContent_OFF_CHAIN,
			Attributes: []*record.TokenAttribute{{Name: "uri", Value: text(uri)}}}, true
	}
	return nil, false
}

func (r *reader) onChain(s *cell.Slice) (*record.TokenContent, bool) {
	some, err := s.LoadBoolBit()
	if err != nil {
		return nil, false
	}
	content := &record.TokenContent{}
	if !some {
		return content, true
	}
	root, err := s.LoadRefCell()
	if err != nil {
		return nil, false
	}
	for _, name := range attributeNames {
		key := sha256.Sum256([]byte(name))
		value, err := toncell.Dictionary{Root: root, Bits: 256}.Find(key[:])
		if err != nil {
			return nil, false
		}
		if a := r.attribute(name, value); a != nil {
			content.Attributes = append(content.Attributes, a)
			if name == "uri" {
				content.Layout = record.TokenContent_SEMI_CHAIN
			}
		}
	}
	content.Attributes = append(content.Attributes, r.unnamed(root)...)
	slices.SortFunc(content.Attributes, func(a, b *record.TokenAttribute) int { return strings.Compare(a.Name, b.Name) })
	return content, true
}

// unnamed are the attributes whose names are not known, as far as they are text.
func (r *reader) unnamed(root *cell.Cell) (found []*record.TokenAttribute) {
	room := maxUnnamedBytes
	all, err := toncell.Dictionary{Root: root, Bits: 256}.Walk(maxUnnamed, func(key []byte, value *cell.Slice) bool {
		if _, named := nameOfKey[[32]byte(key)]; !named {
			if a := r.attribute(hex.EncodeToString(key), value); a != nil {
				room -= len(a.Value)
				found = append(found, a)
			}
		}
		return room > 0
	})
	r.cut = r.cut || err == nil && !all
	return found
}

// attribute is nil when the value is not what an attribute should be.
func (r *reader) attribute(name string, value *cell.Slice) *record.TokenAttribute {
	if value == nil {
		return nil
	}
	raw, ok := r.attributeValue(value)
	switch {
	case !ok:
		return nil
	case name == "image_data":
		return &record.TokenAttribute{Name: name, Value: base64.StdEncoding.EncodeToString(raw)}
	case !utf8.Valid(raw):
		// What is cut off may have been the rest of a character.
		if len(raw) < maxValue || !utf8.Valid(raw[:lastRune(raw)]) {
			return nil
		}
		raw = raw[:lastRune(raw)]
	}
	return &record.TokenAttribute{Name: name, Value: text(raw)}
}

// text is bytes as a table and JSON take them.
func text(raw []byte) string { return strings.ReplaceAll(string(raw), "\x00", "") }

// lastRune is where the last character begins.
func lastRune(raw []byte) int {
	for i := len(raw) - 1; i >= max(0, len(raw)-utf8.UTFMax); i-- {
		if utf8.RuneStart(raw[i]) {
			return i
		}
	}
	return len(raw)
}

// attributeValue reads a content cell that is referred to, or in its place.
func (r *reader) attributeValue(s *cell.Slice) ([]byte, bool) {
	if s.BitsLeft() == 0 && s.RefsNum() >= 1 {
		next, err := s.LoadRef()
		if err != nil || next.IsSpecial() {
			return nil, false
		}
		s = next
	}
	if s.BitsLeft() == 0 {
		return nil, s.RefsNum() == 0
	}
	tag, err := s.LoadUInt(8)
	if err != nil {
		return nil, false
	}
	switch tag {
	case 0:
		return r.snake(s)
	case 1:
		return r.chunked(s)
	}
	return nil, false
}

// snake reads the bytes of a chain of first references, no more than maxValue.
func (r *reader) snake(s *cell.Slice) (all []byte, ok bool) {
	for ; r.left > 0; r.left-- {
		n := s.BitsLeft()
		if n%8 != 0 {
			return nil, false
		}
		part, err := s.LoadSlice(n)
		if err != nil {
			return nil, false
		}
		all = append(all, part...)
		if len(all) >= maxValue {
			r.cut = r.cut || len(all) > maxValue || s.RefsNum() > 0
			return all[:maxValue], true
		}
		if s.RefsNum() == 0 {
			return all, true
		}
		if s, err = s.LoadRef(); err != nil || s.IsSpecial() {
			return nil, false
		}
	}
	r.cut = true
	return nil, false
}

// chunked reads a dictionary from 0, 1, 2… to snakes.
func (r *reader) chunked(s *cell.Slice) (all []byte, ok bool) {
	some, err := s.LoadBoolBit()
	if err != nil || !some {
		return nil, err == nil
	}
	root, err := s.LoadRefCell()
	if err != nil {
		return nil, false
	}
	ok = true
	next := uint32(0)
	_, err = toncell.Dictionary{Root: root, Bits: 32}.Walk(maxValue, func(key []byte, value *cell.Slice) bool {
		index := uint32(key[0])<<24 | uint32(key[1])<<16 | uint32(key[2])<<8 | uint32(key[3])
		part, isSnake := r.chunk(value)
		if index != next || !isSnake {
			ok = false
			return false
		}
		next++
		all = append(all, part...)
		return len(all) < maxValue
	})
	r.cut = r.cut || len(all) >= maxValue
	return all[:min(len(all), maxValue)], ok && err == nil
}

func (r *reader) chunk(value *cell.Slice) ([]byte, bool) {
	if value.RefsNum() == 0 {
		return nil, false
	}
	s, err := value.LoadRef()
	if err != nil || s.IsSpecial() {
		return nil, false
	}
	return r.snake(s)
}
