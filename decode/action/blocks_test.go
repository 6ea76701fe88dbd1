package action_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"tonscribe/decode"
	"tonscribe/decode/action"
	"tonscribe/decode/trace"
	"tonscribe/schema/record"
	"tonscribe/test/support/realdata"
)

func TestTracesInsideOfRealBlocksAreRecognised(t *testing.T) {
	traces, transactions, largest := 0, 0, 0
	err := filepath.WalkDir(realdata.Path(t, "blocks"), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || filepath.Ext(path) != ".boc" {
			return err
		}
		boc, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		block, err := decode.Block(boc, 7)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		list, err := trace.NewAssembler(&trace.Memory{}).Bundle(7, block.Transactions)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		for _, whole := range list {
			if whole.All == nil {
				continue
			}
			tree, err := trace.NewTree(whole.All)
			if err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			traces, transactions, largest = traces+1, transactions+len(tree.Nodes), max(largest, len(tree.Nodes))
			checkActions(t, tree, action.NoFacts{})
			checkActions(t, tree, everything{})
			if t.Failed() {
				t.Fatalf("%s: trace %x", path, whole.Id)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if traces == 0 {
		t.Error("no trace ends inside of a block")
	}
	t.Logf("%d traces of %d transactions, the largest of %d", traces, transactions, largest)
}

// A name was put on auction in this block of mainnet, by the marketplace's deployer.
func TestAnAuctionIsKnownByWhatItIsDeployedWith(t *testing.T) {
	boc, err := os.ReadFile(realdata.Path(t, "blocks/mainnet_single/block_0_8000000000000000_34703989.boc"))
	if err != nil {
		t.Fatal(err)
	}
	block, err := decode.Block(boc, 7)
	if err != nil {
		t.Fatal(err)
	}
	list, err := trace.NewAssembler(&trace.Memory{}).Bundle(7, block.Transactions)
	if err != nil {
		t.Fatal(err)
	}
	name := addressOf("0:E49288FBB726E64CA0805FAE457C3E9C8BE9B525AFC37392B407E7AA300A80B3")
	facts := known{{Account: name, NftItem: &record.NFTItem{Index: []byte{5}, Collection: dnsRoot}}}
	var found []*action.Action
	for _, whole := range list {
		if whole.All == nil {
			continue
		}
		for _, a := range recognise(t, facts, whole.All) {
			if len(a.Ancestors) == 0 && a.Type.Name == "nft_put_on_auction" {
				found = append(found, a)
			}
		}
	}
	wants(t, found, "nft_put_on_auction")
	details(t, found, "nft_put_on_auction", "nft_item", name, "owner", addressOf("0:BE5A6ED4A900B47D2D2D55F0AB81DFCDA1304C7C7D85AB7AB2C235D47F26DBA4"),
		"auction_address", addressOf("0:2DDB657DFECA384C6DC7008A777065F871CAAF6F2CC15DBD6C364827748A0446"), "marketplace", "getgems",
		"min_bid", 100_000_000_000, "max_bid", 2_000_000_000_000, "marketplace_fee_factor", 5, "marketplace_fee_base", 100)
}
