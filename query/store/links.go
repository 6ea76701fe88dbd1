package store

import (
	"fmt"
	"slices"

	"tonscribe/schema"
)

// linkPlan is the plan of a list of what names some accounts, or of all of a role
// when all is true.
func linkPlan(role schema.LinkRole, list []Address, all bool) contractPlan {
	p := contractPlan{table: "contract_links", columns: contractColumns{seqno: "first_mc_seqno"}}
	if all {
		list = []Address{noAddress}
	}
	for _, a := range list {
		p.pieces = append(p.pieces, piece{
			key: spotOf(a[:]), leading: []string{"role", "key_workchain", "key_prefix"},
			conditions: conditions{account("key_workchain", "key_prefix", a), fmt.Sprintf("role = '%s'", role)},
		})
	}
	return p
}

// hasAny says that one of some addresses is in a list, or that the list says
// nothing.
func hasAny(list []Address, some [][]byte) bool {
	return len(list) == 0 || slices.ContainsFunc(some, func(a []byte) bool { return hasAddress(list, a) })
}
