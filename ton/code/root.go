// Package code knows contracts by their code alone: interfaces by the hash of a
// public build or by the get-methods of a code, names of get-methods by their
// ids, and wallets with what their data begins with. It is data: no contract is
// run here.
package code

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/xssnick/tonutils-go/tlb"
)

// Hash is the representation hash of a code cell.
type Hash = [32]byte

// Interface is a kind of contract that has a name.
type Interface struct {
	Name    string
	Methods []string // names of its get-methods
	Codes   []string // hashes of public builds in base64
}

// MustHash returns the hash that text, base64 or hexadecimal, stands for. It is
// for tables in the program: it panics on anything else.
func MustHash(text string) Hash {
	hash, err := hex.DecodeString(text)
	if err != nil {
		hash, err = base64.StdEncoding.DecodeString(text)
	}
	if err != nil || len(hash) != len(Hash{}) {
		panic(fmt.Sprintf("code hash %q", text))
	}
	return Hash(hash)
}

// MethodID returns the number of a named get-method: CRC-16/XMODEM of the name
// with bit 16 set.
func MethodID(name string) uint32 { return uint32(tlb.MethodNameHash(name)) }

// HasMethods reports whether all methods are among the ids, which are ascending.
func HasMethods(ids []uint32, methods ...string) bool {
	for _, method := range methods {
		if _, found := slices.BinarySearch(ids, MethodID(method)); !found {
			return false
		}
	}
	return true
}

// known is interfaces, to be looked up.
var known = newIndex()

type index struct {
	interfaceOf map[Hash]string
	builds      map[string][]Hash
	methods     [][]uint32 // ids of the methods of each of interfaces
	names       map[uint32]string
}

func newIndex() index {
	x := index{map[Hash]string{}, map[string][]Hash{}, nil, map[uint32]string{}}
	for _, i := range interfaces {
		for _, text := range i.Codes {
			hash := MustHash(text)
			x.interfaceOf[hash] = i.Name
			x.builds[i.Name] = append(x.builds[i.Name], hash)
		}
		var ids []uint32
		for _, method := range i.Methods {
			ids = append(ids, MethodID(method))
			x.names[MethodID(method)] = method
		}
		x.methods = append(x.methods, ids)
	}
	for _, method := range otherMethods {
		x.names[MethodID(method)] = method
	}
	return x
}

// Build returns the hash of the first public build of a named interface. It
// panics when the table has none.
func Build(name string) Hash {
	builds := known.builds[name]
	if len(builds) == 0 {
		panic(fmt.Sprintf("no public build of %q", name))
	}
	return builds[0]
}

// InterfaceOf returns the name of a public build, and whether it is one.
func InterfaceOf(build Hash) (name string, ok bool) {
	name, ok = known.interfaceOf[build]
	return name, ok
}

// Interfaces returns the names of a contract, ascending: that of its code hash
// when it is a public build, else all whose methods are among the ids, which are
// ascending.
func Interfaces(hash Hash, ids []uint32) []string {
	if name, ok := InterfaceOf(hash); ok {
		return []string{name}
	}
	var names []string
	for i, methods := range known.methods {
		if len(methods) > 0 && containsAll(ids, methods) {
			names = append(names, interfaces[i].Name)
		}
	}
	slices.Sort(names)
	return names
}

func containsAll(ids, wanted []uint32) bool {
	for _, id := range wanted {
		if _, found := slices.BinarySearch(ids, id); !found {
			return false
		}
	}
	return true
}

// MethodName returns the name of a method, and whether it is known.
func MethodName(id uint32) (name string, ok bool) {
	name, ok = known.names[id]
	return name, ok
}

func words(text string) []string { return strings.Fields(text) }
