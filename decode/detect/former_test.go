package detect

import (
	"bytes"
	"slices"
	"testing"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/contracts"
	"tonscribe/schema/record"
	"tonscribe/ton/body"
)

// heldBack are keys of what waits for something.
func (s *script) heldBack() (keys [][]byte) {
	s.Helper()
	for _, list := range []byte{keyHeld, keyWaiting, keyTransfer, keyMessage, keyFormer, keyUnread, keyLacks, keyCame} {
		if err := s.store.Each([]byte{list}, nil, func(rest, _ []byte) bool {
			keys = append(keys, append([]byte{list}, rest...))
			return true
		}); err != nil {
			s.Fatal(err)
		}
	}
	return keys
}

// restart goes on in another life.
func (s *script) restart() {
	s.Helper()
	s.leave()
	before := s.desk
	s.desk = newDesk(s.TB, before.configuration.Dir)
	s.contracts, s.jettons, s.burns, s.nfts, s.past = before.contracts, before.jettons, before.burns, before.nfts, before.past
}

// What a wallet sent before its master was known is told once the master confirms what the
// wallet claimed then, whatever has become of the account.
func TestATransferWaitsForTheMasterThoughItsWalletIsGone(t *testing.T) {
	other := minter
	other.Admin = person(5)
	purse := minter.Wallet(0, person(2))
	at := purse.Address(0)
	known, otherKnown := state{at: minter.Address(0), init: minter.StateInit()}, state{at: other.Address(0), init: other.StateInit()}
	mine, gone, others := state{at: at, init: purse.StateInit()}, state{at: at}, state{at: at, init: other.Wallet(0, person(2)).StateInit()}
	for name, c := range map[string]struct {
		bundles   [][]state
		orders    []int // bundles with one each, before the account becomes what it is with the bundle
		transfers int
	}{
		"deleted later":                                  {[][]state{{mine}, {gone}, {known}}, []int{0}, 1},
		"deleted with its last order":                    {[][]state{{mine}, {gone}, {known}}, []int{0, 1}, 2},
		"deleted with the bundle that brings the master": {[][]state{{mine}, {known, gone}}, []int{0, 1}, 2},
		"deployed and deleted once more":                 {[][]state{{mine}, {gone}, {mine}, {gone}, {}, {known}}, []int{0, 3}, 2},
		"deployed once more, and there":                  {[][]state{{mine}, {gone}, {mine}, {known}}, []int{0, 2}, 2},
		"of another master that denies it":               {[][]state{{mine, otherKnown}, {others}, {}, {known}}, []int{0, 1, 2}, 2},
		"of another master that is never known":          {[][]state{{mine}, {others}, {others}, {gone}, {known}}, []int{0, 2}, 1},
		"of a master that was never known before":        {[][]state{{others}, {mine}, {mine}, {known}}, []int{0, 2}, 1},
	} {
		for life, restarts := range map[string]bool{"": false, ", with restarts": true} {
			t.Run(name+life, func(t *testing.T) {
				s := newScript(t)
				for n, states := range c.bundles {
					var orders []*record.Transaction
					if slices.Contains(c.orders, n) {
						orders = append(orders, s.order(at, sending(5), body.JettonTransfer, false))
					}
					s.next(states, orders...)
					if restarts {
						s.restart()
					}
				}
				if len(s.jettons) != c.transfers {
					t.Errorf("%d transfers, want %d", len(s.jettons), c.transfers)
				}
				for _, o := range s.jettons {
					if !bytes.Equal(o.Master, raw(minter.Address(0))) || !bytes.Equal(o.SourceWallet, raw(at)) || o.McSeqno < o.TransactionMcSeqno {
						t.Errorf("the transfer is %v, want one of the master that confirms the wallet", o)
					}
				}
			})
		}
	}
}

// A wallet that waits for one master, and becomes one of another master that confirms it, has
// sent jettons of the first.
func TestATransferThatWaitsIsNeverOfAMasterThatItsWalletClaimsLater(t *testing.T) {
	at, first, second := person(99), person(98), person(97)
	s := newScript(t)
	s.next([]state{{at: second, init: granting(at)}, {at: at, init: claiming(first)}}, s.order(at, sending(5), body.JettonTransfer, false))
	s.next([]state{{at: at, init: claiming(second)}})
	s.next(nil, s.order(at, sending(6), body.JettonTransfer, false))
	if len(s.jettons) != 1 {
		t.Errorf("%d transfers, want that which the wallet has sent since its second master confirmed it", len(s.jettons))
	}
	s.next([]state{{at: first, init: granting(at)}})
	masters := map[byte]*address.Address{5: first, 6: second}
	for _, o := range s.jettons {
		if want := masters[o.Amount[0]]; !bytes.Equal(o.Master, raw(want)) {
			t.Errorf("the transfer of %d is of %x, want %x", o.Amount, o.Master, raw(want))
		}
	}
	if len(s.jettons) != 2 || !bytes.Equal(s.of(at).GetJettonWallet().GetMaster(), raw(second)) {
		t.Errorf("%d transfers and %v, want 2, and a wallet of the second master", len(s.jettons), s.of(at))
	}
}

// claiming is a jetton wallet of 7 that names a master.
func claiming(master *address.Address) *tlb.StateInit {
	give := cell.BeginCell().MustStoreAddr(master).EndCell()
	return answering(map[string]*cell.Builder{ // 7 PUSHINT, owner, master, PUSHREF
		"get_wallet_data": cell.BeginCell().MustStoreUInt(0x7789, 16).MustStoreRef(give).MustStoreUInt(0x89, 8).MustStoreRef(give).MustStoreUInt(0x88, 8).MustStoreRef(give),
	})
}

// granting is a master that calls the same account everybody's wallet.
func granting(wallet *address.Address) *tlb.StateInit {
	give := cell.BeginCell().MustStoreAddr(wallet).EndCell()
	return answering(map[string]*cell.Builder{"get_wallet_address": cell.BeginCell().MustStoreUInt(0x3089, 16).MustStoreRef(give)}) // DROP, the address
}

func TestATransferOfAnItemThatIsGoneWaitsForItsCollection(t *testing.T) {
	collection := contracts.NFTCollection{Owner: person(1), Content: contracts.OffchainContent("https://example.org/c.json")}
	order := contracts.NFTTransferBody(contracts.NFTTransfer{QueryID: 7, NewOwner: person(3)}).ToBOC()
	for name, claimed := range map[string]uint64{"whose own it is": 4, "that denies it": 5} {
		s := newScript(t)
		at := collection.Item(0, 4).Address(0)
		s.next([]state{{at: at, init: collection.Item(0, claimed).StateInit()}}, s.order(at, order, body.NFTTransfer, false))
		s.next([]state{{at: at}})
		s.next([]state{{at: collection.Address(0), init: collection.StateInit()}})
		want := 0
		if claimed == 4 {
			want = 1
		}
		if len(s.nfts) != want {
			t.Errorf("a collection %s: %d transfers, want %d", name, len(s.nfts), want)
		}
		for _, o := range s.nfts {
			if !bytes.Equal(o.Collection, raw(collection.Address(0))) || o.Delivery != record.Delivery_DELIVERED {
				t.Errorf("the transfer is %v, want it of the collection", o)
			}
		}
		if keys := s.heldBack(); len(keys) != 0 {
			t.Errorf("a collection %s: %x is kept, want nothing", name, keys)
		}
	}
}

// Whoever deploys and deletes a wallet again and again makes its master no more dear than many
// wallets do.
func TestWhatAWalletClaimedBeforeIsCheckedOverSeveralBundles(t *testing.T) {
	s := newScript(t, func(c *Configuration) { c.Retries = 3 })
	purse := minter.Wallet(0, person(2))
	at := purse.Address(0)
	for range 8 {
		s.next([]state{{at: at, init: purse.StateInit()}})
		s.next([]state{{at: at}}, s.order(at, sending(5), body.JettonTransfer, false))
	}
	s.next([]state{{at: minter.Address(0), init: minter.StateInit()}})
	for _, want := range []int{3, 6, 8, 8} {
		if len(s.jettons) != want {
			t.Errorf("after bundle %d there are %d transfers, want %d", s.seqno, len(s.jettons), want)
		}
		s.next(nil)
	}
	if keys := s.heldBack(); len(keys) != 0 {
		t.Errorf("%x is kept, want nothing", keys)
	}
}

// Of what is gone and has sent nothing, or is confirmed or denied, nothing is kept.
func TestNothingIsKeptOfAWalletThatIsGoneAndHasSentNothing(t *testing.T) {
	s := newScript(t)
	purse := minter.Wallet(0, person(2))
	s.next([]state{{at: purse.Address(0), init: purse.StateInit()}})
	s.next([]state{{at: purse.Address(0)}})
	if keys := s.heldBack(); len(keys) != 0 {
		t.Errorf("%x is kept, want nothing", keys)
	}
	forged := person(9)
	s.next([]state{{at: forged, init: purse.StateInit()}}, s.order(forged, sending(5), body.JettonTransfer, false))
	s.next([]state{{at: forged}})
	if keys := s.heldBack(); len(keys) != 3 {
		t.Errorf("%x is kept, want a transfer, what its wallet claimed, and that this waits for its master", keys)
	}
	s.next([]state{{at: minter.Address(0), init: minter.StateInit()}})
	if keys := s.heldBack(); len(keys) != 0 || len(s.jettons) != 0 {
		t.Errorf("after the master has denied it %x is kept and there are %d transfers, want nothing", keys, len(s.jettons))
	}
}

// A wallet whose code is a library that is not known yet is gone before that comes.
func TestATransferWaitsForTheLibraryOfItsWalletThoughThatIsGone(t *testing.T) {
	init, library := lent(t, minter.Wallet(0, person(2)).StateInit())
	unknown, other := lent(t, minter.StateInit())
	for name, c := range map[string]struct {
		at        *address.Address
		then      *tlb.StateInit // what it is from the bundle of its second order on
		with      []*record.Library
		transfers int
	}{
		"of a wallet":                             {minter.Wallet(0, person(2)).Address(0), nil, nil, 2},
		"of a wallet, gone as the library comes":  {minter.Wallet(0, person(2)).Address(0), nil, []*record.Library{library}, 2},
		"of a wallet that is a master":            {minter.Wallet(0, person(2)).Address(0), minter.StateInit(), nil, 2},
		"of a wallet that is unknown again":       {minter.Wallet(0, person(2)).Address(0), unknown, nil, 2},
		"of what turns out to be nobody's wallet": {person(9), nil, nil, 0},
	} {
		s := newScript(t)
		s.next([]state{{at: minter.Address(0), init: minter.StateInit()}, {at: c.at, init: init}}, s.order(c.at, sending(5), body.JettonTransfer, false))
		s.libraries = c.with
		s.next([]state{{at: c.at, init: c.then}}, s.order(c.at, sending(6), body.JettonTransfer, false))
		s.restart()
		s.next(nil)
		s.libraries = []*record.Library{other}
		s.next(nil)
		s.libraries = []*record.Library{library}
		s.next(nil)
		s.restart()
		s.next(nil)
		if len(s.jettons) != c.transfers {
			t.Errorf("%s: %d transfers, want %d", name, len(s.jettons), c.transfers)
		}
		for _, o := range s.jettons {
			if !bytes.Equal(o.Master, raw(minter.Address(0))) {
				t.Errorf("%s: the transfer is %v, want it of the master", name, o)
			}
		}
		if keys := s.heldBack(); len(keys) != 0 {
			t.Errorf("%s: %x is kept, want nothing", name, keys)
		}
	}
}
