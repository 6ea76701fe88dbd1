package body

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"

	toncell "tonscribe/ton/cell"
)

//go:embed layouts.txt
var source string

// Layout is what a body has behind its opcode.
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

var layouts = parseLayouts(source)

// Of returns the layout of an opcode, nil when there is none.
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
	"MsgAddress":          func(r *toncell.Reader) any { return Address(r.Account()) },
	"^Cell":               func(r *toncell.Reader) any { return r.Ref() },
	"(Maybe ^Cell)":       func(r *toncell.Reader) any { return r.MaybeRef() },
	"(Either Cell ^Cell)": readPayload,
	"snake":               func(r *toncell.Reader) any { return Text(r) },
}

func typeOf(name string) (func(*toncell.Reader) any, bool) {
	if bits, ok := strings.CutPrefix(name, "uint"); ok {
		n, err := strconv.ParseUint(bits, 10, 7)
		return func(r *toncell.Reader) any { return r.Uint(uint(n)) }, err == nil && n >= 1 && n <= 64
	}
	read, ok := types[name]
	return read, ok
}

// parseLayouts reads layouts.txt, which is part of the program.
func parseLayouts(text string) map[uint32]*Layout {
	all := map[uint32]*Layout{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "//") {
			continue
		}
		head, rest, _ := strings.Cut(line, " ")
		name, tag, _ := strings.Cut(head, "#")
		opcode, err := strconv.ParseUint(tag, 16, 32)
		if err != nil || len(tag) != 8 || all[uint32(opcode)] != nil {
			panic(fmt.Sprintf("layout %q: opcode %q", name, tag))
		}
		l := &Layout{Name: name, Opcode: uint32(opcode)}
		if rest = l.parse(rest); rest != "" {
			panic(fmt.Sprintf("layout %q: %q is left", name, rest))
		}
		all[l.Opcode] = l
	}
	return all
}

// parse reads fields up to the end or a closing bracket, and returns what follows.
func (l *Layout) parse(text string) string {
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		if rest, ok := strings.CutPrefix(text, "]"); ok {
			return rest
		}
		if rest, ok := strings.CutPrefix(text, "^["); ok {
			inner := &Layout{}
			text = inner.parse(rest)
			l.fields = append(l.fields, readField{inner: inner})
			continue
		}
		name, rest, _ := strings.Cut(text, ":")
		end := strings.IndexByte(rest, ' ')
		if strings.HasPrefix(rest, "(") {
			end = strings.IndexByte(rest, ')') + 1
		}
		if end < 0 {
			end = len(rest)
		}
		read, ok := typeOf(rest[:end])
		if !ok {
			panic(fmt.Sprintf("field %q: no type %q", name, rest[:end]))
		}
		l.fields = append(l.fields, readField{name: name, read: read})
		text = rest[end:]
	}
	return ""
}
