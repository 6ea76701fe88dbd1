package detect

import (
	"bytes"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/contracts"
	"tonscribe/schema/record"
	"tonscribe/ton/body"
	"tonscribe/ton/code"
)

// nameOf is the library cell that stands for a cell.
func nameOf(t *testing.T, c *cell.Cell) *cell.Cell {
	t.Helper()
	name, err := cell.BeginCell().MustStoreUInt(uint64(cell.LibraryCellType), 8).MustStoreSlice(c.Hash(), 256).EndCellSpecial(true)
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// withMethod gives a state in whose code a method's body is what is made of it.
func withMethod(t *testing.T, init *tlb.StateInit, method string, body func(old *cell.Cell) *cell.Cell) *tlb.StateInit {
	t.Helper()
	head := init.Code.MustBeginParse()
	dict := head.MustLoadRef().MustToCell().AsDict(19)
	key := cell.BeginCell().MustStoreUInt(uint64(code.MethodID(method)), 19).EndCell()
	old, err := dict.LoadValue(key)
	if err != nil {
		old = cell.BeginCell().ToSlice()
	}
	if err := dict.Set(key, body(old.MustToCell())); err != nil {
		t.Fatal(err)
	}
	bits := head.BitsLeft()
	code := cell.BeginCell().MustStoreSlice(head.MustLoadSlice(bits), bits).MustStoreRef(dict.AsCell()).EndCell()
	return &tlb.StateInit{Code: code, Data: init.Data}
}

// lentMethod gives a state in whose code a method's body is a library, which it
// jumps to, and the library.
func lentMethod(t *testing.T, init *tlb.StateInit, method string) (*tlb.StateInit, *record.Library) {
	t.Helper()
	var library *record.Library
	lent := withMethod(t, init, method, func(body *cell.Cell) *cell.Cell {
		library = &record.Library{Hash: body.Hash(), Boc: body.ToBOC()}
		return cell.BeginCell().MustStoreRef(nameOf(t, body)).EndCell()
	})
	return lent, library
}

func (s *script) bring(library *record.Library) {
	s.Helper()
	s.nextWith(func(b *bundle) { b.libraries = []*record.Library{library} })
}

// waits says how many accounts and parents wait for a library or a code.
func (s *script) waits() (n int) {
	s.Helper()
	for _, list := range []byte{keyUnread, keyLacks, keyAsked} {
		if err := s.store.Each([]byte{list}, nil, func(_, _ []byte) bool { n++; return true }); err != nil {
			s.Fatal(err)
		}
	}
	return n
}

func (s *script) unreadFor(what string) float64 {
	s.Helper()
	return testutil.ToFloat64(s.metrics.unread.WithLabelValues(what))
}

// runs is how many get-methods were run.
func (s *script) runs() (n float64) {
	s.Helper()
	for _, result := range []string{"ok", "failed", "broken off"} {
		n += testutil.ToFloat64(s.metrics.runs.WithLabelValues(result))
	}
	return n
}

func TestAContractWhoseMethodLacksALibraryIsLookedIntoWhenItComes(t *testing.T) {
	s := newScript(t)
	init, library := lentMethod(t, minter.StateInit(), "get_jetton_data")
	at := placeOf(t, init)
	s.next([]state{{at: at, init: init}})
	if s.of(at) != nil || s.unreadFor("library") != 1 {
		t.Fatalf("without the library the account is %v, and %v are counted, want nothing, 1", s.of(at), s.unreadFor("library"))
	}
	s.next([]state{{at: at, init: init}}) // the newest state is the one that counts
	s.bring(library)
	if c := s.of(at); c.GetJettonMaster() == nil || c.LastTransLt != 20 {
		t.Fatalf("with the library the account is %v, want a jetton master as of lt 20", c)
	}
	if n := s.waits(); n != 0 || testutil.ToFloat64(s.metrics.reread) != 1 {
		t.Errorf("%d wait, %v were looked into again, want 0 and 1", n, testutil.ToFloat64(s.metrics.reread))
	}
}

func TestAContractWaitsForOneLibraryAfterAnother(t *testing.T) {
	s := newScript(t)
	inner, second := lentMethod(t, minter.StateInit(), "get_jetton_data")
	var first *record.Library
	init := withMethod(t, inner, "get_jetton_data", func(body *cell.Cell) *cell.Cell {
		first = &record.Library{Hash: body.Hash(), Boc: body.ToBOC()}
		return cell.BeginCell().MustStoreRef(nameOf(t, body)).EndCell()
	})
	at := placeOf(t, init)
	s.next([]state{{at: at, init: init}})
	for n, library := range []*record.Library{second, first} {
		if s.of(at) != nil || s.unreadFor("library") != 1 {
			t.Fatalf("with %d of the libraries the account is %v, and %v are counted, want nothing, 1", n, s.of(at), s.unreadFor("library"))
		}
		s.bring(library)
	}
	if s.of(at).GetJettonMaster() == nil || s.waits() != 0 {
		t.Errorf("with the libraries the account is %v, %d wait", s.of(at), s.waits())
	}

	// The other way round the second is missed when the first has come.
	s = newScript(t)
	s.next([]state{{at: at, init: init}})
	s.bring(first)
	if s.of(at) != nil || s.unreadFor("library") != 2 {
		t.Fatalf("with the first library the account is %v, and %v are counted, want nothing, 2", s.of(at), s.unreadFor("library"))
	}
	s.bring(second)
	if s.of(at).GetJettonMaster() == nil || s.waits() != 0 {
		t.Errorf("with the libraries the account is %v, %d wait", s.of(at), s.waits())
	}
}

func TestWhatAContractIsWithoutALibraryStandsUntilItComes(t *testing.T) {
	s := newScript(t)
	// An item 5 of nobody's that belongs to somebody: PUSHINT -1, PUSHINT 5,
	// PUSHREFSLICE, PUSHREFSLICE, PUSHREF.
	item := cell.BeginCell().MustStoreSlice([]byte{0x7f, 0x75, 0x89, 0x89, 0x88}, 40).
		MustStoreRef(cell.BeginCell().MustStoreAddr(address.NewAddressNone()).EndCell()).
		MustStoreRef(cell.BeginCell().MustStoreAddr(person(4)).EndCell()).
		MustStoreRef(contracts.OffchainContent("https://example.org/5.json")).EndCell()
	init := withMethod(t, minter.StateInit(), "get_nft_data", func(*cell.Cell) *cell.Cell {
		return cell.BeginCell().MustStoreRef(nameOf(t, item)).EndCell()
	})
	at := placeOf(t, init)
	s.next([]state{{at: at, init: init}})
	if c := s.of(at); c.GetJettonMaster() == nil || c.NftItem != nil || s.unreadFor("library in part") != 1 {
		t.Fatalf("without the library the account is %v, and %v are counted; want a jetton master, 1", c, s.unreadFor("library in part"))
	}
	s.next([]state{{at: at, init: init}}) // with the same data
	before := s.runs()
	for range 5 {
		s.next(nil)
	}
	if s.runs() != before {
		t.Errorf("%v get-methods were run while nothing came", s.runs()-before)
	}
	s.bring(&record.Library{Hash: item.Hash(), Boc: item.ToBOC()})
	if c := s.of(at); c.GetJettonMaster() == nil || !bytes.Equal(c.NftItem.GetIndex(), []byte{5}) || !bytes.Equal(c.NftItem.GetOwner(), raw(person(4))) {
		t.Errorf("with the library the account is %v, want a jetton master and an item", c)
	}
	if n := s.waits(); n != 0 {
		t.Errorf("%d wait", n)
	}
}

// purseOf is a wallet of a master whose get_wallet_address lies in a library.
func purseOf(t *testing.T) (master, purse state, library *record.Library) {
	t.Helper()
	init, library := lentMethod(t, minter.StateInit(), "get_wallet_address")
	at := placeOf(t, init)
	wallet := contracts.JettonWallet{Owner: person(2), Minter: at}
	return state{at: at, init: init}, state{at: wallet.Address(0), init: wallet.StateInit()}, library
}

func TestAClaimIsCheckedAgainWhenTheLibraryOfTheParentComes(t *testing.T) {
	s := newScript(t)
	master, purse, library := purseOf(t)
	s.next([]state{master, purse}, s.order(purse.at, sending(5), body.JettonTransfer, true))
	if s.of(master.at).GetJettonMaster() == nil || s.of(purse.at) != nil || len(s.jettons) != 0 {
		t.Fatalf("without the library there are a master %v, a wallet %v, %d transfers; want a master alone", s.of(master.at), s.of(purse.at), len(s.jettons))
	}
	if n := s.unreadFor("library of a parent"); n != 1 {
		t.Errorf("%v are counted, want 1", n)
	}
	s.next(nil)
	s.bring(library)
	if s.of(purse.at).GetJettonWallet() == nil || len(s.jettons) != 1 {
		t.Errorf("with the library there are a wallet %v and %d transfers, want both", s.of(purse.at), len(s.jettons))
	}
	if n := s.waits(); n != 0 {
		t.Errorf("%d wait", n)
	}
}

// obscure makes an item, and its collection, whose get_nft_content lies in a library.
func (s *script) obscure(t *testing.T) (*record.Library, state) {
	t.Helper()
	collection := contracts.NFTCollection{Owner: person(1), Content: contracts.OffchainContent("https://example.org/c.json"),
		CommonContent: contracts.SnakeText("https://example.org/"), Royalty: contracts.Royalty{Numerator: 1, Denominator: 20, Destination: person(1)}}
	init, library := lentMethod(t, collection.StateInit(), "get_nft_content")
	at := placeOf(t, init)
	item := contracts.NFTItem{Collection: at, Index: 3}
	// As it is after its first message, without an editor.
	data := cell.BeginCell().MustStoreUInt(3, 64).MustStoreAddr(at).MustStoreAddr(person(2)).MustStoreRef(contracts.SnakeText("3.json")).
		MustStoreAddr(address.NewAddressNone()).EndCell()
	owned := &tlb.StateInit{Code: item.StateInit().Code, Data: data}
	one := state{at: item.Address(0), init: owned}
	s.next([]state{{at: at, init: init}, one})
	return library, one
}

func TestTheContentOfAnItemIsAskedForAgainWhenTheLibraryOfTheCollectionComes(t *testing.T) {
	s := newScript(t)
	library, item := s.obscure(t)
	if i := s.of(item.at).GetNftItem(); i == nil || i.Content != nil {
		t.Fatalf("without the library the item is %v, want one without content", i)
	}
	s.next([]state{item})
	s.bring(library)
	content := s.of(item.at).GetNftItem().GetContent().GetAttributes()
	if len(content) != 1 || content[0].Value != "https://example.org/3.json" {
		t.Errorf("with the library the item is %v", s.of(item.at))
	}
	for _, list := range []byte{keyWaiting, keyRetry, keyAsked} {
		if err := s.store.Each([]byte{list}, nil, func(rest, _ []byte) bool {
			t.Errorf("%c %x still waits", list, rest)
			return true
		}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAnItemThatIsGoneDoesNotWaitForItsContent(t *testing.T) {
	s := newScript(t)
	_, item := s.obscure(t)
	s.next([]state{{at: item.at}})
	if keys := s.heldBack(); len(keys) != 0 {
		t.Errorf("%x is kept, want nothing", keys)
	}
}

func TestALibraryThatNeverComesIsWaitedForAndNotAskedForAgainAndAgain(t *testing.T) {
	d := newDeskOn(t, t.TempDir(), lender(t, cell.BeginCell().MustStoreUInt(1, 8).EndCell()))
	defer d.fetching()()
	s := &script{desk: d, told: map[string]bool{}}
	s.next(nil)
	init, _ := lentMethod(t, minter.StateInit(), "get_jetton_data")
	master, purse, _ := purseOf(t)
	s.next([]state{{at: placeOf(t, init), init: init}, master, purse})
	s.idle()
	before := s.runs()
	for range 50 {
		s.next(nil)
	}
	s.idle()
	if n := s.runs() - before; n != 0 {
		t.Errorf("%v get-methods were run while nothing came", n)
	}
	if got := outcome(d, "library", "absent"); got != 2 || s.unreadFor("library") != 1 || s.unreadFor("library of a parent") != 1 {
		t.Errorf("%v libraries are absent, %v accounts and %v claims are counted, want 2, 1, 1", got, s.unreadFor("library"), s.unreadFor("library of a parent"))
	}
	if n := s.waits(); n != 3 {
		t.Errorf("%d wait, want 3", n)
	}
}

// Whoever asked before the restart had nobody to ask.
func TestALibraryIsFetchedAfterARestart(t *testing.T) {
	init, _ := lentMethod(t, minter.StateInit(), "get_jetton_data")
	at := placeOf(t, init)
	master, purse, _ := purseOf(t)
	for _, c := range []struct {
		name   string
		method string
		states []state
		is     func(s *script) bool
	}{
		{"of an account", "get_jetton_data", []state{{at: at, init: init}}, func(s *script) bool { return s.of(at).GetJettonMaster() != nil }},
		{"of a parent", "get_wallet_address", []state{master, purse}, func(s *script) bool { return s.of(purse.at).GetJettonWallet() != nil }},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			s := &script{desk: newDesk(t, dir), told: map[string]bool{}}
			s.next(c.states)
			if c.is(s) {
				t.Fatal("it is known without the library")
			}
			s.leave()
			var body *cell.Cell
			withMethod(t, minter.StateInit(), c.method, func(old *cell.Cell) *cell.Cell { body = old; return old })
			s = &script{desk: newDeskOn(t, dir, lender(t, body)), told: map[string]bool{}, seqno: s.seqno}
			defer s.fetching()()
			s.next(nil)
			s.next(nil)
			s.idle()
			s.next(nil)
			if !c.is(s) || outcome(s.desk, "library", "taken") != 1 {
				t.Errorf("it is not known, with %v libraries taken", outcome(s.desk, "library", "taken"))
			}
		})
	}
}

// An item whose content has come to have no form of TEP-64 has none, as one that is seen for
// the first time with that.
func TestAnItemHasNoContentThatItHasNoMore(t *testing.T) {
	collection := contracts.NFTCollection{Owner: person(1), Content: contracts.OffchainContent("https://example.org/c.json")}
	at := collection.Item(0, 3).Address(0)
	item := func(content *cell.Cell) state {
		data := cell.BeginCell().MustStoreUInt(3, 64).MustStoreAddr(collection.Address(0)).MustStoreAddr(person(2)).MustStoreRef(content).
			MustStoreAddr(address.NewAddressNone()).EndCell()
		return state{at: at, init: &tlb.StateInit{Code: collection.Item(0, 3).StateInit().Code, Data: data}}
	}
	whole, junk := item(contracts.OffchainContent("https://example.org/3.json")), item(cell.BeginCell().MustStoreUInt(0xff, 8).EndCell())
	for name, states := range map[string][]state{"at first": {junk}, "later": {whole, junk}} {
		s := newScript(t)
		s.next([]state{{at: collection.Address(0), init: collection.StateInit()}})
		for _, one := range states {
			s.next([]state{one})
		}
		if i := s.of(at).GetNftItem(); i == nil || i.Content != nil {
			t.Errorf("an item whose content is none %s is %v, want one without content", name, i)
		}
	}
}
