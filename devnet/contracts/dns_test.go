package contracts_test

import (
	"testing"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/contracts"
	"tonscribe/ton/dns"
)

type names struct {
	*world
	collection contracts.DNSCollection
	root, at   *address.Address
}

func newNames(t *testing.T) names {
	w := newWorld(t)
	collection := contracts.DNSCollection{Content: contracts.OffchainContent("https://example.com/dns.json"), MinPrice: ton(1), AuctionTime: 600}
	n := names{world: w, collection: collection, at: collection.Address(0)}
	root := contracts.DNSRoot{Owner: admin, Zones: map[string]*address.Address{"ton": n.at}}
	n.root = contracts.AddressOf(-1, root.StateInit())
	w.place(n.root, root.StateInit(), ton(10))
	w.place(n.at, collection.StateInit(), ton(10))
	return n
}

// encoded is a name as dnsresolve takes it.
func (n names) encoded(name string) []byte {
	n.t.Helper()
	encoded, err := dns.Encode(name)
	if err != nil {
		n.t.Fatal(err)
	}
	return encoded
}

func (n names) resolve(at *address.Address, name []byte, category any) []any {
	n.t.Helper()
	return n.get(at, "dnsresolve", cell.BeginCell().MustStoreSlice(name, uint(len(name))*8).ToSlice(), category)
}

// buy makes alice the owner of alice.ton.
func (n names) buy() *address.Address {
	n.t.Helper()
	item := n.collection.Item(0, "alice").Address(0)
	trace := n.send(alice, n.at, ton(2), contracts.CommentBody("alice"))
	expect(n.t, trace, hop{to: n.at}, hop{to: item, op: trace[1].op()})
	n.now += 601
	return item
}

func TestNameIsResolvedFromTheRoot(t *testing.T) {
	n := newNames(t)
	item := n.buy()
	wallet := contracts.DNSWalletRecord(alice)
	trace := n.send(alice, item, ton(0.1), contracts.DNSChangeRecordBody(1, contracts.DNSCategoryWallet, wallet))
	expect(t, trace, hop{to: item, op: 0x4eb1f0f9}, hop{to: n.at, op: 0x370fec51}, hop{to: alice, op: 0xd53276db})

	name := n.encoded("alice.ton")
	expectValues(t, "root", n.resolve(n.root, name, 0), 24, contracts.DNSNextResolverRecord(n.at))
	expectValues(t, "root behind a zero byte", n.resolve(n.root, append([]byte{0}, name...), 0), 32, contracts.DNSNextResolverRecord(n.at))
	expectValues(t, "collection", n.resolve(n.at, name[3:], 0), 48, contracts.DNSNextResolverRecord(item))
	expectValues(t, "item", n.resolve(item, []byte{0}, contracts.DNSIndex(contracts.DNSCategoryWallet)), 8, wallet)
	got := n.resolve(item, []byte{0}, 0)
	records := cell.NewDict(256)
	if err := records.Set(cell.BeginCell().MustStoreBigUInt(contracts.DNSIndex(contracts.DNSCategoryWallet), 256).EndCell(), cell.BeginCell().MustStoreRef(wallet).EndCell()); err != nil {
		t.Fatal(err)
	}
	expectValues(t, "all records", got, 8, records.AsCell())
	expectValues(t, "another zone", n.resolve(n.root, n.encoded("alice.org"), 0), 0, nil)
	expectValues(t, "get_domain", n.get(item, "get_domain"), []byte("alice"))
	expectValues(t, "get_editor", n.get(item, "get_editor"), alice)
	expectValues(t, "get_nft_data", n.get(item, "get_nft_data")[:4], true, contracts.DNSIndex("alice"), n.at, alice)
	expectValues(t, "get_nft_address_by_index", n.get(n.at, "get_nft_address_by_index", contracts.DNSIndex("alice")), item)
	expectValues(t, "get_collection_data", n.get(n.at, "get_collection_data"), -1, n.collection.Content, none)
}

func TestNameIsAuctioned(t *testing.T) {
	n := newNames(t)
	if trace := n.send(alice, n.at, ton(0.5), contracts.CommentBody("alice")); trace[0].ExitCode != 204 {
		t.Errorf("below the lowest price: %s", text(trace))
	}
	for _, bad := range []string{"al", "-alice", "alice-", "Alice", "al ice"} {
		if trace := n.send(alice, n.at, ton(2), contracts.CommentBody(bad)); trace[0].ExitCode != 200 {
			t.Errorf("label %q: %s\nwant exit code 200", bad, text(trace))
		}
	}
	item := n.collection.Item(0, "alice").Address(0)
	n.send(alice, n.at, ton(2), contracts.CommentBody("alice"))
	info := n.get(item, "get_auction_info")
	expectValues(t, "end and bidder", []any{info[0], info[2]}, alice, n.now+600)
	expectValues(t, "owner", n.get(item, "get_nft_data")[3:4], none)
	if trace := n.send(bob, item, ton(2), nil); trace[0].ExitCode != 204 {
		t.Errorf("below the step: %s", text(trace))
	}
	trace := n.send(bob, item, ton(3), nil)
	expect(t, trace, hop{to: item}, hop{to: alice, op: 0x557cea20})
	expectValues(t, "auction", n.get(item, "get_auction_info"), bob, ton(3), n.now+600)
	// The collection passes a later bid on, too.
	trace = n.send(carol, n.at, ton(4), contracts.CommentBody("alice"))
	if len(trace) != 3 || trace[2].op() != 0x557cea20 {
		t.Errorf("bid at the collection: %s", text(trace))
	}
	n.now += 601
	expectValues(t, "owner until the next message", n.get(item, "get_nft_data")[3:4], none)
	n.send(carol, item, ton(0.1), contracts.GetStaticDataBody(1))
	expectValues(t, "owner", n.get(item, "get_nft_data")[3:4], carol)
	expectValues(t, "auction", n.get(item, "get_auction_info"), none, 0, 0)
	if trace := n.send(bob, n.at, ton(9), contracts.CommentBody("alice")); trace[len(trace)-1].op() != 0xd53276db {
		t.Errorf("a bid for a name that is taken: %s\nwant it back", text(trace))
	}
}

func TestNameIsTransferredRenewedAndItsRecordDeleted(t *testing.T) {
	n := newNames(t)
	item := n.buy()
	trace := n.send(alice, item, ton(0.2), contracts.NFTTransferBody(contracts.NFTTransfer{QueryID: 3, NewOwner: bob, Response: alice, ForwardValue: ton(0.01)}))
	expect(t, trace, hop{to: item, op: 0x5fcc3d14}, hop{to: n.at, op: 0x370fec51}, hop{to: bob, op: 0x05138d91}, hop{to: alice, op: 0xd53276db})
	n.send(bob, item, ton(0.1), contracts.DNSChangeRecordBody(1, contracts.DNSCategoryWallet, contracts.DNSWalletRecord(bob)))
	n.send(bob, item, ton(0.1), contracts.DNSChangeRecordBody(1, contracts.DNSCategoryWallet, nil))
	expectValues(t, "records", n.resolve(item, []byte{0}, 0), 8, nil)
	n.now += 1000
	n.send(bob, item, ton(0.1), contracts.DNSRenewBody(1))
	expectValues(t, "get_last_fill_up_time", n.get(item, "get_last_fill_up_time"), n.now)
	if trace := n.send(alice, item, ton(0.1), contracts.DNSRenewBody(1)); trace[0].ExitCode != 401 {
		t.Errorf("renewed by the former owner: %s", text(trace))
	}
	trace = n.send(alice, item, ton(0.1), contracts.GetStaticDataBody(1))
	expect(t, trace, hop{to: item, op: 0x2fcb26a2}, hop{to: alice, op: 0x8b771735})
}

func TestNameThatIsNotRenewedIsPutUpAgain(t *testing.T) {
	n := newNames(t)
	item := n.buy()
	n.send(alice, item, ton(1), contracts.DNSRenewBody(1))
	if trace := n.send(bob, item, ton(2), contracts.DNSReleaseBody(1)); trace[0].ExitCode != 414 {
		t.Errorf("released too early: %s", text(trace))
	}
	n.now += 366*86400 + 1
	n.send(bob, item, ton(2), contracts.DNSReleaseBody(1))
	expectValues(t, "auction", n.get(item, "get_auction_info"), bob, ton(2), n.now+600)
	expectValues(t, "owner", n.get(item, "get_nft_data")[3:4], none)
}

func TestNameOfTheZerostateIsOwned(t *testing.T) {
	n := newNames(t)
	item := n.collection.Item(0, "foundation")
	record := contracts.DNSSiteRecord([32]byte{1})
	n.place(item.Address(0), item.OwnedStateInit(n.collection, bob, uint64(n.now), map[string]*cell.Cell{contracts.DNSCategorySite: record}), ton(1))
	expectValues(t, "site", n.resolve(item.Address(0), []byte{0}, contracts.DNSIndex(contracts.DNSCategorySite)), 8, record)
	expectValues(t, "owner", n.get(item.Address(0), "get_nft_data")[3:4], bob)
}

func TestOwnerOfTheRootSetsZones(t *testing.T) {
	n := newNames(t)
	if trace := n.send(bob, n.root, ton(1), contracts.DNSSetZoneBody(1, "dev", n.at)); trace[0].ExitCode != 401 {
		t.Errorf("set by bob: %s", text(trace))
	}
	n.send(admin, n.root, ton(1), contracts.DNSSetZoneBody(1, "dev", n.at))
	expectValues(t, "dev", n.resolve(n.root, n.encoded("dev"), 0), 24, contracts.DNSNextResolverRecord(n.at))
	n.send(admin, n.root, ton(1), contracts.DNSSetZoneBody(1, "dev", nil))
	expectValues(t, "dev", n.resolve(n.root, n.encoded("dev"), 0), 0, nil)
}
