package body

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

var (
	//go:embed opcodes.txt
	opcodeLines string
	//go:embed types.txt
	typeLines string
)

// Section is a heading of the table of opcodes and the lines below it.
type Section struct {
	Title string
	Lines []Line
}

// Line is a line of the table of opcodes.
type Line struct {
	Name   string
	Opcode uint32
	Signed bool   // a signed message of a wallet, which has no opcode
	Fields string // TL-B; "!" where they are not known
}

// Sections are the lines of the table, in its order.
func Sections() []Section { return readSections(opcodeLines) }

// NameOf is the name that clients know an opcode by, empty when it has none.
func NameOf(opcode uint32) string { return theTable().names[opcode] }

// kind says how a value is read and shown.
type kind uint8

const (
	asUint     kind = iota
	asInt           // two's complement
	asBits          // hex digits
	asBool          // true and false
	asVarUint       // VarUInteger
	asText          // in a chain of cells
	asCell          // all that is left
	asCellRef       // ^Cell
	asRecord        // one of several constructors
	asAddress       // a record that is an addr_std most of the time
	asRef           // ^T
	asNamedRef      // ^T that another type is used with
	asHashmap
	asHashmapE
	asOutList
	asExtended // W5ExtendedActionList
	asMessages // WalletV1toV4Msgs
	asChunks   // TextChunks
)

// typ is a type of fields.
type typ struct {
	kind  kind
	bits  int       // of a number or a key, of a length; what the count of bits(…) is multiplied by
	max   uint64    // of a number that does not use all its bits, or 0
	of    bool      // as many bits as another field says, bits times
	elem  *typ      // behind references, in dictionaries
	cases []*layout // of a record
}

// field is a field of a layout.
type field struct {
	key  string // with the comma before it and the colon behind it
	typ  *typ
	mask uint64 // of the counted field: the bits that say that this one is there; 0 for always
}

// layout is a constructor: a tag and fields.
type layout struct {
	name    string
	tag     uint64
	tagBits int
	open    string // what its JSON begins with
	fields  []field
	// counted is the field that others of the layout depend on, -1 for none.
	counted int
}

// table is opcodes.txt and types.txt.
type table struct {
	names  map[uint32]string
	bodies map[uint32][]*layout // behind their opcodes
	signed []*layout
	// signedBits is the size of the shortest signed message: a signature.
	signedBits int
	// What the interpreter goes through by itself.
	message, extended, outAction *typ
}

var theTable = sync.OnceValue(func() *table { return readTable(opcodeLines, typeLines) })

func readSections(text string) (list []Section) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		title, isTitle := strings.CutPrefix(line, "// ")
		switch {
		case line == "":
			list = append(list, Section{})
		case isTitle && len(list) > 0:
			list[len(list)-1].Title = title
		case !strings.HasPrefix(line, "//"):
			head, fields, _ := strings.Cut(line, " ")
			name, tag, tagged := strings.Cut(head, "#")
			opcode, err := strconv.ParseUint("0"+tag, 16, 32)
			if err != nil || tagged && len(tag) != 8 {
				panic(fmt.Sprintf("ton/body: %s: the opcode has not eight hex digits", head))
			}
			last := &list[len(list)-1]
			last.Lines = append(last.Lines, Line{Name: name, Opcode: uint32(opcode), Signed: !tagged, Fields: fields})
		}
	}
	return list
}

func readTable(opcodes, types string) *table {
	t := &table{names: map[uint32]string{}, bodies: map[uint32][]*layout{}, signedBits: 512}
	p := &parser{types: map[string]*definition{}, known: map[string]*typ{}}
	for line := range strings.Lines(types) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
			p.define(line)
		}
	}
	for _, s := range readSections(opcodes) {
		for _, line := range s.Lines {
			if !line.Signed && t.names[line.Opcode] == "" {
				t.names[line.Opcode] = line.Name
			}
			if line.Fields == "!" {
				continue
			}
			l := p.layout(line.Name, line.Fields, nil)
			if line.Signed {
				t.signed = append(t.signed, l)
			} else {
				t.bodies[line.Opcode] = append(t.bodies[line.Opcode], l)
			}
		}
	}
	t.message, t.extended, t.outAction = p.typeOf("ModeWithMessage", nil, false), p.typeOf("W5ExtendedAction", nil, false), p.typeOf("OutAction", nil, false)
	return t
}

// parser reads the lines of the table, which are part of the program: it panics
// where they are wrong.
type parser struct {
	types map[string]*definition
	known map[string]*typ // by their text
}

// definition is a type of types.txt.
type definition struct {
	params []string // what stands for the types that it is used with
	lines  []string // of its constructors
}

func (p *parser) define(line string) {
	constructor, of, found := strings.Cut(line, " = ")
	if !found {
		panic("ton/body: types.txt: no type in " + line)
	}
	var params []string
	words := strings.Fields(of)
	for i, word := range words {
		if len(word) == 1 {
			params = words[i:]
			words = words[:i]
			break
		}
	}
	for _, name := range words {
		d := p.types[name]
		if d == nil {
			d = &definition{params: params}
			p.types[name] = d
		}
		d.lines = append(d.lines, constructor)
	}
}

// layout makes a constructor of its name and the text of its fields; names of types
// among them may stand for others.
func (p *parser) layout(name, text string, named map[string]string) *layout {
	l := &layout{name: name, open: `{"@type":"` + name + `"`, counted: -1}
	if name == "_" || name == "" {
		l.name, l.open = "", "{"
	}
	var names []string
	for _, f := range splitWords(text) {
		name, of, _ := strings.Cut(f, ":")
		if name == "_" {
			name = ""
		}
		made := field{key: `,"` + name + `":`}
		if count, rest, conditional := strings.Cut(of, "?"); conditional {
			counter, bit, one := strings.Cut(count, ".")
			made.mask = ^uint64(0)
			if one {
				made.mask = 1 << mustInt(bit)
			}
			l.count(names, counter)
			of = rest
		}
		if m := bitsOf.FindStringSubmatch(of); m != nil {
			l.count(names, m[1])
			made.typ = &typ{kind: asBits, of: true, bits: 1}
			if m[2] != "" {
				made.typ.bits = mustInt(m[2])
			}
		} else if made.typ = p.typeOf(of, named, false); made.typ.kind == asChunks {
			l.count(names, "chunks")
		}
		if len(l.fields) == 0 && l.name == "" {
			made.key = made.key[1:]
		}
		names = append(names, name)
		l.fields = append(l.fields, made)
	}
	return l
}

// bitsOf is as many bits as a field says.
var bitsOf = regexp.MustCompile(`^bits\((\w+)(?:\*(\d+))?\)$`)

// count says that fields depend on the one with a name.
func (l *layout) count(names []string, name string) {
	i := slices.Index(names, name)
	if i < 0 || l.counted >= 0 && l.counted != i {
		panic(fmt.Sprintf("ton/body: %s depends on %q", l.name, name))
	}
	l.counted = i
}

// typeOf is the type with a text. That an ^T is what another type is used with
// changes how it is shown.
func (p *parser) typeOf(text string, named map[string]string, used bool) *typ {
	if other, ok := named[text]; ok {
		return p.typeOf(other, nil, true)
	}
	key := text
	if used {
		key = "used with " + text
	}
	if t := p.known[key]; t != nil && named == nil {
		return t
	}
	t := &typ{}
	if named == nil {
		p.known[key] = t
	}
	p.read(t, text, named, used)
	return t
}

var (
	numbers = regexp.MustCompile(`^(uint|int|bits)(\d+)$`)
	plain   = map[string]typ{
		"Bool": {kind: asBool}, "Bit": {kind: asUint, bits: 1}, "snake": {kind: asText},
		"Cell": {kind: asCell}, "Any": {kind: asCell}, "^Cell": {kind: asCellRef},
		"OutList": {kind: asOutList}, "W5ExtendedActionList": {kind: asExtended}, "WalletV1toV4Msgs": {kind: asMessages},
		"TextChunks": {kind: asChunks},
	}
	numberKinds = map[string]kind{"uint": asUint, "int": asInt, "bits": asBits}
)

func (p *parser) read(t *typ, text string, named map[string]string, used bool) {
	if made, ok := plain[text]; ok {
		*t = made
		return
	}
	if m := numbers.FindStringSubmatch(text); m != nil {
		t.kind, t.bits = numberKinds[m[1]], mustInt(m[2])
		return
	}
	if behind, ok := strings.CutPrefix(text, "^"); ok {
		t.kind = asRef
		if used {
			t.kind = asNamedRef
		}
		if inner, ok := strings.CutPrefix(behind, "["); ok {
			t.elem = &typ{kind: asRecord, cases: []*layout{p.layout("", strings.TrimSuffix(inner, "]"), named)}}
		} else {
			t.elem = p.typeOf(behind, named, false)
		}
		return
	}
	words := []string{text}
	if strings.HasPrefix(text, "(") {
		words = splitWords(text[1 : len(text)-1])
	}
	switch words[0] {
	case "#<=":
		t.kind, t.max = asUint, uint64(mustInt(words[1]))
		t.bits = lengthBits(int(t.max))
	case "VarUInteger":
		t.kind, t.bits = asVarUint, lengthBits(mustInt(words[1])-1)
	case "Hashmap", "HashmapE":
		t.kind, t.bits, t.elem = asHashmap, mustInt(words[1]), p.typeOf(words[2], named, true)
		if words[0] == "HashmapE" {
			t.kind = asHashmapE
		}
	default:
		p.readRecord(t, words, named)
	}
}

func (p *parser) readRecord(t *typ, words []string, named map[string]string) {
	d := p.types[words[0]]
	if d == nil || len(d.params) != len(words)-1 {
		panic("ton/body: no type " + strings.Join(words, " "))
	}
	var inner map[string]string
	for i, param := range d.params {
		if inner == nil {
			inner = map[string]string{}
		}
		inner[param] = words[1+i]
		if other, ok := named[words[1+i]]; ok {
			inner[param] = other
		}
	}
	t.kind = asRecord
	if strings.HasPrefix(words[0], "MsgAddress") && words[0] != "MsgAddressExt" {
		t.kind = asAddress
	}
	for _, line := range d.lines {
		head, fields, _ := strings.Cut(line, " ")
		at := strings.IndexAny(head, "#$")
		if at < 0 {
			t.cases = append(t.cases, p.layout(head, fields, inner))
			continue
		}
		l := p.layout(head[:at], fields, inner)
		base, width := 2, 1
		if head[at] == '#' {
			base, width = 16, 4
		}
		tag, err := strconv.ParseUint(head[at+1:], base, 64)
		if err != nil {
			panic("ton/body: the tag of " + line)
		}
		l.tag, l.tagBits = tag, width*len(head[at+1:])
		t.cases = append(t.cases, l)
	}
}

// splitWords splits at the spaces that are in no brackets.
func splitWords(text string) (list []string) {
	depth, from := 0, 0
	for i, c := range text {
		switch c {
		case '(', '[':
			depth++
		case ')', ']':
			depth--
		case ' ':
			if depth > 0 {
				continue
			}
			if i > from {
				list = append(list, text[from:i])
			}
			from = i + 1
		}
	}
	if from < len(text) {
		list = append(list, text[from:])
	}
	return list
}

func mustInt(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		panic("ton/body: " + err.Error())
	}
	return n
}
