package explain_test

import (
	"bytes"
	"math/big"
	"strings"
	"testing"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/cmd/tonscribe/explain"
	facts "tonscribe/decode/detect"
	"tonscribe/devnet/contracts"
)

// stateOf is the BoC of an active account.
func stateOf(t *testing.T, at *address.Address, init *tlb.StateInit) []byte {
	t.Helper()
	root, err := tlb.ToCell(&tlb.AccountState{
		IsValid: true, Address: at,
		AccountStorage: tlb.AccountStorage{Status: tlb.AccountStatusActive, Balance: tlb.FromNanoTON(big.NewInt(1e9)), StateInit: init},
		StorageInfo: tlb.StorageInfo{StorageUsed: tlb.StorageUsed{CellsUsed: big.NewInt(1), BitsUsed: big.NewInt(1)},
			StorageExtra: tlb.StorageExtraNone{}, LastPaid: 1_750_000_000},
	})
	if err != nil {
		t.Fatal(err)
	}
	return root.ToBOC()
}

func subject(t *testing.T, at *address.Address, init *tlb.StateInit) *explain.Subject {
	t.Helper()
	s, err := explain.FromBoC(stateOf(t, at, init))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func explained(t *testing.T, s *explain.Subject, parents explain.Source) string {
	t.Helper()
	config, err := facts.DefaultConfig()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	e := explain.Explainer{Out: &out, Config: config, Parents: parents}
	if err := e.Account(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestAWalletIsExplainedWithWhatItsMasterSays(t *testing.T) {
	owner := address.NewAddress(0, 0, bytes.Repeat([]byte{2}, 32))
	minter := contracts.JettonMinter{Admin: owner, Content: contracts.OffchainContent("https://example.org/j.json")}
	purse := minter.Wallet(0, owner)
	wallet, master := subject(t, purse.Address(0), purse.StateInit()), subject(t, minter.Address(0), minter.StateInit())
	forged := subject(t, owner, purse.StateInit())
	for name, c := range map[string]struct {
		subject *explain.Subject
		parents explain.Source
		want    []string
	}{
		"its master": {wallet, explain.Only(master), []string{"method 97026 get_wallet_data", "interfaces: jetton_wallet",
			"get_wallet_data: ", "owner: " + owner.StringRaw(), "get_wallet_address: ", "\n  confirmed\n"}},
		"no master":      {wallet, explain.Nobody, []string{"the claim waits for it"}},
		"another wallet": {forged, explain.Only(master), []string{"\n  denied\n"}},
		"the master":     {master, explain.Nobody, []string{"interfaces: jetton_master", "uri: https://example.org/j.json"}},
	} {
		text := explained(t, c.subject, c.parents)
		for _, want := range c.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s: the text lacks %q:\n%s", name, want, text)
			}
		}
	}
}

// Whoever makes a token chooses its texts: they are shown to an operator's terminal, and
// must neither do anything there nor look like another line.
func TestTextsOfATokenAreOneLineThatDoesNothingToATerminal(t *testing.T) {
	owner := address.NewAddress(0, 0, bytes.Repeat([]byte{2}, 32))
	for uri, want := range map[string]string{
		"https://a.b/\x1b[2J\x1b]0;owned\a":       `uri: https://a.b/\x1b[2J\x1b]0;owned\a`,
		"https://a.b/c\n  confirmed\r":            `uri: https://a.b/c\n  confirmed\r`,
		"https://a.b/\u202egnp.exe":               `uri: https://a.b/\u202egnp.exe`,
		"https://a.b/монета":                      "uri: https://a.b/монета",
		"https://a.b/" + strings.Repeat("ж", 150): "uri: https://a.b/" + strings.Repeat("ж", 94) + "…",
	} {
		minter := contracts.JettonMinter{Admin: owner, Content: contracts.OffchainContent(uri)}
		text := explained(t, subject(t, minter.Address(0), minter.StateInit()), explain.Nobody)
		if !strings.Contains(text, want+"\n") {
			t.Errorf("%q: the text lacks the line %q:\n%q", uri, want, text)
		}
	}
}

func TestWhatIsNoAccountIsRefused(t *testing.T) {
	for name, boc := range map[string][]byte{"nothing": nil, "no bag of cells": []byte("hello")} {
		if s, err := explain.FromBoC(boc); err == nil {
			t.Errorf("%s is read as %v", name, s)
		}
	}
}

func TestACellThatIsNoAccountIsNotTakenForOne(t *testing.T) {
	account := func(at *cell.Builder) *cell.Cell {
		return cell.BeginCell().MustStoreBoolBit(true).MustStoreBuilder(at).MustStoreUInt(0, 3+3+3+32+1+64+4+1+2).EndCell()
	}
	variable := func(bits uint) *cell.Builder {
		return cell.BeginCell().MustStoreUInt(0b110, 3).MustStoreUInt(uint64(bits), 9).MustStoreUInt(0, 32).MustStoreSlice(make([]byte, 64), bits)
	}
	const none, noAccount = "account: there is none in this state", "account: the cell is neither an Account nor a ShardAccount"
	for name, c := range map[string]struct {
		cell *cell.Cell
		want string
	}{
		"account_none":       {cell.BeginCell().MustStoreBoolBit(false).EndCell(), none},
		"a transaction":      {cell.BeginCell().MustStoreUInt(0b0111, 4).MustStoreUInt(0, 256).EndCell(), noAccount},
		"a reference":        {cell.BeginCell().MustStoreBoolBit(false).MustStoreRef(cell.BeginCell().EndCell()).EndCell(), noAccount},
		"addr_none":          {account(cell.BeginCell().MustStoreUInt(0b00, 2)), noAccount},
		"addr_extern":        {account(cell.BeginCell().MustStoreUInt(0b01, 2).MustStoreUInt(256, 9).MustStoreSlice(make([]byte, 32), 256)), noAccount},
		"a short addr_var":   {account(variable(64)), noAccount},
		"a long addr_var":    {account(variable(257)), noAccount},
		"an addr_var of 256": {account(variable(256)), ""},
	} {
		text := ""
		if _, err := explain.FromBoC(c.cell.ToBOC()); err != nil {
			text = err.Error()
		}
		if text != c.want {
			t.Errorf("%s: %q, want %q", name, text, c.want)
		}
	}
}
