package contract

import (
	"bytes"
	"context"
	"encoding/binary"

	"github.com/ClickHouse/ch-go/proto"

	"tonscribe/query/list/paging"
	"tonscribe/query/sql"
	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/ton/address"
)

// Claim is what the airdrop of a mintless jetton (TEP-177) has for a wallet that has
// not claimed it.
type Claim struct {
	Master *record.Contract
	Amount []byte // magnitude, in the jetton's units
	// StartFrom and ExpireAt are from when and until when it can be claimed, in Unix
	// seconds.
	StartFrom, ExpireAt uint64
}

// claimKey names a row of mintless_amounts.
type claimKey struct {
	root  Hash
	owner address.Address
}

// Claims are those of the wallets, by their addresses, that have not claimed what is
// theirs, as far as the amounts are known.
func (l *Lists) Claims(ctx context.Context, wallets []*record.Contract) (map[address.Address]*Claim, error) {
	var unclaimed []*record.Contract
	named := map[address.Address]struct{}{}
	for _, c := range wallets {
		if schema.Unclaimed(c.JettonWallet) {
			unclaimed = append(unclaimed, c)
			named[paging.AddressOf(c.JettonWallet.Master)] = struct{}{}
		}
	}
	if len(unclaimed) == 0 {
		return nil, nil
	}
	masters := make([]address.Address, 0, len(named))
	for a := range named {
		masters = append(masters, a)
	}
	known, err := l.Contracts(ctx, masters)
	if err != nil {
		return nil, err
	}
	keys := make(map[address.Address]claimKey, len(unclaimed))
	var wanted []claimKey
	for _, c := range unclaimed {
		if root, ok := rootOf(known[paging.AddressOf(c.JettonWallet.Master)]); ok {
			k := claimKey{root, paging.AddressOf(c.JettonWallet.Owner)}
			keys[address.Address(c.Account)] = k
			wanted = append(wanted, k)
		}
	}
	found, err := l.claimsAt(ctx, wanted)
	if err != nil {
		return nil, err
	}
	claims := make(map[address.Address]*Claim, len(found))
	for _, c := range unclaimed {
		if claim, ok := found[keys[address.Address(c.Account)]]; ok {
			claim.Master = known[paging.AddressOf(c.JettonWallet.Master)]
			claims[address.Address(c.Account)] = &claim
		}
	}
	return claims, nil
}

// rootOf is the hash of the root cell of a mintless master's airdrop; false for what is
// none.
func rootOf(c *record.Contract) (root Hash, ok bool) {
	hash := c.GetJettonMaster().GetMintlessRoot()
	if len(hash) != len(root) {
		return root, false
	}
	return Hash(hash), true
}

// claimsAt reads rows of mintless_amounts.
func (l *Lists) claimsAt(ctx context.Context, wanted []claimKey) (map[claimKey]Claim, error) {
	found := map[claimKey]Claim{}
	if len(wanted) == 0 {
		return found, nil
	}
	c := sql.Among{Columns: []string{"root", "owner_workchain", "owner"}}
	for i := range wanted {
		owner := wanted[i].owner[:]
		c.Tuples = append(c.Tuples, []any{sql.Bytes(wanted[i].root[:]), schema.Workchain(owner), sql.Bytes(schema.AccountID(owner))})
	}
	root, owner := proto.ColFixedStr{Size: len(Hash{})}, proto.ColFixedStr{Size: len(Hash{})}
	var workchain proto.ColInt32
	var amount proto.ColUInt128
	var start, expire proto.ColUInt64
	result := proto.Results{
		{Name: "root", Data: &root}, {Name: "owner_workchain", Data: &workchain}, {Name: "owner", Data: &owner},
		{Name: "amount", Data: &amount}, {Name: "start_from", Data: &start}, {Name: "expire_at", Data: &expire},
	}
	err := l.reader.Run(ctx, "mintless amounts", "SELECT root, owner_workchain, owner, amount, start_from, expire_at FROM mintless_amounts WHERE "+c.String(), result, func(rows int) error {
		for i := range rows {
			k := claimKey{Hash(root.Row(i)), address.New(workchain[i], owner.Row(i))}
			found[k] = Claim{Amount: magnitudeOf(amount[i]), StartFrom: start[i], ExpireAt: expire[i]}
		}
		return nil
	})
	return found, err
}

// magnitudeOf is a number as records have it.
func magnitudeOf(n proto.UInt128) []byte {
	raw := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, n.High), n.Low)
	return bytes.TrimLeft(raw, "\x00")
}

// maxClaims is how many wallets without a balance that have something to claim a list
// has at most, those that became known first. There are few: who gets jettons has a
// balance, and who sends some has claimed.
const maxClaims = 500

// addClaims adds to a list of wallets that hold something those that have no balance and
// something to claim.
func (l *Lists) addClaims(ctx context.Context, f *JettonWalletFilter, list *contractList) error {
	candidates, err := l.emptyUnclaimed(ctx, f)
	if err != nil {
		return err
	}
	claims, err := l.Claims(ctx, candidates)
	if err != nil {
		return err
	}
	f.claims = map[address.Address]struct{}{}
	for _, c := range candidates {
		if claim := claims[address.Address(c.Account)]; claim != nil && len(claim.Amount) > 0 {
			f.claims[address.Address(c.Account)] = struct{}{}
			list.further = append(list.further, c)
		}
	}
	return nil
}

// emptyUnclaimed are the wallets of a list that have no balance and have not claimed what
// may be theirs.
func (l *Lists) emptyUnclaimed(ctx context.Context, f *JettonWalletFilter) ([]*record.Contract, error) {
	all := *f
	all.ExcludeZero = false
	match := func(c *record.Contract) bool {
		return all.match(c) && schema.Unclaimed(c.JettonWallet) && NumberOf(c.JettonWallet.Balance) == Number{}
	}
	keys := f.Owners
	if len(f.Addresses) == 0 && len(f.Masters) > 0 {
		masters, err := l.Contracts(ctx, f.Masters)
		if err != nil {
			return nil, err
		}
		mintless := false
		for _, c := range masters {
			_, is := rootOf(c)
			mintless = mintless || is
		}
		if !mintless {
			return nil, nil
		}
		if len(keys) == 0 {
			keys = f.Masters
		}
	}
	list := linkList(schema.LinkUnclaimed, keys, len(keys) == 0)
	list.addresses, list.match = f.Addresses, match
	page := paging.Page{Limit: maxClaims}
	if f.Addresses != nil {
		page.Limit = len(f.Addresses)
	}
	found, _, err := l.contractPage(ctx, list, page, nil)
	return found, err
}
