package chain

import (
	"bytes"
	"crypto/ed25519"
	"math/big"
	"testing"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm/cell"
	"github.com/xssnick/tonutils-go/tvm/tuple"

	"tonscribe/decode"
)

// code is a contract of a few TVM instructions.
func code(hex []byte, refs ...*cell.Cell) *cell.Cell {
	b := cell.BeginCell().MustStoreSlice(hex, uint(len(hex))*8)
	for _, r := range refs {
		b.MustStoreRef(r)
	}
	return b.EndCell()
}

func statusOf(t *testing.T, c *Chain, addr *address.Address) tlb.AccountStatus {
	t.Helper()
	root, err := c.State(addr.Workchain(), [32]byte(addr.Data()))
	must(t, err)
	if root == nil {
		return tlb.AccountStatusNonExist
	}
	var st tlb.AccountState
	must(t, tlb.Parse(&st, root))
	return st.Status
}

func TestSpecialAccountsTickAndTock(t *testing.T) {
	id := [32]byte(repeated(0x77))
	silent := cell.BeginCell().EndCell()
	c, err := New(Options{Seed: 1, GenUtime: genUtime, Accounts: []Account{
		{Workchain: -1, ID: id, Code: silent, Data: silent, Balance: big.NewInt(1e9), Tick: true, Tock: true},
	}})
	must(t, err)
	a := newAudit(t, c)
	for range 3 {
		b := run(t, c, a, newTown(t, 1), 1, 0)
		decoded, err := decode.Block(b.Master.Data, b.Master.ID.SeqNo)
		must(t, err)
		var ticks, tocks []uint64
		for _, tx := range decoded.Transactions {
			if bytes.Equal(tx.Account[4:], id[:]) {
				if tx.IsTock {
					tocks = append(tocks, tx.Lt)
				} else {
					ticks = append(ticks, tx.Lt)
				}
			}
		}
		if len(ticks) != 1 || len(tocks) != 1 || ticks[0] != b.Master.StartLT+1 || tocks[0] <= ticks[0] {
			t.Fatalf("ticks at %v, tocks at %v; the block begins at %d", ticks, tocks, b.Master.StartLT)
		}
	}
}

func TestFeesGoToTheFeeCollector(t *testing.T) {
	w := newTown(t, 10)
	c, a := begin(t, Options{Seed: 1, GenUtime: genUtime, Accounts: w.accounts()})
	balance := func() *big.Int {
		root, err := c.State(-1, Elector)
		must(t, err)
		var st tlb.AccountState
		must(t, tlb.Parse(&st, root))
		return st.Balance.Nano()
	}
	for range 10 {
		before := balance()
		b := run(t, c, a, w, 1, 5)
		flow := flowOf(t, b.Master.Root.MustPeekRef(1))
		want := sum(before, flow.recovered)
		if got := balance(); got.Cmp(want) != 0 {
			t.Fatalf("block %d: the elector has %s, want %s", b.Master.ID.SeqNo, got, want)
		}
		if flow.recovered.Cmp(big.NewInt(1_700_000_000)) < 0 {
			t.Fatalf("block %d recovers %s", b.Master.ID.SeqNo, flow.recovered)
		}
	}
}

// keeper is a config contract that takes whatever data it is sent:
// DROP LDREF DROP POP c4.
var keeper = []byte{0x30, 0xd4, 0x30, 0xed, 0x54}

func TestANewConfigMakesAKeyBlock(t *testing.T) {
	w := newTown(t, 4)
	silent := cell.BeginCell().EndCell()
	c, err := New(Options{Seed: 1, GenUtime: genUtime, Accounts: append(w.accounts(),
		Account{Workchain: -1, ID: Config, Code: code(keeper), Data: silent, Balance: big.NewInt(1e12)})})
	must(t, err)
	a := newAudit(t, c)
	run(t, c, a, w, 8, 2)

	params := c.Config().AsDict(32)
	changed := cell.BeginCell().MustStoreSlice(repeated(0xaa), 256).EndCell()
	must(t, params.SetBuilder(cell.BeginCell().MustStoreUInt(4, 32).EndCell(), cell.BeginCell().MustStoreRef(changed)))
	body := cell.BeginCell().MustStoreRef(cell.BeginCell().MustStoreRef(params.AsCell()).EndCell()).EndCell()
	order := w.wallets[0].pay(t, to(address.NewAddress(0, 0xff, Config[:]), 2_000_000_000, true, body))
	b, err := c.Step(c.master.state.genUtime+1, []*cell.Cell{order})
	must(t, err)
	a.bundle(b)
	for range 3 {
		run(t, c, a, w, 1, 2)
	}
	if c.Config().HashKey() != params.AsCell().HashKey() {
		t.Fatalf("config is %x, want %x", c.Config().Hash(), params.AsCell().Hash())
	}
	if len(a.keyBlocks) != 2 || a.keyBlocks[0] != 1 || a.keyBlocks[1] < 9 {
		t.Fatalf("key blocks are %v, want 1 and that of the change", a.keyBlocks)
	}
	info, err := decode.Header(a.master.Data)
	must(t, err)
	if info.PrevKeyBlock != a.keyBlocks[1] {
		t.Fatalf("previous key block is %d, want %d", info.PrevKeyBlock, a.keyBlocks[1])
	}
}

func TestAccountsThatBecomeNoneAreDeleted(t *testing.T) {
	w := newTown(t, 6)
	c, a := begin(t, Options{Seed: 1, GenUtime: genUtime, Accounts: w.accounts()})
	run(t, c, a, w, 6, 2)
	gone, other := w.wallets[0], w.wallets[1]
	all, err := c.Step(c.master.state.genUtime+1, []*cell.Cell{gone.payAll(t, to(other.addr, 0, false, nil))})
	must(t, err)
	a.bundle(all)
	if s := statusOf(t, c, gone.addr); s != tlb.AccountStatusNonExist {
		t.Fatalf("the emptied wallet is %s", s)
	}
	w.wallets = w.wallets[1:]
	run(t, c, a, w, 3, 2)
	again, err := c.Step(c.master.state.genUtime+1, []*cell.Cell{other.pay(t, to(gone.addr, 5_000_000, false, nil))})
	must(t, err)
	a.bundle(again)
	run(t, c, a, w, 3, 2)
	if s := statusOf(t, c, gone.addr); s != tlb.AccountStatusUninit {
		t.Fatalf("the wallet is %s after a payment", s)
	}
}

func TestLibrariesOfTheMasterchainAreLentToAll(t *testing.T) {
	library := cell.BeginCell().MustStoreUInt(0xabcdef, 24).EndCell()
	lender, other := [32]byte(repeated(0x61)), [32]byte(repeated(0x62))
	silent := cell.BeginCell().EndCell()
	lend := code([]byte{0x88, 0x72, 0xfb, 0x06}, library) // PUSHREF 2 PUSHINT SETLIBCODE
	key := ed25519.NewKeyFromSeed(repeated(1))
	payer := newWallet(t, key, -1)
	c, err := New(Options{Seed: 1, GenUtime: genUtime, Accounts: []Account{
		{Workchain: -1, ID: lender, Code: lend, Data: silent, Balance: big.NewInt(1e12)},
		{Workchain: -1, ID: other, Code: lend, Data: silent, Balance: big.NewInt(1e12)},
		{Workchain: -1, ID: [32]byte(payer.addr.Data()), Code: payer.init.Code, Data: payer.init.Data, Balance: big.NewInt(1e12)},
	}})
	must(t, err)
	a := newAudit(t, c)
	for _, id := range [][32]byte{lender, other} {
		b, err := c.Step(c.master.state.genUtime+1, []*cell.Cell{payer.pay(t, to(address.NewAddress(0, 0xff, id[:]), 1e9, true, nil))})
		must(t, err)
		a.bundle(b)
	}
	if c.master.state.libraries == nil {
		t.Fatal("no library in the state")
	}
	value, err := c.master.state.libraries.AsDict(256).LoadValue(cell.BeginCell().MustStoreSlice(library.Hash(), 256).EndCell())
	must(t, err)
	must(t, value.SkipBits(2))
	root, err := value.LoadRefCell()
	must(t, err)
	publishers, err := value.MustToCell().AsDict(256).LoadAll()
	must(t, err)
	if root.HashKey() != library.HashKey() || len(publishers) != 2 {
		t.Fatalf("library %x with %d publishers, want %x with 2", root.Hash(), len(publishers), library.Hash())
	}
}

func TestContractsSeeTheLastMasterchainBlocks(t *testing.T) {
	c, err := New(Options{Seed: 1, GenUtime: genUtime, Accounts: []Account{}})
	must(t, err)
	for range 130 {
		_, err := c.Step(c.master.state.genUtime+1, nil)
		must(t, err)
	}
	info := c.previous()
	seqnos := func(i int) (list []int64) {
		v, err := info.Index(i)
		must(t, err)
		blocks := v.(tuple.Tuple)
		for k := range blocks.Len() {
			b, err := blocks.Index(k)
			must(t, err)
			inner := b.(tuple.Tuple)
			n, err := inner.Index(2)
			must(t, err)
			list = append(list, n.(*big.Int).Int64())
		}
		return list
	}
	if got := seqnos(0); len(got) != 16 || got[0] != 130 || got[15] != 115 {
		t.Errorf("last blocks are %v", got)
	}
	if got := seqnos(2); len(got) != 2 || got[0] != 100 || got[1] != 0 {
		t.Errorf("last multiples of 100 are %v", got)
	}
	key, err := info.Index(1)
	must(t, err)
	keyBlock := key.(tuple.Tuple)
	n, err := keyBlock.Index(2)
	must(t, err)
	if n.(*big.Int).Int64() != 1 {
		t.Errorf("last key block is %v, want 1", n)
	}
}
