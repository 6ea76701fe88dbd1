package contract_test

import (
	"bytes"
	"fmt"
	"math/big"
	"testing"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/decode/contract"
	"tonscribe/devnet/contracts"
	"tonscribe/schema/record"
	"tonscribe/test/support/configtest"
)

const noon = 1_750_000_000

func moment(t testing.TB) contract.Moment {
	t.Helper()
	return contract.Moment{Config: configtest.Of(t, nil, nil), Now: noon}
}

func raw(a *address.Address) []byte {
	sign := byte(int8(a.Workchain()) >> 7)
	return append([]byte{sign, sign, sign, byte(a.Workchain())}, a.Data()...)
}

func person(n byte) *address.Address { return address.NewAddress(0, 0, bytes.Repeat([]byte{n}, 32)) }

// codeOf is a code without libraries.
func codeOf(code *cell.Cell) *contract.Code {
	c, err := contract.NewCode(code, nil)
	if err != nil {
		panic(err) // there are none
	}
	return c
}

func accountOf(at *address.Address, init *tlb.StateInit) contract.Account {
	return contract.Account{Address: raw(at), Code: codeOf(init.Code), Data: init.Data, Balance: big.NewInt(1e9)}
}

func detect(t testing.TB, account contract.Account) contract.Findings {
	t.Helper()
	findings, err := contract.New(contract.DefaultLimits()).Detect(t.Context(), account, moment(t))
	if err != nil {
		t.Fatal(err)
	}
	return findings
}

func confirm(t testing.TB, child contract.Account, found contract.Findings, parent contract.Account) contract.Confirmation {
	t.Helper()
	claims := contract.ClaimsOf(found.Facts)
	if len(claims) != 1 {
		t.Fatalf("%d claims, want 1", len(claims))
	}
	if !bytes.Equal(claims[0].Parent, parent.Address) {
		t.Fatalf("the parent is %x, want %x", claims[0].Parent, parent.Address)
	}
	return contract.New(contract.DefaultLimits()).Confirm(
		contract.Parent{Context: t.Context(), Account: parent, Moment: moment(t)}, claims[0].Kind, child.Address, found.Facts, found.Content)
}

func attributes(c *record.TokenContent) map[string]string {
	all := map[string]string{}
	for _, a := range c.GetAttributes() {
		all[a.Name] = a.Value
	}
	return all
}

func TestAMasterAndItsWalletAreFound(t *testing.T) {
	minter := contracts.JettonMinter{Admin: person(1), Content: contracts.OnchainContent(map[string]string{
		"name": "Gold", "symbol": "GLD", "decimals": "9", "colour": "yellow"})}
	master := accountOf(minter.Address(0), minter.StateInit())
	found := detect(t, master)
	got := found.Facts.JettonMaster
	if got == nil || !bytes.Equal(got.Admin, raw(person(1))) || len(got.TotalSupply) != 0 || !got.Mintable {
		t.Fatalf("the master is %v", got)
	}
	walletCode := contracts.Code(contracts.JettonWalletCode).Hash()
	if !bytes.Equal(got.WalletCodeHash, walletCode) {
		t.Errorf("wallet code hash %x, want %x", got.WalletCodeHash, walletCode)
	}
	want := "map[" + // the name of the last one is known by its hash only
		fmt.Sprintf("%x", contracts.DNSIndex("colour").FillBytes(make([]byte, 32))) + ":yellow decimals:9 name:Gold symbol:GLD]"
	if text := fmt.Sprint(attributes(got.Content)); text != want {
		t.Errorf("content is %s, want %s", text, want)
	}

	purse := minter.Wallet(0, person(2))
	wallet := accountOf(purse.Address(0), purse.StateInit())
	found = detect(t, wallet)
	if w := found.Facts.JettonWallet; w == nil || !bytes.Equal(w.Owner, raw(person(2))) || !bytes.Equal(w.Master, master.Address) {
		t.Fatalf("the wallet is %v", w)
	}
	if c := confirm(t, wallet, found, master); c.Verdict != contract.Confirmed {
		t.Errorf("the master says %s, want %s", c.Verdict, contract.Confirmed)
	}
}

func TestAForgedWalletIsDenied(t *testing.T) {
	minter := contracts.JettonMinter{Admin: person(1), Content: contracts.OffchainContent("https://example.org/j.json")}
	purse := minter.Wallet(0, person(2))
	// The same state at another address is a wallet that the master did not make.
	wallet := accountOf(person(9), purse.StateInit())
	found := detect(t, wallet)
	if c := confirm(t, wallet, found, accountOf(minter.Address(0), minter.StateInit())); c.Verdict != contract.Denied {
		t.Errorf("the master says %s, want %s", c.Verdict, contract.Denied)
	}
}

func TestAParentWithoutTheMethodDoesNotAnswer(t *testing.T) {
	minter := contracts.JettonMinter{Admin: person(1), Content: contracts.OffchainContent("https://example.org/j.json")}
	purse := minter.Wallet(0, person(2))
	wallet := accountOf(purse.Address(0), purse.StateInit())
	parent := accountOf(minter.Address(0), purse.StateInit())
	if c := confirm(t, wallet, detect(t, wallet), parent); c.Verdict != contract.Unanswered {
		t.Errorf("the parent says %s, want %s", c.Verdict, contract.Unanswered)
	}
}
