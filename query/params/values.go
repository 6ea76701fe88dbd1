package params

import (
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strconv"
	"strings"

	"tonscribe/ton/address"
)

// Values are the parameters of one request.
type Values struct {
	declared []Param
	values   []value
	// Unknown are the first names that were sent without being declared.
	Unknown []string
}

// value is what was sent for one parameter.
type value struct {
	sent      bool
	null      bool // the literal null
	number    uint64
	text      string
	texts     []string
	addresses []address.Address
	hashes    []Hash
}

// Parse reads a query string. Its error is an *Error.
func Parse(declared []Param, raw string) (*Values, error) {
	v := &Values{declared: declared, values: make([]value, len(declared))}
	sent := v.collect(raw)
	var failures [groups][]string
	for i := range declared {
		if len(sent[i]) == 0 {
			continue
		}
		p := &declared[i]
		v.values[i].sent = true
		failures[p.Group] = append(failures[p.Group], v.values[i].convert(p, sent[i])...)
		switch n := v.values[i].size(); {
		case n > MaxListValues && p.TooMany != nil:
			return nil, p.TooMany
		case n > MaxListValues:
			return nil, Unprocessable("%q has %d values, at most %d are allowed", p.Name, n, MaxListValues)
		}
	}
	for _, group := range failures {
		switch len(group) {
		case 0:
			continue
		case 1:
			return nil, Unprocessable("%s", group[0])
		case 2:
			return nil, Unprocessable("%s (and 1 other error)", group[0])
		}
		return nil, Unprocessable("%s (and %d other errors)", group[0], len(group)-1)
	}
	return v, nil
}

// collect sorts the sent values by parameter. A list may be sent as name= or
// name[]=; of a single value the last one counts.
func (v *Values) collect(raw string) [][]string {
	sent := make([][]string, len(v.declared))
	for _, f := range split(raw) {
		name := strings.TrimSuffix(f.name, "[]")
		i := v.at(name)
		switch {
		case i < 0:
			if len(v.Unknown) < maxUnknown && !isOption(f.name) && !slices.Contains(v.Unknown, f.name) {
				v.Unknown = append(v.Unknown, f.name)
			}
		case v.declared[i].Multi:
			sent[i] = append(sent[i], f.value)
		default:
			sent[i] = append(sent[i][:0], f.value)
		}
	}
	return sent
}

// maxUnknown is how many names are told that nobody knows.
const maxUnknown = 5

func isOption(name string) bool {
	return slices.ContainsFunc(Options, func(p Param) bool { return p.Name == name })
}

func (v *value) size() int { return max(len(v.addresses), len(v.hashes), len(v.texts)) }

// convert fills the value and returns the failures' texts.
func (v *value) convert(p *Param, sent []string) (failures []string) {
	if !p.Multi {
		if !v.single(p.Kind, sent[0]) {
			failures = append(failures, fmt.Sprintf("failed to decode: schema: error converting value for %q", p.Name))
		}
		return failures
	}
	for i, text := range sent {
		if !v.element(p.Kind, text) {
			failures = append(failures, fmt.Sprintf("failed to decode: schema: error converting value for index %d of %q", i, p.Name))
		}
	}
	return failures
}

// element adds an element of a list. One that is no value as a whole is taken
// for several, parted by commas. Empty ones are dropped.
func (v *value) element(kind Kind, text string) bool {
	if v.size() > MaxListValues {
		return true // refused by the caller anyway
	}
	if text == "" || v.add(kind, text) {
		return true
	}
	if !strings.Contains(text, ",") {
		return false
	}
	for part := range strings.SplitSeq(text, ",") {
		if v.size() > MaxListValues {
			return true
		}
		if part = strings.TrimSpace(part); part != "" && !v.add(kind, part) {
			return false
		}
	}
	return true
}

func (v *value) add(kind Kind, text string) bool {
	switch kind {
	case AddressKind:
		a, _, err := address.Parse(text)
		if err == nil && !slices.Contains(v.addresses, a) {
			v.addresses = append(v.addresses, a)
		}
		return err == nil
	case HashKind:
		h, ok := ParseHash(text)
		if ok && !slices.Contains(v.hashes, h) {
			v.hashes = append(v.hashes, h)
		}
		return ok
	}
	if strings.Contains(text, ",") {
		return false // parted by the caller
	}
	v.texts = append(v.texts, text)
	return true
}

func (v *value) single(kind Kind, text string) (ok bool) {
	switch kind {
	case AddressOrNullKind:
		if v.null = text == "null"; v.null {
			return true
		}
		fallthrough
	case AddressKind:
		a, _, err := address.Parse(text)
		v.addresses, ok = []address.Address{a}, err == nil
	case HashKind:
		var h Hash
		h, ok = ParseHash(text)
		v.hashes = []Hash{h}
	case ShardKind:
		v.number, ok = parseHex(text, 64)
	case OpcodeKind:
		v.number, ok = parseHex(text, 32)
		v.number &= math.MaxUint32
	case UtimeKind:
		v.number, ok = parseUtime(text)
	case TextKind, SortKind:
		v.text, ok = text, true
	default:
		ok = v.plain(kind, text)
	}
	return ok
}

// plain reads the kinds of which an empty text is the zero value.
func (v *value) plain(kind Kind, text string) bool {
	if text == "" {
		return true
	}
	switch kind {
	case Uint64Kind:
		n, err := strconv.ParseUint(text, 10, 64)
		v.number = n
		return err == nil
	case Int32Kind, SeqnoKind:
		n, err := strconv.ParseInt(text, 10, 32)
		if err != nil && kind == SeqnoKind {
			n, err = 0, nil
		}
		v.number = uint64(n)
		return err == nil
	}
	b, ok := ParseBool(text)
	if b {
		v.number = 1
	}
	return ok
}

// at is where a parameter is declared, -1 where it is not.
func (v *Values) at(name string) int {
	return slices.IndexFunc(v.declared, func(p Param) bool { return p.Name == name })
}

// of panics when the endpoint asks for what it did not declare.
func (v *Values) of(name string) *value {
	if i := v.at(name); i >= 0 {
		return &v.values[i]
	}
	panic("query/params: undeclared parameter " + name)
}

// Declares reports whether the endpoint has the parameter.
func (v *Values) Declares(name string) bool { return v.at(name) >= 0 }

// Sent reports whether the parameter was sent, possibly empty.
func (v *Values) Sent(name string) bool { return v.of(name).sent }

// Null reports whether the literal null was sent.
func (v *Values) Null(name string) bool { return v.of(name).null }

// Number is the value of a Uint64, Utime, Shard or Opcode parameter.
func (v *Values) Number(name string) (n uint64, sent bool) {
	value := v.of(name)
	return value.number, value.sent
}

// Int32 is the value of an Int32 or Seqno parameter.
func (v *Values) Int32(name string) (n int32, sent bool) {
	value := v.of(name)
	return int32(value.number), value.sent
}

// Bool is false when nothing was sent.
func (v *Values) Bool(name string) bool { return v.of(name).number == 1 }

// Text is empty when nothing was sent.
func (v *Values) Text(name string) string { return v.of(name).text }

// Texts is a list of plain texts.
func (v *Values) Texts(name string) []string { return v.of(name).texts }

// Addresses is a list of different addresses; one at most of a single-valued
// parameter.
func (v *Values) Addresses(name string) []address.Address { return v.of(name).addresses }

// Hashes is a list of different hashes; one at most of a single-valued
// parameter.
func (v *Values) Hashes(name string) []Hash { return v.of(name).hashes }

// Sort says which order is asked for.
type Sort uint8

// The orders.
const (
	Unsorted Sort = iota
	Ascending
	Descending
)

// Page is what PageParams declares.
type Page struct {
	Limit, Offset int
	Sort          Sort
	Cursor        string
}

// Offset is how many rows are to be skipped, 0 when nothing was sent.
func (v *Values) Offset() int {
	if v == nil || !v.Declares("offset") {
		return 0
	}
	offset, _ := v.Int32("offset")
	return max(int(offset), 0)
}

// Items returns how many rows the page may have and how many values are named, all
// together.
func (v *Values) Items() (n int) {
	for i := range v.values {
		n += v.values[i].size()
	}
	if v.Declares("limit") {
		n += min(v.limit(), MaxLimit)
	}
	return n
}

// limit is how many rows the page may have, more than MaxLimit too.
func (v *Values) limit() int {
	if limit, sent := v.Int32("limit"); sent {
		return max(int(limit), 1)
	}
	limit, _ := strconv.Atoi(v.declared[v.at("limit")].Default)
	return limit
}

// Page checks limit and sort, as far as they are declared.
func (v *Values) Page(byDefault Sort) (Page, error) {
	page := Page{Limit: v.limit(), Offset: v.Offset(), Sort: byDefault, Cursor: v.Text("cursor")}
	if page.Limit > MaxLimit {
		return page, Unprocessable("limit is not allowed: %d > %d", page.Limit, MaxLimit)
	}
	if v.Declares("sort") && v.Sent("sort") {
		switch strings.ToLower(v.Text("sort")) {
		case "asc", "a":
			page.Sort = Ascending
		case "desc", "d":
			page.Sort = Descending
		default:
			return page, Unprocessable("wrong value for sort parameter")
		}
	}
	return page, nil
}

// BadCursor is the answer to a cursor that no page has returned.
func BadCursor() *Error {
	return Unprocessable("wrong value for cursor parameter: send next_cursor of the page before with the same other parameters")
}

// Fingerprint tells the filters of two requests apart: everything sent but
// paging.
func (v *Values) Fingerprint() uint32 {
	h := fnv.New32a()
	for i := range v.values {
		if value := &v.values[i]; value.sent && v.declared[i].Group != Paging {
			accounts := make([][address.Size]byte, len(value.addresses))
			for j, a := range value.addresses {
				accounts[j] = a
			}
			fmt.Fprintf(h, "%s|%v|%d|%s|%q|%x|%x|", v.declared[i].Name, value.null, value.number, value.text, value.texts, accounts, value.hashes)
		}
	}
	return h.Sum32()
}
