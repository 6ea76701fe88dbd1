package v2

import (
	"crypto/sha256"
	"encoding/base64"
	"unicode/utf8"

	"github.com/xssnick/tonutils-go/tvm/cell"
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

// mostContentBytes is the longest value of a key that is read.
const mostContentBytes = 8 << 10

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
	dictionary, err := s.LoadDict(256)
	if err != nil {
		return nil
	}
	all, err := dictionary.LoadAll()
	if err != nil {
		return nil
	}
	for _, kv := range all {
		var key [32]byte
		if kv.Key.LoadSliceInto(key[:], 256) != nil {
			return nil
		}
		name, ok := contentKeys[key]
		if !ok {
			continue
		}
		if text, ok := contentText(name, kv.Value); ok {
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
	dictionary, err := s.LoadDict(32)
	if err != nil {
		return nil, false
	}
	all, err := dictionary.LoadAll()
	if err != nil {
		return nil, false
	}
	for _, kv := range all {
		part, err := kv.Value.LoadRef()
		if err != nil {
			return nil, false
		}
		text, ok := snakeUpTo(part, mostContentBytes-len(data))
		if !ok {
			return nil, false
		}
		data = append(data, text...)
	}
	return data, true
}

// snakeUpTo is snake, of which no more than most bytes are read.
func snakeUpTo(s *cell.Slice, most int) ([]byte, bool) {
	text, ok := snake(s)
	return text, ok && len(text) <= most
}
