package decode

import "tonscribe/ton/cell"

// Methods are the get-methods of a contract's code.
type Methods struct {
	// IDs are the method ids of its dictionary, ascending. The id of a named
	// method is 0x10000 + CRC-16/XMODEM of the name.
	IDs []uint32
	// Known reports whether the code begins as compilers make it: SETCP0 and a
	// dictionary of methods. Older wallets and library cells do not.
	Known bool
}

const (
	// methodBits is the size of the ids of methods.
	methodBits = 19
	// maxMethods bounds what is read of one code.
	maxMethods = 4096
)

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
	if s.Uint(30) != 0xff00<<14|0xf4a4>>2 || s.Uint(10) != methodBits {
		return Methods{}
	}
	m := Methods{Known: true}
	budget := 4 * maxMethods
	err := s.Next().Hashmap(methodBits, &budget, false, func(key cell.Key, s cell.Slice) error {
		m.IDs = append(m.IDs, uint32(key[0]>>(64-methodBits)))
		return s.Err()
	})
	if err != nil || len(m.IDs) > maxMethods {
		return Methods{}
	}
	return m
}
