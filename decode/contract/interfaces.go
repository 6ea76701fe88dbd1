package contract

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
)

// Interface is a kind of contract that has a name.
type Interface struct {
	Name    string
	Methods []string // names of its get-methods
	Codes   []string // hashes of code in base64
}

var (
	interfaceOfCode = map[[32]byte]string{}
	// methodsOf holds the method ids of each entry of interfaces.
	methodsOf [][]uint32
)

func init() {
	for _, i := range interfaces {
		for _, text := range i.Codes {
			hash, err := base64.StdEncoding.DecodeString(text)
			if err != nil || len(hash) != 32 {
				panic(fmt.Sprintf("interface %s: code hash %q", i.Name, text))
			}
			interfaceOfCode[[32]byte(hash)] = i.Name
		}
		var ids []uint32
		for _, method := range i.Methods {
			ids = append(ids, MethodID(method))
		}
		methodsOf = append(methodsOf, ids)
	}
}

// InterfaceOfCode is the name of a public build.
func InterfaceOfCode(codeHash [32]byte) (name string, ok bool) {
	name, ok = interfaceOfCode[codeHash]
	return name, ok
}

// Interfaces are the names of a contract: that of its code hash when it is a
// public build, else all whose methods are among the ids, which are ascending.
func Interfaces(codeHash [32]byte, ids []uint32) []string {
	if name, ok := InterfaceOfCode(codeHash); ok {
		return []string{name}
	}
	var names []string
	for i, methods := range methodsOf {
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

func words(text string) []string { return strings.Fields(text) }

// nameOfMethod are the names that are known of methods, by id.
var nameOfMethod = func() map[uint32]string {
	names := map[uint32]string{}
	add := func(methods []string) {
		for _, method := range methods {
			names[MethodID(method)] = method
		}
	}
	for _, i := range interfaces {
		add(i.Methods)
	}
	for _, d := range detectors {
		add(d.methods)
	}
	add(ConfirmMethods())
	add(otherMethods)
	return names
}()

// otherMethods are read besides those that detectors need, or often met.
var otherMethods = words("is_claimed get_status get_next_admin_address get_nft_content royalty_params get_revoked_time " +
	"get_full_domain get_domain get_auction_info get_last_fill_up_time get_whitelist is_whitelisted get_locked_amount " +
	"get_nominator_data get_lp_account_address get_static_data get_fix_price_data get_auction_data get_order_estimate")

// MethodName is the name of a method, when it is known.
func MethodName(id uint32) (name string, ok bool) {
	name, ok = nameOfMethod[id]
	return name, ok
}
