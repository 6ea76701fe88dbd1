package v2

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"tonscribe/query/node"
	"tonscribe/query/params"
	"tonscribe/query/stack"
)

// Values are the parameters of one request.
type Values struct {
	declared []Param
	values   []value
	query    bool   // they came in the query of a GET
	extra    string // the @extra that was sent, empty for none
}

// value is what was sent for one parameter.
type value struct {
	sent    bool
	number  int64
	text    string
	address Address
	hash    [32]byte
	hashes  [][32]byte
	bytes   []byte
	json    json.RawMessage // of the kinds that their methods read
}

// extraName is the parameter that every method has.
const extraName = "@extra"

// extraIn is the @extra of a body, empty for none.
func extraIn(object map[string]json.RawMessage) string {
	if raw := object[extraName]; string(raw) != "null" {
		return plain(raw)
	}
	return ""
}

// fromQuery reads the parameters of a GET. Names that nobody declared are
// ignored.
func fromQuery(m *Method, raw string) (*Values, error) {
	v := &Values{declared: m.Params, values: make([]value, len(m.Params)), query: true}
	sent := make([][]string, len(m.Params))
	for pair := range strings.SplitSeq(raw, "&") {
		name, text, _ := strings.Cut(pair, "=")
		if name = params.Unescape(name); name == extraName {
			v.extra = params.Unescape(text)
			continue
		}
		if i := slices.IndexFunc(m.Params, func(p Param) bool { return p.Name == name }); i >= 0 {
			sent[i] = append(sent[i], params.Unescape(text))
		}
	}
	return v, v.fill(m, func(i int, p *Param) (bool, bool) {
		switch {
		case len(sent[i]) == 0:
			return false, true
		case p.Kind == HashesKind:
			return true, v.values[i].list(sent[i])
		}
		return true, v.values[i].query(p.Kind, sent[i][len(sent[i])-1])
	})
}

// fromObject reads the parameters of a POST and of JSON-RPC. null counts as
// nothing; names that nobody declared are refused.
func fromObject(m *Method, object map[string]json.RawMessage) (*Values, error) {
	v := &Values{declared: m.Params, values: make([]value, len(m.Params)), extra: extraIn(object)}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if name != extraName && !slices.ContainsFunc(m.Params, func(p Param) bool { return p.Name == name }) {
			return v, unprocessable("failed to parse post request: Error at path '/': Unknown property '%s'", stack.Shortened(name))
		}
	}
	var reason string
	err := v.fill(m, func(i int, p *Param) (bool, bool) {
		raw := object[p.Name]
		if len(raw) == 0 || string(raw) == "null" {
			return false, true
		}
		ok, why := v.values[i].fromJSON(p.Kind, raw)
		reason = why
		return true, ok
	})
	if err != nil && reason != "" {
		return v, unprocessable("%s", reason)
	}
	return v, err
}

// fill reads every parameter in the order of the declaration and then holds the
// rules in that order.
func (v *Values) fill(m *Method, read func(i int, p *Param) (sent, ok bool)) error {
	for i := range m.Params {
		p := &m.Params[i]
		sent, ok := read(i, p)
		value := &v.values[i]
		value.sent = sent
		switch {
		case !ok && value.empty() && p.Required:
			return p.missing()
		case !ok && value.empty() && p.Kind != AddressKind:
			value.sent = false // an empty hash that nobody needs
		case !ok:
			return p.bad()
		case sent && p.Kind == BytesKind && p.Required && len(value.bytes) == 0:
			return p.missing()
		case sent:
		case p.Required:
			return p.missing()
		case p.Default != "":
			if !value.query(p.Kind, p.Default) {
				return fmt.Errorf("default %q of %s is none", p.Default, p.Name)
			}
		}
	}
	if m.first != nil {
		if err := m.first(v); err != nil {
			return err
		}
	}
	for i := range m.Params {
		if !v.values[i].sent {
			continue
		}
		if err := m.Params[i].check(v.values[i].number); err != nil {
			return err
		}
	}
	if m.check != nil {
		return m.check(v)
	}
	return nil
}

// empty reports whether an empty text was sent for a kind that needs one.
func (v *value) empty() bool { return v.text == emptyText }

// emptyText marks a value that was sent empty; it is no text of a query.
const emptyText = "\x00empty"

// query reads a text.
func (v *value) query(kind Kind, text string) (ok bool) {
	switch kind {
	case AddressKind, HashKind, AccountKind:
		// A plus sign that was not escaped arrives as a space.
		return v.binary(kind, strings.ReplaceAll(text, " ", "+"))
	case Int32Kind, Int64Kind:
		v.number, ok = parseInteger(kind, text)
	case ShardKind:
		v.number, ok = parseShard(text)
	case BoolKind, FlagKind:
		var b bool
		b, ok = parseWord(text)
		v.number = asNumber(b)
	case BytesKind:
		var err error
		v.bytes, err = stack.ParseBase64(strings.ReplaceAll(text, " ", "+"))
		ok = err == nil
	default:
		v.text, ok = text, true
	}
	return ok
}

func asNumber(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// binary reads addresses and hashes. An empty hash that is not required counts
// as absent.
func (v *value) binary(kind Kind, text string) (ok bool) {
	if text == "" {
		v.text = emptyText
		return false
	}
	switch kind {
	case AddressKind:
		v.address, ok = ParseAddress(text)
	case HashKind:
		v.hash, ok = parseHash(text)
	case AccountKind:
		if v.hash, ok = parseHash(text); !ok {
			v.address, ok = ParseAddress(text)
			v.hash = [32]byte(v.address.ID())
		}
	}
	return ok
}

func (v *value) list(texts []string) bool {
	for _, text := range texts {
		h, ok := parseHash(strings.ReplaceAll(text, " ", "+"))
		if !ok {
			return false
		}
		v.hashes = append(v.hashes, h)
	}
	return true
}

// fromJSON reads a JSON value; why is the answer when it is a special one.
func (v *value) fromJSON(kind Kind, raw json.RawMessage) (ok bool, why string) {
	switch kind {
	case Int32Kind, Int64Kind, ShardKind:
		if raw[0] == '"' {
			return v.query(kind, plain(raw)), ""
		}
		if kind == ShardKind && raw[0] != '-' && (raw[0] < '0' || raw[0] > '9') {
			return false, ""
		}
		return v.query(kind, string(raw)), ""
	case BoolKind:
		return v.bool(raw), ""
	case FlagKind:
		yes := string(raw) == "true" || string(raw) == "1"
		v.number = asNumber(yes)
		return yes || string(raw) == "false" || string(raw) == "0", ""
	case HashesKind:
		var texts []string
		return json.Unmarshal(raw, &texts) == nil && v.list(texts), ""
	case MethodKind, StackKind, StackStdKind, CellKind:
		v.json = raw
		return true, ""
	}
	var text string
	if raw[0] != '"' || json.Unmarshal(raw, &text) != nil {
		return false, ""
	}
	switch kind {
	case BytesKind:
		var err error
		if v.bytes, err = stack.ParseBase64(text); err != nil {
			return false, "invalid base64 encoded bytes: " + err.Error()
		}
	case AddressKind, HashKind, AccountKind:
		return v.binary(kind, text), ""
	default:
		v.text = text
	}
	return true, ""
}

// bool reads a boolean, an integer or a word.
func (v *value) bool(raw json.RawMessage) bool {
	switch raw[0] {
	case '"':
		return v.query(BoolKind, plain(raw))
	case 't', 'f':
		v.number = asNumber(raw[0] == 't')
		return true
	}
	n, err := strconv.ParseInt(string(raw), 10, 64)
	v.number = asNumber(n != 0)
	return err == nil
}

// plain is a JSON string's text, and the text of any other JSON value.
func plain(raw json.RawMessage) string {
	var text string
	if len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}

// of panics when a method asks for what it did not declare.
func (v *Values) of(name string) *value {
	if i := slices.IndexFunc(v.declared, func(p Param) bool { return p.Name == name }); i >= 0 {
		return &v.values[i]
	}
	panic("query/v2: undeclared parameter " + name)
}

func (v *Values) sent(name string) bool        { return v.of(name).sent }
func (v *Values) number(name string) int64     { return v.of(name).number }
func (v *Values) flag(name string) bool        { return v.of(name).number != 0 }
func (v *Values) text(name string) string      { return v.of(name).text }
func (v *Values) address(name string) *Address { return &v.of(name).address }
func (v *Values) hash(name string) [32]byte    { return v.of(name).hash }

// account reads the account of a request at the block of the request.
func (c *call) account() (*node.Account, error) {
	return c.Account(c, c.address("address").Address, c.optionalSeqno("seqno"))
}

// optionalSeqno is the seqno of a masterchain block, nil where none was sent.
func (v *Values) optionalSeqno(name string) *uint32 {
	if !v.sent(name) {
		return nil
	}
	return new(uint32(v.number(name)))
}

func (v *Values) bytes(name string) []byte { return v.of(name).bytes }

// key tells requests apart by what was read, not by how it was written; the
// form of an address counts, because answers repeat it.
func (v *Values) key(m *Method) string {
	var key bytes.Buffer
	key.WriteString(m.Name)
	for i := range v.values {
		x := &v.values[i]
		fmt.Fprintf(&key, "|%t %d %q %x %v %x %x %x ", x.sent, x.number, x.text, x.address.Address[:], x.address.Form, x.hash, x.hashes, x.bytes)
		key.Write(x.json)
	}
	if key.Len() < 512 {
		return key.String()
	}
	sum := sha256.Sum256(key.Bytes())
	return string(sum[:])
}
