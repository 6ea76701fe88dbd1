package contract

import (
	"bytes"
	"context"
	"math/big"
	"slices"

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

// claims are the kinds of claims: a name, the parent's method that confirms one,
// what facts claim, beginning with the parent, which is nil where they claim
// nothing of the kind, and the method's arguments for what is claimed.
var claims = [Claims]struct {
	name, method string
	of           func(*record.Contract) [][]byte
	arguments    func(claimed [][]byte) []any
}{
	ClaimJettonWallet: {"jetton wallet", "get_wallet_address", func(f *record.Contract) [][]byte {
		return [][]byte{f.JettonWallet.GetMaster(), f.JettonWallet.GetOwner()}
	}, func(claimed [][]byte) []any { return []any{Address(claimed[1])} }},
	ClaimNFTItem: {"NFT item", "get_nft_address_by_index", func(f *record.Contract) [][]byte {
		return [][]byte{f.NftItem.GetCollection(), f.NftItem.GetIndex()}
	}, func(claimed [][]byte) []any { return []any{number(claimed[1])} }},
	ClaimMultisigOrder: {"multisig order", "get_order_address", func(f *record.Contract) [][]byte {
		return [][]byte{f.MultisigOrder.GetMultisig(), f.MultisigOrder.GetSeqno()}
	}, func(claimed [][]byte) []any { return []any{number(claimed[1])} }},
	ClaimDedustPool: {"DeDust pool", "get_pool_address", func(f *record.Contract) [][]byte {
		if f.DedustPool == nil {
			return [][]byte{nil}
		}
		stable := []byte{0}
		if f.DedustPool.Stable {
			stable[0] = 1
		}
		return [][]byte{DedustFactory, stable, f.DedustPool.Assets[0], f.DedustPool.Assets[1]}
	}, func(claimed [][]byte) []any {
		return []any{number(claimed[1]), assetCell(claimed[2]), assetCell(claimed[3])}
	}},
}

func number(b []byte) *big.Int { return new(big.Int).SetBytes(b) }

func (k ClaimKind) String() string { return claims[k].name }

// Parent returns the one that is to confirm what the facts claim, nil for none.
func (k ClaimKind) Parent(facts *record.Contract) []byte { return claims[k].of(facts)[0] }

// ClaimsOf returns the claims that facts make, confirmed or not.
func ClaimsOf(facts *record.Contract) (all []Claim) {
	for kind := range Claims {
		if parent := kind.Parent(facts); parent != nil {
			all = append(all, Claim{kind, parent})
		}
	}
	return all
}

// Same reports whether two looks at an account make the same claim, so that the
// parent need not be asked again.
func (k ClaimKind) Same(a, b *record.Contract) bool {
	claimed := claims[k].of(a)
	return claimed[0] != nil && slices.EqualFunc(claimed, claims[k].of(b), bytes.Equal)
}

// Claim is one that Parent must confirm.
type Claim struct {
	Kind   ClaimKind
	Parent []byte
}

// ConfirmMethods are the methods by which a contract can confirm claims.
func ConfirmMethods() (methods []string) {
	for _, c := range claims {
		methods = append(methods, c.method)
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
	Gas       int64     // that it took
}

// Confirm asks the parent about a claim of the account, whose facts are facts
// and whose own content, when it is an item, is content.
func (d *Detector) Confirm(p Parent, kind ClaimKind, account []byte, facts *record.Contract, content *cell.Cell) Confirmation {
	probe := d.newProbe(p.Context, p.Account, p.Moment)
	confirmation := Confirmation{}
	probe.guard(func() { confirmation = probe.confirm(kind, account, facts, content) })
	confirmation.count(probe)
	return confirmation
}

// count takes what a look counted.
func (c *Confirmation) count(p *probe) {
	f := &p.findings
	c.Exhausted, c.Broken, c.Cut, c.Missing = f.Exhausted, f.Broken, f.Cut, f.Missing
	c.Gas = p.detector.limits.AccountGas - p.gas
}

func (p *probe) confirm(kind ClaimKind, account []byte, facts *record.Contract, content *cell.Cell) Confirmation {
	c := &claims[kind]
	claimed := c.of(facts)
	if claimed[0] == nil || !p.account.Code.Has(c.method) {
		return Confirmation{}
	}
	r := p.run(c.method, 1, c.arguments(claimed)...)
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
	probe := d.newProbe(p.Context, p.Account, p.Moment)
	confirmation := Confirmation{Verdict: Confirmed}
	probe.guard(func() { confirmation.Content = probe.itemContent(item, content) })
	confirmation.count(probe)
	return confirmation
}

func (p *probe) itemContent(item *record.NFTItem, content *cell.Cell) *record.TokenContent {
	if content == nil {
		return nil
	}
	r := p.run("get_nft_content", 1, number(item.Index), content)
	whole, _ := p.content(r.optionalCell())
	return whole
}
