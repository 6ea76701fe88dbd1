package v2

import (
	"crypto/sha256"
	"encoding/base64"
	"unicode/utf8"

	"github.com/xssnick/tonutils-go/tvm/cell"

	toncell "tonscribe/ton/cell"
)

// onchainContent and offchainContent are the two forms of TEP-64.
type (
	onchainContent struct {
		Type string            `json:"type" enum:"onchain"`
		Data map[string]string `json:"data"`
	}
	offchainContent struct {
		Type string `json:"type" enum:"offchain"`
		Data string `json:"data"`
	}
)

// content is one of those or a domainContent.
type content any

var errNoURI = failed("missing uri field in offchain data")

// contentKeys are the names of TEP-64 by the hashes that stand in dictionaries.
var contentKeys = func() map[[32]byte]string {
	keys := map[[32]byte]string{}
	for _, name := range []string{
		"uri", "name", "description", "image", "image_data", "symbol", "decimals", "amount_style", "render_type",
	} {
		keys[sha256.Sum256([]byte(name))] = name
	}
	return keys
}()

const (
	// mostContentBytes is the longest value of a key that is read.
	mostContentBytes = 8 << 10
	// mostChunks is how many chunks of a value are read: each has a byte at least.
	mostChunks = mostContentBytes
)

const (
	contentOnchain  = 0x00
	contentOffchain = 0x01
	contentSnake    = 0x00
	contentChunks   = 0x01
)

// tokenContent reads content (TEP-64); nil when it has neither form.
func tokenContent(c *cell.Cell) (any, error) {
	s, err := c.BeginParse()
	if err != nil {
		return nil, nil //nolint:nilerr // such a contract is no token
	}
	form, err := s.LoadUInt(8)
	if err != nil {
		return nil, nil //nolint:nilerr // such a contract is no token
	}
	switch form {
	case contentOnchain:
		return onchain(s), nil
	case contentOffchain:
		uri, ok := snakeUpTo(s, mostContentBytes)
		switch {
		case !ok || !utf8.Valid(uri):
			return nil, nil
		case len(uri) == 0:
			return nil, errNoURI
		}
		return offchainContent{Type: "offchain", Data: string(uri)}, nil
	}
	return nil, nil
}

func onchain(s *cell.Slice) any {
	content := onchainContent{Type: "onchain", Data: map[string]string{}}
	dictionary, err := loadDictionary(s, 256)
	if err != nil {
		return nil
	}
	for key, name := range contentKeys {
		value, err := dictionary.Find(key[:])
		if err != nil {
			return nil
		}
		if value == nil {
			continue
		}
		if text, ok := contentText(name, value); ok {
			content.Data[name] = text
		}
	}
	return content
}

// contentText is a value of a dictionary: images as base64, all else text.
func contentText(name string, value *cell.Slice) (string, bool) {
	data, ok := contentValue(value)
	switch {
	case !ok:
		return "", false
	case name == "image_data":
		return base64.StdEncoding.EncodeToString(data), true
	}
	return string(data), utf8.Valid(data)
}

// contentValue reads a value that stands in the leaf or in a reference of it.
func contentValue(s *cell.Slice) ([]byte, bool) {
	if s.BitsLeft() == 0 && s.RefsNum() > 0 {
		var err error
		if s, err = s.LoadRef(); err != nil {
			return nil, false
		}
	}
	form, err := s.LoadUInt(8)
	if err != nil {
		return nil, false
	}
	switch form {
	case contentSnake:
		return snakeUpTo(s, mostContentBytes)
	case contentChunks:
		return chunks(s)
	}
	return nil, false
}

// chunks joins a dictionary from 32-bit indexes to references.
func chunks(s *cell.Slice) (data []byte, ok bool) {
	dictionary, err := loadDictionary(s, 32)
	if err != nil {
		return nil, false
	}
	complete, err := dictionary.Walk(mostChunks, func(_ []byte, value *cell.Slice) bool {
		part, err := value.LoadRef()
		if err != nil {
			return false
		}
		var text []byte
		text, ok = snakeUpTo(part, mostContentBytes-len(data))
		data = append(data, text...)
		return ok
	})
	return data, complete && err == nil
}

// loadDictionary reads a HashmapE.
func loadDictionary(s *cell.Slice, bits uint) (toncell.Dictionary, error) {
	d, err := s.LoadDict(bits)
	if err != nil {
		return toncell.Dictionary{}, err
	}
	return toncell.Dictionary{Root: d.AsCell(), Bits: bits}, nil
}

// snakeUpTo is snake, of which no more than most bytes are read.
func snakeUpTo(s *cell.Slice, most int) ([]byte, bool) {
	text, ok := snake(s, most)
	return text, ok && len(text) <= most
}
