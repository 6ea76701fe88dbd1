package detect

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/contracts"
	"tonscribe/schema/record"
	"tonscribe/ton/body"
)

// brokenBoCs are what is no bag with the cell that belongs there.
func brokenBoCs(right *cell.Cell) map[string][]byte {
	boc := right.ToBOC()
	flipped := bytes.Clone(boc)
	flipped[len(flipped)/2] ^= 0x40
	return map[string][]byte{
		"cut off":         boc[:len(boc)-7],
		"only its head":   boc[:6],
		"garbage":         bytes.Repeat([]byte{0xb5, 0xee}, 40),
		"another magic":   append([]byte{0, 1, 2, 3}, boc[4:]...),
		"a flipped bit":   flipped,
		"another cell":    cell.BeginCell().MustStoreUInt(7, 32).EndCell().ToBOC(),
		"too many cells":  {0xb5, 0xee, 0x9c, 0x72, 0x04, 0x04, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 1, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff},
		"a pruned branch": pruned(right).ToBOC(),
	}
}

func pruned(c *cell.Cell) *cell.Cell {
	branch, err := cell.BeginCell().MustStoreUInt(uint64(cell.PrunedCellType), 8).MustStoreUInt(1, 8).
		MustStoreSlice(c.Hash(), 256).MustStoreUInt(uint64(c.Depth()), 16).EndCellSpecial(true)
	if err != nil {
		panic(err) // it has the form of one
	}
	return branch
}

// accountOf is an active account of the next bundle.
func (s *script) accountOf(n byte, init *record.AccountState, data []byte) *record.Account {
	s.lt += 10
	return &record.Account{Account: raw(person(n)), McSeqno: s.seqno + 1, LastTransLt: s.lt, Now: 1_750_000_000, State: init, Data: data}
}

func TestABrokenBoCInTheDataIsCountedAndHarmsNobodyElse(t *testing.T) {
	s := newScript(t)
	init := minter.StateInit()
	s.next([]state{{at: minter.Address(0), init: init}}) // its code is known now
	state := func() *record.AccountState {
		return &record.AccountState{Status: record.AccountStatus_ACCOUNT_ACTIVE, Balance: 1e9, CodeHash: init.Code.Hash(), DataHash: init.Data.Hash()}
	}
	s.seqno++
	b := &bundle{mcSeqno: s.seqno, prev: s.seqno - 1, seal: &record.Seal{Master: &record.BlockId{Seqno: s.seqno}, GenUtime: 1_750_000_000}}
	n := byte(100)
	names := map[byte]string{}
	broken := brokenBoCs(init.Data)
	for name, data := range broken {
		n++
		names[n] = name
		b.accounts = append(b.accounts, s.accountOf(n, state(), data))
	}
	b.accounts = append(b.accounts, s.accountOf(99, state(), init.Data.ToBOC()))
	s.do(b)
	if s.of(person(99)).GetJettonMaster() == nil {
		t.Error("the neighbour was not found")
	}
	for n, name := range names {
		if c := s.of(person(n)); c != nil {
			t.Errorf("data that are %s: the account is %v, want nothing", name, c)
		}
	}
	if got := testutil.ToFloat64(s.metrics.unread.WithLabelValues("data")); got != float64(len(broken)) {
		t.Errorf("%v accounts were counted as unread for their data, want %d", got, len(broken))
	}
}

func TestABrokenCodeIsCountedAndHarmsNobodyElse(t *testing.T) {
	s := newScript(t)
	init := minter.StateInit()
	s.seqno++
	b := &bundle{mcSeqno: s.seqno, prev: s.seqno - 1, seal: &record.Seal{Master: &record.BlockId{Seqno: s.seqno}, GenUtime: 1_750_000_000}}
	n := byte(100)
	for _, boc := range [][]byte{init.Code.ToBOC()[:20], {}, bytes.Repeat([]byte{0xff}, 64)} {
		n++
		hash := bytes.Repeat([]byte{n}, 32)
		b.codes = append(b.codes, &record.Code{Hash: hash, Boc: boc})
		b.accounts = append(b.accounts, s.accountOf(n, &record.AccountState{Status: record.AccountStatus_ACCOUNT_ACTIVE, CodeHash: hash, DataHash: init.Data.Hash()}, init.Data.ToBOC()))
	}
	b.codes = append(b.codes, &record.Code{Hash: init.Code.Hash(), Boc: init.Code.ToBOC()})
	b.accounts = append(b.accounts, s.accountOf(99, &record.AccountState{Status: record.AccountStatus_ACCOUNT_ACTIVE, CodeHash: init.Code.Hash(), DataHash: init.Data.Hash()}, init.Data.ToBOC()))
	s.do(b)
	if s.of(person(99)).GetJettonMaster() == nil {
		t.Error("the neighbour was not found")
	}
	if len(s.contracts) != 1 {
		t.Errorf("%d contracts were found, want the neighbour alone", len(s.contracts))
	}
	if got := testutil.ToFloat64(s.metrics.unread.WithLabelValues("code")); got != 3 {
		t.Errorf("%v accounts were counted as unread for their code, want 3", got)
	}
}

func TestABrokenBodyOrdersNothing(t *testing.T) {
	s := newScript(t)
	purse := minter.Wallet(0, person(2))
	at := purse.Address(0)
	s.next([]state{{at: minter.Address(0), init: minter.StateInit()}, {at: at, init: purse.StateInit()}})
	whole, err := cell.FromBOC(sending(5))
	if err != nil {
		t.Fatal(err)
	}
	var orders []*record.Transaction
	for _, raw := range brokenBoCs(whole) {
		for _, opcode := range []uint32{body.JettonTransfer, body.JettonBurn, body.NFTTransfer, body.JettonInternalTransfer, body.JettonBurnNotification} {
			orders = append(orders, s.order(at, raw, opcode, false))
		}
	}
	orders = append(orders, s.order(at, nil, body.JettonTransfer, false), s.order(at, cell.BeginCell().EndCell().ToBOC(), body.JettonTransfer, false))
	right := s.order(at, sending(5), body.JettonTransfer, true)
	s.next(nil, append(orders, right)...)
	if len(s.jettons) != 1 || len(s.burns) != 0 || len(s.nfts) != 0 {
		t.Errorf("%d transfers, %d burns and %d transfers of items, want one transfer", len(s.jettons), len(s.burns), len(s.nfts))
	}
}

func TestAContentOfTenMegabytesIsCutAndCounted(t *testing.T) {
	s := newScript(t)
	dict := cell.NewDict(256)
	for i := range 90_000 {
		key := sha256.Sum256(binary.BigEndian.AppendUint64(nil, uint64(i)))
		text := hex.EncodeToString(key[:]) + strings.Repeat("z", 20)
		value := cell.BeginCell().MustStoreUInt(0, 8).MustStoreSlice([]byte(text), uint(len(text))*8).EndCell()
		if err := dict.Set(cell.BeginCell().MustStoreSlice(key[:], 256).EndCell(), value); err != nil {
			t.Fatal(err)
		}
	}
	bomb := contracts.Bomb{ID: 1, Content: cell.BeginCell().MustStoreUInt(0, 8).MustStoreDict(dict).EndCell()}
	if size := len(bomb.StateInit().Data.ToBOC()); size < 10<<20 {
		t.Fatalf("the data have %d bytes, want 10 MB", size)
	}
	s.next([]state{{at: bomb.Address(0), init: bomb.StateInit()}, {at: minter.Address(0), init: minter.StateInit()}})
	if s.of(minter.Address(0)).GetJettonMaster() == nil {
		t.Error("the neighbour was not found")
	}
	c := s.of(bomb.Address(0))
	if c.GetJettonMaster() == nil || c.SizeVT() > 64<<10 {
		t.Errorf("the record has %d bytes, jetton master: %t; want a master of at most 64 KiB", c.SizeVT(), c.GetJettonMaster() != nil)
	}
	if got := testutil.ToFloat64(s.metrics.cut); got == 0 {
		t.Error("no content was counted as cut")
	}
	if got, most := testutil.ToFloat64(s.metrics.gas), 2*float64(s.configuration.AccountGas); got > most {
		t.Errorf("%.0f gas for two contracts, want at most %.0f", got, most)
	}
}
