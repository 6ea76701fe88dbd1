package verify

import (
	"bytes"
	"fmt"
	"math/big"
	"path/filepath"
	"testing"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tlb"
	tvmcell "github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/chain"
	"tonscribe/devnet/packages"
	"tonscribe/ton/code"
)

// changing is the code of a contract that is its own jetton wallet of 7, and a collection,
// or one of both, and whose code is whatever it is sent from outside.
func changing(at *address.Address, wallet, collection bool) *tvmcell.Cell {
	give := tvmcell.BeginCell().MustStoreAddr(at).EndCell()
	methods := tvmcell.NewDict(19)
	method := func(id uint64, body *tvmcell.Builder) {
		key := tvmcell.BeginCell().MustStoreUInt(id, 19).EndCell()
		if err := methods.Set(key, tvmcell.BeginCell().MustStoreRef(body.EndCell()).EndCell()); err != nil {
			panic(err)
		}
	}
	get := func(name string, body *tvmcell.Builder) { method(uint64(code.MethodID(name)), body) }
	const fromOutside = 1<<19 - 1
	method(fromOutside, tvmcell.BeginCell().MustStoreSlice([]byte{0xf8, 0x00, 0xd4, 0x30, 0xfb, 0x04}, 48)) // ACCEPT, LDREF, DROP, SETCODE
	// DROP, the address.
	get("get_wallet_address", tvmcell.BeginCell().MustStoreUInt(0x3089, 16).MustStoreRef(give))
	if wallet { // 7 PUSHINT, owner, master, PUSHREF
		get("get_wallet_data", tvmcell.BeginCell().MustStoreUInt(0x7789, 16).MustStoreRef(give).MustStoreUInt(0x89, 8).MustStoreRef(give).MustStoreUInt(0x88, 8).MustStoreRef(give))
	}
	if collection { // 3 PUSHINT, PUSHREF, owner
		get("get_collection_data", tvmcell.BeginCell().MustStoreUInt(0x7388, 16).MustStoreRef(give).MustStoreUInt(0x89, 8).MustStoreRef(give))
	}
	// SETCP0, 19 DICTPUSHCONST, DICTIGETJMPZ, 11 THROWARG, as compilers make it.
	begin := []byte{0xff, 0x00, 0xf4, 0xa4, 0x13, 0xf4, 0xbc, 0xf2, 0xc8, 0x0b}
	return tvmcell.BeginCell().MustStoreSlice(begin, 80).MustStoreRef(methods.AsCell()).EndCell()
}

// change is the message that gives a contract another code.
func change(t *testing.T, at *address.Address, to *tvmcell.Cell) *tvmcell.Cell {
	t.Helper()
	m, err := tlb.ToCell(&tlb.ExternalMessage{DstAddr: at, Body: tvmcell.BeginCell().MustStoreRef(to).EndCell()})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// A contract that loses one of its roles counts as such no more, in ready figures and in what
// is active in the table of the role, and counts again when it has it again.
func TestARoleThatIsLostCountsNoMore(t *testing.T) {
	const dawn = 1_750_000_000
	at := func(n byte) *address.Address { return address.NewAddress(0, 0, bytes.Repeat([]byte{n}, 32)) }
	stays, loses, returns := at(1), at(2), at(3)
	var accounts []chain.Account
	var begin []*tvmcell.Cell // what they are in the zerostate nobody tells
	for _, at := range []*address.Address{stays, loses, returns} {
		accounts = append(accounts, chain.Account{ID: [32]byte(at.Data()), Code: changing(at, true, true), Data: tvmcell.BeginCell().EndCell(), Balance: big.NewInt(100e9)})
		begin = append(begin, change(t, at, changing(at, true, true)))
	}
	made, err := chain.New(chain.Options{Seed: 1, GenUtime: dawn, Accounts: accounts})
	if err != nil {
		t.Fatal(err)
	}
	l := emptyTables(t)
	out := filepath.Join(t.TempDir(), "chain")
	master, base := made.Zerostates()
	if err := packages.WriteZerostates(out, master, base); err != nil {
		t.Fatal(err)
	}
	files := packages.NewFiles(out)
	for _, externals := range [][]*tvmcell.Cell{
		nil, // it takes no messages yet
		begin,
		{change(t, loses, changing(loses, false, true)), change(t, returns, changing(returns, false, true))},
		nil,
		{change(t, returns, changing(returns, true, true)), change(t, stays, changing(stays, true, false))},
		nil,
		{change(t, loses, changing(loses, false, true))}, // one more transaction
		nil,
	} {
		l.to++
		b, err := made.Step(dawn+5*l.to, externals)
		if err != nil {
			t.Fatal(err)
		}
		if err := files.Write(b); err != nil {
			t.Fatal(err)
		}
	}
	l.source.Source, l.states = "files:"+out, out
	l.fill(2)
	l.refresh("stats_jettons_view")
	for at, is := range map[*address.Address]struct{ wallet, collection uint64 }{stays: {1, 0}, loses: {0, 1}, returns: {1, 1}} {
		for statement, want := range map[string]uint64{
			"SELECT sum(wallets) FROM stats_jettons WHERE master = unhex('%x')":                   is.wallet,
			"SELECT count() FROM jetton_wallets FINAL WHERE active AND master = unhex('%x')":      is.wallet,
			"SELECT count() FROM jetton_wallets FINAL WHERE NOT active AND account = unhex('%x')": 1 - is.wallet,
			"SELECT count() FROM nft_collections FINAL WHERE active AND account = unhex('%x')":    is.collection,
		} {
			statement = fmt.Sprintf(statement, at.Data())
			if n, err := (&database{l.client}).number(t.Context(), statement); err != nil || n != want {
				t.Errorf("%s is %d (%v), want %d", statement, n, err, want)
			}
		}
	}
	if r, err := l.verify(nil); err != nil {
		t.Errorf("%v: %+v", err, r)
	}
}
