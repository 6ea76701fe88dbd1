package table

import (
	"errors"
	"fmt"
	"math/big"
	"slices"

	"tonscribe/schema"
	"tonscribe/schema/record"
)

// Contract is what a contract was found to be, as the tables see it.
type Contract struct {
	*record.Contract
	Raw   string
	Roles uint32
}

var errNumber = errors.New("a number of more than 256 bits")

// NewContract returns the row of a contract that was read from raw. Address and
// bundle must be there, and numbers fit 256 bits.
func NewContract(c *record.Contract, raw []byte) (*Contract, error) {
	if len(c.Account) != schema.AddressSize || c.McSeqno == 0 {
		return nil, fmt.Errorf("contract %x: address or bundle is missing", c.Account)
	}
	for _, n := range [][]byte{c.JettonMaster.GetTotalSupply(), c.JettonWallet.GetBalance(), c.NftItem.GetIndex(), c.NftCollection.GetNextItemIndex()} {
		if !fitsNumber(n) {
			return nil, fmt.Errorf("contract %x: %w", c.Account, errNumber)
		}
	}
	return &Contract{Contract: c, Raw: text(raw), Roles: schema.RolesOf(c)}, nil
}

// number is an integer of up to 256 bits, of its magnitude.
func number(magnitude []byte) *big.Int { return new(big.Int).SetBytes(magnitude) }

func fitsNumber(magnitude []byte) bool { return len(magnitude) <= 32 }

func addressOfContract(c *Contract) []byte { return c.Account }

// contractColumns are those that all tables of contracts begin with.
func contractColumns(first column[*Contract]) []column[*Contract] {
	return append(accountColumns("the contract", addressOfContract),
		col("mc_seqno", UInt32, "masterchain block with which this became known", func(c *Contract) uint32 { return c.McSeqno }),
		first,
		col("lt", UInt64, "logical time of the account in the state that this was read from", func(c *Contract) uint64 { return c.LastTransLt }),
	)
}

const knownFirst = "masterchain block with which the contract became known first"

// The column first_mc_seqno of contracts, and of jetton wallets.
var (
	contractFirst = col("first_mc_seqno", UInt32, knownFirst, func(c *Contract) uint32 { return c.FirstMcSeqno })
	walletFirst   = col("first_mc_seqno", UInt32, knownFirst+", or as a jetton wallet again after it had been something else only",
		func(c *Contract) uint32 { return schema.WalletSince(c.Contract) })
)

// Contracts has the newest facts of every contract. Its rows go in after those of
// the tables that lead to it, so that nothing is looked for in vain in between.
var Contracts = declare(Table{Name: "contracts", Doc: "what a contract is", Key: accountKeyNames, Newest: "mc_seqno", Last: true}, nil, contractColumns(contractFirst), []column[*Contract]{
	col("roles", UInt32, "what it is, as bits: 1 jetton master, 2 jetton wallet, 4 NFT collection, 8 NFT item, 16 sale, 32 auction, 64 telemint, 128 multisig, "+
		"256 multisig order, 512 vesting, 1024 nominator pool, 2048 DeDust pool, 4096 Ston.fi pool, 8192 DNS item; 0 when it is nothing any more",
		func(c *Contract) uint32 { return c.Roles }),
	col("interfaces", Strings, "names of the interfaces that its code has", func(c *Contract) []string { return c.Interfaces }),
	recordCol("the protobuf Contract", func(c *Contract) string { return c.Raw }),
})

// PastContracts has what contracts were before bundles that made them something else,
// so that what they were as of any bundle is known (schema.ContractAsOf, schema.ContractIn).
var PastContracts = declare(Table{Name: "past_contracts", Internal: true, Doc: "what a contract was before a bundle", Key: append(slices.Clone(accountKeyNames), "mc_seqno")}, nil,
	accountColumns("the contract", addressOfContract), []column[*Contract]{
		col("mc_seqno", UInt32, "masterchain block with which it became something else", func(c *Contract) uint32 { return c.McSeqno }),
		recordCol("the protobuf Contract, without what changes with any transaction (schema.LastingOf)", func(c *Contract) string { return c.Raw }),
	})

// Role is the table of one thing that contracts are.
type Role struct {
	*Of[*Contract]
	role uint32
}

// Has reports whether a contract makes a row: it has the role, or has lost it, or is
// nothing any more, so that the row of the role goes.
func (r Role) Has(c *Contract) bool { return (c.Roles|c.LostRoles)&r.role != 0 || c.Roles == 0 }

// roleTable declares the table of a role.
func roleTable(role uint32, name, doc string, first column[*Contract], lists ...[]column[*Contract]) Role {
	r := Role{role: role}
	active := []column[*Contract]{col("active", Bool, "false when the contract is not this any more", func(c *Contract) bool { return c.Roles&role != 0 })}
	r.Of = declare(Table{Name: name, Doc: doc, Key: accountKeyNames, Newest: "mc_seqno"}, func(c *Contract, add func(*Contract)) {
		if r.Has(c) {
			add(c)
		}
	}, append([][]column[*Contract]{contractColumns(first), active}, lists...)...)
	return r
}

// attribute is a column of token content.
func attribute(name, doc string, content func(*Contract) *record.TokenContent) column[*Contract] {
	return col(name, String, doc+"; empty where it is not on the chain", func(c *Contract) string { return attributeOf(content(c), name) })
}

func attributeOf(content *record.TokenContent, name string) string {
	for _, a := range content.GetAttributes() {
		if a.Name == name {
			return a.Value
		}
	}
	return ""
}

func jettonContent(c *Contract) *record.TokenContent { return c.JettonMaster.GetContent() }

func collectionContent(c *Contract) *record.TokenContent { return c.NftCollection.GetContent() }

// The tables of what contracts are.
var (
	JettonMasters = roleTable(schema.RoleJettonMaster, "jetton_masters", "a jetton", contractFirst, []column[*Contract]{
		col("total_supply", UInt256, "supply, in the jetton's units", func(c *Contract) *big.Int { return number(c.JettonMaster.GetTotalSupply()) }),
		col("mintable", Bool, "whether more can be minted", func(c *Contract) bool { return c.JettonMaster.GetMintable() }),
	}, partyColumns("admin", "the admin", func(c *Contract) []byte { return c.JettonMaster.GetAdmin() }), []column[*Contract]{
		attribute("name", "name", jettonContent),
		attribute("symbol", "symbol", jettonContent),
		attribute("decimals", "number of decimals, as text", jettonContent),
		attribute("uri", "link of the document with what is not on the chain", jettonContent),
		col("wallet_code_hash", Hash, "hash of the code of its wallets; zeros where it is not known", func(c *Contract) []byte { return hashOrZero(c.JettonMaster.GetWalletCodeHash()) }),
		col("mintless_root", Hash, "hash of the root cell of a mintless jetton's airdrop (TEP-177); zeros of others", func(c *Contract) []byte { return hashOrZero(c.JettonMaster.GetMintlessRoot()) }),
	})
	JettonWallets = roleTable(schema.RoleJettonWallet, "jetton_wallets", "a jetton wallet that its master confirmed", walletFirst,
		partyColumns("master", "the jetton master", func(c *Contract) []byte { return c.JettonWallet.GetMaster() }),
		partyColumns("owner", "the owner", func(c *Contract) []byte { return c.JettonWallet.GetOwner() }),
		[]column[*Contract]{col("balance", UInt256, "balance, in the jetton's units", func(c *Contract) *big.Int { return number(c.JettonWallet.GetBalance()) })})
	NFTCollections = roleTable(schema.RoleNFTCollection, "nft_collections", "an NFT collection", contractFirst,
		partyColumns("owner", "the owner", func(c *Contract) []byte { return c.NftCollection.GetOwner() }), []column[*Contract]{
			col("next_item_index", UInt256, "index of the item to come; 0 where unordered is true", func(c *Contract) *big.Int { return number(c.NftCollection.GetNextItemIndex()) }),
			col("unordered", Bool, "whether indexes do not follow each other", func(c *Contract) bool { return c.NftCollection.GetUnordered() }),
			attribute("name", "name", collectionContent),
			attribute("uri", "link of the document with what is not on the chain", collectionContent),
		})
	NFTItems = roleTable(schema.RoleNFTItem, "nft_items", "an NFT item, confirmed by its collection where there is one", contractFirst, []column[*Contract]{
		col("init", Bool, "whether the item is initialized", func(c *Contract) bool { return c.NftItem.GetInit() }),
		col("item_index", UInt256, "index in the collection", func(c *Contract) *big.Int { return number(c.NftItem.GetIndex()) }),
	}, partyColumns("collection", "the collection", func(c *Contract) []byte { return c.NftItem.GetCollection() }),
		partyColumns("owner", "the owner", func(c *Contract) []byte { return c.NftItem.GetOwner() }),
		partyColumns("seller", "who really has an item that is on sale", func(c *Contract) []byte { return c.NftItem.GetRealOwner() }))

	// Roles are all of them.
	Roles = []Role{JettonMasters, JettonWallets, NFTCollections, NFTItems}
)

// Link is an account, or a domain, that a contract names.
type Link struct {
	*Contract
	LinkKey
}

// LinkKey is what a link leads from; no account is workchain -2147483648 and 0.
type LinkKey struct {
	Role      schema.LinkRole
	Workchain int32
	Prefix    uint64
}

// Links hands out what the contract names, each once, and, for lists of all,
// nothing for each role that it has.
func (c *Contract) Links(add func(*Link)) {
	seen := map[LinkKey]bool{}
	put := func(k LinkKey) {
		if !seen[k] {
			seen[k] = true
			add(&Link{c, k})
		}
	}
	accounts := func(role schema.LinkRole, list ...[]byte) {
		for _, a := range list {
			if len(a) == schema.AddressSize {
				k := accountKeyOf(a)
				put(LinkKey{role, k.workchain, k.prefix})
			}
		}
	}
	unclaimed := schema.Unclaimed(c.JettonWallet) && number(c.JettonWallet.Balance).Sign() == 0
	for _, all := range []struct {
		role schema.LinkRole
		has  bool
	}{
		{schema.LinkSigner, c.Multisig != nil}, {schema.LinkOrder, c.MultisigOrder != nil},
		{schema.LinkVesting, c.Vesting != nil}, {schema.LinkWallet, c.NftItem.GetDns() != nil}, {schema.LinkUnclaimed, unclaimed},
	} {
		if all.has {
			put(LinkKey{all.role, noWorkchain, 0})
		}
	}
	accounts(schema.LinkSigner, c.Multisig.GetSigners()...)
	accounts(schema.LinkSigner, c.Multisig.GetProposers()...)
	accounts(schema.LinkOrder, c.MultisigOrder.GetMultisig())
	accounts(schema.LinkVesting, c.Vesting.GetOwner(), c.Vesting.GetSender())
	accounts(schema.LinkWhitelist, c.Vesting.GetWhitelist()...)
	if unclaimed {
		accounts(schema.LinkUnclaimed, c.JettonWallet.Owner, c.JettonWallet.Master)
	}
	if name := c.NftItem.GetDns(); name != nil {
		accounts(schema.LinkWallet, name.Wallet)
		put(LinkKey{schema.LinkDomain, 0, schema.DomainPrefix(name.Domain)})
	}
}

// ContractLinks finds contracts by what they name.
var ContractLinks = declare(Table{Name: "contract_links", Internal: true, Doc: "an account, or a domain, that a contract names", Newest: "mc_seqno",
	Key: []string{"role", "key_workchain", "key_prefix", "first_mc_seqno", "workchain", "account_prefix", "account"}}, nil,
	[]column[*Link]{
		col("role", Enum8(int8(schema.LinkSigner), "signer", "order", "vesting", "whitelist", "wallet", "domain", "unclaimed"), "what it is named for", func(l *Link) int8 { return int8(l.Role) }),
		col("key_workchain", Int32, "workchain of what is named; -2147483648 in the list of all contracts of the role", func(l *Link) int32 { return l.LinkKey.Workchain }),
		col("key_prefix", Prefix, "first 8 bytes of its account id, or of the SHA-256 of the domain", func(l *Link) uint64 { return l.LinkKey.Prefix }),
		col("first_mc_seqno", UInt32, "masterchain block with which the contract became known first", func(l *Link) uint32 { return l.FirstMcSeqno }),
	},
	accountColumns("the contract", func(l *Link) []byte { return l.Account }),
	[]column[*Link]{col("mc_seqno", UInt32, "masterchain block with which this became known", func(l *Link) uint32 { return l.McSeqno })})

// DocumentLink is where a document of a token's content is.
type DocumentLink struct {
	MCSeqno uint32
	Link    string
}

// Documents hands out the links of the contract's contents (TEP-64), each once.
func (c *Contract) Documents(add func(*DocumentLink)) {
	seen := ""
	for _, content := range []*record.TokenContent{c.JettonMaster.GetContent(), c.NftCollection.GetContent(), c.NftItem.GetContent()} {
		if link := attributeOf(content, "uri"); link != "" && link != seen {
			seen = link
			add(&DocumentLink{c.McSeqno, link})
		}
	}
}

// MetadataLinks has what there is to fetch for the fetcher of documents.
var MetadataLinks = declare(Table{Name: "metadata_links", Internal: true, Doc: "a link in a token's content", Key: []string{"mc_seqno", "link"}}, nil, []column[*DocumentLink]{
	col("mc_seqno", UInt32, "masterchain block with which the contract became known or changed", func(l *DocumentLink) uint32 { return l.MCSeqno }),
	col("link", String, "the link", func(l *DocumentLink) string { return l.Link }),
})
