package contract_test

import (
	"bytes"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/decode"
	"tonscribe/decode/contract"
	"tonscribe/schema/record"
	"tonscribe/test/support/realdata"
	"tonscribe/ton/tvm"
)

// census is what the blocks of the test data show of contracts: every state of
// which data and code are known, the code from wherever.
type census struct {
	codes  map[string]*cell.Cell
	states []*decode.Change
	config *tvm.Config
}

func newCensus(t *testing.T) *census {
	t.Helper()
	dir := realdata.Path(t)
	table, err := os.ReadFile(filepath.Join(dir, "blocks.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	c := &census{codes: map[string]*cell.Cell{}}
	var decoder decode.Decoder
	newest := uint32(0)
	for _, line := range strings.Split(strings.TrimSpace(string(table)), "\n")[1:] {
		file, rest, _ := strings.Cut(line, "\t")
		if !strings.HasPrefix(rest, "mainnet") && !strings.HasPrefix(rest, "testnet") {
			continue
		}
		boc, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		r, err := decoder.Block(boc, 1)
		if err != nil {
			t.Fatal(err)
		}
		if r.Config != nil && strings.HasPrefix(rest, "mainnet") && r.Block.GenUtime > newest {
			newest = r.Block.GenUtime
			if c.config, err = tvm.Prepare(parsed(t, r.Config)); err != nil {
				t.Fatal(err)
			}
		}
		c.states = append(c.states, r.Changes...)
		for _, change := range r.Changes {
			if change.Code != nil {
				c.code(parsed(t, change.Code))
			}
		}
		for _, tx := range r.Transactions {
			c.deployed(t, tx)
		}
	}
	return c
}

func (c *census) code(code *cell.Cell) { c.codes[string(code.Hash())] = code }

func (c *census) deployed(t *testing.T, tx *record.Transaction) {
	t.Helper()
	for _, m := range append(slices.Clone(tx.OutMsgs), tx.InMsg) {
		if len(m.GetInitState()) == 0 {
			continue
		}
		var init tlb.StateInit
		if err := tlb.Parse(&init, parsed(t, m.InitState)); err == nil && init.Code != nil {
			c.code(init.Code)
		}
	}
}

func parsed(t *testing.T, boc []byte) *cell.Cell {
	t.Helper()
	root, err := cell.FromBOC(boc)
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// kinds are what facts say that a contract is.
func kinds(f *record.Contract) (list []string) {
	for name, is := range map[string]bool{
		"jetton master": f.JettonMaster != nil, "jetton wallet": f.JettonWallet != nil, "NFT collection": f.NftCollection != nil,
		"NFT item": f.NftItem != nil, "sale": f.Sale != nil, "auction": f.Auction != nil, "telemint": f.Telemint != nil,
		"multisig": f.Multisig != nil, "multisig order": f.MultisigOrder != nil, "vesting": f.Vesting != nil,
		"nominator pool": f.NominatorPool != nil, "DeDust pool": f.DedustPool != nil, "STON.fi pool": f.StonfiPool != nil,
	} {
		if is {
			list = append(list, name)
		}
	}
	return list
}

func TestContractsOfRealChainsAreWhatTheirMethodsSay(t *testing.T) {
	c := newCensus(t)
	detector := contract.New(contract.DefaultLimits())
	count, named := map[string]int{}, map[string]int{}
	looked, empty, owners := 0, 0, 0
	for _, change := range c.states {
		if change.After.GetStatus() != record.AccountStatus_ACCOUNT_ACTIVE || change.Data == nil {
			continue
		}
		root := c.codes[string(change.After.CodeHash)]
		if root == nil {
			continue
		}
		code, _ := contract.NewCode(root, nil) // without its library it has no methods
		for _, name := range code.Names {
			named[name]++
		}
		if code.Empty() {
			empty++
			continue
		}
		looked++
		found, err := detector.Detect(t.Context(), contract.Account{Address: change.Account, Code: code, Data: parsed(t, change.Data),
			Balance: new(big.Int).SetUint64(change.After.Balance)}, contract.Moment{Config: c.config, Now: change.Transactions[0].Now})
		if err != nil {
			t.Fatal(err)
		}
		if w := found.Facts.JettonWallet; w != nil {
			owners += checkOwner(t, w, change)
		}
		list := kinds(found.Facts)
		for _, kind := range list {
			count[kind]++
		}
		if len(list) == 0 {
			count[fmt.Sprintf("nothing: %x %v", code.Hash[:4], code.Names)]++
		}
	}
	if owners == 0 {
		t.Error("no owner of a wallet was compared")
	}
	if count["jetton wallet"] == 0 || count["auction"] == 0 {
		t.Errorf("%d jetton wallets and %d auctions, want some of both", count["jetton wallet"], count["auction"])
	}
	for _, name := range []string{"wallet_v3r1", "wallet_v3r2", "wallet_preprocessed_v2", "jetton_wallet_governed"} {
		if named[name] == 0 {
			t.Errorf("no %s, which is there", name)
		}
	}
	t.Logf("%d states with methods of interest, %d without: %v; interfaces: %v", looked, empty, count, named)
}

// checkOwner compares the owner with those whom the wallet obeys and tells of
// transfers, which needs no method; it gives how many there were.
func checkOwner(t *testing.T, w *record.JettonWallet, change *decode.Change) (compared int) {
	t.Helper()
	check := func(what string, party []byte) {
		compared++
		if !bytes.Equal(w.Owner, party) {
			t.Errorf("%x says that its owner is %x, %s is %x", change.Account, w.Owner, what, party)
		}
	}
	const transfer, notification = 0x0f8a7ea5, 0x7362d09c // TEP-74
	for _, tx := range change.Transactions {
		if m := tx.InMsg; m.GetOpcode() == transfer && !tx.Aborted {
			check("who gave the order", m.Source)
		}
		for _, m := range tx.OutMsgs {
			if m.GetOpcode() == notification {
				check("who is told", m.Destination)
			}
		}
	}
	return compared
}
