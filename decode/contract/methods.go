package contract

import (
	"slices"

	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm/cell"
)

const (
	// methodKeyBits is the size of the keys of a method dictionary.
	methodKeyBits = 19
	// maxMethods bounds what is read of a method dictionary.
	maxMethods = 4096
)

// MethodID is the number of a named get-method: CRC-16/XMODEM of the name with
// bit 16 set.
func MethodID(name string) uint32 { return uint32(tlb.MethodNameHash(name)) }

// Methods are the ids in the code's method dictionary, ascending. ok is false
// when the code has none where compilers put it (SETCP0, then a constant
// dictionary with keys of 19 bits): then nothing is known of its methods. Code
// that is a library cell must be resolved before.
func Methods(code *cell.Cell) (ids []uint32, ok bool) {
	root, ok := methodDictionary(code)
	if !ok {
		return nil, false
	}
	complete, err := walk(root, methodKeyBits, maxMethods, func(key []byte, _ *cell.Slice) bool {
		ids = append(ids, uint32(key[0])<<11|uint32(key[1])<<3|uint32(key[2])>>5)
		return true
	})
	if err != nil || !complete {
		return nil, false
	}
	return ids, true
}

// methodDictionary finds the dictionary that DICTPUSHCONST holds.
func methodDictionary(code *cell.Cell) (*cell.Cell, bool) {
	if code == nil || code.IsSpecial() {
		return nil, false
	}
	s, err := code.BeginParse()
	if err != nil {
		return nil, false
	}
	const (
		setCP0        = 0xff00
		pushConstDict = 0xf4a4 >> 2 // 14 bits: F4A4_, then 10 bits of key size
	)
	if op, err := s.LoadUInt(16); err != nil || op != setCP0 {
		return nil, false
	}
	if op, err := s.LoadUInt(14); err != nil || op != pushConstDict {
		return nil, false
	}
	if bits, err := s.LoadUInt(10); err != nil || bits != methodKeyBits {
		return nil, false
	}
	root, err := s.LoadRefCell()
	return root, err == nil
}

// HasMethods says whether all methods are among the ids, which are ascending.
func HasMethods(ids []uint32, methods ...string) bool {
	for _, method := range methods {
		if _, found := slices.BinarySearch(ids, MethodID(method)); !found {
			return false
		}
	}
	return true
}
