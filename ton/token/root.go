// Package token reads token content (TEP-64): on-chain, off-chain and semi-chain.
// In come cells that contracts give as content; out come attributes as text.
// Content is a stranger's: what is read of one has limits, and what goes beyond
// them is told. The package must never follow a link.
package token

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/xssnick/tonutils-go/tvm/cell"

	toncell "tonscribe/ton/cell"
)

const (
	// MaxValue is how many bytes of an attribute are read.
	MaxValue = 8 << 10
	// maxCells is how many cells of a content are read behind those that begin a
	// value or a chunk. Cells can be shared: without a limit a few of them unfold
	// to any number of bytes.
	maxCells = 4096
	// maxUnnamed is how many leaves are read to find attributes whose names are
	// not known, and maxUnnamedBytes what is kept of them.
	maxUnnamed      = 64
	maxUnnamedBytes = 16 << 10
)

// Layout is one of the layouts of TEP-64.
type Layout uint8

// The layouts.
const (
	OnChain Layout = iota
	OffChain
	SemiChain // on-chain, the document behind the attribute uri adds what is missing
)

// Content is what a token says of itself.
type Content struct {
	Layout     Layout
	Attributes []Attribute // by name; only uri when off-chain
	Cut        bool        // there is more than what was read
}

// Attribute is a name and its value.
type Attribute struct {
	Name string // 64 hexadecimal digits where only the hash of the name is known
	Text string // UTF-8; base64 for image_data
	Cut  bool   // the value is longer than MaxValue
	Bare bool   // the value is an empty cell, without the prefix that it should have
}

// Names are the attributes that TEP-64 and its readers agree upon, in their order.
var Names = []string{"amount_style", "decimals", "description", "image", "image_data", "name", "render_type", "symbol", "uri"}

// namesInUse are Names and some that are not in the standard, in their order.
var namesInUse = slices.Sorted(slices.Values(append([]string{"content_url", "marketplace", "social"}, Names...)))

var nameOfKey = func() map[[32]byte]string {
	names := map[[32]byte]string{}
	for _, name := range namesInUse {
		names[sha256.Sum256([]byte(name))] = name
	}
	return names
}()

// The first byte of contents and of values.
const (
	tagOnChain  = 0
	tagOffChain = 1
	tagSnake    = 0
	tagChunked  = 1
)

// Read reads content. ok is false for what is none; then only Cut is told.
func Read(c *cell.Cell) (content Content, ok bool) {
	if c == nil || c.IsSpecial() {
		return Content{}, false
	}
	s, err := c.BeginParse()
	if err != nil {
		return Content{}, false
	}
	r := reader{left: maxCells}
	switch tag, err := s.LoadUInt(8); {
	case err != nil:
	case tag == tagOnChain:
		ok = r.onChain(s)
	case tag == tagOffChain:
		r.Layout = OffChain
		uri, is := Snake(s, MaxValue, &r.left)
		ok = is && r.add(Attribute{Name: "uri"}, uri)
	}
	r.Cut = r.Cut || r.left == 0
	if !ok {
		return Content{Cut: r.Cut}, false
	}
	slices.SortFunc(r.Attributes, func(a, b Attribute) int { return strings.Compare(a.Name, b.Name) })
	return r.Content, true
}

// reader reads a content; left is how many more cells it may.
type reader struct {
	Content
	left int
}

func (r *reader) onChain(s *cell.Slice) bool {
	dictionary, err := loadDictionary(s, 256)
	if err != nil {
		return false
	}
	for _, name := range namesInUse {
		key := sha256.Sum256([]byte(name))
		value, err := dictionary.Find(key[:])
		if err != nil {
			return false
		}
		if value != nil && r.attribute(name, value) && name == "uri" {
			r.Layout = SemiChain
		}
	}
	r.unnamed(dictionary)
	return true
}

// unnamed reads the attributes whose names are not known.
func (r *reader) unnamed(dictionary toncell.Dictionary) {
	room := maxUnnamedBytes
	all, err := dictionary.Walk(maxUnnamed, func(key []byte, value *cell.Slice) bool {
		if _, named := nameOfKey[[32]byte(key)]; !named && r.attribute(hex.EncodeToString(key), value) {
			room -= len(r.Attributes[len(r.Attributes)-1].Text)
		}
		return room > 0
	})
	r.Cut = r.Cut || err == nil && !all
}

// attribute adds an attribute, or nothing when its value is not what it should be.
func (r *reader) attribute(name string, s *cell.Slice) bool {
	if s.BitsLeft() == 0 && s.RefsNum() > 0 {
		var err error
		if s, err = s.LoadRef(); err != nil || s.IsSpecial() {
			return false
		}
	}
	if s.BitsLeft() == 0 && s.RefsNum() == 0 {
		return r.add(Attribute{Name: name, Bare: true}, nil)
	}
	tag, err := s.LoadUInt(8)
	if err != nil {
		return false
	}
	var value []byte
	var ok bool
	switch tag {
	case tagSnake:
		value, ok = Snake(s, MaxValue, &r.left)
	case tagChunked:
		value, ok = r.chunked(s)
	}
	return ok && r.add(Attribute{Name: name}, value)
}

// add adds an attribute unless its value is no text.
func (r *reader) add(a Attribute, value []byte) bool {
	if a.Cut = len(value) > MaxValue; a.Cut {
		value = value[:MaxValue]
		r.Cut = true
	}
	if a.Name == "image_data" {
		a.Text = base64.StdEncoding.EncodeToString(value)
	} else {
		if a.Cut && !utf8.Valid(value) { // what is cut off may have been the rest of a character
			end := MaxValue - 1
			for end > MaxValue-utf8.UTFMax && !utf8.RuneStart(value[end]) {
				end--
			}
			value = value[:end]
		}
		if !utf8.Valid(value) {
			return false
		}
		a.Text = string(value)
	}
	r.Attributes = append(r.Attributes, a)
	return true
}

// chunked joins a dictionary from 0, 1, 2… to snakes until they are more than
// MaxValue bytes.
func (r *reader) chunked(s *cell.Slice) (all []byte, ok bool) {
	dictionary, err := loadDictionary(s, 32)
	if err != nil {
		return nil, false
	}
	next := uint32(0)
	complete, err := dictionary.Walk(MaxValue+1, func(key []byte, value *cell.Slice) bool {
		chunk, err := value.LoadRef()
		if err != nil || binary.BigEndian.Uint32(key) != next {
			return false
		}
		next++
		part, ok := Snake(chunk, MaxValue-len(all), &r.left)
		all = append(all, part...)
		return ok && len(all) <= MaxValue
	})
	return all, err == nil && (complete || len(all) > MaxValue)
}

// loadDictionary reads a HashmapE (TL-B).
func loadDictionary(s *cell.Slice, bits uint) (toncell.Dictionary, error) {
	d, err := s.LoadDict(bits)
	if err != nil {
		return toncell.Dictionary{}, err
	}
	return toncell.Dictionary{Root: d.AsCell(), Bits: bits}, nil
}
