package code_test

import (
	"encoding/base64"
	"slices"
	"testing"

	"github.com/xssnick/tonutils-go/ton/wallet"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/ton/code"
)

// seqno and get_public_key stand so in the sources of every wallet.
func TestTheNumberOfAMethodIsThatOfTheFuncCompiler(t *testing.T) {
	for name, want := range map[string]uint32{"seqno": 85143, "get_public_key": 78748, "get_wallet_data": 97026, "get_jetton_data": 106029} {
		if got := code.MethodID(name); got != want {
			t.Errorf("%s is %d, want %d", name, got, want)
		}
		if got, ok := code.MethodName(want); !ok || got != name {
			t.Errorf("%d is called %q (%t), want %q", want, got, ok, name)
		}
	}
}

func TestAPublicBuildHasItsOwnNameAndOtherCodeThoseOfItsMethods(t *testing.T) {
	ids := []uint32{code.MethodID("seqno"), code.MethodID("get_public_key"), code.MethodID("get_wallet_data")}
	slices.Sort(ids)
	if got, want := code.Interfaces(code.Build("wallet_v4r2"), ids), []string{"wallet_v4r2"}; !slices.Equal(got, want) {
		t.Errorf("a public build is %q, want %q", got, want)
	}
	got := code.Interfaces(code.Hash{1}, ids)
	if !slices.IsSorted(got) || !slices.Contains(got, "jetton_wallet") || slices.Contains(got, "jetton_master") {
		t.Errorf("the methods make it %q, want them sorted, with jetton_wallet and without jetton_master", got)
	}
	if got := code.Interfaces(code.Hash{1}, nil); len(got) != 0 {
		t.Errorf("code without methods is %q, want nothing", got)
	}
}

// Wallets that an independent library builds are read back.
func TestWalletsOfTheLibraryAreKnownAndRead(t *testing.T) {
	const id = 698983191
	yes, no := true, false
	number := uint32(id)
	for _, c := range []struct {
		version wallet.VersionConfig
		want    code.Wallet
	}{
		{wallet.V3R1, code.Wallet{Type: "wallet v3 r1", ID: &number}},
		{wallet.V3R2, code.Wallet{Type: "wallet v3 r2", ID: &number}},
		{wallet.V4R1, code.Wallet{Type: "wallet v4 r1", ID: &number}},
		{wallet.V4R2, code.Wallet{Type: "wallet v4 r2", ID: &number}},
		{wallet.ConfigV5R1Beta{NetworkGlobalID: wallet.MainnetGlobalID}, code.Wallet{Type: "wallet v5 beta", SignatureAllowed: &no}},
		{wallet.ConfigV5R1Final{NetworkGlobalID: wallet.MainnetGlobalID}, code.Wallet{Type: "wallet v5 r1", SignatureAllowed: &yes}},
	} {
		init, err := wallet.GetStateInit(make([]byte, 32), c.version, id)
		if err != nil {
			t.Fatalf("%s: %v", c.want.Type, err)
		}
		got, ok := code.ReadWallet(init.Code.HashKey(), init.Data)
		if !ok || got.Type != c.want.Type || got.Seqno != 0 || !equal(got.SignatureAllowed, c.want.SignatureAllowed) ||
			c.want.ID != nil && !equal(got.ID, c.want.ID) {
			t.Errorf("%s is read as %+v (%t), want %+v", c.want.Type, got, ok, c.want)
		}
		if (got.ID != nil) != (c.want.ID != nil || c.want.SignatureAllowed != nil) {
			t.Errorf("%s has a wallet id: %t", c.want.Type, got.ID != nil)
		}
	}
}

func equal[T comparable](a, b *T) bool {
	return a == nil && b == nil || a != nil && b != nil && *a == *b
}

func TestDataThatIsNotAWalletsIsNoWallet(t *testing.T) {
	short := cell.BeginCell().MustStoreUInt(7, 32).EndCell()
	special, err := cell.BeginCell().MustStoreUInt(2, 8).MustStoreSlice(make([]byte, 32), 256).EndCellSpecial(true)
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string]*cell.Cell{"short data": short, "a library": special, "no data": nil} {
		if w, ok := code.ReadWallet(code.Build("wallet_v4r2"), data); ok {
			t.Errorf("%s is read as %+v", name, w)
		}
	}
	if w, ok := code.ReadWallet(code.Hash{1}, short); ok {
		t.Errorf("code of no wallet is read as %+v", w)
	}
}

func TestAHashIsReadFromBothOfItsTexts(t *testing.T) {
	want := code.Build("wallet_v3r2")
	if got := code.MustHash("84dafa449f98a6987789ba232358072bc0f76dc4524002a5d0918b9a75d2d599"); got != want {
		t.Errorf("hexadecimal is %x, want %x", got, want)
	}
	if got := code.MustHash(base64.StdEncoding.EncodeToString(want[:])); got != want {
		t.Errorf("base64 is %x, want %x", got, want)
	}
}
