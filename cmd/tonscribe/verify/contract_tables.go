package verify

import (
	"strings"

	"tonscribe/schema"
	"tonscribe/schema/record"
)

// Columns that the tables of contracts and of transfers share.
var (
	accountOf    = column{name: "account", form: formHash, bytes: func(i *item) []byte { return i.id }}
	contractKey  = []column{workchain, accountPrefix, accountOf}
	contractHead = append(contractKey[:3:3],
		column{name: "mc_seqno", value: func(i *item) uint64 { return uint64(i.contract.McSeqno) }},
		column{name: "first_mc_seqno", value: func(i *item) uint64 { return uint64(i.contract.FirstMcSeqno) }},
		column{name: "lt", value: func(i *item) uint64 { return i.contract.LastTransLt }},
	)
	activeColumn = column{name: "active", value: func(i *item) uint64 { return flag(schema.RolesOf(i.contract) != 0) }}
)

// party are the columns of an address: workchain, prefix and id.
func party(name string, address func(*item) []byte) []column {
	return []column{
		{name: name + "_workchain", form: formSigned, value: func(i *item) uint64 { return workchainOf(address(i)) }},
		{name: name + "_prefix", form: formBits, value: func(i *item) uint64 { return prefixOf(address(i)) }},
		idColumn(name, address),
	}
}

// idColumn is the id of an address, zeros for none.
func idColumn(name string, address func(*item) []byte) column {
	return column{name: name, form: formHash, bytes: func(i *item) []byte {
		if a := address(i); len(a) == schema.AddressSize {
			return schema.AccountID(a)
		}
		return nil
	}}
}

func wide(name string, magnitude func(*item) []byte) column {
	return column{name: name, form: formWide, bytes: magnitude}
}

// attribute is a column of token content.
func attribute(name string, content func(*item) *record.TokenContent) column {
	return column{name: name, form: formText, bytes: func(i *item) []byte {
		for _, a := range content(i).GetAttributes() {
			if a.Name == name {
				return []byte(a.Value)
			}
		}
		return nil
	}}
}

func columnsOf(lists ...[]column) (all []column) {
	for _, list := range lists {
		all = append(all, list...)
	}
	return all
}

// contractTable declares what stands beside a contract's record.
var contractTable = &table{name: "contracts", key: 3, columns: columnsOf(contractHead, []column{
	{name: "roles", value: func(i *item) uint64 { return uint64(schema.RolesOf(i.contract)) }},
	{name: "interfaces", form: formText, text: "arrayStringConcat(interfaces, '\n')",
		bytes: func(i *item) []byte { return []byte(strings.Join(i.contract.Interfaces, "\n")) }},
})}

// roleTable is the table of one thing that contracts are.
type roleTable struct {
	table
	role uint32
}

// roleTables are all of them.
var roleTables = [...]roleTable{
	{table{name: "jetton_masters", key: 3, columns: columnsOf(contractHead, []column{activeColumn,
		wide("total_supply", func(i *item) []byte { return i.contract.JettonMaster.GetTotalSupply() }),
		{name: "mintable", value: func(i *item) uint64 { return flag(i.contract.JettonMaster.GetMintable()) }}},
		party("admin", func(i *item) []byte { return i.contract.JettonMaster.GetAdmin() }), []column{
			attribute("name", jettonContent), attribute("symbol", jettonContent), attribute("decimals", jettonContent), attribute("uri", jettonContent),
			{name: "wallet_code_hash", form: formHash, bytes: func(i *item) []byte { return i.contract.JettonMaster.GetWalletCodeHash() }}})},
		schema.RoleJettonMaster},
	{table{name: "jetton_wallets", key: 3, columns: columnsOf(contractHead, []column{activeColumn},
		party("master", func(i *item) []byte { return i.contract.JettonWallet.GetMaster() }),
		party("owner", func(i *item) []byte { return i.contract.JettonWallet.GetOwner() }),
		[]column{wide("balance", func(i *item) []byte { return i.contract.JettonWallet.GetBalance() })})},
		schema.RoleJettonWallet},
	{table{name: "nft_collections", key: 3, columns: columnsOf(contractHead, []column{activeColumn},
		party("owner", func(i *item) []byte { return i.contract.NftCollection.GetOwner() }), []column{
			wide("next_item_index", func(i *item) []byte { return i.contract.NftCollection.GetNextItemIndex() }),
			{name: "unordered", value: func(i *item) uint64 { return flag(i.contract.NftCollection.GetUnordered()) }},
			attribute("name", collectionContent), attribute("uri", collectionContent)})},
		schema.RoleNFTCollection},
	{table{name: "nft_items", key: 3, columns: columnsOf(contractHead, []column{activeColumn,
		{name: "init", value: func(i *item) uint64 { return flag(i.contract.NftItem.GetInit()) }},
		wide("item_index", func(i *item) []byte { return i.contract.NftItem.GetIndex() })},
		party("collection", func(i *item) []byte { return i.contract.NftItem.GetCollection() }),
		party("owner", func(i *item) []byte { return i.contract.NftItem.GetOwner() }),
		party("seller", func(i *item) []byte { return i.contract.NftItem.GetRealOwner() }))},
		schema.RoleNFTItem},
}

func jettonContent(i *item) *record.TokenContent { return i.contract.JettonMaster.GetContent() }

func collectionContent(i *item) *record.TokenContent { return i.contract.NftCollection.GetContent() }

// setContract makes the item that of a contract; false when its record misses
// what tables need.
func (i *item) setContract(c *record.Contract) bool {
	if len(c.Account) != schema.AddressSize || c.McSeqno == 0 {
		return false
	}
	*i = item{contract: c, workchain: schema.Workchain(c.Account), id: schema.AccountID(c.Account)}
	i.prefix = schema.Prefix(i.id)
	return true
}

// contractLink is a row of contract_links, but for the contract.
type contractLink struct {
	role         schema.LinkRole
	keyWorkchain int32
	keyPrefix    uint64
	first        uint32
}

// linksOf are the rows of contract_links that a contract makes.
func linksOf(c *record.Contract) map[contractLink]bool {
	links := map[contractLink]bool{}
	name := c.NftItem.GetDns()
	whole := func(role schema.LinkRole, is bool) {
		if is {
			links[contractLink{role, noWorkchain, 0, c.FirstMcSeqno}] = true
		}
	}
	whole(schema.LinkSigner, c.Multisig != nil)
	whole(schema.LinkOrder, c.MultisigOrder != nil)
	whole(schema.LinkVesting, c.Vesting != nil)
	whole(schema.LinkWallet, name != nil)
	named := func(role schema.LinkRole, list ...[]byte) {
		for _, a := range list {
			if len(a) == schema.AddressSize {
				links[contractLink{role, schema.Workchain(a), schema.Prefix(schema.AccountID(a)), c.FirstMcSeqno}] = true
			}
		}
	}
	named(schema.LinkSigner, c.Multisig.GetSigners()...)
	named(schema.LinkSigner, c.Multisig.GetProposers()...)
	named(schema.LinkOrder, c.MultisigOrder.GetMultisig())
	named(schema.LinkVesting, c.Vesting.GetOwner(), c.Vesting.GetSender())
	named(schema.LinkWhitelist, c.Vesting.GetWhitelist()...)
	named(schema.LinkWallet, name.GetWallet())
	if name != nil {
		links[contractLink{schema.LinkDomain, 0, schema.DomainPrefix(name.Domain), c.FirstMcSeqno}] = true
	}
	return links
}

// roleWorkchains adds the workchains of the tables of roles to a union.
func roleWorkchains() (clauses string) {
	for n := range roleTables {
		clauses += "\n\t\t\tUNION ALL SELECT workchain, toUInt64(0), toUInt64(0) FROM " + roleTables[n].name + " GROUP BY workchain"
	}
	return clauses
}
