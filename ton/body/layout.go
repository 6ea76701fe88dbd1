package body

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"

	toncell "tonscribe/ton/cell"
)

// layoutLines are layouts that differ from those of opcodes.txt, or are not in it.
//
//go:embed layouts.txt
var layoutLines string

// Layout is what a body has behind its opcode, for those that read its fields.
type Layout struct {
	Name   string
	Opcode uint32
	fields []readField
}

type readField struct {
	name  string
	read  func(*toncell.Reader) any
	inner *Layout // of ^[ … ], whose fields stand among the others
}

// unnamed is the name of a field that is read and not kept.
const unnamed = "_"

var layouts = readLayouts(layoutLines, opcodeLines)

// Of returns the layout of an opcode: the one of layouts.txt, or else the first of
// opcodes.txt. It is nil where there is none, and where fields have types that only
// the Decoder knows.
func Of(opcode uint32) *Layout { return layouts[opcode] }

// opcodeOf is that of the only layout with a name.
func opcodeOf(name string) (opcode uint32) {
	for _, l := range layouts {
		if l.Name == name {
			return l.Opcode
		}
	}
	panic("no layout of " + name)
}

// types are those of fields, without uintN and ^[ … ].
var types = map[string]func(*toncell.Reader) any{
	"Coins":               func(r *toncell.Reader) any { return r.Coins() },
	"Grams":               func(r *toncell.Reader) any { return r.Coins() },
	"(VarUInteger 16)":    func(r *toncell.Reader) any { return r.Coins() },
	"MsgAddress":          func(r *toncell.Reader) any { return Address(r.Party()) },
	"MsgAddressInt":       func(r *toncell.Reader) any { return Address(r.Account()) },
	"^Cell":               func(r *toncell.Reader) any { return r.Ref() },
	"(Maybe ^Cell)":       func(r *toncell.Reader) any { return r.MaybeRef() },
	"(Either Cell ^Cell)": readPayload,
	"snake":               func(r *toncell.Reader) any { return Text(r) },
}

func readerOf(name string) (func(*toncell.Reader) any, bool) {
	if bits, ok := strings.CutPrefix(name, "uint"); ok {
		n, err := strconv.ParseUint(bits, 10, 7)
		return func(r *toncell.Reader) any { return r.Uint(uint(n)) }, err == nil && n >= 1 && n <= 64
	}
	read, ok := types[name]
	return read, ok
}

// readLayouts reads the lines of layouts.txt, all of which must be readable, and what
// opcodes.txt has besides.
func readLayouts(own, others string) map[uint32]*Layout {
	all := map[uint32]*Layout{}
	for _, s := range readSections(own) {
		for _, line := range s.Lines {
			l := &Layout{Name: line.Name, Opcode: line.Opcode}
			if !l.parse(line.Fields) || all[l.Opcode] != nil {
				panic(fmt.Sprintf("ton/body: layouts.txt: %s %s", l.Name, line.Fields))
			}
			all[l.Opcode] = l
		}
	}
	seen := map[uint32]bool{}
	for _, s := range readSections(others) {
		for _, line := range s.Lines {
			l := &Layout{Name: line.Name, Opcode: line.Opcode}
			first := !line.Signed && !seen[l.Opcode]
			if seen[l.Opcode] = true; first && all[l.Opcode] == nil && l.parse(line.Fields) {
				all[l.Opcode] = l
			}
		}
	}
	return all
}

// parse reads fields. It is false where one has a type that is not known.
func (l *Layout) parse(text string) bool {
	for _, word := range splitWords(text) {
		if inner, ok := strings.CutPrefix(word, "^["); ok {
			below := &Layout{}
			if !below.parse(strings.TrimSuffix(inner, "]")) {
				return false
			}
			l.fields = append(l.fields, readField{inner: below})
			continue
		}
		name, of, _ := strings.Cut(word, ":")
		read, ok := readerOf(of)
		if !ok {
			return false
		}
		l.fields = append(l.fields, readField{name: name, read: read})
	}
	return true
}
