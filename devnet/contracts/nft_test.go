package contracts_test

import (
	"math/big"
	"testing"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/ton/nft"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/contracts"
)

type nfts struct {
	*world
	collection contracts.NFTCollection
	at         *address.Address
}

func newNFTs(t testing.TB, sbt bool) nfts {
	t.Helper()
	w := newWorld(t)
	collection := contracts.NFTCollection{
		Owner:   admin,
		Content: contracts.OffchainContent("https://example.com/collection.json"), CommonContent: contracts.SnakeText("https://example.com/items/"),
		Royalty: contracts.Royalty{Numerator: 5, Denominator: 100, Destination: admin}, SBT: sbt,
	}
	n := nfts{world: w, collection: collection, at: collection.Address(0)}
	w.deploy(n.at, collection.StateInit(), ton(1))
	return n
}

func (n nfts) item(index uint64) *address.Address {
	return n.collection.Item(0, index).Address(0)
}

// mint deploys the item 0 of alice, with bob as editor.
func (n nfts) mint() *address.Address {
	n.t.Helper()
	trace := n.send(admin, n.at, ton(0.2), contracts.NFTDeployBody(1, 0, contracts.NFTInit{
		Owner: alice, Content: contracts.SnakeText("0.json"), Editor: bob, Value: ton(0.05),
	}))
	if len(trace) != 2 || trace[1].aborted() {
		n.t.Fatalf("trace is %s", text(trace))
	}
	return n.item(0)
}

func TestDeployedItemBelongsToItsOwner(t *testing.T) {
	n := newNFTs(t, false)
	item := n.mint()
	expectValues(t, "get_nft_data", n.get(item, "get_nft_data"), true, 0, n.at, alice, contracts.SnakeText("0.json"))
	expectValues(t, "get_editor", n.get(item, "get_editor"), bob)
	expectValues(t, "get_collection_data", n.get(n.at, "get_collection_data"), 1, n.collection.Content, admin)
	expectValues(t, "get_nft_address_by_index", n.get(n.at, "get_nft_address_by_index", 0), item)
	expectValues(t, "royalty_params", n.get(n.at, "royalty_params"), 5, 100, admin)
	content := n.get(n.at, "get_nft_content", 0, contracts.SnakeText("0.json"))
	parsed, err := nft.ContentFromCell(content[0].(*cell.Cell))
	if err != nil {
		t.Fatal(err)
	}
	const want = "https://example.com/items/0.json"
	if off, ok := parsed.(*nft.ContentOffchain); !ok || off.URI != want {
		t.Errorf("content is %+v, want %s", parsed, want)
	}
}

func TestItemBeforeItsFirstMessageIsNotInitialised(t *testing.T) {
	n := newNFTs(t, false)
	n.deploy(n.item(4), n.collection.Item(0, 4).StateInit(), ton(0.1))
	expectValues(t, "get_nft_data", n.get(n.item(4), "get_nft_data"), false, 4, n.at, none, nil)
}

func TestBatchDeploysItemsInOrder(t *testing.T) {
	n := newNFTs(t, false)
	var items []contracts.NFTInit
	for i := range byte(20) {
		items = append(items, contracts.NFTInit{Owner: user(i + 10), Content: contracts.SnakeText("x"), Value: ton(0.03)})
	}
	trace := n.send(admin, n.at, ton(1), contracts.NFTBatchDeployBody(1, 0, items))
	if len(trace) != 21 {
		t.Fatalf("trace is %s", text(trace))
	}
	expectValues(t, "owner of the last", n.get(n.item(19), "get_nft_data")[3:4], user(29))
	expectValues(t, "get_editor", n.get(n.item(19), "get_editor"), none)
	expectValues(t, "next index", n.get(n.at, "get_collection_data")[:1], 20)
	if trace := n.send(admin, n.at, ton(1), contracts.NFTBatchDeployBody(1, 21, items)); trace[0].ExitCode != 402 {
		t.Errorf("a gap in the indexes: exit code %d, want 402", trace[0].ExitCode)
	}
}

func TestOnlyTheOwnerOfTheCollectionDeploys(t *testing.T) {
	n := newNFTs(t, false)
	trace := n.send(bob, n.at, ton(0.2), contracts.NFTDeployBody(1, 0, contracts.NFTInit{Owner: bob, Content: contracts.SnakeText("0"), Value: ton(0.05)}))
	if trace[0].ExitCode != 401 || n.active(n.item(0)) {
		t.Errorf("exit code %d, want 401", trace[0].ExitCode)
	}
}

func TestItemTransferAssignsTheNewOwner(t *testing.T) {
	n := newNFTs(t, false)
	item := n.mint()
	payload := contracts.CommentBody("a present")
	body := contracts.NFTTransferBody(contracts.NFTTransfer{QueryID: 5, NewOwner: bob, Response: alice, ForwardValue: ton(0.02), ForwardPayload: payload})
	var parsed nft.TransferPayload
	if err := tlb.Parse(&parsed, body); err != nil {
		t.Fatal(err)
	}
	expectValues(t, "transfer as tonutils-go reads it",
		[]any{parsed.QueryID, parsed.NewOwner, parsed.ResponseDestination, parsed.ForwardAmount.Nano(), parsed.ForwardPayload},
		5, bob, alice, 20_000_000, payload)

	trace := n.send(alice, item, ton(0.1), body)
	expect(t, trace, hop{to: item, op: 0x5fcc3d14}, hop{to: bob, op: 0x05138d91}, hop{to: alice, op: 0xd53276db})
	expectValues(t, "owner", n.get(item, "get_nft_data")[3:4], bob)
	assigned := trace[1].payload()
	expectValues(t, "ownership_assigned", []any{assigned.MustLoadUInt(64), assigned.MustLoadAddr(), assigned.MustLoadBoolBit(), refOf(assigned)}, 5, alice, true, payload)
	if back := trace[2].message.AsInternal().Amount.Nano(); back.Cmp(ton(0.07)) < 0 {
		t.Errorf("of 0.1 TON %s nanotons come back, want at least 0.07 TON", back)
	}
	if trace := n.send(alice, item, ton(0.1), body); trace[0].ExitCode != 401 || trace[1].op() != 0xffffffff {
		t.Errorf("the former owner: %s\nwant exit code 401 and a bounce", text(trace))
	}
}

func TestItemTellsItsIndexAndCollectionItsRoyalty(t *testing.T) {
	n := newNFTs(t, false)
	item := n.mint()
	trace := n.send(bob, item, ton(0.1), contracts.GetStaticDataBody(4))
	expect(t, trace, hop{to: item, op: 0x2fcb26a2}, hop{to: bob, op: 0x8b771735})
	answer := trace[1].payload()
	expectValues(t, "report_static_data", []any{answer.MustLoadUInt(64), answer.MustLoadBigUInt(256), answer.MustLoadAddr()}, 4, 0, n.at)

	trace = n.send(bob, n.at, ton(0.1), contracts.GetRoyaltyParamsBody(6))
	expect(t, trace, hop{to: n.at, op: 0x693d3950}, hop{to: bob, op: 0xa8cb00ad})
	answer = trace[1].payload()
	expectValues(t, "report_royalty_params", []any{answer.MustLoadUInt(64), answer.MustLoadUInt(16), answer.MustLoadUInt(16), answer.MustLoadAddr()}, 6, 5, 100, admin)
}

func TestEditorChangesContentAndEditor(t *testing.T) {
	n := newNFTs(t, false)
	item := n.mint()
	other := contracts.SnakeText("0-new.json")
	n.send(bob, item, ton(0.1), contracts.NFTEditContentBody(1, other))
	expectValues(t, "content", n.get(item, "get_nft_data")[4:], other)
	trace := n.send(bob, item, ton(0.1), contracts.NFTTransferEditorshipBody(contracts.NFTTransfer{NewOwner: alice, Response: bob, ForwardValue: ton(0.01)}))
	expect(t, trace, hop{to: item, op: 0x1c04412a}, hop{to: alice, op: 0x511a4463}, hop{to: bob, op: 0xd53276db})
	expectValues(t, "get_editor", n.get(item, "get_editor"), alice)
	if trace := n.send(bob, item, ton(0.1), contracts.NFTEditContentBody(1, other)); trace[0].ExitCode != 410 {
		t.Errorf("the former editor: exit code %d, want 410", trace[0].ExitCode)
	}
}

func TestCollectionChangesOwnerAndContent(t *testing.T) {
	n := newNFTs(t, false)
	n.send(admin, n.at, ton(0.1), contracts.NFTChangeContentBody(1, contracts.OffchainContent("new"), nil, contracts.Royalty{Numerator: 1, Denominator: 10, Destination: bob}))
	n.send(admin, n.at, ton(0.1), contracts.NFTChangeOwnerBody(2, bob))
	expectValues(t, "get_collection_data", n.get(n.at, "get_collection_data"), 0, contracts.OffchainContent("new"), bob)
	expectValues(t, "royalty_params", n.get(n.at, "royalty_params"), 1, 10, bob)
	whole := contracts.OnchainContent(map[string]string{"name": "a"})
	expectValues(t, "get_nft_content", n.get(n.at, "get_nft_content", 0, whole), whole)
}

// mintSBT deploys the soul-bound item 0 of alice, with bob as authority.
func mintSBT(t *testing.T) (nfts, *address.Address) {
	n := newNFTs(t, true)
	n.send(admin, n.at, ton(0.2), contracts.SBTDeployBody(1, 0, contracts.SBTInit{
		Owner: alice, Content: contracts.SnakeText("0.json"), Authority: bob, Value: ton(0.05),
	}))
	return n, n.item(0)
}

func TestSoulBoundItemCannotBeTransferred(t *testing.T) {
	n, item := mintSBT(t)
	expectValues(t, "get_nft_data", n.get(item, "get_nft_data"), true, 0, n.at, alice, contracts.SnakeText("0.json"))
	expectValues(t, "get_authority_address", n.get(item, "get_authority_address"), bob)
	trace := n.send(alice, item, ton(0.1), contracts.NFTTransferBody(contracts.NFTTransfer{NewOwner: bob}))
	if trace[0].ExitCode != 413 {
		t.Errorf("exit code %d, want 413", trace[0].ExitCode)
	}
}

func TestSoulBoundItemProvesItsOwner(t *testing.T) {
	n, item := mintSBT(t)
	data := contracts.CommentBody("who")
	trace := n.send(alice, item, ton(0.1), contracts.SBTProveOwnershipBody(8, bob, data, true))
	expect(t, trace[:2], hop{to: item, op: 0x04ded148}, hop{to: bob, op: 0x0524c7ae})
	proof := trace[1].payload()
	expectValues(t, "ownership_proof", []any{proof.MustLoadUInt(64), proof.MustLoadBigUInt(256), proof.MustLoadAddr(), refOf(proof), proof.MustLoadUInt(64), proof.MustLoadBoolBit()},
		8, 0, alice, data, 0, true)

	trace = n.send(bob, item, ton(0.1), contracts.SBTRequestOwnerBody(8, admin, data, false))
	expect(t, trace[:2], hop{to: item, op: 0xd0c3bfea}, hop{to: admin, op: 0x0dd607e3})
	info := trace[1].payload()
	expectValues(t, "owner_info", []any{info.MustLoadUInt(64), info.MustLoadBigUInt(256), info.MustLoadAddr(), info.MustLoadAddr(), refOf(info), info.MustLoadUInt(64), info.MustLoadBoolBit()},
		8, 0, bob, alice, data, 0, false)
}

func TestSoulBoundItemIsRevokedByItsAuthorityAndDestroyedByItsOwner(t *testing.T) {
	n, item := mintSBT(t)
	if trace := n.send(alice, item, ton(0.1), contracts.SBTRevokeBody(1)); trace[0].ExitCode != 401 {
		t.Errorf("revoked by the owner: exit code %d, want 401", trace[0].ExitCode)
	}
	n.send(bob, item, ton(0.1), contracts.SBTRevokeBody(1))
	expectValues(t, "get_revoked_time", n.get(item, "get_revoked_time"), n.now)
	before := n.balance(alice)
	n.send(alice, item, ton(0.1), contracts.SBTTakeExcessBody(1))
	if got := new(big.Int).Sub(n.balance(alice), before); got.Cmp(ton(0.15)) < 0 {
		t.Errorf("the owner takes %s nanotons, want at least 0.15 TON", got)
	}
	trace := n.send(alice, item, ton(0.1), contracts.SBTDestroyBody(1))
	expect(t, trace, hop{to: item, op: 0x1f04537a}, hop{to: alice, op: 0xd53276db})
	expectValues(t, "owner", n.get(item, "get_nft_data")[3:4], none)
	expectValues(t, "get_authority_address", n.get(item, "get_authority_address"), none)
}
