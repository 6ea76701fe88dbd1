package contract_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"testing"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/ton/wallet"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/decode/contract"
	"tonscribe/devnet/contracts"
	"tonscribe/schema/record"
	"tonscribe/ton/code"
)

func TestAMultisigAndAVestingWalletAreFound(t *testing.T) {
	m := contracts.Multisig{Threshold: 2, Signers: []*address.Address{person(1), person(2)}, Proposers: []*address.Address{person(3)}}
	got := detect(t, accountOf(m.Address(0), m.StateInit())).Facts.Multisig
	if got == nil || got.Threshold != 2 || len(got.Signers) != 2 || !bytes.Equal(got.Signers[1], raw(person(2))) || len(got.Proposers) != 1 {
		t.Errorf("the multisig is %v", got)
	}
	v := contracts.Vesting{StartTime: noon, TotalDuration: 1000, UnlockPeriod: 10, CliffDuration: 100, TotalAmount: big.NewInt(5e9),
		Sender: person(4), Owner: person(5), Key: make([]byte, 32)}
	vesting := detect(t, accountOf(v.Address(0), v.StateInit())).Facts.Vesting
	if vesting == nil || vesting.StartTime != noon || vesting.CliffDuration != 100 || !bytes.Equal(vesting.Owner, raw(person(5))) || len(vesting.Whitelist) != 0 {
		t.Errorf("the vesting wallet is %v", vesting)
	}
}

func TestANominatorPoolIsFound(t *testing.T) {
	p := contracts.NominatorPool{Validator: address.NewAddress(0, 255, bytes.Repeat([]byte{7}, 32)), ValidatorShare: 4000, MaxNominators: 40,
		MinValidatorStake: big.NewInt(1e12), MinNominatorStake: big.NewInt(1e10), Elector: address.NewAddress(0, 255, bytes.Repeat([]byte{3}, 32))}
	got := detect(t, accountOf(p.Address(-1), p.StateInit())).Facts.NominatorPool
	if got == nil || got.ValidatorShare != 4000 || got.MaxNominators != 40 || !bytes.Equal(got.Validator, raw(p.Validator)) {
		t.Errorf("the pool is %v", got)
	}
}

func TestACollectionConfirmsItsItemAndCompletesItsContent(t *testing.T) {
	c := contracts.NFTCollection{Owner: person(1), Content: contracts.OffchainContent("https://example.org/c.json"),
		CommonContent: contracts.SnakeText("https://example.org/"), Royalty: contracts.Royalty{Numerator: 1, Denominator: 20, Destination: person(1)}}
	collection := accountOf(c.Address(0), c.StateInit())
	found := detect(t, collection).Facts.NftCollection
	if found == nil || !bytes.Equal(found.Owner, raw(person(1))) || attributes(found.Content)["uri"] != "https://example.org/c.json" {
		t.Fatalf("the collection is %v", found)
	}
	one := c.Item(0, 0)
	item := accountOf(one.Address(0), one.StateInit())
	findings := detect(t, item)
	if i := findings.Facts.NftItem; i == nil || i.Init || !bytes.Equal(i.Collection, collection.Address) {
		t.Fatalf("the item is %v", i)
	}
	if answer := confirm(t, item, findings, collection); answer.Verdict != contract.Confirmed {
		t.Errorf("the collection says %s, want %s", answer.Verdict, contract.Confirmed)
	}
}

func TestANameTellsItsLabelAndItsRecords(t *testing.T) {
	c := contracts.DNSCollection{Content: contracts.OffchainContent("https://example.org/names.json"), MinPrice: big.NewInt(1e9), AuctionTime: 60}
	one := c.Item(0, "alice")
	site, bag := [32]byte{1, 2}, [32]byte{3}
	item := accountOf(one.Address(0), one.OwnedStateInit(c, person(2), noon, map[string]*cell.Cell{
		contracts.DNSCategoryWallet: contracts.DNSWalletRecord(person(2)), contracts.DNSCategoryNextResolver: contracts.DNSNextResolverRecord(person(3)),
		contracts.DNSCategorySite: contracts.DNSSiteRecord(site), contracts.DNSCategoryStorage: contracts.DNSStorageRecord(bag),
	}))
	findings := detect(t, item)
	name := findings.Facts.NftItem.GetDns()
	want := &record.DNSName{Domain: "alice", Wallet: raw(person(2)), NextResolver: raw(person(3)), SiteAdnl: site[:], StorageBagId: bag[:]}
	if !name.EqualVT(want) {
		t.Errorf("the name is %v, want %v", name, want)
	}
	if answer := confirm(t, item, findings, accountOf(c.Address(0), c.StateInit())); answer.Verdict != contract.Confirmed {
		t.Errorf("the collection says %s, want %s", answer.Verdict, contract.Confirmed)
	}
}

func TestEveryEndlessMethodIsStoppedByTheGasOfTheAccount(t *testing.T) {
	endless := contracts.Endless{ID: 1}
	var gas int64
	limits := contract.DefaultLimits()
	d := contract.New(limits)
	d.Observe = func(r contract.Run) { gas += r.Gas }
	findings, err := d.Detect(t.Context(), accountOf(endless.Address(0), endless.StateInit()), moment(t))
	if err != nil {
		t.Fatal(err)
	}
	if gas > limits.AccountGas+limits.RunGas/100 || findings.Exhausted == 0 {
		t.Errorf("%d gas and %d exhausted runs, want at most %d and some", gas, findings.Exhausted, limits.AccountGas)
	}
}

func TestInterfacesAreNamedByCodeElseByMethods(t *testing.T) {
	v4, err := wallet.GetStateInit(bytes.Repeat([]byte{7}, 32), wallet.V4R2, wallet.DefaultSubwallet)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		code  *contract.Code
		names []string
	}{
		{"a public wallet", codeOf(v4.Code), []string{"wallet_v4r2"}},
		{"a jetton minter", codeOf(contracts.Code(contracts.JettonMinterCode)), []string{"jetton_master"}},
		{"a name", codeOf(contracts.Code(contracts.DNSItemCode)), []string{"dns", "editable", "nft_item"}},
		{"a sale", codeOf(contracts.Code(contracts.SaleCode)), []string{"nft_auction_v1", "nft_sale"}},
	} {
		if !slices.Equal(c.code.Names, c.names) {
			t.Errorf("%s is %s, want %s", c.name, asJSON(c.code.Names), asJSON(c.names))
		}
	}
	if id := fmt.Sprint(code.MethodID("get_wallet_data"), code.MethodID("seqno")); id != "97026 85143" {
		t.Errorf("method ids are %s, want 97026 85143", id)
	}
}

func asJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}
