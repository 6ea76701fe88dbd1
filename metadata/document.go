package metadata

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Document is a token's document: a JSON object.
type Document map[string]any

// maxNesting is how deep a document may be nested: what is deeper is an attack, or
// of no use.
const maxNesting = 32

func parse(content []byte) (Document, error) {
	content = bytes.TrimPrefix(content, []byte("\xef\xbb\xbf"))
	if nesting(content) > maxNesting {
		return nil, &Failure{Reason: ReasonForm, Err: errors.New("nested too deep")}
	}
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.UseNumber() // amounts stay exact
	var document Document
	if err := decoder.Decode(&document); err != nil || document == nil {
		return nil, &Failure{Reason: ReasonForm, Err: errors.New("not a JSON object")}
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

// What of a document is kept: an answer of the API shows a thousand of them.
const (
	maxMember = 16 << 10 // bytes of a member
	maxKept   = 64 << 10 // bytes of all
)

// Kept is what the table metadata keeps of a document: the document itself when
// it was kept before.
func Kept(content []byte) (string, error) {
	document, err := parse(content)
	if err != nil {
		return "", err
	}
	return document.kept()
}

// kept is the document as JSON, in valid UTF-8, without members that are too
// large to be shown, like pictures.
func (d Document) kept() (string, error) {
	members := make(map[string]json.RawMessage, len(d))
	for name, value := range d {
		raw, err := compact(value)
		if err != nil {
			return "", &Failure{Reason: ReasonForm, Err: err}
		}
		if len(name)+len(raw) <= maxMember {
			members[name] = raw
		}
	}
	raw, err := compact(members)
	if err != nil {
		return "", &Failure{Reason: ReasonForm, Err: err}
	}
	if len(raw) > maxKept {
		return "", failed(ReasonSize, fmt.Errorf("more than %d bytes of the document are worth keeping", maxKept))
	}
	return string(raw), nil
}

// compact is JSON without the escapes that browsers want.
func compact(value any) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), err
}
