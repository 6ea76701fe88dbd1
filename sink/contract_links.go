package sink

import (
	"tonscribe/schema"
)

// link is an account, or a domain, that a contract names.
type link struct {
	*contract
	role         schema.LinkRole
	keyWorkchain int32
	keyPrefix    uint64
}

// links hands out what the contract names, each once, and, for lists of all,
// nothing for each role that it has.
func (c *contract) links(add func(*link)) {
	seen := map[link]bool{}
	put := func(l link) {
		if !seen[l] {
			seen[l] = true
			add(&l)
		}
	}
	accounts := func(role schema.LinkRole, list ...[]byte) {
		for _, a := range list {
			if len(a) == schema.AddressSize {
				workchain, prefix := address(a)
				put(link{c, role, workchain, prefix})
			}
		}
	}
	for _, all := range []struct {
		role schema.LinkRole
		has  bool
	}{
		{schema.LinkSigner, c.Multisig != nil}, {schema.LinkOrder, c.MultisigOrder != nil},
		{schema.LinkVesting, c.Vesting != nil}, {schema.LinkWallet, c.NftItem.GetDns() != nil},
	} {
		if all.has {
			put(link{c, all.role, noWorkchain, 0})
		}
	}
	accounts(schema.LinkSigner, c.Multisig.GetSigners()...)
	accounts(schema.LinkSigner, c.Multisig.GetProposers()...)
	accounts(schema.LinkOrder, c.MultisigOrder.GetMultisig())
	accounts(schema.LinkVesting, c.Vesting.GetOwner(), c.Vesting.GetSender())
	accounts(schema.LinkWhitelist, c.Vesting.GetWhitelist()...)
	if name := c.NftItem.GetDns(); name != nil {
		accounts(schema.LinkWallet, name.Wallet)
		put(link{c, schema.LinkDomain, 0, schema.DomainPrefix(name.Domain)})
	}
}

// contractLinks finds contracts by what they name.
var contractLinks = table[*link]{
	name: "contract_links",
	columns: []column[*link]{
		col("role", func(l *link) int8 { return int8(l.role) }),
		col("key_workchain", func(l *link) int32 { return l.keyWorkchain }),
		col("key_prefix", func(l *link) uint64 { return l.keyPrefix }),
		col("first_mc_seqno", func(l *link) uint32 { return l.FirstMcSeqno }),
		col("workchain", func(l *link) int32 { return l.workchain }),
		col("account_prefix", func(l *link) uint64 { return l.prefix }),
		col("account", func(l *link) []byte { return l.accountID() }),
		col("mc_seqno", func(l *link) uint32 { return l.McSeqno }),
	},
}
