package decode

import (
	"slices"

	"tonscribe/ton/cell"
)

// Methods are the get-methods of a contract's code.
type Methods struct {
	// IDs are the method ids of its dictionary, ascending. The id of a named
	// method is 0x10000 + CRC-16/XMODEM of the name.
	IDs []uint32
	// Known says that the code begins as compilers make it: SETCP0 and a
	// dictionary of methods. Older wallets and library cells do not.
	Known bool
}

// mostMethods bounds what is read of one code.
const mostMethods = 4096

// MethodsOf reads the method ids of a code given as a BoC.
func MethodsOf(code []byte) (Methods, error) {
	bag, err := cell.Parse(code)
	if err != nil {
		return Methods{}, err
	}
	root, err := bag.Single()
	if err != nil {
		return Methods{}, err
	}
	return methodsOf(root), nil
}

// methodsOf reads the keys of the dictionary that the code pushes first:
// SETCP0 (ff00), then DICTPUSHCONST 19 (f4a4, 10 bits of key length), as
// `ff00 f4a4 13` and a reference to the dictionary.
func methodsOf(code cell.Cell) Methods {
	s := code.Slice()
	if s.Uint(16) != 0xff00 {
		return Methods{}
	}
	if s.Uint(14) != 0xf4a4>>2 { // the last 2 bits belong to the key length
		return Methods{}
	}
	if bits := s.Uint(10); s.Failed() || bits != 19 {
		return Methods{}
	}
	m := Methods{Known: true}
	budget := 4 * mostMethods
	if !methodNode(s.Next(), 0, 0, &budget, &m.IDs) {
		return Methods{}
	}
	slices.Sort(m.IDs)
	m.IDs = slices.Compact(m.IDs)
	return m
}

// methodNode walks a node of HashmapE 19; key holds the first bits.
func methodNode(s cell.Slice, key uint32, bits int, budget *int, ids *[]uint32) bool {
	if *budget--; *budget < 0 {
		return false
	}
	label, n := s.Label(19 - bits)
	key |= uint32(label[0]>>45) >> bits
	bits += n
	if s.Failed() {
		return false
	}
	if bits == 19 {
		*ids = append(*ids, key)
		return len(*ids) <= mostMethods
	}
	left, right := s.Next(), s.Next()
	if s.Failed() {
		return false
	}
	return methodNode(left, key, bits+1, budget, ids) && methodNode(right, key|1<<(18-bits), bits+1, budget, ids)
}
