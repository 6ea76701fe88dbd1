package contract

import (
	"bytes"
	"context"
	"math/big"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/schema/record"
)

// ClaimKind is what an account says it is.
type ClaimKind uint8

// Claims, with what the parent must answer with the account's address.
const (
	ClaimJettonWallet  ClaimKind = iota // master: get_wallet_address of the owner
	ClaimNFTItem                        // collection: get_nft_address_by_index of the index
	ClaimMultisigOrder                  // multisig: get_order_address of the seqno
	ClaimDedustPool                     // factory: get_pool_address of kind and assets
	Claims                              // how many there are
)

func (k ClaimKind) String() string {
	return [...]string{"jetton wallet", "NFT item", "multisig order", "DeDust pool"}[k]
}

// method is the parent's that confirms the claim.
func (k ClaimKind) method() string {
	return [...]string{"get_wallet_address", "get_nft_address_by_index", "get_order_address", "get_pool_address"}[k]
}

// Claim is one that Parent must confirm.
type Claim struct {
	Kind   ClaimKind
	Parent []byte
}

func (p *probe) claim(kind ClaimKind, parent []byte) {
	p.findings.Claims = append(p.findings.Claims, Claim{kind, parent})
}

// ConfirmMethods are the methods by which a contract can confirm claims.
func ConfirmMethods() (methods []string) {
	for kind := range Claims {
		methods = append(methods, kind.method())
	}
	return methods
}

// Parent is a contract that is asked about another one.
type Parent struct {
	Context context.Context //nolint:containedctx // of the call
	Account Account
	Moment  Moment
}

// Verdict is what a parent says of a claim.
type Verdict uint8

// Verdicts.
const (
	// Unanswered: the parent has no such method, or it failed.
	Unanswered Verdict = iota
	Confirmed
	Denied
)

func (v Verdict) String() string { return [...]string{"unanswered", "confirmed", "denied"}[v] }

// Confirmation is a verdict, and what else the parent told.
type Confirmation struct {
	Verdict   Verdict
	Content   *record.TokenContent // of a confirmed item; nil when it has no form of TEP-64
	Exhausted int
	Broken    int
	Cut       int
	Missing   *[32]byte // as in Findings
}

// Confirm asks the parent about a claim of the account, whose facts are facts
// and whose own content, when it is an item, is content.
func (d *Detector) Confirm(p Parent, kind ClaimKind, account []byte, facts *record.Contract, content *cell.Cell) Confirmation {
	probe := d.look(p.Context, p.Account, p.Moment)
	confirmation := Confirmation{}
	probe.guard(func() { confirmation = probe.confirm(kind, account, facts, content) })
	confirmation.count(&probe.findings)
	return confirmation
}

// count takes what a look counted.
func (c *Confirmation) count(f *Findings) {
	c.Exhausted, c.Broken, c.Cut, c.Missing = f.Exhausted, f.Broken, f.Cut, f.Missing
}

func (p *probe) confirm(kind ClaimKind, account []byte, facts *record.Contract, content *cell.Cell) Confirmation {
	arguments, ok := kind.arguments(facts)
	if !ok || !p.account.Code.Has(kind.method()) {
		return Confirmation{}
	}
	values, ok := p.call(kind.method(), arguments...)
	if !ok {
		return Confirmation{}
	}
	r := read(values, 1)
	answer := r.address()
	switch {
	case !r.ok:
		return Confirmation{}
	case !bytes.Equal(answer, account):
		return Confirmation{Verdict: Denied}
	}
	confirmation := Confirmation{Verdict: Confirmed}
	if kind == ClaimNFTItem {
		confirmation.Content = p.itemContent(facts.NftItem, content)
	}
	return confirmation
}

// ItemContent asks a collection for the content of an item that it confirmed
// before.
func (d *Detector) ItemContent(p Parent, item *record.NFTItem, content *cell.Cell) Confirmation {
	probe := d.look(p.Context, p.Account, p.Moment)
	confirmation := Confirmation{Verdict: Confirmed}
	probe.guard(func() { confirmation.Content = probe.itemContent(item, content) })
	confirmation.count(&probe.findings)
	return confirmation
}

func (p *probe) itemContent(item *record.NFTItem, content *cell.Cell) *record.TokenContent {
	if content == nil {
		return nil
	}
	values, ok := p.call("get_nft_content", new(big.Int).SetBytes(item.Index), content)
	if !ok {
		return nil
	}
	r := read(values, 1)
	whole, _ := p.content(r.optionalCell())
	return whole
}

// arguments of the parent's method.
func (k ClaimKind) arguments(facts *record.Contract) (arguments []any, ok bool) {
	switch {
	case k == ClaimJettonWallet && facts.JettonWallet != nil:
		return []any{Address(facts.JettonWallet.Owner)}, true
	case k == ClaimNFTItem && facts.NftItem != nil:
		return []any{new(big.Int).SetBytes(facts.NftItem.Index)}, true
	case k == ClaimMultisigOrder && facts.MultisigOrder != nil:
		return []any{new(big.Int).SetBytes(facts.MultisigOrder.Seqno)}, true
	case k == ClaimDedustPool && facts.DedustPool != nil:
		stable := new(big.Int)
		if facts.DedustPool.Stable {
			stable.SetInt64(1)
		}
		return []any{stable, assetCell(facts.DedustPool.Assets[0]), assetCell(facts.DedustPool.Assets[1])}, true
	}
	return nil, false
}

// Same says whether two looks at an account make the same claim, so that the
// parent need not be asked again.
func (k ClaimKind) Same(a, b *record.Contract) bool {
	switch k {
	case ClaimJettonWallet:
		x, y := a.GetJettonWallet(), b.GetJettonWallet()
		return x != nil && y != nil && bytes.Equal(x.Master, y.Master) && bytes.Equal(x.Owner, y.Owner)
	case ClaimNFTItem:
		x, y := a.GetNftItem(), b.GetNftItem()
		return x != nil && y != nil && bytes.Equal(x.Collection, y.Collection) && bytes.Equal(x.Index, y.Index)
	case ClaimMultisigOrder:
		x, y := a.GetMultisigOrder(), b.GetMultisigOrder()
		return x != nil && y != nil && bytes.Equal(x.Multisig, y.Multisig) && bytes.Equal(x.Seqno, y.Seqno)
	case ClaimDedustPool:
		x, y := a.GetDedustPool(), b.GetDedustPool()
		return x != nil && y != nil && bytes.Equal(x.Assets[0], y.Assets[0]) && bytes.Equal(x.Assets[1], y.Assets[1]) && x.Stable == y.Stable
	}
	return false
}
