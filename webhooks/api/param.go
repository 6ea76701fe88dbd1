package api

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"tonscribe/query/openapi"
	"tonscribe/query/params"
	"tonscribe/ton/address"
	"tonscribe/webhooks/store"
)

// Kind is the form of a parameter's value, in a path, a query or a body.
type Kind uint8

// The kinds, and the Go types of their values.
const (
	TextKind      Kind = iota // string
	FlagKind                  // bool
	NumberKind                // int64
	WordKind                  // string, one of Words
	WordsKind                 // []string, some of Words
	IDKind                    // store.ID: 32 hex digits, with or without evt_
	KeyIDKind                 // string: 12 hex digits
	ReferenceKind             // store.Reference: a UUID, with or without test_
	HashKind                  // store.Hash: hex, base64 or base64url
	TimeKind                  // time.Time: RFC 3339
	AddressKind               // account
	AmountKind                // amount
	Uint64Kind                // uint64
	FieldsKind                // map[string]json.RawMessage
)

// account is an address and how it was written.
type account struct {
	address.Address
	address.Form
	text string
}

// Param declares a parameter.
type Param struct {
	Name        string
	Kind        Kind
	Required    bool
	Default     string
	Min, Max    int64    // of numbers
	MaxBytes    int      // of texts
	Words       []string // of words
	Description string
}

// values are those of a request's parameters, by name; what was not sent is not there.
type values map[string]any

func get[V any](v values, name string) V {
	value, _ := v[name].(V)
	return value
}

// maybe is a value, nil when it was not sent.
func maybe[V any](v values, name string) *V {
	if value, ok := v[name].(V); ok {
		return &value
	}
	return nil
}

const (
	maxQuery  = 4 << 10
	maxBody   = 64 << 10
	maxCursor = 200
	// shownOfName is how much of a name that nobody knows is repeated.
	shownOfName = 40
)

// want is what a parameter takes, for the error of one that it does not.
func (p *Param) want() string {
	switch p.Kind {
	case FlagKind:
		return "true or false"
	case NumberKind:
		return fmt.Sprintf("an integer of %d to %d", p.Min, p.Max)
	case WordKind:
		return "one of " + strings.Join(p.Words, ", ")
	case WordsKind:
		return "some of " + strings.Join(p.Words, ", ")
	case IDKind:
		return "32 hex digits"
	case KeyIDKind:
		return "12 hex digits"
	case ReferenceKind:
		return "a UUID"
	case HashKind:
		return "256 bits as base64 or hex"
	case TimeKind:
		return "a time such as 2024-01-15T14:30:00Z"
	case AddressKind:
		return "an address, user-friendly or raw"
	case AmountKind:
		return "a positive number in units of the asset"
	case Uint64Kind:
		return "an integer of 0 to 18446744073709551615, as a number or a text"
	case FieldsKind:
		return "an object"
	}
	if p.MaxBytes > 0 {
		return fmt.Sprintf("a text of at most %d bytes", p.MaxBytes)
	}
	return "a text"
}

func (p *Param) bad() *Error {
	return badRequest("bad_"+snake(p.Name), "%s: %s is wanted", p.Name, p.want())
}

func (p *Param) missing() *Error {
	return badRequest("missing_"+snake(p.Name), "%s is missing: %s is wanted", p.Name, p.want())
}

// snake is a name such as bodyHash as the code of an error has it.
func snake(name string) string {
	var out []byte
	for _, c := range []byte(name) {
		if c >= 'A' && c <= 'Z' {
			out = append(out, '_', c+'a'-'A')
		} else {
			out = append(out, c)
		}
	}
	return string(out)
}

// read reads a text of a path or a query, or a string or a number of a body.
func (p *Param) read(text string) (value any, ok bool) {
	var err error
	switch p.Kind {
	case TextKind:
		return text, p.MaxBytes == 0 || len(text) <= p.MaxBytes
	case FlagKind:
		return text == "true", text == "true" || text == "false"
	case NumberKind:
		var n int64
		n, err = strconv.ParseInt(text, 10, 64)
		return n, err == nil && n >= p.Min && n <= p.Max
	case WordKind:
		return text, slices.Contains(p.Words, text)
	case WordsKind:
		return p.words(strings.Split(text, ","))
	case IDKind:
		var id store.ID
		text = strings.TrimPrefix(text, "evt_")
		if len(text) != hex.EncodedLen(len(id)) {
			return nil, false
		}
		_, err = hex.Decode(id[:], []byte(text))
		return id, err == nil
	case KeyIDKind:
		raw, err := hex.DecodeString(text)
		return strings.ToLower(text), err == nil && len(raw) == 6
	case ReferenceKind:
		text = strings.TrimPrefix(text, testPrefix)
		id, err := uuid.Parse(text)
		return store.Reference(id), err == nil && len(text) == len(uuid.UUID{}.String())
	case HashKind:
		return readHash(text)
	case TimeKind:
		t, err := time.Parse(time.RFC3339, text)
		return t.UTC(), err == nil && t.Year() >= 1970 && t.Year() < 2200
	case AddressKind:
		a, form, err := address.Parse(text)
		return account{a, form, text}, err == nil
	case AmountKind:
		return readAmount(text)
	case Uint64Kind:
		n, err := strconv.ParseUint(text, 10, 64)
		return n, err == nil
	}
	return nil, false
}

func (p *Param) words(list []string) (any, bool) {
	for i, word := range list {
		if !slices.Contains(p.Words, word) || slices.Contains(list[:i], word) {
			return nil, false
		}
	}
	return list, len(list) > 0
}

// readHash reads what params.ParseHash reads, and what becomes of it on the way: a + that
// arrives as a space, padding that is lost.
func readHash(text string) (any, bool) {
	text = strings.ReplaceAll(text, " ", "+")
	if len(text) == base64.RawStdEncoding.EncodedLen(len(store.Hash{})) {
		text += "="
	}
	if strings.ContainsAny(text, "+/") && strings.ContainsAny(text, "-_") {
		return nil, false
	}
	h, ok := params.ParseHash(text)
	return h, ok
}

// fromJSON reads a value of a body; null is one that was not sent.
func (p *Param) fromJSON(raw json.RawMessage) (value any, sent, ok bool) {
	switch c := raw[0]; {
	case string(raw) == "null":
		return nil, false, true
	case p.Kind == FieldsKind:
		fields, err := readObject(raw)
		return fields, true, err == nil
	case p.Kind == WordsKind && c == '[':
		var list []string
		err := json.Unmarshal(raw, &list)
		if err != nil {
			return nil, true, false
		}
		value, ok = p.words(list)
		return value, true, ok
	case p.Kind == FlagKind && (c == 't' || c == 'f'), (p.Kind == NumberKind || p.Kind == AmountKind || p.Kind == Uint64Kind) && (c == '-' || c >= '0' && c <= '9'):
		value, ok = p.read(string(raw))
		return value, true, ok
	case c == '"' && p.Kind != FlagKind && p.Kind != NumberKind && p.Kind != WordsKind:
		var text string
		if json.Unmarshal(raw, &text) != nil {
			return nil, true, false
		}
		value, ok = p.read(text)
		return value, true, ok
	}
	return nil, true, false
}

// schema describes a value.
func (p *Param) schema(inBody bool) openapi.Object {
	switch p.Kind {
	case FlagKind:
		return openapi.Schema("type", "boolean")
	case NumberKind:
		return openapi.Schema("type", "integer", "minimum", p.Min, "maximum", p.Max)
	case WordKind:
		return openapi.Schema("type", "string", "enum", p.Words)
	case WordsKind:
		return openapi.Schema("type", "array", "items", openapi.Schema("type", "string", "enum", p.Words), "minItems", 1, "uniqueItems", true)
	case IDKind:
		return openapi.Schema("type", "string", "pattern", "^(?:evt_)?[0-9a-fA-F]{32}$")
	case KeyIDKind:
		return openapi.Schema("type", "string", "pattern", "^[0-9a-fA-F]{12}$")
	case ReferenceKind:
		return openapi.Schema("type", "string", "pattern", "^(?:test_)?[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$")
	case HashKind:
		return openapi.Schema("type", "string", "pattern", `^(?:(?:0[xX])?[0-9a-fA-F]{64}|[A-Za-z0-9+/_ -]{43}=?)$`)
	case TimeKind:
		return openapi.Schema("type", "string", "format", "date-time")
	case AddressKind:
		return openapi.Schema("type", "string", "pattern", openapi.AnyAddress)
	case AmountKind:
		return openapi.Schema("type", []string{"number", "string"}, "exclusiveMinimum", 0, "pattern", amountForm.String())
	case Uint64Kind:
		if inBody {
			return openapi.Schema("type", []string{"integer", "string"}, "minimum", 0, "pattern", "^[0-9]{1,20}$")
		}
		return openapi.Schema("type", "string", "pattern", "^[0-9]{1,20}$")
	case FieldsKind:
		return openapi.Schema("type", "object", "additionalProperties", true)
	}
	if p.MaxBytes > 0 {
		return openapi.Schema("type", "string", "maxLength", p.MaxBytes)
	}
	return openapi.Schema("type", "string")
}

func (p *Param) describe(inBody bool) openapi.Parameter {
	described := openapi.Parameter{Name: p.Name, Description: p.Description, Required: p.Required, Schema: p.schema(inBody)}
	if p.Default != "" {
		described.Default, _ = p.read(p.Default)
	}
	return described
}

// pair is a name and a value of a query.
type pair struct{ name, value string }

// splitQuery takes a query apart; an escape that is none stands for itself.
func splitQuery(raw string) (pairs []pair) {
	for part := range strings.SplitSeq(raw, "&") {
		if part == "" {
			continue
		}
		name, value, _ := strings.Cut(part, "=")
		pairs = append(pairs, pair{unescaped(name), unescaped(value)})
	}
	return pairs
}

func unescaped(text string) string {
	if plain, err := url.QueryUnescape(text); err == nil {
		return plain
	}
	return text
}

// fromQuery adds the values of a query.
func (v values) fromQuery(declared []Param, pairs []pair) error {
	for _, sent := range pairs {
		i := slices.IndexFunc(declared, func(p Param) bool { return p.Name == sent.name })
		switch {
		case i < 0:
			return unknown(sent.name)
		case v[sent.name] != nil:
			return badRequest("repeated", "%s is there twice", sent.name)
		case sent.value == "" && declared[i].Kind != TextKind:
			continue // as if it had not been sent
		case !utf8.ValidString(sent.value):
			return declared[i].bad()
		}
		value, ok := declared[i].read(sent.value)
		if !ok {
			return declared[i].bad()
		}
		v[sent.name] = value
	}
	return v.complete(declared)
}

func unknown(name string) *Error {
	if len(name) > shownOfName {
		name = name[:shownOfName] + "…"
	}
	return badRequest("unknown_parameter", "%q is no parameter here", strings.ToValidUTF8(name, "\uFFFD"))
}

// complete adds defaults, and finds what is missing.
func (v values) complete(declared []Param) error {
	for i := range declared {
		p := &declared[i]
		if _, sent := v[p.Name]; sent {
			continue
		}
		if p.Required {
			return p.missing()
		}
		if p.Default != "" {
			v[p.Name], _ = p.read(p.Default)
		}
	}
	return nil
}

// fromBody adds the values of a body; open bodies may have members that nobody knows.
// null is an object without members, as no body is.
func (v values) fromBody(declared []Param, body []byte, open bool) error {
	if text := bytes.TrimSpace(body); len(text) > 0 && string(text) != "null" {
		object, err := readObject(body)
		if err != nil {
			return badRequest("bad_json", "the body: %s", err)
		}
		for name, raw := range object {
			i := slices.IndexFunc(declared, func(p Param) bool { return p.Name == name })
			if i < 0 {
				if open {
					continue
				}
				return unknown(name)
			}
			value, sent, ok := declared[i].fromJSON(raw)
			if !ok {
				return declared[i].bad()
			}
			if sent {
				v[name] = value
			}
		}
	}
	return v.complete(declared)
}

// maxMembers bounds the members of an object.
const maxMembers = 100

// readObject takes an object apart, whose members have names of their own.
func readObject(text []byte) (map[string]json.RawMessage, error) {
	if !utf8.Valid(text) {
		return nil, errors.New("it is not in UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(text))
	if first, err := d.Token(); err != nil || first != json.Delim('{') {
		return nil, errors.New("it is no JSON object")
	}
	object := map[string]json.RawMessage{}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, errors.New("it is no JSON object")
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, fmt.Errorf("it is no JSON from byte %d on", d.InputOffset())
		}
		key := name.(string) // what names a member
		if _, again := object[key]; again {
			return nil, errors.New("a member is there twice")
		}
		if object[key] = value; len(object) > maxMembers {
			return nil, errors.New("it has too many members")
		}
	}
	if _, err := d.Token(); err != nil {
		return nil, errors.New("it ends early")
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the object")
	}
	return object, nil
}
