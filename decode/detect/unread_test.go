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
)

// lent gives a state whose code is a library cell, and the library.
func lent(t *testing.T, init *tlb.StateInit) (*tlb.StateInit, *record.Library) {
	t.Helper()
	name, err := cell.BeginCell().MustStoreUInt(uint64(cell.LibraryCellType), 8).MustStoreSlice(init.Code.Hash(), 256).EndCellSpecial(true)
	if err != nil {
		t.Fatal(err)
	}
	return &tlb.StateInit{Code: name, Data: init.Data}, &record.Library{Hash: init.Code.Hash(), Boc: init.Code.ToBOC()}
}

func placeOf(t *testing.T, init *tlb.StateInit) *address.Address {
	t.Helper()
	root, err := tlb.ToCell(init)
	if err != nil {
		t.Fatal(err)
	}
	return address.NewAddress(0, 0, root.Hash())
}

func TestAContractWhoseCodeIsALibraryIsLookedIntoWhenTheLibraryComes(t *testing.T) {
	s := newScript(t)
	init, library := lent(t, minter.StateInit())
	at := placeOf(t, init)
	s.next([]state{{at: at, init: init}})
	s.next(nil)
	if s.of(at) != nil {
		t.Fatalf("without the library the account is %v, want nothing", s.of(at))
	}
	s.nextWith(func(b *bundle) { b.libraries = []*record.Library{library} })
	found := s.of(at).GetJettonMaster()
	if found == nil || len(found.TotalSupply) != 0 {
		t.Fatalf("with the library the account is %v, want a jetton master", s.of(at))
	}
	if n := testutil.ToFloat64(s.metrics.reread); n != 1 {
		t.Errorf("%v accounts were looked into again, want 1", n)
	}
	if err := s.store.Each([]byte{keyUnread}, nil, func(rest, _ []byte) bool {
		t.Errorf("%x still waits", rest)
		return true
	}); err != nil {
		t.Fatal(err)
	}
}

func TestALibraryIsKnownAfterARestart(t *testing.T) {
	dir := t.TempDir()
	s := &script{desk: newDesk(t, dir), told: map[string]bool{}}
	init, library := lent(t, minter.StateInit())
	s.nextWith(func(b *bundle) { b.libraries = []*record.Library{library} })
	s.leave()
	s = &script{desk: newDesk(t, dir), told: map[string]bool{}, seqno: s.seqno}
	at := placeOf(t, init)
	s.next([]state{{at: at, init: init}})
	if s.of(at).GetJettonMaster() == nil {
		t.Errorf("the account is %v, want a jetton master", s.of(at))
	}
}

func TestAnAccountIsLookedIntoInItsNewestStateWhenItsCodeComes(t *testing.T) {
	s := newScript(t)
	first := minter
	at := first.Address(0)
	code := &record.Code{Hash: first.StateInit().Code.Hash(), Boc: first.StateInit().Code.ToBOC()}
	s.told[string(code.Hash)] = true // nobody tells of the code
	s.next([]state{{at: at, init: first.StateInit()}})
	changed := first.StateInit()
	changed.Data = minter.Wallet(0, person(4)).StateInit().Data // no master's data
	s.next([]state{{at: at, init: changed}})
	s.next([]state{{at: at, init: first.StateInit()}})
	s.nextWith(func(b *bundle) { b.codes = []*record.Code{code} })
	if s.of(at).GetJettonMaster() == nil || s.of(at).LastTransLt != 30 {
		t.Errorf("the account is %v, want a jetton master as of lt 30", s.of(at))
	}
	s.next([]state{{at: at}})
	if f := s.of(at); f.GetJettonMaster() != nil || !bytes.Equal(f.Account, raw(at)) {
		t.Errorf("after its end the account is %v, want nothing", f)
	}
}

func TestAnAccountThatEndsBeforeItsCodeComesStaysNothing(t *testing.T) {
	s := newScript(t)
	at := minter.Address(0)
	init := minter.StateInit()
	s.told[string(init.Code.Hash())] = true
	s.next([]state{{at: at, init: init}})
	s.next([]state{{at: at}})
	s.nextWith(func(b *bundle) { b.codes = []*record.Code{{Hash: init.Code.Hash(), Boc: init.Code.ToBOC()}} })
	if s.of(at) != nil {
		t.Errorf("the account is %v, want nothing", s.of(at))
	}
}

func TestMoreAccountsThanOneBundleTakesFollowInTheNextOnes(t *testing.T) {
	s := newScript(t, func(c *Configuration) { c.Retries = 3 })
	const masters = 8
	var states []state
	for n := range masters {
		m := minter
		m.Admin = person(byte(10 + n))
		states = append(states, state{at: m.Address(0), init: m.StateInit()})
	}
	code := states[0].init.Code
	s.told[string(code.Hash())] = true
	s.next(states)
	s.nextWith(func(b *bundle) { b.codes = []*record.Code{{Hash: code.Hash(), Boc: code.ToBOC()}} })
	for _, want := range []int{3, 6, 8, 8} {
		if len(s.contracts) != want {
			t.Errorf("%d masters after bundle %d, want %d", len(s.contracts), s.seqno, want)
		}
		s.next(nil)
	}
}

// A library is cheap, and whoever made the accounts that wait for it chooses what they
// cost.
func TestAccountsThatAreDearToLookIntoFollowInTheNextBundles(t *testing.T) {
	const count, run = 300, 50_000
	s := newScript(t, func(c *Configuration) { c.RunGas, c.AccountGas = run, 3*run })
	var states []state
	var library *record.Library
	for n := range uint64(count) {
		var init *tlb.StateInit
		init, library = lent(t, contracts.Endless{ID: n}.StateInit())
		states = append(states, state{at: placeOf(t, init), init: init})
	}
	s.next(states)
	bring := func(b *bundle) { b.libraries = []*record.Library{library} }
	for n := 0; ; n++ {
		before, looks := testutil.ToFloat64(s.metrics.gas), testutil.ToFloat64(s.metrics.looks)
		s.nextWith(bring)
		bring = func(*bundle) {}
		got := testutil.ToFloat64(s.metrics.gas) - before
		if most := float64(150 * run); got > most {
			t.Fatalf("bundle %d costs %.0f gas, want at most %.0f", s.seqno, got, most)
		}
		if testutil.ToFloat64(s.metrics.looks) == looks {
			break
		}
	}
	if got := testutil.ToFloat64(s.metrics.looks); got != count {
		t.Errorf("%.0f accounts were looked into, want %d", got, count)
	}
}
