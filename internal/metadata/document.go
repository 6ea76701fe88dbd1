package metadata

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
)

// Document is a token's document: a JSON object.
type Document map[string]any

// deepest is how deep a document may be nested: what is deeper is an attack, or
// of no use.
const deepest = 32

func parse(content []byte) (Document, error) {
	content = bytes.TrimPrefix(content, []byte("\xef\xbb\xbf"))
	if nesting(content) > deepest {
		return nil, &Failure{ReasonForm, true, errors.New("nested too deep")}
	}
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.UseNumber() // amounts stay exact
	var document Document
	if err := decoder.Decode(&document); err != nil || document == nil {
		return nil, &Failure{ReasonForm, true, errors.New("not a JSON object")}
	}
	return document, nil
}

// nesting is how deep brackets are nested at most, strings left out.
func nesting(content []byte) (most int) {
	depth, quoted, escaped := 0, false, false
	for _, b := range content {
		switch {
		case escaped:
			escaped = false
		case quoted && b == '\\':
			escaped = true
		case b == '"':
			quoted = !quoted
		case quoted:
		case b == '{' || b == '[':
			depth++
			most = max(most, depth)
		case b == '}' || b == ']':
			depth--
		}
	}
	return most
}

// Text is the value of a key when it is a text or a number.
func (d Document) Text(key string) string {
	switch v := d[key].(type) {
	case string:
		return strings.ToValidUTF8(v, "\ufffd")
	case json.Number:
		return v.String()
	}
	return ""
}
