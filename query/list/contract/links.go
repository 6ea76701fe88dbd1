package contract

import (
	"tonscribe/query/list/paging"
	"tonscribe/query/list/plan"
	"tonscribe/query/sql"
	"tonscribe/schema"
	"tonscribe/ton/address"
)

// linkList is a list of what names some accounts, or of all of a role when all is
// true. Of a contract that is nothing any more only contracts tells.
func linkList(role schema.LinkRole, list []address.Address, all bool) *contractList {
	list = paging.Somebody(list)
	if all {
		list = []address.Address{paging.NoAddress}
	}
	return &contractList{table: "contract_links", history: "contracts", seqno: "first_mc_seqno", order: firstIndexed, keyOf: keyOfFirst, ranges: linkRanges(role, sql.KeysOf(list))}
}

func linkRanges(role schema.LinkRole, list []sql.AccountKey) []plan.Range {
	prefix := []string{"role", "key_workchain", "key_prefix"}
	ranges := make([]plan.Range, len(list))
	for i, a := range list {
		ranges[i] = plan.AccountRange(prefix, prefix[1:], a, linksOf(role)...)
	}
	return ranges
}

// linksOf are the rows of contract_links with a role.
func linksOf(role schema.LinkRole) sql.Conditions {
	return sql.Conditions{sql.Is("role", sql.Name(role.String()))}
}
