package sink

import (
	"errors"
	"fmt"

	"tonscribe/schema"
	"tonscribe/schema/record"
)

// contract is what a contract was found to be, as the tables see it.
type contract struct {
	*record.Contract
	raw       string
	workchain int32
	prefix    uint64
	roles     uint32
}

var errNumber = errors.New("a number of more than 256 bits")

func newContract(c *record.Contract, raw []byte) (*contract, error) {
	if len(c.Account) != schema.AddressSize || c.McSeqno == 0 {
		return nil, fmt.Errorf("contract %x: address or bundle is missing", c.Account)
	}
	for _, n := range [][]byte{c.JettonMaster.GetTotalSupply(), c.JettonWallet.GetBalance(), c.NftItem.GetIndex(), c.NftCollection.GetNextItemIndex()} {
		if !fitsNumber(n) {
			return nil, fmt.Errorf("contract %x: %w", c.Account, errNumber)
		}
	}
	row := &contract{Contract: c, raw: text(raw), roles: schema.RolesOf(c)}
	row.workchain, row.prefix = address(c.Account)
	return row, nil
}

// accountID is the contract's.
func (c *contract) accountID() []byte { return schema.AccountID(c.Account) }

// isOrWas hands the contract to the table of a role: when it has the role, and
// when it is nothing any more, so that the row of the role goes.
func isOrWas(role uint32) func(*contract, func(*contract)) {
	return func(c *contract, add func(*contract)) {
		if c.roles&role != 0 || c.roles == 0 {
			add(c)
		}
	}
}

// contracts has the newest facts of every contract. Its rows go in after those of
// the tables that lead to it, so that nothing is looked for in vain in between.
var contracts = table[*contract]{
	name: "contracts",
	last: true,
	columns: columnsOf(contractKey(), []column[*contract]{
		col("roles", func(c *contract) uint32 { return c.roles }),
		col("interfaces", func(c *contract) []string { return c.Interfaces }),
		col("record", func(c *contract) string { return c.raw }),
	}),
}

// contractKey are the columns that all tables of contracts have.
func contractKey() []column[*contract] {
	return []column[*contract]{
		col("workchain", func(c *contract) int32 { return c.workchain }),
		col("account_prefix", func(c *contract) uint64 { return c.prefix }),
		col("account", (*contract).accountID),
		col("mc_seqno", func(c *contract) uint32 { return c.McSeqno }),
		col("first_mc_seqno", func(c *contract) uint32 { return c.FirstMcSeqno }),
		col("lt", func(c *contract) uint64 { return c.LastTransLt }),
	}
}

// activeColumn tells contracts that are still something.
func activeColumn() []column[*contract] {
	return []column[*contract]{col("active", func(c *contract) bool { return c.roles != 0 })}
}

// attribute is a value of token content, empty when it is not there.
func attribute(content *record.TokenContent, name string) string {
	for _, a := range content.GetAttributes() {
		if a.Name == name {
			return a.Value
		}
	}
	return ""
}
