package detect

import (
	"bytes"
	"math/big"
	"slices"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/contracts"
	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/ton/body"
	"tonscribe/ton/code"
)

// script is a made-up chain: accounts appear, change and vanish as a test says.
type script struct {
	*desk
	seqno uint32
	lt    uint64
	told  map[string]bool
	// libraries come with the next bundle.
	libraries []*record.Library
}

func newScript(t testing.TB, change ...func(*Configuration)) *script {
	t.Helper()
	return &script{desk: newDesk(t, t.TempDir(), change...), told: map[string]bool{}}
}

func raw(a *address.Address) []byte {
	n := uint32(a.Workchain())
	return append([]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}, a.Data()...)
}

func person(n byte) *address.Address { return address.NewAddress(0, 0, bytes.Repeat([]byte{n}, 32)) }

// state is an account of a bundle; without an init it is not active any more.
type state struct {
	at   *address.Address
	init *tlb.StateInit
	lost bool // the data could not be had
}

// bundle makes the next one; late accounts may follow by a later step.
func (s *script) next(states []state, transactions ...*record.Transaction) []*record.Record {
	s.Helper()
	s.seqno++
	b := &bundle{mcSeqno: s.seqno, prev: s.seqno - 1, seal: &record.Seal{Master: &record.BlockId{Seqno: s.seqno}, GenUtime: 1_750_000_000 + s.seqno},
		transactions: transactions, libraries: s.libraries}
	s.libraries = nil
	for _, one := range states {
		s.lt += 10
		a := &record.Account{Account: raw(one.at), McSeqno: s.seqno, LastTransLt: s.lt, Now: b.seal.GenUtime,
			State: &record.AccountState{Status: record.AccountStatus_ACCOUNT_UNINIT}}
		if one.init != nil {
			a.State = &record.AccountState{Status: record.AccountStatus_ACCOUNT_ACTIVE, Balance: 1e9,
				CodeHash: one.init.Code.Hash(), DataHash: one.init.Data.Hash()}
			if !one.lost {
				a.Data = one.init.Data.ToBOC()
			}
			if !s.told[string(a.State.CodeHash)] {
				s.told[string(a.State.CodeHash)] = true
				b.codes = append(b.codes, &record.Code{Hash: a.State.CodeHash, Boc: one.init.Code.ToBOC()})
			}
		}
		b.accounts = append(b.accounts, a)
	}
	return s.do(b)
}

func (s *script) of(a *address.Address) *record.Contract { return s.contracts[string(raw(a))] }

// order is a transaction with a body from somebody, and what it sends.
func (s *script) order(at *address.Address, body []byte, opcode uint32, aborted bool, out ...*record.Message) *record.Transaction {
	s.lt += 10
	return &record.Transaction{Account: raw(at), Lt: s.lt, Hash: bytes.Repeat([]byte{byte(s.lt)}, 32), McSeqno: s.seqno + 1, Aborted: aborted,
		InMsg:   &record.Message{Kind: record.Message_INTERNAL, Opcode: &opcode, Body: body, Source: raw(person(2)), Hash: bytes.Repeat([]byte{byte(s.lt + 1)}, 32)},
		OutMsgs: out}
}

var minter = contracts.JettonMinter{Admin: person(1), Content: contracts.OffchainContent("https://example.org/j.json")}

func sending(jettons int64) []byte {
	return contracts.JettonTransferBody(contracts.JettonTransfer{QueryID: 7, Amount: big.NewInt(jettons), Destination: person(3)}).ToBOC()
}

func TestAWalletWaitsForItsMasterAndItsTransfersWithIt(t *testing.T) {
	s := newScript(t)
	purse := minter.Wallet(0, person(2))
	at := purse.Address(0)
	carrier := body.JettonInternalTransfer
	message := &record.Message{Kind: record.Message_INTERNAL, Opcode: &carrier, Hash: bytes.Repeat([]byte{0xaa}, 32)}
	s.next([]state{{at: at, init: purse.StateInit()}}, s.order(at, sending(5), body.JettonTransfer, false, message))
	if s.of(at) != nil || len(s.jettons) != 0 {
		t.Fatalf("before the master is known there are a wallet %v and %d transfers, want none", s.of(at), len(s.jettons))
	}
	s.next(nil)
	s.next([]state{{at: minter.Address(0), init: minter.StateInit()}})
	if w := s.of(at).GetJettonWallet(); w == nil || !bytes.Equal(w.Master, raw(minter.Address(0))) {
		t.Fatalf("after the master appeared the wallet is %v", w)
	}
	if first := s.of(at).FirstMcSeqno; first != 3 {
		t.Errorf("the wallet is first known with bundle %d, want 3", first)
	}
	for _, o := range s.jettons {
		if o.Delivery != record.Delivery_IN_PROGRESS || o.McSeqno != 3 || o.TransactionMcSeqno != 1 || !bytes.Equal(o.Master, raw(minter.Address(0))) {
			t.Errorf("the transfer is %v, want it in progress, told with bundle 3", o)
		}
	}
	if len(s.jettons) != 1 {
		t.Fatalf("%d transfers, want 1", len(s.jettons))
	}
	arrival := s.order(person(9), sending(5), body.JettonInternalTransfer, true)
	arrival.InMsg.Hash = message.Hash
	s.next(nil, arrival)
	for _, o := range s.jettons {
		if o.Delivery != record.Delivery_RETURNED || o.Receipt.GetLt() != arrival.Lt || o.McSeqno != 4 {
			t.Errorf("the transfer is %v, want it returned by transaction %d", o, arrival.Lt)
		}
	}
}

func TestAForgedWalletHasNoFactsAndNoTransfers(t *testing.T) {
	s := newScript(t)
	forged := person(9)
	s.next([]state{{at: forged, init: minter.Wallet(0, person(2)).StateInit()}}, s.order(forged, sending(5), body.JettonTransfer, false))
	s.next([]state{{at: minter.Address(0), init: minter.StateInit()}}, s.order(forged, sending(6), body.JettonTransfer, false))
	s.next(nil, s.order(forged, sending(7), body.JettonTransfer, false))
	if s.of(forged) != nil || len(s.jettons) != 0 {
		t.Errorf("a forged wallet is %v with %d transfers, want nothing", s.of(forged), len(s.jettons))
	}
	if keys := s.heldBack(); len(keys) != 0 {
		t.Errorf("%x still waits, want nothing", keys)
	}
}

// What a wallet sent in the bundle in which it begins to claim another master is
// its own jetton, whatever becomes of the new claim.
func TestATransferIsNeverOfAMasterThatIsOnlyClaimed(t *testing.T) {
	own := minter
	own.Content = contracts.OffchainContent("https://example.org/own.json")
	for name, known := range map[string]bool{"that denies it": true, "that is not known": false} {
		s := newScript(t)
		at := own.Wallet(0, person(2)).Address(0)
		states := []state{{at: own.Address(0), init: own.StateInit()}, {at: at, init: own.Wallet(0, person(2)).StateInit()}}
		if known {
			states = append(states, state{at: minter.Address(0), init: minter.StateInit()})
		}
		s.next(states)
		s.next([]state{{at: at, init: minter.Wallet(0, person(2)).StateInit()}}, s.order(at, sending(5), body.JettonTransfer, false))
		if s.of(at).GetJettonWallet() != nil {
			t.Errorf("a master %s: the wallet is %v, want none", name, s.of(at))
		}
		if len(s.jettons) != 1 {
			t.Errorf("a master %s: %d transfers, want 1", name, len(s.jettons))
		}
		for _, o := range s.jettons {
			if !bytes.Equal(o.Master, raw(own.Address(0))) {
				t.Errorf("a master %s: the transfer is of %x, want that which confirmed the wallet", name, o.Master)
			}
		}
	}
}

// clock is a jetton wallet and its own master; the balance is the time at which it
// is asked.
func clock(at *address.Address) *tlb.StateInit {
	const now = 0xf823
	give := func(a *address.Address) *cell.Cell { return cell.BeginCell().MustStoreAddr(a).EndCell() }
	return answering(map[string]*cell.Builder{
		"get_wallet_data":    cell.BeginCell().MustStoreUInt(now, 16).MustStoreUInt(0x89, 8).MustStoreRef(give(person(2))).MustStoreUInt(0x89, 8).MustStoreRef(give(at)).MustStoreUInt(0x88, 8).MustStoreRef(give(at)),
		"get_wallet_address": cell.BeginCell().MustStoreUInt(0x30, 8).MustStoreUInt(0x89, 8).MustStoreRef(give(at)),
	})
}

// answering is a contract without data that has get-methods, by their names.
func answering(list map[string]*cell.Builder) *tlb.StateInit {
	methods := cell.NewDict(19)
	for name, method := range list {
		key := cell.BeginCell().MustStoreUInt(uint64(code.MethodID(name)), 19).EndCell()
		if err := methods.Set(key, cell.BeginCell().MustStoreRef(method.EndCell()).EndCell()); err != nil {
			panic(err)
		}
	}
	// SETCP0, 19 DICTPUSHCONST, DICTIGETJMPZ, 11 THROWARG, as compilers make it.
	begin := []byte{0xff, 0x00, 0xf4, 0xa4, 0x13, 0xf4, 0xbc, 0xf2, 0xc8, 0x0b}
	return &tlb.StateInit{Code: cell.BeginCell().MustStoreSlice(begin, 80).MustStoreRef(methods.AsCell()).EndCell(), Data: cell.BeginCell().EndCell()}
}

func TestFactsAreThoseOfTheLastTransactionThoughTheDataAreTheSame(t *testing.T) {
	s := newScript(t)
	at := person(99)
	for range 3 {
		s.next([]state{{at: at, init: clock(at)}})
		c := s.of(at)
		if balance := new(big.Int).SetBytes(c.GetJettonWallet().GetBalance()); balance.Uint64() != uint64(c.GetNow()) || c.McSeqno != s.seqno {
			t.Errorf("the balance is %d, want %d, the time of bundle %d; the record is of bundle %d", balance, c.GetNow(), s.seqno, c.GetMcSeqno())
		}
	}
	before := s.of(at)
	s.next([]state{{at: at, init: clock(at), lost: true}})
	if c := s.of(at); c.LastTransLt != s.lt || !bytes.Equal(c.JettonWallet.Balance, before.JettonWallet.Balance) {
		t.Errorf("without its data the account is %v, want the facts from before at lt %d", c, s.lt)
	}
}

func TestRefusedAndUnsentTransfersAreToldSo(t *testing.T) {
	s := newScript(t)
	purse := minter.Wallet(0, person(2))
	at := purse.Address(0)
	s.next([]state{{at: minter.Address(0), init: minter.StateInit()}, {at: at, init: purse.StateInit()}},
		s.order(at, sending(5), body.JettonTransfer, true), s.order(at, sending(6), body.JettonTransfer, false))
	found := map[record.Delivery]int{}
	for _, o := range s.jettons {
		found[o.Delivery]++
	}
	if len(s.jettons) != 2 || found[record.Delivery_REFUSED] != 1 || found[record.Delivery_NOT_SENT] != 1 {
		t.Errorf("deliveries are %v, want one refused and one not sent", found)
	}
}

func TestAnAccountThatIsNothingAnyMoreIsToldSo(t *testing.T) {
	s := newScript(t)
	at := minter.Address(0)
	s.next([]state{{at: at, init: minter.StateInit()}})
	if s.of(at).GetJettonMaster() == nil {
		t.Fatal("no master was found")
	}
	s.next([]state{{at: at}})
	if c := s.of(at); c == nil || !nothing(c) || c.McSeqno != 2 || len(c.CodeHash) != 0 {
		t.Errorf("after the account went the record is %v, want one without facts", c)
	}
	if len(s.past) != 1 || s.past[0].McSeqno != 2 || s.past[0].FirstMcSeqno != 1 || s.past[0].GetJettonMaster().GetAdmin() == nil {
		t.Errorf("what it was is %v, want the master of before bundle 2", s.past)
	}
	if rows := s.next([]state{{at: at}}); len(rows) != 2 {
		t.Errorf("%d records of a bundle that changes nothing, want the 2 seals", len(rows))
	}
}

// A contract that is nothing as long as its claim waits is told so, and is known anew when it is
// something again, as one that was gone and came back.
func TestAContractThatWasNothingForAWhileIsKnownFirstWhenItCameBack(t *testing.T) {
	s := newScript(t)
	at := minter.Wallet(0, person(2)).Address(0)
	other := minter
	other.Admin = person(5)
	own, others := minter.Wallet(0, person(2)).StateInit(), other.Wallet(0, person(2)).StateInit()
	s.next([]state{{at: minter.Address(0), init: minter.StateInit()}, {at: at, init: own}})
	s.next([]state{{at: at, init: others}}) // of a master that is not known
	if c := s.of(at); !nothing(c) || c.FirstMcSeqno != 1 {
		t.Errorf("while its claim waits the account is %v, want nothing in the place of the wallet of bundle 1", c)
	}
	gone := s.seqno
	s.next(nil)
	s.next([]state{{at: at, init: own}})
	if c := s.of(at); c.GetJettonWallet() == nil || c.FirstMcSeqno != s.seqno {
		t.Errorf("the wallet that came back with bundle %d is %v, want it known first with that", s.seqno, c)
	}
	for bundle, want := range map[uint32]bool{gone - 1: true, gone: false, gone + 1: false, s.seqno: true} {
		var past *record.Contract
		for _, c := range slices.Backward(s.past) {
			if c.McSeqno > bundle {
				past = c
			}
		}
		if c := schema.ContractAsOf(bundle, past, s.of(at)); (c != nil) != want {
			t.Errorf("as of bundle %d the account is %v, want a wallet: %t", bundle, c, want)
		}
	}
}

func TestFactsStayWhereTheStateIsNotKnown(t *testing.T) {
	s := newScript(t)
	at := minter.Address(0)
	s.next([]state{{at: at, init: minter.StateInit()}})
	other := minter
	other.Admin = person(5)
	s.next([]state{{at: at, init: other.StateInit(), lost: true}})
	if c := s.of(at); c.McSeqno != 1 || !bytes.Equal(c.JettonMaster.Admin, raw(person(1))) {
		t.Errorf("the master is %v, want that of bundle 1", c)
	}
	s.next([]state{{at: at, init: other.StateInit()}})
	if c := s.of(at); c.McSeqno != 3 || !bytes.Equal(c.JettonMaster.Admin, raw(person(5))) {
		t.Errorf("the master is %v, want that of bundle 3", c)
	}
}

func TestManyWaitingClaimsAreCheckedOverSeveralBundles(t *testing.T) {
	s := newScript(t, func(c *Configuration) { c.Retries = 3 })
	var wallets []state
	for n := range 10 {
		purse := minter.Wallet(0, person(byte(10+n)))
		wallets = append(wallets, state{at: purse.Address(0), init: purse.StateInit()})
	}
	s.next(wallets)
	s.next([]state{{at: minter.Address(0), init: minter.StateInit()}})
	for _, want := range []int{3, 6, 9, 10, 10} {
		found := 0
		for _, one := range wallets {
			if s.of(one.at).GetJettonWallet() != nil {
				found++
			}
		}
		if found != want {
			t.Errorf("after bundle %d there are %d wallets, want %d", s.seqno, found, want)
		}
		s.next(nil)
	}
}

func TestAHostileContractCostsItsGasAndNoMore(t *testing.T) {
	s := newScript(t)
	endless := contracts.Endless{ID: 1}
	states := []state{{at: endless.Address(0), init: endless.StateInit()}}
	for _, bomb := range []contracts.Bomb{
		{ID: 1, Content: contracts.DeepContent(300)}, {ID: 2, Content: contracts.SharedContent(100)}, {ID: 3, Content: contracts.HugeContent(100_000)},
	} {
		states = append(states, state{at: bomb.Address(0), init: bomb.StateInit()})
	}
	s.next(states)
	if got, most := testutil.ToFloat64(s.metrics.gas), float64(s.configuration.AccountGas)*float64(len(states)); got > most {
		t.Errorf("%.0f gas for %d contracts, want at most %.0f", got, len(states), most)
	}
	if got := testutil.ToFloat64(s.metrics.exhausted); got == 0 {
		t.Error("no run was counted that ended for want of gas")
	}
	for _, c := range s.contracts {
		if n := c.SizeVT(); n > 64<<10 {
			t.Errorf("the record of %x has %d bytes", c.Account, n)
		}
	}
}

func TestACodeThatOnlyAMessageBroughtIsKnown(t *testing.T) {
	s := newScript(t)
	init := minter.StateInit()
	s.told[string(init.Code.Hash())] = true // nobody publishes it
	deploy := s.order(minter.Address(0), nil, 0, false)
	deploy.InMsg.InitState = contracts.StateInitCell(init).ToBOC()
	s.next([]state{{at: minter.Address(0), init: init}}, deploy)
	if s.of(minter.Address(0)).GetJettonMaster() == nil {
		t.Error("the master was not found")
	}
}

// A parent that is asked by many and does not answer may become another contract with every
// bundle, which costs its owner next to nothing.
func TestAParentWhoseAnswersAreDearHoldsNobodyUp(t *testing.T) {
	const children, run = 300, 50_000
	s := newScript(t, func(c *Configuration) { c.RunGas, c.AccountGas = run, 3*run })
	dear := minter
	dear.Admin = person(7)
	var claims, wallets []state
	for n := range children {
		owner := address.NewAddress(0, 0, bytes.Repeat([]byte{byte(n), byte(n >> 8)}, 16))
		purse := dear.Wallet(0, owner)
		claims = append(claims, state{at: purse.Address(0), init: purse.StateInit()})
		if n < 10 {
			purse = minter.Wallet(0, owner)
			wallets = append(wallets, state{at: purse.Address(0), init: purse.StateInit()})
		}
	}
	s.next(append(claims, wallets...))
	waiting := func() (n int) {
		for _, one := range wallets {
			if s.of(one.at).GetJettonWallet() == nil {
				n++
			}
		}
		return n
	}
	parents := []state{{at: minter.Address(0), init: minter.StateInit()}}
	for n := range uint64(40) {
		before := testutil.ToFloat64(s.metrics.gas)
		s.next(append(parents, state{at: dear.Address(0), init: changed(contracts.Endless{ID: n}.StateInit(), n)}))
		parents = nil
		if got, most := testutil.ToFloat64(s.metrics.gas)-before, float64(100+20)*run; got > most {
			t.Fatalf("bundle %d costs %.0f gas, want at most %.0f", s.seqno, got, most)
		}
		if waiting() == 0 {
			return
		}
	}
	t.Errorf("after %d bundles %d wallets of another master wait still, want none", s.seqno, waiting())
}

// changed is a contract of the same methods with another code.
func changed(init *tlb.StateInit, n uint64) *tlb.StateInit {
	code := init.Code.ToBuilder().MustStoreRef(cell.BeginCell().MustStoreUInt(n, 64).EndCell()).EndCell()
	return &tlb.StateInit{Code: code, Data: init.Data}
}
