package sink

import (
	"math/big"

	"tonscribe/schema"
)

// jettonWallets has confirmed jetton wallets.
var jettonWallets = table[*contract]{
	name: "jetton_wallets",
	each: isOrWas(schema.RoleJettonWallet),
	columns: columnsOf(contractKey(), activeColumn(),
		partyColumns("master", func(c *contract) party { return partyOf(c.JettonWallet.GetMaster()) }),
		partyColumns("owner", func(c *contract) party { return partyOf(c.JettonWallet.GetOwner()) }),
		[]column[*contract]{col("balance", func(c *contract) *big.Int { return number(c.JettonWallet.GetBalance()) })}),
}
