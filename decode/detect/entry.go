package detect

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/decode/contract"
	"tonscribe/schema/record"
)

// claimState is how far the check of a claim is.
type claimState byte

const (
	unclaimed claimState = iota
	waiting              // the parent is not known, or did not answer
	confirmed
	denied
)

// entry is what the store knows of an account.
type entry struct {
	// facts has claims too, confirmed or not.
	facts  *record.Contract
	claims [contract.Claims]claimState
	// content is an item's own content.
	content *cell.Cell
}

const entryVersion = 1

func (e *entry) encode() ([]byte, error) {
	facts, err := e.facts.MarshalVT()
	if err != nil {
		return nil, fmt.Errorf("facts of %x: %w", e.facts.Account, err)
	}
	out := []byte{entryVersion}
	for _, state := range e.claims {
		out = append(out, byte(state))
	}
	out = binary.AppendUvarint(out, uint64(len(facts)))
	out = append(out, facts...)
	if e.content != nil {
		out = append(out, e.content.ToBOC()...)
	}
	return out, nil
}

var errEntry = errors.New("contracts: store: an entry that does not decode")

func decodeEntry(raw []byte) (*entry, error) {
	const head = 1 + int(contract.Claims)
	if len(raw) < head || raw[0] != entryVersion {
		return nil, errEntry
	}
	e := &entry{facts: &record.Contract{}}
	for i := range e.claims {
		e.claims[i] = claimState(raw[1+i])
	}
	size, n := binary.Uvarint(raw[head:])
	if n <= 0 || size > uint64(len(raw)-head-n) {
		return nil, errEntry
	}
	raw = raw[head+n:]
	if err := e.facts.UnmarshalVT(raw[:size]); err != nil {
		return nil, fmt.Errorf("%w: %w", errEntry, err)
	}
	if raw = raw[size:]; len(raw) > 0 {
		content, err := cell.FromBOC(raw)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errEntry, err)
		}
		e.content = content
	}
	return e, nil
}

// nothing reports whether an account is nothing that the stage knows.
func nothing(f *record.Contract) bool {
	return f.JettonMaster == nil && f.JettonWallet == nil && f.NftCollection == nil && f.NftItem == nil && f.Sale == nil &&
		f.Auction == nil && f.Telemint == nil && f.Multisig == nil && f.MultisigOrder == nil && f.Vesting == nil &&
		f.NominatorPool == nil && f.DedustPool == nil && f.StonfiPool == nil
}

// published are the facts without claims that are not confirmed.
func (e *entry) published() *record.Contract {
	if e == nil {
		return &record.Contract{}
	}
	f := e.facts
	out := &record.Contract{
		Account: f.Account, FirstMcSeqno: f.FirstMcSeqno, LastTransLt: f.LastTransLt, Now: f.Now,
		CodeHash: f.CodeHash, DataHash: f.DataHash, Interfaces: f.Interfaces,
		LostRoles: f.LostRoles, WalletAgainMcSeqno: f.WalletAgainMcSeqno,
		JettonMaster: f.JettonMaster, NftCollection: f.NftCollection, Sale: f.Sale, Auction: f.Auction,
		Multisig: f.Multisig, Vesting: f.Vesting, NominatorPool: f.NominatorPool, StonfiPool: f.StonfiPool,
	}
	if e.claims[contract.ClaimJettonWallet] == confirmed {
		out.JettonWallet = f.JettonWallet
	}
	if state := e.claims[contract.ClaimNFTItem]; state == confirmed || state == unclaimed {
		out.NftItem, out.Telemint = f.NftItem, f.Telemint
	}
	if e.claims[contract.ClaimMultisigOrder] == confirmed {
		out.MultisigOrder = f.MultisigOrder
	}
	if e.claims[contract.ClaimDedustPool] == confirmed {
		out.DedustPool = f.DedustPool
	}
	return out
}

// clone gives an entry of which everything may be changed; nothing of nothing.
func (e *entry) clone() *entry {
	if e == nil {
		return nil
	}
	return &entry{facts: e.facts.CloneVT(), claims: e.claims, content: e.content}
}
