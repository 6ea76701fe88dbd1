package v2

import (
	"bytes"
	"encoding/json"
	"errors"
)

// jsonReader reads a JSON value in one pass. Values that hold values of their
// own kind are read with it: taking them apart level by level would scan the
// innermost ones as often as they are nested.
type jsonReader struct{ decoder *json.Decoder }

func newJSONReader(raw json.RawMessage) *jsonReader {
	r := &jsonReader{json.NewDecoder(bytes.NewReader(raw))}
	r.decoder.UseNumber()
	return r
}

// errNull is returned where null stands for a value.
var errNull = errors.New("null")

// array calls element before each element, which it must read. The error is bad
// where something else stands.
func (r *jsonReader) array(bad error, element func() error) error {
	if err := r.open('[', bad); err != nil {
		return err
	}
	for r.decoder.More() {
		if err := element(); err != nil {
			return err
		}
	}
	return r.close(bad)
}

// object calls member with each key; it must read the value. The error is bad
// where something else stands.
func (r *jsonReader) object(bad error, member func(key string) error) error {
	if err := r.open('{', bad); err != nil {
		return err
	}
	for r.decoder.More() {
		key, err := r.text(bad)
		if err != nil {
			return err
		}
		if err := member(key); err != nil {
			return err
		}
	}
	return r.close(bad)
}

func (r *jsonReader) open(delimiter json.Delim, bad error) error {
	token, err := r.decoder.Token()
	switch {
	case err != nil:
		return bad
	case token == nil:
		return errNull
	case token != delimiter:
		return bad
	}
	return nil
}

func (r *jsonReader) close(bad error) error {
	if _, err := r.decoder.Token(); err != nil {
		return bad
	}
	return nil
}

// text reads a string.
func (r *jsonReader) text(bad error) (string, error) {
	token, err := r.decoder.Token()
	if err == nil && token == nil {
		return "", errNull
	}
	text, ok := token.(string)
	if err != nil || !ok {
		return "", bad
	}
	return text, nil
}

// raw reads any value as it stands.
func (r *jsonReader) raw(bad error) (raw json.RawMessage, err error) {
	if r.decoder.Decode(&raw) != nil {
		return nil, bad
	}
	return raw, nil
}

func (r *jsonReader) skip(bad error) error {
	_, err := r.raw(bad)
	return err
}
