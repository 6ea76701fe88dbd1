package schema

import (
	"github.com/cespare/xxhash/v2"
)

// TraceList is a kind of lists of traces and actions.
type TraceList uint8

// The kinds of lists of traces_by_list and actions_by_list.
const (
	AllTraces  TraceList = iota
	TracesOf             // that have a transaction of an account
	AllActions           // of whole traces
	ActionsOf            // that concern an account
)

// Number is the number of a list of the kind, of an account, nil for those of all: the
// XXH64 of the kind and the address.
func (l TraceList) Number(account []byte) uint64 {
	return xxhash.Sum64(append(append(make([]byte, 0, 1+AddressSize), byte(l)), account...))
}

// ActionType is the number by which tables name a type of actions: the lower 32 bits of
// the XXH64 of its name.
func ActionType(name string) uint32 {
	return uint32(xxhash.Sum64String(name) & (1<<32 - 1))
}
