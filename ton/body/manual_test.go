package body_test

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	"tonscribe/test/support/manualtest"
	"tonscribe/ton/body"
)

// manual is what docs/messages.md says of the opcodes.
func manual() string {
	var b strings.Builder
	for _, s := range body.Sections() {
		if len(s.Lines) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n### %s\n\n| Opcode | Name | Fields |\n|---|---|---|\n", s.Title)
		for _, line := range s.Lines {
			opcode, fields := fmt.Sprintf("`0x%08x`", line.Opcode), "`"+line.Fields+"`"
			if line.Signed {
				opcode = "none"
			}
			switch line.Fields {
			case "":
				fields = "none"
			case "!":
				fields = "not known"
			}
			fmt.Fprintf(&b, "| %s | `%s` | %s |\n", opcode, line.Name, fields)
		}
	}
	return b.String() + "\n"
}

func TestManualHasTheTableOfOpcodes(t *testing.T) {
	manualtest.Check(t, "../../docs/messages.md", manual())
}

// Every line of the table is well-formed: a name, and an opcode or a signature.
func TestTheTableIsWellFormed(t *testing.T) {
	names := map[uint32]string{}
	lines := 0
	for _, s := range body.Sections() {
		if len(s.Lines) > 0 && s.Title == "" {
			t.Errorf("the section of %s has no heading", s.Lines[0].Name)
		}
		for _, line := range s.Lines {
			lines++
			if line.Name == "" || strings.ContainsAny(line.Name, "|` ") {
				t.Errorf("a line is called %q", line.Name)
			}
			if line.Signed {
				if !strings.HasPrefix(line.Fields, "signature:bits512 ") {
					t.Errorf("%s does not begin with a signature", line.Name)
				}
				continue
			}
			names[line.Opcode] = cmp.Or(names[line.Opcode], line.Name)
		}
	}
	for opcode, name := range names {
		if got := body.NameOf(opcode); got != name {
			t.Errorf("%08x is called %s, want that of its first line, %s", opcode, got, name)
		}
	}
	if lines < 550 || len(names) < 500 {
		t.Errorf("%d lines of %d opcodes, want 550 and 500", lines, len(names))
	}
}
