package liteserver

import (
	"math/big"
	"testing"
	"time"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/ton"
	"github.com/xssnick/tonutils-go/ton/jetton"
	"github.com/xssnick/tonutils-go/ton/nft"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/chain"
	"tonscribe/devnet/contracts"
)

// order lets a person's wallet send messages, and makes blocks until they and
// what they cause have arrived.
func (d *devnet) order(p person, seqno uint32, messages ...contracts.Message) {
	d.t.Helper()
	external, err := p.wallet.External(0, p.key, contracts.Order{
		Messages: messages, Seqno: seqno, ValidUntil: uint32(time.Now().Unix()) + 600,
	})
	if err != nil {
		d.t.Fatal(err)
	}
	if err := d.send(external); err != nil {
		d.t.Fatal(err)
	}
	for range 8 {
		d.step()
	}
}

// to is a message with half a coin.
func to(who *address.Address, state *tlb.StateInit, body *cell.Cell) contracts.Message {
	return contracts.Message{To: who, Value: big.NewInt(500_000_000), StateInit: state, Body: body, Mode: contracts.ModePayFees}
}

func TestJettonsAndNFTsAreReadByTheSecureClient(t *testing.T) {
	alice, bob := newPerson(1), newPerson(2)
	d := newDevnet(t, chain.Options{}, alice)
	minter := contracts.JettonMinter{Admin: alice.address, Content: contracts.OnchainContent(map[string]string{"name": "Coin", "decimals": "6"})}
	collection := contracts.NFTCollection{Owner: alice.address, Content: contracts.OffchainContent("https://example.com/c.json"),
		Royalty: contracts.Royalty{Numerator: 5, Denominator: 100, Destination: alice.address}}
	d.order(alice, 0, to(minter.Address(0), minter.StateInit(), nil), to(collection.Address(0), collection.StateInit(), nil))
	d.order(alice, 1,
		to(minter.Address(0), nil, contracts.JettonMintBody(contracts.JettonMint{Amount: big.NewInt(1_234_567), To: bob.address, Value: big.NewInt(100_000_000)})),
		to(collection.Address(0), nil, contracts.NFTDeployBody(1, 0, contracts.NFTInit{Owner: bob.address, Content: contracts.SnakeText("0.json"), Value: big.NewInt(100_000_000)})),
	)

	client := connect(t, d.Component, ton.ProofCheckPolicySecure)
	ctx := t.Context()
	master := jetton.NewJettonMasterClient(client, minter.Address(0))
	data, err := master.GetJettonData(ctx)
	if err != nil || data.TotalSupply.Cmp(big.NewInt(1_234_567)) != 0 || !data.AdminAddr.Equals(alice.address) {
		t.Fatalf("jetton: got %+v (%v)", data, err)
	}
	wallet, err := master.GetJettonWallet(ctx, bob.address)
	if err != nil || !wallet.Address().Equals(minter.Wallet(0, bob.address).Address(0)) {
		t.Fatalf("jetton wallet: got %v (%v)", wallet, err)
	}
	if balance, err := wallet.GetBalance(ctx); err != nil || balance.Cmp(big.NewInt(1_234_567)) != 0 {
		t.Errorf("jettons: got %v (%v), want 1234567", balance, err)
	}
	items := nft.NewCollectionClient(client, collection.Address(0))
	if data, err := items.GetCollectionData(ctx); err != nil || data.NextItemIndex.Uint64() != 1 || !data.OwnerAddress.Equals(alice.address) {
		t.Errorf("collection: got %+v (%v)", data, err)
	}
	if royalty, err := items.RoyaltyParams(ctx); err != nil || royalty.Factor != 5 || royalty.Base != 100 {
		t.Errorf("royalty: got %+v (%v)", royalty, err)
	}
	at, err := items.GetNFTAddressByIndex(ctx, big.NewInt(0))
	if err != nil || !at.Equals(collection.Item(0, 0).Address(0)) {
		t.Fatalf("item address: got %v (%v)", at, err)
	}
	item, err := nft.NewItemClient(client, at).GetNFTData(ctx)
	if err != nil || !item.Initialized || !item.OwnerAddress.Equals(bob.address) {
		t.Errorf("item: got %+v (%v)", item, err)
	}
}
