package action

import (
	"reflect"
	"slices"

	"tonscribe/schema/record"
)

// Opcodes are those that patterns ask for, ascending.
func Opcodes() (list []uint32) {
	var visit func(*Pattern, int)
	visit = func(p *Pattern, depth int) {
		if p == nil || depth > 32 {
			return
		}
		list = append(append(list, p.opcodes...), p.payload...)
		for _, c := range slices.Concat(p.children, p.options) {
			visit(c, depth+1)
		}
		visit(p.parent, depth+1)
		if p.refer != nil && depth < 8 {
			visit(p.refer(), depth+8)
		}
	}
	for _, r := range registry.rules {
		visit(r.Pattern, 0)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// DeployedSale is the sale that a build, by the hash of its code, is deployed with.
func DeployedSale(code string, data []byte) *record.Sale {
	r := openBoC(data)
	if s := saleForms[code](&r); !r.Failed() {
		return s
	}
	return nil
}

// BuildsLike reads the data of a build of sales as those of another one until it is
// undone.
func BuildsLike(code, other string) (undo func()) {
	saleForms[code] = saleForms[other]
	return func() { delete(saleForms, code) }
}

// DeployedAuction is the same for auctions.
func DeployedAuction(code string, data []byte) *record.Auction {
	r := openBoC(data)
	if form := auctionForms[code]; form != nil {
		if a := form(&r); !r.Failed() {
			return a
		}
	}
	return nil
}

// Values are the details of a struct.
func Values(details any) ([]Detail, []Value) {
	v := reflect.ValueOf(details).Elem()
	list := detailsOf(v.Type())
	return list, valuesOf(list, v)
}

// Pack and Unpack make records of values, and values of records.
var (
	Pack   = pack
	Unpack = unpack
)
