package detect

import (
	"bytes"
	"testing"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/schema"
)

// faces is a contract that is what a test wants: its own jetton wallet of 7, of which it is
// the master, and a collection.
func faces(at *address.Address, wallet, collection bool) *tlb.StateInit {
	give := cell.BeginCell().MustStoreAddr(at).EndCell()
	methods := map[string]*cell.Builder{"get_wallet_address": cell.BeginCell().MustStoreUInt(0x3089, 16).MustStoreRef(give)} // DROP, the address
	if wallet {                                                                                                              // 7 PUSHINT, owner, master, PUSHREF
		methods["get_wallet_data"] = cell.BeginCell().MustStoreUInt(0x7789, 16).MustStoreRef(give).MustStoreUInt(0x89, 8).MustStoreRef(give).MustStoreUInt(0x88, 8).MustStoreRef(give)
	}
	if collection { // 3 PUSHINT, PUSHREF, owner
		methods["get_collection_data"] = cell.BeginCell().MustStoreUInt(0x7388, 16).MustStoreRef(give).MustStoreUInt(0x89, 8).MustStoreRef(give)
	}
	return answering(methods)
}

// A contract that loses one of its roles says so with each of its records, also after restarts,
// until it has the role again; the place of a wallet that is one again is a new one.
func TestARoleThatIsLostIsToldOfUntilItComesBack(t *testing.T) {
	at := person(99)
	const wallet, collection = schema.RoleJettonWallet, schema.RoleNFTCollection
	steps := []struct {
		init               *tlb.StateInit
		roles, lost        uint32
		first, walletSince uint32
	}{
		{faces(at, true, true), wallet | collection, 0, 1, 1},
		{faces(at, false, true), collection, wallet, 1, 1},
		{faces(at, false, true), collection, wallet, 1, 1}, // only the time of its last transaction is another one
		{faces(at, true, true), wallet | collection, 0, 1, 4},
		{faces(at, true, false), wallet, collection, 1, 4},
		{faces(at, false, true), collection, wallet, 1, 4},
		{nil, 0, 0, 1, 4}, // in the place where the wallet was
		{faces(at, true, false), wallet, 0, 8, 8},
		{faces(at, true, true), wallet | collection, 0, 8, 8},
	}
	var undisturbed [][]byte
	for name, restarts := range map[string]bool{"in one life": false, "with a restart before each bundle": true} {
		dir := t.TempDir()
		s := &script{desk: newDesk(t, dir), told: map[string]bool{}}
		for n, step := range steps {
			if restarts {
				before := s
				s.leave()
				s = &script{desk: newDesk(t, dir), told: before.told, seqno: before.seqno, lt: before.lt}
			}
			raw := encoded(t, s.next([]state{{at: at, init: step.init}}))
			if n == len(undisturbed) {
				undisturbed = append(undisturbed, raw)
			}
			if !bytes.Equal(raw, undisturbed[n]) {
				t.Errorf("%s: bundle %d is not that of the other life", name, s.seqno)
			}
			c := s.of(at)
			if c == nil || c.McSeqno != s.seqno {
				t.Fatalf("%s: bundle %d tells nothing of the contract", name, s.seqno)
			}
			if roles := schema.RolesOf(c); roles != step.roles || c.LostRoles != step.lost || c.FirstMcSeqno != step.first || schema.WalletSince(c) != step.walletSince {
				t.Errorf("%s: with bundle %d it is %b, was %b, since %d, a wallet since %d; want %b, %b, %d and %d", name, s.seqno,
					roles, c.LostRoles, c.FirstMcSeqno, schema.WalletSince(c), step.roles, step.lost, step.first, step.walletSince)
			}
		}
		for _, c := range s.past {
			if c.LostRoles != 0 || c.WalletAgainMcSeqno != 0 {
				t.Errorf("%s: what it was before bundle %d has what it was before that: %v", name, c.McSeqno, c)
			}
		}
	}
}
