package schema

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"

	"github.com/cespare/xxhash/v2"

	"tonscribe/schema/record"
)

// What a contract can be: the bits of the column roles.
const (
	RoleJettonMaster uint32 = 1 << iota
	RoleJettonWallet
	RoleNFTCollection
	RoleNFTItem
	RoleSale
	RoleAuction
	RoleTelemint
	RoleMultisig
	RoleMultisigOrder
	RoleVesting
	RoleNominatorPool
	RoleDedustPool
	RoleStonfiPool
	RoleDNSItem
)

// RolesOf are the roles of a contract, 0 when it is nothing any more.
func RolesOf(c *record.Contract) (roles uint32) {
	for _, r := range []struct {
		role uint32
		has  bool
	}{
		{RoleJettonMaster, c.JettonMaster != nil}, {RoleJettonWallet, c.JettonWallet != nil},
		{RoleNFTCollection, c.NftCollection != nil}, {RoleNFTItem, c.NftItem != nil}, {RoleSale, c.Sale != nil},
		{RoleAuction, c.Auction != nil}, {RoleTelemint, c.Telemint != nil}, {RoleMultisig, c.Multisig != nil},
		{RoleMultisigOrder, c.MultisigOrder != nil}, {RoleVesting, c.Vesting != nil}, {RoleNominatorPool, c.NominatorPool != nil},
		{RoleDedustPool, c.DedustPool != nil}, {RoleStonfiPool, c.StonfiPool != nil}, {RoleDNSItem, c.NftItem.GetDns() != nil},
	} {
		if r.has {
			roles |= r.role
		}
	}
	return roles
}

// LastingOf returns what a contract is without what changes with any transaction of
// it: its state, balances, supplies and counters, and without what it was before.
// Actions are recognised by what it returns alone.
func LastingOf(c *record.Contract) *record.Contract {
	c = c.CloneVT()
	c.McSeqno, c.LastTransLt, c.Now, c.DataHash = 0, 0, 0, nil
	c.LostRoles, c.WalletAgainMcSeqno = 0, 0
	if c.JettonMaster != nil {
		c.JettonMaster.TotalSupply = nil
	}
	if c.JettonWallet != nil {
		c.JettonWallet.Balance = nil
	}
	if c.NftCollection != nil {
		c.NftCollection.NextItemIndex = nil
	}
	if c.Multisig != nil {
		c.Multisig.NextOrderSeqno = nil
	}
	if p := c.NominatorPool; p != nil {
		p.State, p.NominatorsCount, p.StakeSent, p.ValidatorAmount, p.Nominators = 0, 0, nil, nil, nil
	}
	if c.DedustPool != nil {
		c.DedustPool.Reserves = nil
	}
	if c.StonfiPool != nil {
		c.StonfiPool.Reserves = nil
	}
	return c
}

// ContractAsOf returns what a contract was as of a bundle, nil where it was nothing
// known: past is the oldest of what it was before later bundles, nil for none, and now
// what it is.
func ContractAsOf(mcSeqno uint32, past, now *record.Contract) *record.Contract {
	c := past
	if c == nil {
		c = now
	}
	if c == nil || c.FirstMcSeqno > mcSeqno || IsNothing(c) {
		return nil
	}
	return LastingOf(c)
}

// ContractIn returns what a contract was in a trace, by the bundles with which it began
// and ended: what it was as of the end or, where it was nothing then, before it became
// nothing, if that was while the trace went on (KnowsGone). past is what it was before
// bundles, by their seqnos, and now what it is.
func ContractIn(start, end uint32, past []*record.Contract, now *record.Contract) *record.Contract {
	i := slices.IndexFunc(past, func(c *record.Contract) bool { return c.McSeqno > end })
	var next *record.Contract
	if i < 0 {
		i = len(past)
	} else {
		next = past[i]
	}
	if c := ContractAsOf(end, next, now); c != nil || i == 0 {
		return c
	}
	if gone := past[i-1]; KnowsGone(start, end, gone.McSeqno) {
		return LastingOf(gone)
	}
	return nil
}

// GoneBundles is for how many bundles what a contract was stays known after it has become
// nothing.
const GoneBundles = 1 << 14

// KnowsGone reports whether a trace, by the bundles with which it began and ended, knows a
// contract that became nothing with a bundle up to its end: a sale that sends its item to
// the buyer, and itself to nowhere, is one in the trace of the purchase.
func KnowsGone(start, end, gone uint32) bool { return start <= gone && end-gone <= GoneBundles }

// IsNothing reports whether nothing is known of what a contract is, or it is nothing any
// more.
func IsNothing(c *record.Contract) bool { return RolesOf(c) == 0 }

// WalletSince returns the bundle with which a jetton wallet became known first, or again when
// it had lost that role: its place in lists of wallets.
func WalletSince(c *record.Contract) uint32 { return max(c.FirstMcSeqno, c.WalletAgainMcSeqno) }

// Unclaimed reports whether a jetton wallet, nil for none, is one of a mintless jetton
// (TEP-177) that has not claimed what the airdrop may have for its owner.
func Unclaimed(w *record.JettonWallet) bool {
	return w.GetMaster() != nil && w.Claimed != nil && !*w.Claimed
}

// LinkRole says what a contract names an account, or a domain, for.
type LinkRole int8

// The roles of contract_links.
const (
	LinkSigner    LinkRole = iota + 1 // multisigs by signer or proposer
	LinkOrder                         // orders by multisig
	LinkVesting                       // vesting contracts by owner or sender
	LinkWhitelist                     // vesting contracts by an account on their whitelist
	LinkWallet                        // DNS items by the account that their record wallet names
	LinkDomain                        // DNS items by their domain
	LinkUnclaimed                     // jetton wallets that are Unclaimed and without a balance, by owner or master
)

// String is the role's name in the table.
func (r LinkRole) String() string {
	return [...]string{"signer", "order", "vesting", "whitelist", "wallet", "domain", "unclaimed"}[r-1]
}

// DomainPrefix is the form in which contract_links looks up a domain.
func DomainPrefix(domain string) uint64 {
	sum := sha256.Sum256([]byte(domain))
	return Prefix(sum[:])
}

// TransferKind is a kind of transfers of tokens.
type TransferKind int8

// The kinds of lists of transfers_by_party.
const (
	JettonTransfer TransferKind = iota
	JettonBurn
	NFTTransfer
)

// The directions of lists of transfers_by_party: what the owner does.
const (
	Receives  uint8 = iota
	Sends           // or burns
	TakesPart       // either of these, or there is no owner
	IsTold          // is the jetton wallet or the item itself
)

// ListOf is the number of a list of transfers_by_party: of an owner, nil for
// none, with a parent (jetton master or collection), nil for none. It is the
// XXH64 of kind, direction and both places, each a workchain and 64 bits, little
// endian; no address is workchain -2147483648 and 0.
func ListOf(kind TransferKind, owner, parent []byte, direction uint8) uint64 {
	raw := make([]byte, 0, 26)
	raw = append(raw, byte(kind), direction)
	for _, a := range [][]byte{owner, parent} {
		workchain, prefix := int32(math.MinInt32), uint64(0)
		if len(a) == AddressSize {
			workchain, prefix = Workchain(a), Prefix(AccountID(a))
		}
		raw = binary.LittleEndian.AppendUint32(raw, uint32(workchain))
		raw = binary.LittleEndian.AppendUint64(raw, prefix)
	}
	return xxhash.Sum64(raw)
}
