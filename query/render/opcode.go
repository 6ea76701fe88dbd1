package render

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"
)

// opcodeTable has one opcode a line: eight hex digits, a space, the name.
//
//go:embed opcodes.txt
var opcodeTable string

var opcodeNames = sync.OnceValue(func() map[uint32]string {
	names := map[uint32]string{}
	for line := range strings.Lines(opcodeTable) {
		digits, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		opcode, err := strconv.ParseUint(digits, 16, 32)
		if err != nil {
			panic("query/render: opcodes.txt: " + err.Error())
		}
		names[uint32(opcode)] = name
	}
	return names
})

// OpcodeName is the name clients know an opcode by, empty when it has none.
func OpcodeName(opcode uint32) string { return opcodeNames()[opcode] }
