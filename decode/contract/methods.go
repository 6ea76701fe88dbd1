package contract

import (
	"errors"

	"github.com/xssnick/tonutils-go/tvm/cell"

	toncell "tonscribe/ton/cell"
)

const (
	// methodKeyBits is the size of the keys of a method dictionary.
	methodKeyBits = 19
	// maxMethods bounds what is read of a method dictionary.
	maxMethods = 4096
)

// methods are the ids in the code's method dictionary, ascending; nil when the
// code has none where compilers put it (SETCP0, then a constant dictionary with
// keys of 19 bits): then nothing is known of its methods. The error is a
// *MissingLibrary.
func methods(code *cell.Cell, libraries Libraries) (ids []uint32, err error) {
	root, err := methodDictionary(code, libraries)
	if err != nil || root == nil {
		return nil, err
	}
	dictionary := toncell.Dictionary{Root: root, Bits: methodKeyBits, Open: libraries.open}
	complete, err := dictionary.Walk(maxMethods, func(key []byte, _ *cell.Slice) bool {
		ids = append(ids, uint32(key[0])<<11|uint32(key[1])<<3|uint32(key[2])>>5)
		return true
	})
	var missing *MissingLibrary
	switch {
	case errors.As(err, &missing):
		return nil, missing
	case err != nil || !complete:
		return nil, nil //nolint:nilerr // a stranger's dictionary that is none
	}
	return ids, nil
}

// methodDictionary finds the dictionary that DICTPUSHCONST holds, nil when there
// is none.
func methodDictionary(code *cell.Cell, libraries Libraries) (*cell.Cell, error) {
	code, err := libraries.open(code)
	if err != nil || code == nil || code.IsSpecial() {
		return nil, err
	}
	s, err := code.BeginParse()
	if err != nil {
		return nil, nil //nolint:nilerr // a stranger's code that is none
	}
	const (
		setCP0        = 0xff00
		pushConstDict = 0xf4a4 >> 2 // 14 bits: F4A4_, then 10 bits of key size
	)
	if op, err := s.LoadUInt(16); err != nil || op != setCP0 {
		return nil, nil //nolint:nilerr // it begins otherwise
	}
	if op, err := s.LoadUInt(14); err != nil || op != pushConstDict {
		return nil, nil //nolint:nilerr // as above
	}
	if bits, err := s.LoadUInt(10); err != nil || bits != methodKeyBits {
		return nil, nil //nolint:nilerr // as above
	}
	root, err := s.LoadRefCell()
	if err != nil {
		return nil, nil //nolint:nilerr // as above
	}
	return root, nil
}
