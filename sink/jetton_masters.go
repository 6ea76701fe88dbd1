package sink

import (
	"math/big"

	"tonscribe/schema"
)

// jettonMasters has jetton masters.
var jettonMasters = table[*contract]{
	name: "jetton_masters",
	each: isOrWas(schema.RoleJettonMaster),
	columns: columnsOf(contractKey(), activeColumn(), []column[*contract]{
		col("total_supply", func(c *contract) *big.Int { return number(c.JettonMaster.GetTotalSupply()) }),
		col("mintable", func(c *contract) bool { return c.JettonMaster.GetMintable() }),
	}, partyColumns("admin", func(c *contract) party { return partyOf(c.JettonMaster.GetAdmin()) }), []column[*contract]{
		col("name", func(c *contract) string { return attribute(c.JettonMaster.GetContent(), "name") }),
		col("symbol", func(c *contract) string { return attribute(c.JettonMaster.GetContent(), "symbol") }),
		col("decimals", func(c *contract) string { return attribute(c.JettonMaster.GetContent(), "decimals") }),
		col("uri", func(c *contract) string { return attribute(c.JettonMaster.GetContent(), "uri") }),
		col("wallet_code_hash", func(c *contract) []byte { return hashOrZeros(c.JettonMaster.GetWalletCodeHash()) }),
	}),
}

func hashOrZeros(hash []byte) []byte {
	if len(hash) != len(noHash) {
		return noHash
	}
	return hash
}
